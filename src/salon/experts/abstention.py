"""When to answer: a calibrated probability that the best quote answers, and a threshold on it.

The weights and thresholds that ship were fitted on labelled questions (`tools/train_abstention.py`,
figures in docs/guides/answers.md). An avatar may have thresholds of its own from `salon calibrate`.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from salon.experts.evidence import Signs

UNPROMISED = 0.3
"""How sure an avatar must be that nobody calibrated; it then never speaks with confidence."""
_CLAMP = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstention:
    """A logistic model over the signs, and the thresholds that keep a promise at each `alpha`.

    Questions and claims have weights of their own; thresholds are those of questions.
    """

    weights: Mapping[str, float]
    thresholds: Mapping[float, float]
    fitted_on: str

    def probability(self, signs: Signs) -> float:
        """Return the probability that the best quote answers the question."""
        values = features(signs)
        total = sum(self.weights[name] * value for name, value in values.items())
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))

    def threshold(self, alpha: float) -> float:
        """Return the threshold for a tolerated risk: that of the nearest stricter one known."""
        stricter = [known for known in self.thresholds if known <= alpha + 1e-9]
        return self.thresholds[max(stricter)] if stricter else 1.0


def features(signs: Signs) -> dict[str, float]:
    """Return the signs on the scale of odds, as the model takes them."""
    kind = "question" if signs.is_question else "claim"
    if signs.read is not None:
        kind += " read"
    values = {
        "one": 1.0,
        "best": _logit(signs.best),
        "second": _logit(signs.second),
        "passage": _logit(signs.passage),
        "next_passage": _logit(signs.next_passage),
        "covered": signs.covered,
        **({} if signs.read is None else {"read": signs.read}),
    }
    return {f"{kind} {name}": value for name, value in values.items()}


@cache
def shipped() -> Abstention:
    """Return the model that comes with Salon."""
    text = resources.files("salon.experts").joinpath("weights/abstention.json").read_text("utf-8")
    found = json.loads(text)
    return Abstention(
        weights=found["weights"],
        thresholds={float(alpha): value for alpha, value in found["thresholds"].items()},
        fitted_on=found["fitted_on"],
    )


def _logit(probability: float) -> float:
    held = min(max(probability, _CLAMP), 1 - _CLAMP)
    return math.log(held / (1 - held))
