"""Status and kind of a relationship as probabilities, from evidence; and the chain to the next.

A filter over five ordered statuses: yesterday's probabilities move by the chain, then evidence
(how long, how trusting, how romantic, how well it feels) weighs them. So a status is not lost by
one dull turn, and is lost when the evidence has gone; whoever uses it must say so. With somebody
under 18, nothing romantic is ever read.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from salon.steps.bayes import DIGITS
from salon.steps.feature_list import REL_TYPES, STATUSES
from salon.steps.relationship_cues import Cues

_FIRST = (0.55, 0.3, 0.1, 0.04, 0.01)
"""Where a conversation begins, before any evidence."""
_BACK = 0.05
_DOUBT = 0.02
_SPREAD = 0.45
_FAMILIAR_AFTER = 8.0
_ADULT = 18
_ROMANTIC = frozenset({"crush", "dating", "committed"})
ADVANCE_CHANCE: dict[str, float] = {"favourable": 0.6, "usual": 0.3, "unfavourable": 0.1}
"""How probable one step on is until the next reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for one status or another."""

    turn: int
    trust: float
    sentiment: str
    cues: Cues
    goals: str | None = None
    age: float | None = None

    @property
    def is_minor(self) -> bool:
        """Tell whether the person said that they are under 18."""
        return self.age is not None and self.age < _ADULT


def closeness(evidence: Evidence) -> float:
    """Return where the evidence lies on the line from stranger (0) to committed (4)."""
    strength = evidence.cues.strength
    familiar = 1.0 - math.exp(-evidence.turn / _FAMILIAR_AFTER)
    place = 1.3 * familiar * (0.4 + 0.6 * evidence.trust)
    place += 1.2 * strength["romantic"]
    place += 1.6 * (strength["dating"] > 0) + 2.6 * (strength["committed"] > 0)
    place -= 0.4 * (evidence.sentiment == "negative") + 1.2 * strength["distancing"]
    return min(4.0, max(0.0, place))


def status_probabilities(
    evidence: Evidence, before: Mapping[str, float] | None
) -> dict[str, float]:
    """Return the probability of each status; `before` is what the last reading found."""
    place = closeness(evidence)
    prior = dict(zip(STATUSES, _FIRST, strict=True)) if before is None else _moved(before)
    weighed = {
        status: prior[status] * math.exp(-((place - index) ** 2) / (2 * _SPREAD**2))
        for index, status in enumerate(STATUSES)
    }
    total = sum(weighed.values())
    doubted = {
        status: (1 - _DOUBT) * value / total + _DOUBT / len(STATUSES)
        for status, value in weighed.items()
    }
    return _normal(doubted, _ROMANTIC if evidence.is_minor else frozenset())


def type_probabilities(evidence: Evidence) -> dict[str, float]:
    """Return the probability of each kind of relationship."""
    strength = evidence.cues.strength
    familiar = 1.0 - math.exp(-evidence.turn / _FAMILIAR_AFTER)
    romance = max(strength["romantic"], strength["dating"], strength["committed"])
    weights = {
        "love": 0.1 + 2.0 * romance + 0.2 * (evidence.goals == "serious"),
        "friendship": 0.2 + familiar * evidence.trust + 1.2 * strength["friendly"]
        + 0.4 * (evidence.goals == "friendship"),
        "family": 0.03 + 2.0 * strength["family"],
        "other": 0.1 + 0.7 * (1.0 - familiar) + 0.3 * strength["distancing"],
    }  # fmt: skip
    return _normal(
        {name: weights[name] for name in REL_TYPES},
        frozenset({"love"}) if evidence.is_minor else frozenset(),
    )


def outlook(trust: float, velocity: float | None, sentiment: str) -> str:
    """Return how the chances stand: `favourable`, `usual` or `unfavourable`."""
    if trust > 0.7 and sentiment == "positive" and (velocity or 0.0) > 0:
        return "favourable"
    if trust < 0.5 or sentiment == "negative":
        return "unfavourable"
    return "usual"


def transition_row(status: str, chance: float) -> dict[str, float]:
    """Return where a status leads: stay, or one step on; the last one stays."""
    index = STATUSES.index(status)
    row = dict.fromkeys(STATUSES, 0.0)
    if index == len(STATUSES) - 1:
        return {**row, status: 1.0}
    return {**row, status: round(1.0 - chance, DIGITS), STATUSES[index + 1]: round(chance, DIGITS)}


def look_ahead(probabilities: Mapping[str, float], chance: float, steps: int) -> dict[str, float]:
    """Return the probabilities after so many steps of the chain."""
    now = dict(probabilities)
    for _ in range(steps):
        after = dict.fromkeys(STATUSES, 0.0)
        for status, share in now.items():
            for following, probability in transition_row(status, chance).items():
                after[following] += share * probability
        now = after
    return _normal(now, frozenset())


def likeliest(probabilities: Mapping[str, float]) -> str:
    """Return the most probable name; the first of several."""
    return max(probabilities, key=lambda name: probabilities[name])


def _moved(before: Mapping[str, float]) -> dict[str, float]:
    """Return the probabilities after one step of the chain, with a little way back."""
    ahead = look_ahead(before, ADVANCE_CHANCE["usual"], 1)
    shares = [ahead[status] for status in STATUSES]
    back = [*shares[1:], 0.0]
    return {
        status: (1 - _BACK) * share + _BACK * after
        for status, share, after in zip(STATUSES, shares, back, strict=True)
    }


def _normal(weights: Mapping[str, float], excluded: frozenset[str]) -> dict[str, float]:
    """Return weights as probabilities of 6 digits that sum to 1 exactly."""
    kept = {name: 0.0 if name in excluded else weight for name, weight in weights.items()}
    total = sum(kept.values())
    rounded = {name: round(weight / total, DIGITS) for name, weight in kept.items()}
    top = likeliest(rounded)
    rounded[top] = round(rounded[top] + 1.0 - sum(rounded.values()), DIGITS)
    return rounded
