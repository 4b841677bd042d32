"""How evidence adds up: Gaussian beliefs for numbers, counted evidence for options.

Numbers: variance is `max(0.001, 1 - confidence)`, and precisions add (the prior is 0.5 with
confidence 0.3). Evidence of low `weight` adds only that share of its precision, so that many weak
readings do not pass for knowledge.
Options: each piece of evidence adds its odds to its option, and evidence for another option halves
what was there before, so that what a person says last counts most and nothing is thrown away. The
value is the option with the most evidence; its confidence is its share, where one unit of evidence
is spread over all options from the start. Value and confidence can therefore never disagree.
"""

from collections.abc import Mapping

from salon.steps.feature_values import Belief

PRIOR_MEAN = 0.5
PRIOR_CONFIDENCE = 0.3
PRIOR = Belief(mean=PRIOR_MEAN, confidence=PRIOR_CONFIDENCE)
_LEAST_VARIANCE = 1e-3
_MOST_ODDS = 99.0
_FADING = 0.5
DIGITS = 6


def variance_of(confidence: float) -> float:
    """Return the variance that a confidence stands for."""
    return max(_LEAST_VARIANCE, 1.0 - confidence)


def update_belief(
    belief: Belief, value: float, confidence: float, *, weight: float = 1.0
) -> Belief:
    """Return a belief after one more reading of the number."""
    before, reading = 1.0 / variance_of(belief.confidence), weight / variance_of(confidence)
    precision = before + reading
    mean = (belief.mean * before + value * reading) / precision
    return Belief(mean=round(mean, DIGITS), confidence=round(1.0 - 1.0 / precision, DIGITS))


def loosen(belief: Belief, noise: float) -> Belief:
    """Return a belief about a number that may have moved since: its variance grows by `noise`."""
    variance = min(1.0 - PRIOR_CONFIDENCE, variance_of(belief.confidence) + noise)
    return Belief(mean=belief.mean, confidence=round(1.0 - variance, DIGITS))


def update_counts(
    counts: Mapping[str, float],
    option: str,
    confidence: float,
    *,
    weight: float = 1.0,
    is_mixed: bool = False,
) -> dict[str, float]:
    """Return the evidence for each option after one more piece for one of them.

    Where a person may be a mixture of options, evidence for one is none against the others.
    """
    odds = min(_MOST_ODDS, confidence / max(1.0 - confidence, 1e-9))
    fading = 1.0 if is_mixed else 1.0 - (1.0 - _FADING) * min(1.0, weight)
    faded = {
        name: round(count * (1.0 if name == option else fading), DIGITS)
        for name, count in counts.items()
    }
    return {**faded, option: round(faded.get(option, 0.0) + odds * weight, DIGITS)}


def shares(counts: Mapping[str, float], options: tuple[str, ...]) -> dict[str, float]:
    """Return the probability of each option: its evidence and its part of the one unit for all."""
    total = sum(counts.values()) + 1.0
    return {
        name: round((counts.get(name, 0.0) + 1.0 / len(options)) / total, DIGITS)
        for name in options
    }


def ranked(probabilities: Mapping[str, float]) -> list[str]:
    """Return the names from the most probable to the least; ties keep their order."""
    return sorted(probabilities, key=lambda name: -probabilities[name])
