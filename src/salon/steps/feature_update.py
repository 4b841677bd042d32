"""From evidence to the 42 features: adding to what is known, and reading values off it.

Pure functions. `advance` adds observations to a state and loses nothing that they do not speak of;
`report` reads values, confidences and sets off a state. What rests on no evidence is `None`.
MBTI and attachment are inferred from the Big Five as the source does; where attachment items were
answered, they decide instead.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from salon.steps.bayes import (
    DIGITS,
    PRIOR,
    PRIOR_CONFIDENCE,
    ranked,
    shares,
    update_belief,
    update_counts,
)
from salon.steps.conformal import ALPHA
from salon.steps.feature_list import (
    BIG_FIVE,
    FEATURE_LIST,
    FEATURES_BY_NAME,
    INTERESTS,
    LOVE_LANGUAGES,
    MIXED,
)
from salon.steps.feature_values import (
    Belief,
    ConformalResult,
    FeatureState,
    FeatureValue,
    Observation,
)
from salon.steps.questionnaires import ItemReading, read_answers
from salon.steps.trust import velocity_of

_MBTI_SHARE = 0.8
_ATTACHMENT_SHARE = 0.7
_STATED_CONFIDENCE = 0.98
_ENOUGH = 0.5
"""A type or a style is named only where each trait behind it is at least so sure. Wording alone
does not get there: without this, every stranger would be called disorganized."""
_WITHDRAWN = "the answers are unlike those of the people the sets were calibrated on"
OPENNESS, CONSCIENTIOUSNESS, EXTRAVERSION, AGREEABLENESS, NEUROTICISM = BIG_FIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The value of one feature, and how sure it is."""

    value: FeatureValue
    confidence: float


UNKNOWN = Known(value=None, confidence=PRIOR_CONFIDENCE)
Report = tuple[dict[str, FeatureValue], dict[str, float], ConformalResult, tuple[str, ...]]


def advance(state: FeatureState, observations: Iterable[Observation]) -> FeatureState:
    """Return what is known after these observations, in their order."""
    beliefs, counts, stated = dict(state.beliefs), dict(state.counts), dict(state.stated)
    for one in observations:
        kind = FEATURES_BY_NAME[one.feature].kind
        if isinstance(one.value, str):
            counts[one.feature] = update_counts(
                counts.get(one.feature, {}),
                one.value,
                one.confidence,
                weight=one.weight,
                is_mixed=one.feature in MIXED,
            )
        elif kind == "stated":
            stated[one.feature] = one.value
        else:
            beliefs[one.feature] = update_belief(
                beliefs.get(one.feature, PRIOR), one.value, one.confidence, weight=one.weight
            )
    return replace(state, beliefs=beliefs, counts=counts, stated=stated)


def report(state: FeatureState, relationship: Mapping[str, Known] | None = None) -> Report:
    """Return values, confidences, sets, and the names of what any evidence was seen for."""
    items = read_answers(state.answers)
    known: dict[str, Known] = {
        **{name: _trait(state, items, name) for name in (*BIG_FIVE, *INTERESTS)},
        **{name: _option(state, name) for name in FEATURES_BY_NAME
           if FEATURES_BY_NAME[name].kind == "options"},
        "age": _stated(state, "age"),
    }  # fmt: skip
    known |= infer_mbti(known)
    known |= _attachment(known, items)
    known |= _second_language(state)
    known |= _trust(state)
    known |= dict(relationship or {})
    values = {one.name: known.get(one.name, UNKNOWN).value for one in FEATURE_LIST}
    confidences = {
        one.name: round(known.get(one.name, UNKNOWN).confidence, DIGITS) for one in FEATURE_LIST
    }
    observed = tuple(name for name, value in values.items() if value is not None)
    return values, confidences, prediction_sets(items), observed


def prediction_sets(items: Mapping[str, ItemReading]) -> ConformalResult:
    """Return the calibrated sets where items were answered, and all labels elsewhere."""
    labelled = [one for one in FEATURE_LIST if one.labels]
    calibrated = {
        one.name: one.name in items and items[one.name].is_exchangeable for one in labelled
    }
    return ConformalResult(
        prediction_sets={
            one.name: items[one.name].prediction_set if calibrated[one.name] else one.labels
            for one in labelled
        },
        coverage_guarantee=round(1.0 - ALPHA, DIGITS) if any(calibrated.values()) else 1.0,
        calibrated=calibrated,
        withdrawn={
            name: _WITHDRAWN for name, reading in items.items() if not reading.is_exchangeable
        },
    )


def _trait(state: FeatureState, items: Mapping[str, ItemReading], name: str) -> Known:
    belief = state.beliefs.get(name)
    reading = items.get(name)
    if reading is not None and not isinstance(reading.value, str):
        belief = update_belief(belief or PRIOR, reading.value, reading.confidence)
    return UNKNOWN if belief is None else Known(value=belief.mean, confidence=belief.confidence)


