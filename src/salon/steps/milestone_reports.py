"""The reports of turns 10 and 30: statistics over what the conversation left, and no model.

Turn 10 says where it stands and predicts turn 30; turn 30 scores that prediction, says how tight
the sets became, what memory was worth (by leaving it out), which features have settled and how
trust went. What cannot be said is `Absent`, with the reason.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from salon.blackboard.slots import Dated
from salon.core.absent import Absent
from salon.steps.bayes import DIGITS
from salon.steps.conformal import mean_size
from salon.steps.emotion import EmotionReading
from salon.steps.emotion_trend import POSITIVE
from salon.steps.feature_list import FEATURES_BY_NAME, NAMES
from salon.steps.feature_update import advance, report
from salon.steps.feature_values import Features, FeatureState, FeatureValue
from salon.steps.milestone_values import Convergence, MilestoneReport, TrustTrajectory
from salon.steps.relationship_status import ADVANCE_CHANCE, likeliest, look_ahead

FIRST, LAST = 10, 30
_STEPS = (LAST - FIRST) // 5
"""Readings of the relationship between the two reports."""
_WINDOW = 5
_TREND = 0.1
_RECENT = 3
_SETTLED_CHANGE = 0.05
_SETTLED_CONFIDENCE = 0.5
_LEVEL_SLOPE = 0.002
_ONLY_FIRST = Absent("it belongs to the report of turn 10")
_ONLY_LAST = Absent("it belongs to the report of turn 30")
_NO_FEATURES = Absent("no features were read so far")


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a report is made from."""

    features: tuple[Dated[Features], ...]
    """Every update of the features, the newest last."""
    emotions: tuple[EmotionReading, ...]
    status: str
    status_probs: dict[str, float]
    trust: float
    first: MilestoneReport | None = None
    """The report of turn 10, for that of turn 30."""


def report_at(turn: int, material: Material) -> MilestoneReport | None:
    """Return the report of this turn, `None` where none is due."""
    make = REPORTS.get(turn)
    return None if make is None else make(turn, material)


def _first_report(turn: int, material: Material) -> MilestoneReport:
    trust = trajectory(material.features)
    chance = ADVANCE_CHANCE[_chances(material.emotions, trust)]
    ahead = look_ahead(material.status_probs, chance, _STEPS)
    best = likeliest(ahead)
    return MilestoneReport(
        turn=turn,
        current_status=material.status,
        predicted_status_at_30=best,
        predicted_status_probs=ahead,
        sentiment_trend=sentiment_trend(material.emotions),
        trust_level=round(material.trust, DIGITS),
        confidence=ahead[best],
        final_status=_ONLY_LAST,
        prediction_accuracy=_ONLY_LAST,
        conformal_efficiency=_ONLY_LAST,
        label_space_share=_ONLY_LAST,
        memory_contribution=_ONLY_LAST,
        feature_convergence=_ONLY_LAST,
        trust_trajectory_analysis=_ONLY_LAST,
    )


def _last_report(turn: int, material: Material) -> MilestoneReport:
    latest = material.features[-1].value if material.features else None
    return MilestoneReport(
        turn=turn,
        current_status=material.status,
        predicted_status_at_30=_ONLY_FIRST,
        predicted_status_probs=_ONLY_FIRST,
        sentiment_trend=sentiment_trend(material.emotions),
        trust_level=round(material.trust, DIGITS),
        confidence=material.status_probs[material.status],
        final_status=material.status,
        prediction_accuracy=score_prediction(material.first, material.status),
        conformal_efficiency=_NO_FEATURES if latest is None else efficiency(latest)[0],
        label_space_share=_NO_FEATURES if latest is None else efficiency(latest)[1],
        memory_contribution=_NO_FEATURES
        if latest is None
        else memory_contribution(material.features),
        feature_convergence=_NO_FEATURES if latest is None else convergence(material.features),
        trust_trajectory_analysis=trajectory(material.features),
    )


REPORTS: dict[int, Callable[[int, Material], MilestoneReport]] = {
    FIRST: _first_report,
    LAST: _last_report,
}


def _chances(emotions: Sequence[EmotionReading], trust: TrustTrajectory | Absent) -> str:
    """Return how the chances stand, by the share of good feelings and the course of trust."""
    good = sum(one.emotion in POSITIVE for one in emotions) / max(1, len(emotions))
    rising = not isinstance(trust, Absent) and trust.direction == "rising"
    if good > 0.6 and rising:
        return "favourable"
    return "usual" if good > 0.4 else "unfavourable"


