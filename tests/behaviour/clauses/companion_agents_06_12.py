"""Clauses of seed 003: agents 6 to 12 (relationship to matching)."""

from tests.behaviour.requirement import Requirement, Section

RELATIONSHIP = Section(
    source="003",
    prefix="companion/relationship",
    heading="Agent I/O Specifications > 6. RelationshipPredictionAgent",
)
WORKFLOW = Section(
    source="003",
    prefix="companion/relationship-workflow",
    heading="Agent I/O Specifications > 6. RelationshipPredictionAgent > Internal 5-Step Workflow",
)
MILESTONES = Section(
    source="003",
    prefix="companion/milestones",
    heading="Agent I/O Specifications > 7. MilestoneEvaluator",
)
PROBES = Section(
    source="003",
    prefix="companion/probes",
    heading="Agent I/O Specifications > 8. QuestionStrategyAgent",
)
SYNTHESIS = Section(
    source="003",
    prefix="companion/synthesis",
    heading="Agent I/O Specifications > 9. DiscussionEngine",
)
PERSONA = Section(
    source="003", prefix="companion/persona", heading="Agent I/O Specifications > 10. PersonaAgent"
)
STORE = Section(
    source="003",
    prefix="companion/memory-write",
    heading="Agent I/O Specifications > 11. MemoryManager.execute()",
)
MATCHING = Section(
    source="003",
    prefix="companion/matching",
    heading="Agent I/O Specifications > 12. MatchingEngine",
)