def _option(state: FeatureState, name: str) -> Known:
    counts = state.counts.get(name)
    if not counts:
        return UNKNOWN
    probabilities = shares(counts, FEATURES_BY_NAME[name].labels)
    best = ranked(probabilities)[0]
    return Known(value=best, confidence=probabilities[best])


def _stated(state: FeatureState, name: str) -> Known:
    if name not in state.stated:
        return UNKNOWN
    return Known(value=state.stated[name], confidence=_STATED_CONFIDENCE)


def infer_mbti(known: Mapping[str, Known]) -> dict[str, Known]:
    """Return axes, type and its confidence; the type needs all four traits behind it."""
    axes = {
        "mbti_ei": _number(known[EXTRAVERSION]),
        "mbti_sn": _number(known[OPENNESS]),
        "mbti_tf": _mirrored(_number(known[AGREEABLENESS])),
        "mbti_jp": _number(known[CONSCIENTIOUSNESS]),
    }
    found = {
        name: Known(value=axis.mean, confidence=axis.confidence)
        for name, axis in axes.items()
        if axis is not None
    }
    present = [axis for axis in axes.values() if axis is not None and axis.confidence >= _ENOUGH]
    if len(present) < len(axes):
        return found
    letters = "".join(
        pair[0] if axis.mean > 0.5 else pair[1]
        for pair, axis in zip(("EI", "NS", "TF", "JP"), present, strict=True)
    )
    sure = round(_MBTI_SHARE * sum(axis.confidence for axis in present) / len(present), DIGITS)
    return {
        **found,
        "mbti_type": Known(value=letters, confidence=sure),
        "mbti_confidence": Known(value=sure, confidence=sure),
    }


def _attachment(known: Mapping[str, Known], items: Mapping[str, ItemReading]) -> dict[str, Known]:
    if "attachment_style" in items:
        return {
            name: Known(value=items[name].value, confidence=items[name].confidence)
            for name in ("attachment_style", "attachment_anxiety", "attachment_avoidance")
        }
    return infer_attachment(known)


def infer_attachment(known: Mapping[str, Known]) -> dict[str, Known]:
    """Return attachment as the source infers it: anxiety is neuroticism, avoidance 1 - E."""
    nerves, warmth, outward = (
        _number(known[name]) for name in (NEUROTICISM, AGREEABLENESS, EXTRAVERSION)
    )
    found = {}
    if nerves is not None:
        found["attachment_anxiety"] = Known(
            value=nerves.mean, confidence=_ATTACHMENT_SHARE * nerves.confidence
        )
    if outward is not None:
        found["attachment_avoidance"] = Known(
            value=round(1.0 - outward.mean, DIGITS),
            confidence=_ATTACHMENT_SHARE * outward.confidence,
        )
    if nerves is None or warmth is None or outward is None:
        return found
    confidences = [one.confidence for one in (nerves, warmth, outward)]
    if min(confidences) < _ENOUGH:
        return found
    sure = _ATTACHMENT_SHARE * sum(confidences) / len(confidences)
    style = attachment_style(nerves.mean, warmth.mean, outward.mean)
    return {**found, "attachment_style": Known(value=style, confidence=sure)}


def attachment_style(neuroticism: float, agreeableness: float, extraversion: float) -> str:
    """Return the style that three traits are taken to mean."""
    rules = (
        ("secure", neuroticism < 0.4 and agreeableness > 0.6),
        ("anxious", neuroticism > 0.6 and agreeableness < 0.4),
        ("avoidant", extraversion < 0.4 and neuroticism > 0.5),
        ("disorganized", True),
    )
    return next(style for style, applies in rules if applies)


def _second_language(state: FeatureState) -> dict[str, Known]:
    counts = state.counts.get("primary_love_language", {})
    probabilities = shares(counts, LOVE_LANGUAGES)
    order = ranked(probabilities)
    if len([one for one in counts.values() if one > 0]) < 2:
        return {}
    return {"secondary_love_language": Known(value=order[1], confidence=probabilities[order[1]])}


def _trust(state: FeatureState) -> dict[str, Known]:
    if state.trust is None:
        return {}
    sure, speed = state.trust.confidence, velocity_of(state.trust_history)
    found = {
        "trust_score": Known(value=state.trust.mean, confidence=sure),
        "trust_history": Known(value=state.trust_history, confidence=sure),
    }
    return (
        found if speed is None else {**found, "trust_velocity": Known(value=speed, confidence=sure)}
    )


def _number(known: Known) -> Belief | None:
    if not isinstance(known.value, float):
        return None
    return Belief(mean=known.value, confidence=known.confidence)


def _mirrored(belief: Belief | None) -> Belief | None:
    return None if belief is None else replace(belief, mean=round(1.0 - belief.mean, DIGITS))
