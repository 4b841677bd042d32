"""A learned score for two people: the probability of a match, fitted on speed dates.

It uses what is known before two people meet and what a profile has: ages and interests. That says
little (see docs/guides/features.md for the figures by evening), so it stands beside the cosine and
does not replace it. People on those evenings were students in one city; candidates are invented.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from salon.steps.feature_values import FeatureValue

INTERESTS_ASKED = ("music", "sports", "food", "arts", "tech", "outdoors", "books")
"""Interests that the evenings asked for; travel was not."""
PAIR_FEATURES: tuple[str, ...] = (
    "age_sum",
    "age_gap",
    "interest_similarity",
    *(f"{name}_sum" for name in INTERESTS_ASKED),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticModel:
    """A logistic model of standardised numbers; one that is not known counts as average."""

    names: tuple[str, ...]
    mean: tuple[float, ...]
    spread: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float

    def probability(self, values: Sequence[float | None]) -> float:
        """Return the probability for these numbers."""
        total = self.intercept
        for value, mean, spread, weight in zip(
            values, self.mean, self.spread, self.weights, strict=True
        ):
            if value is not None:
                total += weight * (value - mean) / spread
        return round(1.0 / (1.0 + math.exp(-total)), 6)


@cache
def load_match_model() -> LogisticModel:
    """Return the model as it was fitted."""
    return read_model(_file()["models"]["profile"])


def fitted_waves() -> tuple[int, ...]:
    """Return the evenings that the model was fitted on."""
    return tuple(_file()["waves"])


def _file() -> dict[str, Any]:
    text = resources.files("salon.steps").joinpath("weights", "matching.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def read_model(raw: Mapping[str, object]) -> LogisticModel:
    """Return a model from its file."""

    def numbers(name: str) -> tuple[float, ...]:
        values = raw[name]
        return tuple(float(one) for one in values) if isinstance(values, list) else ()

    names = raw["names"]
    return LogisticModel(
        names=tuple(map(str, names)) if isinstance(names, list) else (),
        mean=numbers("mean"),
        spread=numbers("spread"),
        weights=numbers("weights"),
        intercept=float(str(raw["intercept"])),
    )


def pair_values(
    one: Mapping[str, FeatureValue], other: Mapping[str, FeatureValue]
) -> tuple[float | None, ...]:
    """Return the numbers that the model looks at, the same whoever comes first."""
    ages = _numbers(one, other, "age")
    interests = {name: _numbers(one, other, f"interest_{name}") for name in INTERESTS_ASKED}
    gaps = [abs(pair[0] - pair[1]) for pair in interests.values() if pair]
    return (
        sum(ages) if ages else None,
        abs(ages[0] - ages[1]) if ages else None,
        1.0 - sum(gaps) / len(gaps) if gaps else None,
        *(sum(pair) if pair else None for pair in interests.values()),
    )


def _numbers(
    one: Mapping[str, FeatureValue], other: Mapping[str, FeatureValue], name: str
) -> tuple[float, float] | None:
    first, second = one.get(name), other.get(name)
    if isinstance(first, float) and isinstance(second, float):
        return first, second
    return None
