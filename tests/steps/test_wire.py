"""From boards to events: which slot sends what, when, in which shape."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from salon.blackboard.board import Board
from salon.blackboard.values import as_record, encode
from salon.conversation.turns import Turn
from salon.core.absent import Absent
from salon.core.errors import ContentTooLarge, InvalidInput
from salon.core.ids import SessionId
from salon.steps import wire
from salon.steps.emotion import EMOTION, EmotionReading
from salon.steps.feature_values import FEATURES, ConformalResult, Features
from salon.steps.milestone_values import Convergence, MilestoneReport, Snapshot, TrustTrajectory
from salon.steps.milestones import MILESTONE
from salon.steps.relationship import RELATIONSHIP, RelationshipResult
from salon.steps.scam import SCAM, ScamReading
from salon.steps.wire import events_of, reply_id, turn_events, turn_of
from salon.steps.wire_shapes import (
    CLIENT_MESSAGES,
    LONGEST_CONTENT,
    SERVER_EVENTS,
    ErrorData,
    ErrorEvent,
    ReplyDelta,
    WireEvent,
    as_json,
    as_text,
    read_client_message,
    schema_of,
    type_of,
)

SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "schemas"

JOY = EmotionReading(
    emotion="joy",
    confidence=0.85,
    intensity=0.72,
    valence=0.8,
    arousal=0.6,
    reply_strategy="Resonate",
    tone="enthusiastic and positive",
    probabilities={"joy": 0.85, "neutral": 0.15},
)
CALM = ScamReading(scam_risk_score=0.0, scam_warning_level="none", scam_patterns=(), spans=())
KNOWN = Features(
    predicted_features={"big_five_openness": 0.6, "mbti_type": None, "trust_history": (0.4, 0.5)},
    feature_confidences={"big_five_openness": 0.4, "mbti_type": 0.0, "trust_history": 1.0},
    conformal_result=ConformalResult(
        prediction_sets={"mbti_type": ("INFP", "ENFP")},
        coverage_guarantee=1.0,
        calibrated={"mbti_type": False},
    ),
    observed=("big_five_openness",),
)
FRIENDLY = RelationshipResult(
    sentiment="positive",
    sentiment_confidence=0.8,
    rel_type="friendship",
    rel_type_probs={"friendship": 1.0},
    rel_status="acquaintance",
    rel_status_probs={"acquaintance": 1.0},
    can_advance=True,
    advance="yes",
    advance_confidence=0.7,
    advance_prediction_set=("yes",),
    advance_coverage_guarantee=0.9,
    advance_calibrated=False,
    next_status_prediction="acquaintance",
    next_status_probs={"acquaintance": 0.7, "crush": 0.3},
    milestone_report=None,
    snapshot=Snapshot(
        turn=5, rel_status="acquaintance", trust_score=0.65, sentiment="positive", timestamp="now"
    ),
    reasoning_trace="They laughed twice.",
    trust_score=0.65,
    experts=(),
    compressed_context="",
    regressed_from=Absent("it did not"),
)
OTHER = Absent("of the other report")
TENTH = MilestoneReport(
    turn=10,
    current_status="acquaintance",
    predicted_status_at_30="crush",
    predicted_status_probs={"crush": 0.6, "acquaintance": 0.4},
    sentiment_trend="improving",
    trust_level=0.65,
    confidence=0.78,
    final_status=OTHER,
    prediction_accuracy=OTHER,
    conformal_efficiency=OTHER,
    label_space_share=OTHER,
    memory_contribution=OTHER,
    feature_convergence=OTHER,
    trust_trajectory_analysis=OTHER,
)
THIRTIETH = replace(
    TENTH,
    turn=30,
    final_status="crush",
    prediction_accuracy=Absent("turn 10 predicted nothing"),
    conformal_efficiency=2.5,
    memory_contribution=0.1,
    feature_convergence={
        "big_five_openness": Convergence(
            settled=True, updates=9, confidence_gain=0.3, recent_change=Absent("too few")
        )
    },
    trust_trajectory_analysis=TrustTrajectory(
        start=0.4,
        end=0.6,
        mean=0.5,
        lowest=0.4,
        highest=0.6,
        slope=0.01,
        direction="rising",
        turning_points=(12,),
    ),
)


def board(turn: int, **more: Any) -> Board:
    values = {EMOTION.name: JOY, SCAM.name: CALM} | more
    return Board(turn=turn, values=values)


def told(events: tuple[WireEvent, ...]) -> list[dict[str, Any]]:
    """Return events as they go over the wire, each held against its published schema."""
    found = [json.loads(as_text(event)) for event in events]
    for one in found:
        schema = json.loads((SCHEMAS / f"{one['type']}.json").read_text())
        jsonschema.Draft202012Validator(schema).validate(one)
    return found


def one_of(events: tuple[WireEvent, ...], kind: str) -> dict[str, Any]:
    (found,) = [event for event in told(events) if event["type"] == kind]
    del found["event_id"]
    return found


def test_every_turn_tells_the_emotion_and_ends_with_the_reply() -> None:
    turn = recorded(1, **{EMOTION.name: JOY, SCAM.name: CALM})
    assert told(turn_events(turn)) == [
        {
            "event_id": 101,
            "type": "emotion_update",
            "data": {
                "emotion": "joy",
                "confidence": 0.85,
                "intensity": 0.72,
                "valence": 0.8,
                "arousal": 0.6,
            },
        },
        {
            "event_id": 199,
            "type": "bot_response",
            "content": "I am glad.",
            "bot_id": "mina",
            "turn": 1,
            "ai_label": "AI",
        },
    ]


def test_features_are_told_when_they_are_written() -> None:
    events = events_of(3, board(3, features=KNOWN))
    assert one_of(events, "feature_update") == {
        "type": "feature_update",
        "data": {
            "predicted_features": {
                "big_five_openness": 0.6,
                "mbti_type": None,
                "trust_history": [0.4, 0.5],
            },
            "confidences": {"big_five_openness": 0.4, "mbti_type": 0.0, "trust_history": 1.0},
            "conformal_result": {
                "prediction_sets": {"mbti_type": ["INFP", "ENFP"]},
                "coverage_guarantee": 1.0,
                "calibrated": {"mbti_type": False},
            },
        },
    }


def test_the_relationship_has_exactly_the_fields_of_the_protocol() -> None:
    events = events_of(5, board(5, relationship_result=FRIENDLY))
    assert one_of(events, "relationship_prediction") == {
        "type": "relationship_prediction",
        "data": {
            "sentiment": "positive",
            "rel_status": "acquaintance",
            "rel_type": "friendship",
            "can_advance": True,
            "advance_prediction_set": ["yes"],
            "trust_score": 0.65,
            "turn": 5,
        },
    }


def test_the_first_milestone_has_its_own_fields() -> None:
    events = events_of(10, board(10, milestone_report=TENTH))
    assert one_of(events, "milestone_report")["data"] == {
        "turn": 10,
        "current_status": "acquaintance",
        "predicted_status_at_30": "crush",
        "predicted_status_probs": {"crush": 0.6, "acquaintance": 0.4},
        "sentiment_trend": "improving",
        "trust_level": 0.65,
        "confidence": 0.78,
    }


def test_the_second_milestone_says_what_is_not_known() -> None:
    events = events_of(30, board(30, milestone_report=THIRTIETH))
    data = one_of(events, "milestone_report")["data"]
    assert set(data) == {
        "turn",
        "final_status",
        "prediction_accuracy",
        "conformal_efficiency",
        "memory_contribution",
        "feature_convergence",
        "trust_trajectory_analysis",
    }
    assert data["prediction_accuracy"] == {"absent": "turn 10 predicted nothing"}
    settled = data["feature_convergence"]["big_five_openness"]
    assert settled["recent_change"] == {"absent": "too few"}


def test_a_milestone_of_no_known_turn_is_not_told() -> None:
    odd = replace(TENTH, turn=20)
    events = events_of(20, board(20, milestone_report=odd))
    assert [event.type for event in events] == ["emotion_update"]


@pytest.mark.parametrize(
    ("level", "is_told"), [("none", False), ("low", False), ("medium", True), ("high", True)]
)
def test_a_scam_is_warned_of_from_medium_on(level: str, is_told: bool) -> None:
    reading = ScamReading(
        scam_risk_score=0.75,
        scam_warning_level=level,
        scam_patterns=("money_request", "urgency_pressure"),
        spans=(),
    )
    events = events_of(2, board(2, scam=reading))
    assert ("scam_warning" in {event.type for event in events}) is is_told
    if is_told:
        assert one_of(events, "scam_warning")["data"] == {
            "risk_score": 0.75,
            "warning_level": level,
            "patterns": ["money_request", "urgency_pressure"],
        }


def test_what_is_absent_sends_no_event() -> None:
    gone = Absent("the step failed")
    empty = board(30, current_emotion=gone, scam=gone, milestone_report=gone)
    assert events_of(30, empty) == ()


def test_a_crisis_and_the_typing_pace_are_told_where_they_apply() -> None:
    turn = recorded(1)
    said = turn.reply | {"is_crisis": True, "delay_s": 1.5}
    event = told(turn_events(replace(turn, reply=said)))[-1]
    assert (event["is_crisis"], event["delay_s"]) == (True, 1.5)


def recorded(turn: int, **slots: Any) -> Turn:
    by_name = {one.name: one for one in (EMOTION, SCAM, FEATURES, RELATIONSHIP, MILESTONE)}
    held = {
        name: as_record(value if isinstance(value, Absent) else encode(by_name[name], value))
        for name, value in slots.items()
    }
    return Turn(
        number=turn,
        session=SessionId("s"),
        speaker="user",
        message="m",
        replier="mina",
        reply={"response": "I am glad.", "ai_label": "AI", "is_crisis": False, "delay_s": 0.0},
        at="now",
        board=json.loads(json.dumps(held)),
    )


def test_events_made_again_from_a_record_are_the_same() -> None:
    slots = {
        EMOTION.name: JOY,
        SCAM.name: replace(CALM, scam_warning_level="high", scam_patterns=("money_request",)),
        FEATURES.name: KNOWN,
        RELATIONSHIP.name: FRIENDLY,
        MILESTONE.name: THIRTIETH,
    }
    live = events_of(30, board(30, **slots))
    turn = recorded(30, **slots, matches=Absent("not due"))
    assert turn_events(turn)[:-1] == live
    assert turn_events(turn, board(30, **slots)) == turn_events(turn)
    assert len(live) == 5


def test_the_turn_of_an_expert_is_one_event_with_its_citations() -> None:
    citation = {
        "hash": "ab",
        "start": 0,
        "end": 4,
        "quote": "Silt",
        "source": "On canals",
        "page": 3,
    }
    turn = replace(
        recorded(2),
        board=None,
        reply={"response": "Silt.", "ai_label": "AI", "citations": [citation], "claims": []},
    )
    (event,) = told(turn_events(turn))
    assert event["citations"] == [citation]


def test_the_turn_of_an_assistant_tells_its_flow_and_says_the_offer() -> None:
    flow = {"id": "f1", "action": "calendar", "step": "offered", "digest": None, "order": None}
    said: dict[str, object] = {
        "response": "Call.",
        "text": "Call.\n\nShall I?",
        "ai_label": "AI",
        "flow": flow,
    }
    events = told(turn_events(replace(recorded(2), board=None, reply=said)))
    assert [event["type"] for event in events] == ["flow_update", "bot_response"]
    assert events[0]["data"] == {
        "flow": "f1",
        "action": "calendar",
        "step": "offered",
        "digest": None,
        "order": None,
    }
    assert events[1]["content"] == "Call.\n\nShall I?"
    assert [turn_of(event["event_id"]) for event in events] == [2, 2]


def test_ids_grow_with_turns_and_the_reply_is_the_last_of_its_turn() -> None:
    assert reply_id(0) == 0
    ids = [
        event.event_id
        for turn in (1, 2, 3)
        for event in turn_events(recorded(turn), board(turn, features=KNOWN))
    ]
    assert ids == sorted(set(ids))
    assert [turn_of(one) for one in ids] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert len(wire.READINGS) < wire.REPLY_PLACE


def test_the_events_that_no_board_makes_have_their_schema_too() -> None:
    events: tuple[WireEvent, ...] = (
        ErrorEvent(
            event_id=0, error=ErrorData(code="invalid_input", message="m", hint=None, details={})
        ),
        ReplyDelta(event_id=0, content="I", bot_id="mina", turn=1, ai_label="AI"),
    )
    assert [event["type"] for event in told(events)] == ["error", "reply_delta"]


def test_plain_data_and_text_of_an_event_are_the_same() -> None:
    for event in events_of(3, board(3, features=KNOWN)):
        assert as_json(event) == json.loads(as_text(event))


@pytest.mark.parametrize("shape", [*CLIENT_MESSAGES, *SERVER_EVENTS], ids=type_of)
def test_the_published_schema_is_the_one_of_the_code(shape: Any) -> None:
    """Where it is not: `python -m tools.wire_page` writes it anew."""
    published = json.loads((SCHEMAS / f"{type_of(shape)}.json").read_text())
    assert published == schema_of(shape)
    jsonschema.Draft202012Validator.check_schema(published)
    assert published["additionalProperties"] is False


def test_the_published_schema_refuses_what_the_code_refuses() -> None:
    schema = json.loads((SCHEMAS / "bot_response.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    whole = told(turn_events(recorded(1)))[-1]
    assert validator.is_valid(whole)
    assert not validator.is_valid(whole | {"mood": "good"})
    for name in ("content", "bot_id", "turn", "ai_label", "event_id", "type"):
        assert not validator.is_valid({key: one for key, one in whole.items() if key != name})


MESSAGE = {"type": "user_message", "content": "Hello", "user_id": "user_123", "session_id": "s"}


def test_a_client_message_is_read() -> None:
    message = read_client_message(json.dumps(MESSAGE))
    assert (message.type, message.user_id, message.session_id) == ("user_message", "user_123", "s")


@pytest.mark.parametrize("name", ["type", "content", "user_id", "session_id"])
def test_a_client_message_needs_all_its_fields(name: str) -> None:
    with pytest.raises(InvalidInput, match="this is no message"):
        read_client_message(json.dumps({key: one for key, one in MESSAGE.items() if key != name}))


def test_a_client_message_with_a_field_too_many_or_too_long_is_refused() -> None:
    with pytest.raises(InvalidInput, match="role: Extra inputs"):
        read_client_message(json.dumps(MESSAGE | {"role": "system"}))
    with pytest.raises(ContentTooLarge, match="32,000"):
        read_client_message(json.dumps(MESSAGE | {"content": "x" * (LONGEST_CONTENT + 1)}))


def test_a_refusal_does_not_repeat_what_was_said() -> None:
    with pytest.raises(InvalidInput) as refused:
        read_client_message(json.dumps(MESSAGE | {"user_id": "", "content": "my secret"}))
    assert "my secret" not in refused.value.message
