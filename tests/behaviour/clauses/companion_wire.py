"""Clauses of seed 003: the pipeline, the WebSocket messages, commands and the discussion room."""

from tests.behaviour.requirement import Requirement, Section

PIPELINE = Section(source="003", prefix="companion/pipeline", heading="Orchestrator Pipeline")
WS_IN = Section(
    source="003",
    prefix="companion/websocket-in",
    heading="WebSocket Communication Protocol > Client to Server",
)
WS_OUT = Section(
    source="003",
    prefix="companion/websocket-out",
    heading="WebSocket Communication Protocol > Server to Client Events",
)
BOARD = Section(
    source="003",
    prefix="companion/board",
    heading="Multi-Agent Communication > Current Architecture",
)
WHY_NOT = Section(
    source="003",
    prefix="companion/boundaries",
    heading="Multi-Agent Communication > Why NOT MCP and Skills",
)
EXTERNAL = Section(
    source="003",
    prefix="companion/external",
    heading="Multi-Agent Communication > When WOULD We Use MCP/Skills?",
)
ROOM = Section(
    source="003", prefix="companion/discussion-room", heading="Future: Multi-Agent Discussion"
)
SUMMARY = Section(source="003", prefix="companion/summary", heading="Summary")

CLAUSES: tuple[Requirement, ...] = (
    PIPELINE.clause(
        "step-1-together",
        "Emotion, scam and memory recall start a turn and run at the same time, each when due.",
    ),
    PIPELINE.clause(
        "step-2-features",
        "Features are predicted after step 1 in turns divisible by 3.",
    ),
    PIPELINE.clause(
        "step-3-transitions",
        "Transitions follow the features in turns divisible by 3.",
    ),
    PIPELINE.clause(
        "step-4-relationship",
        "The relationship is predicted after the transitions in turns divisible by 5 and in turns "
        "10 and 30.",
        decision=11,
    ),
    PIPELINE.clause(
        "step-5-milestones",
        "Milestones are evaluated after the relationship in turns 10 and 30.",
        decision=11,
    ),
    PIPELINE.clause(
        "step-6-probes",
        "Probes follow if any feature confidence is below 0.6.",
    ),
    PIPELINE.clause(
        "step-7-synthesis",
        "The synthesis follows in turns divisible by 3.",
    ),
    PIPELINE.clause(
        "step-8-reply",
        "The persona replies after every other reading step of the turn and in every turn.",
    ),
    PIPELINE.clause(
        "step-9-memory",
        "In turns divisible by 5 memory is written after the reply.",
    ),
    PIPELINE.clause(
        "returns-reply",
        "Processing a turn returns the persona's reply.",
    ),
    PIPELINE.clause(
        "turn-numbers",
        "A turn is one message and its reply, numbered from 1, so that turns 10 and 30 occur in "
        "every conversation that long.",
        decision=11,
    ),
    WS_IN.clause(
        "user-message",
        "A client sends `type` equal to `user_message` with `content`, `user_id` and `session_id`.",
        decision=23,
    ),
    WS_IN.clause(
        "invalid-message",
        "A frame that is not such a message gets an `error` event, and the connection and the "
        "session stay usable.",
        decision=23,
    ),
    WS_OUT.clause(
        "names",
        "The server's event types are the six of the source and beside them only `error`, "
        "`flow_update` and `reply_delta`.",
        decision=23,
    ),
    WS_OUT.clause(
        "bot-response",
        "Every turn sends one `bot_response` with `content`, `bot_id` and `turn`.",
        decision=23,
    ),
    WS_OUT.clause(
        "emotion-update",
        "Every turn sends one `emotion_update` whose `data` has emotion, confidence, intensity, "
        "valence and arousal.",
        decision=23,
    ),
    WS_OUT.clause(
        "feature-update",
        "Every third turn sends one `feature_update` whose `data` has `predicted_features`, "
        "`confidences` and `conformal_result`.",
        decision=23,
    ),
    WS_OUT.clause(
        "relationship-prediction",
        "Every fifth turn sends one `relationship_prediction` whose `data` has `sentiment`, "
        "`rel_status`, `rel_type`, `can_advance`, `advance_prediction_set`, `trust_score` and "
        "`turn`.",
        decision=23,
    ),
    WS_OUT.clause(
        "milestone-report",
        "Turns 10 and 30 send one `milestone_report` each, whose `data` has `turn` and the fields "
        "of that turn's report.",
        decision=23,
    ),
    WS_OUT.clause(
        "scam-warning",
        "A turn in which a scam is detected sends a `scam_warning` whose `data` has `risk_score`, "
        "`warning_level` and `patterns`, and other turns send none.",
        decision=23,
    ),
    WS_OUT.clause(
        "scam-warning-visible",
        "On the page a scam warning is shown in a way that cannot be overlooked.",
    ),
    BOARD.clause(
        "slots",
        "The board has slots for the current emotion, features, relationship result, recalled "
        "memories, scam risk and suggested probes.",
    ),
    BOARD.clause(
        "overhead",
        "Passing values over the board costs a small part of the time the steps take, and no "
        "value is serialised on the way.",
    ),
    BOARD.clause(
        "inspectable",
        "The whole board can be looked at after every turn, with what each step wrote and why a "
        "slot is empty.",
    ),
    BOARD.clause(
        "any-declared-data",
        "A step may read any slot it declares, whichever step writes it.",
    ),
    WHY_NOT.clause(
        "in-process",
        "Steps run inside the server's own process, with no MCP client or server between them.",
    ),
    WHY_NOT.clause(
        "no-waiting",
        "A turn runs from message to reply without waiting for any further input of the person.",
    ),
    EXTERNAL.clause(
        "calendar-and-mail",
        "Calendar and mail are reached through adapters to outside services, never from inside a "
        "step.",
    ),
    EXTERNAL.clause(
        "outside-services",
        "Outside services such as the weather or a knowledge base enter a turn only through a "
        "configured provider, and nothing is fetched without one.",
    ),
    EXTERNAL.clause(
        "analyze-relationship",
        "The command `/analyze-relationship` gives a detailed report on the relationship so far.",
    ),
    EXTERNAL.clause(
        "predict-future",
        "The command `/predict-future` predicts the relationship at turn 50.",
    ),
    EXTERNAL.clause(
        "export-data",
        "The command `/export-data` writes all data of the conversation and its user into one "
        "file that can be imported again.",
    ),
    EXTERNAL.clause(
        "commands-on-page",
        "The three commands work from the message box of the page and are listed by its help.",
    ),
    ROOM.clause(
        "before-writing",
        "In the discussion room experts reach consensus before anything is written to the board.",
    ),
    ROOM.clause(
        "propose",
        "Every expert in the room, one after another, proposes its view on the topic from the "
        "context.",
    ),
    ROOM.clause(
        "critique",
        "Every expert in the room criticises the proposals, after all of them are in.",
    ),
    ROOM.clause(
        "weighted-vote",
        "A weighted vote over proposals and critiques gives the consensus.",
    ),
    ROOM.clause(
        "decision",
        "On whether the relationship can advance, with the emotion, values and behaviour experts "
        "in the room, the consensus' `decision` becomes `can_advance`.",
    ),
    ROOM.clause(
        "off-by-default",
        "The discussion room is off by default because it triples the model calls, and weighted "
        "aggregation stands in for it.",
    ),
    SUMMARY.clause(
        "table",
        "The generated table of steps lists each agent of the source with its reads, its slot and "
        "its trigger as the source has them.",
    ),
    SUMMARY.clause(
        "turn-latency",
        "A whole turn, including one in which every step is due, takes no longer than 5 s without "
        "the typing pace.",
    ),
)