CLAUSES: tuple[Requirement, ...] = (
    RELATIONSHIP.clause(
        "reads",
        "The relationship step reads at most the last 50 turns, the recalled memories, the "
        "current emotion, the features and the turn number.",
    ),
    RELATIONSHIP.clause(
        "sentiment",
        "`sentiment` is `positive`, `neutral` or `negative`, with `sentiment_confidence` in 0 to "
        "1.",
    ),
    RELATIONSHIP.clause(
        "rel-type",
        "`rel_type` is `love`, `friendship`, `family` or `other`, and is the most probable entry "
        "of `rel_type_probs`, which sum to 1.",
    ),
    RELATIONSHIP.clause(
        "rel-status",
        "`rel_status` is `stranger`, `acquaintance`, `crush`, `dating` or `committed`, and is the "
        "most probable entry of `rel_status_probs`, which sum to 1.",
    ),
    RELATIONSHIP.clause(
        "can-advance",
        "`can_advance` is a boolean point prediction, true only if yes is in the prediction set "
        "for advancing.",
    ),
    RELATIONSHIP.clause(
        "advance-set",
        "`advance_prediction_set` is a non-empty subset of yes, no and uncertain.",
        decision=13,
    ),
    RELATIONSHIP.clause(
        "advance-coverage",
        "`advance_coverage_guarantee` is 0.90 only where calibrated, and is otherwise reported "
        "honestly with the full set.",
        decision=13,
    ),
    RELATIONSHIP.clause(
        "next-status",
        "`next_status_prediction` is the most probable entry of `next_status_probs`, which sum to "
        "1.",
    ),
    RELATIONSHIP.clause(
        "milestone-field",
        "`milestone_report` is filled at turns 10 and 30 and is null otherwise.",
    ),
    RELATIONSHIP.clause(
        "snapshot",
        "`snapshot` holds `turn`, `rel_status`, `trust_score`, `sentiment` and `timestamp`.",
    ),
    RELATIONSHIP.clause(
        "reasoning-trace",
        "`reasoning_trace` is readable text that names what each expert found.",
    ),
    RELATIONSHIP.clause(
        "context-updates",
        "After the step `rel_status`, `rel_type`, `sentiment_label` and `can_advance` on the "
        "board agree with `relationship_result`.",
    ),
    RELATIONSHIP.clause(
        "snapshots-kept",
        "Each run appends its snapshot to `relationship_snapshots`, and earlier ones stay as they "
        "were.",
    ),
    RELATIONSHIP.clause(
        "trigger",
        "The relationship step runs every 5 turns and at turns 10 and 30, once per such turn.",
        decision=11,
    ),
    RELATIONSHIP.clause(
        "time",
        "The recorded time of the relationship step stays within 5 s.",
    ),
    WORKFLOW.clause(
        "five-steps",
        "The relationship step works through compression, sentiment, assessment, prediction set "
        "and next status, in this order.",
    ),
    WORKFLOW.clause(
        "compression",
        "Up to 50 turns of history are compressed into at most 15 lines of text.",
    ),
    WORKFLOW.clause(
        "sentiment-window",
        "Sentiment comes from a sliding window over the emotions of the last 5 turns.",
    ),
    WORKFLOW.clause(
        "three-experts",
        "An emotion, a values and a behaviour expert assess the relationship in parallel, by "
        "rules offline and by a model where one is configured.",
    ),
    WORKFLOW.clause(
        "expert-weights",
        "The assessment weighs the emotion expert 0.4, the values expert 0.3 and the behaviour "
        "expert 0.3.",
    ),
    WORKFLOW.clause(
        "advance-set-inputs",
        "The prediction set for advancing is made from the features and the current status.",
        decision=13,
    ),
    WORKFLOW.clause(
        "markov-next",
        "The next status comes from a Markov transition out of the current status, with every row "
        "summing to 1.",
    ),
    MILESTONES.clause(
        "reads",
        "The milestone step reads the turn, the feature history, the relationship snapshots and "
        "the current features.",
    ),
    MILESTONES.clause(
        "turn-10",
        "The report of turn 10 holds `current_status`, `predicted_status_at_30`, "
        "`predicted_status_probs`, `sentiment_trend`, `trust_level` and a numeric `confidence`.",
    ),
    MILESTONES.clause(
        "turn-30",
        "The report of turn 30 holds `final_status`, `prediction_accuracy`, "
        "`conformal_efficiency`, `memory_contribution`, `feature_convergence` and "
        "`trust_trajectory_analysis`.",
    ),
    MILESTONES.clause(
        "prediction-accuracy",
        "`prediction_accuracy` scores what turn 10 predicted for turn 30 against what came true.",
    ),
    MILESTONES.clause(
        "conformal-efficiency",
        "`conformal_efficiency` is the mean size of the prediction sets.",
    ),
    MILESTONES.clause(
        "memory-contribution",
        "`memory_contribution` measures how much memory helped, by leaving it out.",
    ),
    MILESTONES.clause(
        "feature-convergence",
        "`feature_convergence` says which features have settled.",
    ),
    MILESTONES.clause(
        "trust-trajectory",
        "`trust_trajectory_analysis` describes the course of trust over the conversation.",
    ),
    MILESTONES.clause(
        "kept-by-turn",
        "`milestone_reports` keeps each report under its turn number.",
    ),
    MILESTONES.clause(
        "trigger",
        "The milestone step runs at turns 10 and 30 and at no other.",
        decision=11,
    ),
    MILESTONES.clause(
        "statistics-only",
        "The milestone step is statistics and never calls a model.",
    ),
    MILESTONES.clause(
        "time",
        "The recorded time of the milestone step stays within 2 s.",
    ),
    PROBES.clause(
        "reads",
        "The probe step reads the features, their confidences and the conversation.",
    ),
    PROBES.clause(
        "output",
        "Each of `suggested_probes` has `feature`, `current_confidence`, `probe_question` and "
        "`priority`.",
    ),
    PROBES.clause(
        "priority",
        "`priority` is an integer from 1 to 5.",
    ),
    PROBES.clause(
        "trigger",
        "The probe step runs in exactly those turns in which some feature confidence is below 0.6.",
    ),
    PROBES.clause(
        "time",
        "The recorded time of the probe step stays within 1 s.",
    ),
    SYNTHESIS.clause(
        "reads",
        "The synthesis step reads the findings of all other steps.",
    ),
    SYNTHESIS.clause(
        "output",
        "`discussion_synthesis` is one text that sums up what the steps found and leaves out what "
        "is absent.",
    ),
    SYNTHESIS.clause(
        "trigger",
        "The synthesis step runs every 3 turns.",
    ),
    SYNTHESIS.clause(
        "time",
        "The recorded time of the synthesis step stays within 1 s.",
    ),
    PERSONA.clause(
        "reads",
        "The persona step reads the message and the whole context: emotion, features, "
        "relationship, probes and synthesis.",
    ),
    PERSONA.clause(
        "typing-pace",
        "A typing pace, when switched on, is drawn from a Gaussian with mean 2 s and deviation 1 "
        "s and cut to 0 to 5 s.",
        decision=6,
    ),
    PERSONA.clause(
        "typing-pace-off",
        "The typing pace is off by default and is never waited for inside the turn lock.",
        decision=6,
    ),
    PERSONA.clause(
        "output",
        "The persona step yields one text, the final reply of the turn.",
    ),
    PERSONA.clause(
        "trigger",
        "The persona step runs every turn.",
    ),
    PERSONA.clause(
        "time",
        "The recorded time of the persona step stays within 3 s, not counting the typing pace.",
    ),
    PERSONA.clause(
        "prompt-identity",
        "The persona's prompt opens with the bot's name and description.",
    ),
    PERSONA.clause(
        "prompt-relationship",
        "The persona's prompt states status, type, sentiment, trust with two decimals and whether "
        "the relationship can advance.",
    ),
    PERSONA.clause(
        "prompt-traits",
        "The persona's prompt states the inferred MBTI type, attachment style and primary love "
        "language.",
    ),
    PERSONA.clause(
        "prompt-emotion",
        "The persona's prompt states the current emotion, its intensity with two decimals and the "
        "reply strategy.",
    ),
    PERSONA.clause(
        "prompt-synthesis",
        "The persona's prompt ends with the synthesis, and whatever is absent is said to be "
        "unknown.",
    ),
    STORE.clause(
        "reads",
        "The memory writer reads the last 5 turns, the features and the relationship result.",
    ),
    STORE.clause(
        "output",
        "The memory writer reports `memory_action` and the ids in `memories_affected`.",
    ),
    STORE.clause(
        "actions",
        "`memory_action` is `store`, `update` or `delete`, and a later recall shows its effect.",
    ),
    STORE.clause(
        "trigger",
        "The memory writer runs every 5 turns.",
    ),
    STORE.clause(
        "time",
        "The recorded time of the memory writer stays within 1 s.",
    ),
    MATCHING.clause(
        "vector",
        "The user is matched by a feature vector of 42 dimensions.",
        decision=12,
    ),
    MATCHING.clause(
        "candidates",
        "The candidates are bot profiles, and one that lacks what the vector needs is refused "
        "with its name.",
    ),
    MATCHING.clause(
        "output",
        "Matching yields `ranked_candidates` in falling order of score and `compatibility_scores` "
        "with a number for each bot id.",
    ),
    MATCHING.clause(
        "cosine",
        "The compatibility score is the cosine similarity of the two feature vectors.",
    ),
    MATCHING.clause(
        "trigger",
        "Matching runs at the start of a session and every 10 turns.",
    ),
    MATCHING.clause(
        "time",
        "The recorded time of matching stays within 0.1 s.",
    ),
)
