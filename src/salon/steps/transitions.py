"""Agent 5, transitions: which features are likely to change soon, and in which direction.

Rules alone, no model: base probabilities of the source, adjusted by how feelings go, where the
relationship stands and whether memory has just changed. Whatever the adjustments, a probability
stays a probability, and a direction is `+`, `-` or `0`.
"""

from salon.blackboard.slots import Past
from salon.blackboard.steps import Step, View
from salon.blackboard.triggers import Every
from salon.core.absent import Absent
from salon.steps.bayes import DIGITS
from salon.steps.emotion import EMOTION
from salon.steps.emotion_trend import emotion_trend
from salon.steps.feature_changes import TRANSITIONS, FeatureChanges
from salon.steps.feature_list import BIG_FIVE
from salon.steps.feature_values import FEATURES
from salon.steps.memory_write import MEMORY_WRITE
from salon.steps.relationship import RELATIONSHIP

CHANGE_PROBS: dict[str, float] = {
    **dict.fromkeys(BIG_FIVE, 0.02),
    "mbti_type": 0.01,
    "mbti_ei": 0.02,
    "mbti_sn": 0.02,
    "mbti_tf": 0.02,
    "mbti_jp": 0.02,
    "attachment_style": 0.10,
    "attachment_anxiety": 0.15,
    "attachment_avoidance": 0.10,
    "primary_love_language": 0.05,
    "secondary_love_language": 0.08,
    "trust_score": 0.70,
    "trust_velocity": 0.60,
    "relationship_status": 0.20,
    "sentiment_label": 0.40,
}
"""Before adjustment. Features that are not here are facts about a person and do not move."""
_TREND_ADDS: dict[tuple[str, str], float] = {
    ("trust_score", "improving"): 0.20,
    ("trust_score", "declining"): 0.25,
    ("sentiment_label", "improving"): 0.30,
    ("sentiment_label", "declining"): 0.30,
}
_STATUS_ADDS: dict[tuple[str, str], float] = {
    ("attachment_anxiety", "crush"): 0.10,
    ("attachment_anxiety", "dating"): 0.10,
}
_SETTLED_STATUS = 0.05
_MEMORY_FACTOR = 1.3
_LIKELY = 0.30
_TREND_SIGNS = {"improving": "+", "declining": "-", "stable": "0"}
_FOLLOW_TREND = frozenset({"trust_score", "trust_velocity", "sentiment_label"})


def change_probability(feature: str, *, trend: str, status: str | None, memory: bool) -> float:
    """Return how probable it is that a feature changes before the next reading."""
    chance = CHANGE_PROBS[feature]
    chance += _TREND_ADDS.get((feature, trend), 0.0)
    chance += _STATUS_ADDS.get((feature, status or ""), 0.0)
    if feature == "relationship_status" and status == "committed":
        chance = _SETTLED_STATUS
    return round(min(1.0, chance * (_MEMORY_FACTOR if memory else 1.0)), DIGITS)


def direction(feature: str, *, trend: str, status: str | None, velocity: float) -> str:
    """Return where a feature is heading: up, down, or neither."""
    if feature in _FOLLOW_TREND:
        if trend == "stable" and feature != "sentiment_label":
            return "0" if velocity == 0 else "+" if velocity > 0 else "-"
        return _TREND_SIGNS[trend]
    if feature == "attachment_anxiety":
        return "-" if status in {"dating", "committed"} else "+"
    return "0"


def predict_changes(
    *, trend: str, status: str | None, memory: bool, velocity: float = 0.0
) -> FeatureChanges:
    """Return what is likely to change, as far as rules can say."""
    chances = {
        name: change_probability(name, trend=trend, status=status, memory=memory)
        for name in CHANGE_PROBS
    }
    likely = tuple(name for name, chance in chances.items() if chance > _LIKELY)
    return FeatureChanges(
        likely_to_change=likely,
        predicted_direction={
            name: direction(name, trend=trend, status=status, velocity=velocity) for name in likely
        },
        change_probability=chances,
        stable_features=tuple(name for name in chances if name not in likely),
    )


def predict_next(view: View) -> FeatureChanges | Absent:
    """Return what is likely to change after this turn."""
    features = view[FEATURES]
    if isinstance(features, Absent):
        return Absent(f"there are no features to change: {features.reason}")
    now, readings = view[EMOTION], [dated.value for dated in view.past(EMOTION)]
    relationship, written = view.past(RELATIONSHIP), view.past(MEMORY_WRITE)
    return predict_changes(
        trend=emotion_trend(readings if isinstance(now, Absent) else [*readings, now]),
        status=relationship[-1].value.rel_status if relationship else None,
        memory=bool(
            written
            and written[-1].turn == view.turn - 1
            and written[-1].value.memory_action != "none"
        ),
        velocity=_velocity(features.state.trust_history, len(view.past(FEATURES))),
    )


def _velocity(history: tuple[float, ...], updates: int) -> float:
    """Return how trust moved since the last update of the features."""
    if updates == 0 or len(history) < 2:
        return 0.0
    return round(history[-1] - history[max(0, len(history) - 4)], DIGITS)


STEP = Step(
    name="transitions",
    about="which features are likely to change, in which direction, and which are stable",
    reads=(
        FEATURES,
        EMOTION,
        Past(FEATURES),
        Past(EMOTION),
        Past(RELATIONSHIP),
        Past(MEMORY_WRITE),
    ),
    writes=TRANSITIONS,
    when=Every(3),
    run=predict_next,
    timeout_s=1.0,
)
