"""Clauses of seed 003: the shared context, and agents 1 to 5 (emotion to transitions)."""

from tests.behaviour.requirement import Requirement, Section

PATTERN = Section(source="003", prefix="companion/pattern", heading="Core Communication Pattern")
EMOTION = Section(
    source="003", prefix="companion/emotion", heading="Agent I/O Specifications > 1. EmotionAgent"
)
SCAM = Section(
    source="003",
    prefix="companion/scam",
    heading="Agent I/O Specifications > 2. ScamDetectionAgent",
)
RECALL = Section(
    source="003",
    prefix="companion/memory-recall",
    heading="Agent I/O Specifications > 3. MemoryManager.retrieve()",
)
FEATURES = Section(
    source="003",
    prefix="companion/features",
    heading="Agent I/O Specifications > 4. FeaturePredictionAgent",
)
TRANSITIONS = Section(
    source="003",
    prefix="companion/transitions",
    heading="Agent I/O Specifications > 5. FeatureTransitionPredictor",
)

CLAUSES: tuple[Requirement, ...] = (
    PATTERN.clause(
        "shared-board",
        "All steps of a turn read from and write to one blackboard that belongs to the session.",
    ),
    PATTERN.clause(
        "no-direct-talk",
        "A step never calls another step, and a step that touches a slot it did not declare is "
        "stopped with an error.",
    ),
    PATTERN.clause(
        "turn-path",
        "A message goes to the runner, through the steps that are due, to the persona, whose text "
        "is the reply.",
    ),
    PATTERN.clause(
        "declared-contract",
        "Each step declares its reads, its one written slot and its trigger as data, and the "
        "published table is generated from that.",
    ),
    PATTERN.clause(
        "one-writer",
        "Two steps writing one slot, a read that nobody writes or a cycle is refused at start-up "
        "with the names involved.",
    ),
    EMOTION.clause(
        "reads",
        "The emotion step reads the current message and at most the last 5 turns.",
    ),
    EMOTION.clause(
        "current-emotion",
        "`current_emotion` holds `emotion`, `confidence`, `intensity`, `valence` and `arousal`.",
    ),
    EMOTION.clause(
        "labels",
        "`emotion` is one of a published closed set that contains joy, sadness and anger.",
    ),
    EMOTION.clause(
        "ranges",
        "`confidence`, `intensity` and `arousal` lie in 0 to 1 and `valence` in -1 to 1, with "
        "negative feelings below zero.",
    ),
    EMOTION.clause(
        "reply-strategy",
        "`reply_strategy` names the approach chosen for the detected emotion, such as an "
        "empathetic one for sadness.",
    ),
    EMOTION.clause(
        "trigger",
        "The emotion step runs every turn.",
    ),
    EMOTION.clause(
        "time",
        "The recorded time of the emotion step stays within the 1 s that the source allows.",
    ),
    SCAM.clause(
        "reads",
        "The scam step reads the current message and at most the last 10 turns.",
    ),
    SCAM.clause(
        "risk-score",
        "`scam_risk_score` lies in 0 to 1.",
    ),
    SCAM.clause(
        "warning-level",
        "`scam_warning_level` is one of `none`, `low`, `medium` and `high`, and a textbook "
        "romance scam reaches `high`.",
        decision=14,
    ),
    SCAM.clause(
        "patterns",
        "`scam_patterns` lists the names of the patterns found, each matched on whole words and "
        "with the span that showed it.",
        decision=14,
    ),
    SCAM.clause(
        "trigger",
        "The scam step runs every 2 turns, and beyond the source at once when money, links or "
        "secrecy appear.",
    ),
    SCAM.clause(
        "time",
        "The recorded time of the scam step stays within 0.5 s.",
    ),
    RECALL.clause(
        "reads",
        "Recall takes the current message as query, the `user_id` and `top_k`.",
    ),
    RECALL.clause(
        "top-k",
        "`top_k` is 5 unless given, and no more memories than that come back.",
    ),
    RECALL.clause(
        "memories",
        "Each of `retrieved_memories` has `content`, `timestamp`, `relevance_score` and "
        "`memory_type`.",
    ),
    RECALL.clause(
        "memory-types",
        "`memory_type` is one of `conversation`, `feature` and `milestone`.",
    ),
    RECALL.clause(
        "per-user",
        "Recall for one user never returns another user's memory.",
    ),
    RECALL.clause(
        "by-meaning",
        "A memory is found by vector search when it says the same as the message in other words.",
    ),
    RECALL.clause(
        "trigger",
        "Recall runs every turn.",
    ),
    RECALL.clause(
        "time",
        "The recorded time of recall stays within 0.2 s.",
    ),
    FEATURES.clause(
        "reads",
        "The feature step reads at most the last 10 turns, `current_emotion` and "
        "`retrieved_memories`.",
    ),
    FEATURES.clause(
        "big-five",
        "`predicted_features` holds the five `big_five_*` traits as numbers in 0 to 1.",
    ),
    FEATURES.clause(
        "mbti",
        "`predicted_features` holds `mbti_type` as one of the sixteen types, `mbti_confidence`, "
        "and the axes `mbti_ei`, `mbti_sn`, `mbti_tf` and `mbti_jp` as numbers in 0 to 1.",
    ),
    FEATURES.clause(
        "attachment",
        "`predicted_features` holds `attachment_style` as `secure`, `anxious`, `avoidant` or "
        "`disorganized`, with `attachment_anxiety` and `attachment_avoidance` as numbers.",
        decision=12,
    ),
    FEATURES.clause(
        "love-languages",
        "`predicted_features` holds `primary_love_language` and `secondary_love_language`, and "
        "the two differ.",
    ),
    FEATURES.clause(
        "trust",
        "`predicted_features` holds `trust_score`, `trust_velocity` and `trust_history` as a list "
        "of numbers that grows with the conversation.",
    ),
    FEATURES.clause(
        "forty-two",
        "Together the features are exactly the 42 of the published list.",
        decision=12,
    ),
    FEATURES.clause(
        "confidences",
        "`feature_confidences` has one number in 0 to 1 for every predicted feature.",
    ),
    FEATURES.clause(
        "prediction-sets",
        "`conformal_result` holds `prediction_sets`, a non-empty set of labels for each feature "
        "that has labels.",
        decision=13,
    ),
    FEATURES.clause(
        "coverage-guarantee",
        "`coverage_guarantee` is 1 minus alpha, 0.90 by default, only where a calibration set "
        "stands behind it, and elsewhere the whole label space is reported as uncalibrated.",
        decision=13,
    ),
    FEATURES.clause(
        "trigger",
        "The feature step runs every 3 turns.",
    ),
    FEATURES.clause(
        "time",
        "The recorded time of the feature step stays within 3 s.",
    ),
    FEATURES.clause(
        "mbti-ei",
        "`mbti_ei` equals `big_five_extraversion`, and above 0.5 the letter is E.",
        decision=12,
    ),
    FEATURES.clause(
        "mbti-sn",
        "`mbti_sn` equals `big_five_openness`, and above 0.5 the letter is N.",
        decision=12,
    ),
    FEATURES.clause(
        "mbti-tf",
        "`mbti_tf` equals 1 minus `big_five_agreeableness`, and above 0.5 the letter is T.",
        decision=12,
    ),
    FEATURES.clause(
        "mbti-jp",
        "`mbti_jp` equals `big_five_conscientiousness`, and above 0.5 the letter is J.",
        decision=12,
    ),
    TRANSITIONS.clause(
        "reads",
        "The transition step reads the current features, their history, the emotion trend, the "
        "relationship status and whether memory has just been updated.",
    ),
    TRANSITIONS.clause(
        "emotion-trend",
        "The emotion trend is `improving`, `declining` or `stable`.",
    ),
    TRANSITIONS.clause(
        "output",
        "`predicted_feature_changes` holds `likely_to_change`, `predicted_direction`, "
        "`change_probability` and `stable_features`.",
    ),
    TRANSITIONS.clause(
        "directions",
        "Every predicted direction is `+`, `-` or `0`.",
    ),
    TRANSITIONS.clause(
        "probabilities",
        "Every change probability lies in 0 to 1, also after all adjustments.",
    ),
    TRANSITIONS.clause(
        "likely-or-stable",
        "No feature is listed both as likely to change and as stable.",
    ),
    TRANSITIONS.clause(
        "trigger",
        "The transition step runs every 3 turns, after the feature step of the same turn.",
    ),
    TRANSITIONS.clause(
        "rules-only",
        "The transition step works by rules and never calls a model.",
    ),
    TRANSITIONS.clause(
        "time",
        "The recorded time of the transition step stays within 0.1 s.",
    ),
    TRANSITIONS.clause(
        "base-personality",
        "Before adjustment the change probability is 0.02 for each Big Five trait and 0.01 for "
        "`mbti_type`.",
    ),
    TRANSITIONS.clause(
        "base-trust",
        "Before adjustment the change probability is 0.70 for `trust_score` and 0.60 for "
        "`trust_velocity`.",
    ),
    TRANSITIONS.clause(
        "base-attachment",
        "Before adjustment the change probability is 0.15 for `attachment_anxiety` and 0.10 for "
        "`attachment_avoidance`.",
    ),
    TRANSITIONS.clause(
        "base-love-languages",
        "Before adjustment the change probability is 0.05 for `primary_love_language` and 0.08 "
        "for `secondary_love_language`.",
    ),
)