def sentiment_trend(emotions: Sequence[EmotionReading]) -> str:
    """Return where valence went from the five readings before to the last five."""
    recent, before = emotions[-_WINDOW:], emotions[-2 * _WINDOW : -_WINDOW]
    if not before:
        return "stable"
    change = sum(one.valence for one in recent) / len(recent)
    change -= sum(one.valence for one in before) / len(before)
    if abs(change) <= _TREND:
        return "stable"
    return "improving" if change > 0 else "declining"


def score_prediction(first: MilestoneReport | None, status: str) -> float | Absent:
    """Return 1 less half the Brier score of what turn 10 predicted: 1 is right and sure."""
    if first is None or isinstance(first.predicted_status_probs, Absent):
        return Absent("turn 10 left no prediction")
    brier = sum(
        (probability - (name == status)) ** 2
        for name, probability in first.predicted_status_probs.items()
    )
    return round(1.0 - brier / 2.0, DIGITS)


def efficiency(features: Features) -> tuple[float, float]:
    """Return the mean size of the sets, and that size as a share of all labels."""
    sets = features.conformal_result.prediction_sets
    share = sum(len(one) / len(FEATURES_BY_NAME[name].labels) for name, one in sets.items())
    return round(mean_size(sets), DIGITS), round(share / len(sets), DIGITS)


def memory_contribution(history: Sequence[Dated[Features]]) -> float:
    """Return how much surer memory made the features, on average over those that have a value.

    All evidence is added up again, once with what came from memory and once without.
    """
    seen = [one for dated in history for one in dated.value.observations]
    _, with_memory, _, observed = report(advance(FeatureState(), seen))
    _, without, _, _ = report(
        advance(FeatureState(), [one for one in seen if one.source != "memory"])
    )
    if not observed:
        return 0.0
    gains = [with_memory[name] - without[name] for name in observed]
    return round(sum(gains) / len(gains), DIGITS)


def convergence(history: Sequence[Dated[Features]]) -> dict[str, Convergence]:
    """Return for each feature whether it has settled."""
    return {name: _convergence(name, [dated.value for dated in history]) for name in NAMES}


def _convergence(name: str, history: Sequence[Features]) -> Convergence:
    values = [
        one.predicted_features[name] for one in history if one.predicted_features[name] is not None
    ]
    confidence = [one.feature_confidences[name] for one in history]
    recent: float | Absent = Absent("fewer than two updates had a value")
    if len(values) > 1:
        recent = _change(values[-_RECENT:])
    return Convergence(
        settled=len(values) >= _RECENT
        and not isinstance(recent, Absent)
        and recent <= _SETTLED_CHANGE
        and confidence[-1] >= _SETTLED_CONFIDENCE,
        updates=len(values),
        confidence_gain=round(confidence[-1] - confidence[0], DIGITS),
        recent_change=recent,
    )


def _change(values: Sequence[FeatureValue]) -> float:
    """Return how far a value moved: the range of numbers, 1 for another word."""
    numbers = [one[-1] if isinstance(one, tuple) else one for one in values]
    if all(isinstance(one, float) for one in numbers):
        floats = [float(one) for one in numbers if not isinstance(one, str | None)]
        return round(max(floats) - min(floats), DIGITS)
    return 0.0 if len(set(numbers)) == 1 else 1.0


def trajectory(history: Sequence[Dated[Features]]) -> TrustTrajectory | Absent:
    """Return the course of trust, message by message."""
    course = history[-1].value.state.trust_history if history else ()
    if not course:
        return Absent("trust was not read so far")
    slope = _slope(course)
    direction = "level" if abs(slope) < _LEVEL_SLOPE else "rising" if slope > 0 else "falling"
    return TrustTrajectory(
        start=course[0],
        end=course[-1],
        mean=round(sum(course) / len(course), DIGITS),
        lowest=min(course),
        highest=max(course),
        slope=slope,
        direction=direction,
        turning_points=_turns(course),
    )


def _slope(course: Sequence[float]) -> float:
    middle, mean = (len(course) - 1) / 2, sum(course) / len(course)
    spread = sum((index - middle) ** 2 for index in range(len(course)))
    if spread == 0:
        return 0.0
    lean = sum((index - middle) * (value - mean) for index, value in enumerate(course))
    return round(lean / spread, DIGITS)


def _turns(course: Sequence[float]) -> tuple[int, ...]:
    """Return the messages after which trust went the other way."""
    found, before = [], 0.0
    for index in range(1, len(course)):
        step = course[index] - course[index - 1]
        if step * before < 0:
            found.append(index)
        before = step or before
    return tuple(found)


def by_turn(reports: Sequence[Dated[MilestoneReport]]) -> Mapping[int, MilestoneReport]:
    """Return the reports so far under their turn numbers."""
    return {dated.turn: dated.value for dated in reports}
