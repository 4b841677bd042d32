"""The 42-dimensional vector of a person, and the cosine of two of them.

One dimension for each of the 42 features, between -1 and 1. A number on 0 to 1 becomes `2x - 1`
(age: 18 to 80 mapped to that first), so that two people who are alike in being little interested
count as alike. Ordered options (drinks, smokes, drugs, education) lie evenly between -1 and 1.
Options without an order have no place on a line: the person's own entry is 1, and a candidate's is
how well its option goes with it, from -1 to 1 (the source's tables for ways of talking and goals,
same or not for the rest). What either does not have is masked: it adds nothing to the product and
nothing to the lengths. The features of the conversation itself are masked for every candidate.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

from salon.steps.bayes import DIGITS
from salon.steps.feature_list import FEATURE_LIST, Feature
from salon.steps.feature_values import FeatureValue

Values = Mapping[str, FeatureValue]
_ORDERED = frozenset(
    {"lifestyle_drinks", "lifestyle_smokes", "lifestyle_drugs", "background_education"}
)
_YOUNGEST, _OLDEST = 18.0, 80.0
TALK: dict[frozenset[str], float] = {
    frozenset(pair.split("-")): score
    for pair, score in {
        "direct-direct": 0.9, "direct-indirect": 0.3, "direct-humorous": 0.7,
        "direct-serious": 0.8, "direct-casual": 0.7, "direct-formal": 0.6,
        "indirect-indirect": 0.8, "indirect-humorous": 0.6, "indirect-serious": 0.7,
        "indirect-casual": 0.8, "indirect-formal": 0.7, "humorous-humorous": 0.95,
        "humorous-serious": 0.4, "humorous-casual": 0.9, "humorous-formal": 0.3,
        "serious-serious": 0.9, "serious-casual": 0.5, "serious-formal": 0.8,
        "casual-casual": 0.95, "casual-formal": 0.3, "formal-formal": 0.85,
    }.items()
}  # fmt: skip
GOALS: dict[frozenset[str], float] = {
    frozenset(pair.split("-")): score
    for pair, score in {
        "casual-casual": 1.0, "casual-serious": 0.2, "casual-friendship": 0.6,
        "casual-unsure": 0.7, "serious-serious": 1.0, "serious-friendship": 0.4,
        "serious-unsure": 0.6, "friendship-friendship": 0.95, "friendship-unsure": 0.7,
        "unsure-unsure": 0.8,
    }.items()
}  # fmt: skip
_TABLES = {"communication_style": TALK, "relationship_goals": GOALS}


class Vector(NamedTuple):
    """42 numbers, and which of them stand for something."""

    values: tuple[float, ...]
    known: tuple[bool, ...]


class Similarity(NamedTuple):
    """The cosine of two vectors, and how many dimensions both have."""

    cosine: float
    shared: int


def person_vector(values: Values) -> Vector:
    """Return the vector of a person."""
    return _vector({one.name: _own_entry(one, values.get(one.name)) for one in FEATURE_LIST})


def candidate_vector(values: Values, person: Values) -> Vector:
    """Return the vector of a candidate as it looks beside this person."""
    return _vector(
        {
            one.name: _entry_beside(one, values.get(one.name), person.get(one.name))
            for one in FEATURE_LIST
        }
    )


def compare(person: Values, candidate: Values) -> Similarity:
    """Return how alike two people are over what is known of both; 0 where nothing is."""
    return cosine(person_vector(person), candidate_vector(candidate, person))


def cosine(one: Vector, other: Vector) -> Similarity:
    """Return the cosine over the dimensions that both have; 0 where one of them has no length."""
    both = [
        (a, b)
        for a, b, known, also in zip(one.values, other.values, one.known, other.known, strict=True)
        if known and also
    ]
    lengths = math.sqrt(sum(a * a for a, _ in both)) * math.sqrt(sum(b * b for _, b in both))
    product = sum(a * b for a, b in both)
    return Similarity(round(product / lengths, DIGITS) if lengths else 0.0, len(both))


def _vector(entries: Mapping[str, float | None]) -> Vector:
    return Vector(
        tuple(0.0 if value is None else value for value in entries.values()),
        tuple(value is not None for value in entries.values()),
    )


def _own_entry(feature: Feature, value: FeatureValue) -> float | None:
    if isinstance(value, tuple):
        value = sum(value) / len(value) if value else None
    if value is None:
        return None
    if isinstance(value, str):
        return _place(feature, value) if feature.name in _ORDERED else 1.0
    if feature.name == "age":
        value = min(1.0, max(0.0, (value - _YOUNGEST) / (_OLDEST - _YOUNGEST)))
    if feature.name == "trust_velocity":
        return max(-1.0, min(1.0, value))
    return 2.0 * value - 1.0


def _entry_beside(feature: Feature, value: FeatureValue, person: FeatureValue) -> float | None:
    if not isinstance(value, str) or feature.name in _ORDERED:
        return _own_entry(feature, value)
    if not isinstance(person, str):
        return None
    table = _TABLES.get(feature.name)
    agreement = float(value == person) if table is None else table[frozenset({value, person})]
    return 2.0 * agreement - 1.0


def _place(feature: Feature, value: str) -> float:
    return 2.0 * feature.labels.index(value) / (len(feature.labels) - 1) - 1.0
