"""What answered items say: a score, a label, and a calibrated set, for whichever were answered.

Each set of answered items has its own small model and its own quantile (Mondrian by what is known),
fitted and calibrated on people who answered the whole questionnaire. The promise is for people who
are exchangeable with those; how usual each answer is, given the ones before, is watched by a
martingale, and the promise is withdrawn when the answers look like nobody's.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from salon.steps.conformal import is_exchangeable, p_value, prediction_set, softmax
from salon.steps.questionnaire_items import ITEMS_BY_ID

_FILE = "conformal_items.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelModel:
    """A softmax model of one feature's labels for one set of answered items."""

    weights: tuple[tuple[float, ...], ...]
    """For each label: its intercept, then a weight for each answered item less 3."""
    threshold: float
    calibrated_on: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleModel:
    """A linear model of one score for one set of answered items."""

    weights: tuple[float, ...]
    r2: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Questionnaire:
    """One questionnaire's items and its models; a set of items is a bit mask."""

    name: str
    items: tuple[str, ...]
    mean: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    surprises: tuple[tuple[float, ...], ...]
    """For 0, 1, 2 … earlier answers: percentiles of how strange the next one is."""
    labels: dict[str, tuple[str, ...]]
    label_models: dict[str, dict[int, LabelModel]]
    scale_models: dict[str, dict[int, ScaleModel]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReading:
    """What answered items say about one feature."""

    feature: str
    value: float | str
    confidence: float
    """Share of the score's variance that the items explain, or the probability of the label."""
    prediction_set: tuple[str, ...]
    is_exchangeable: bool
    answered: int


@cache
def load_questionnaires() -> dict[str, Questionnaire]:
    """Return the questionnaires by name, as they were fitted."""
    text = resources.files("salon.steps").joinpath("weights", _FILE).read_text("utf-8")
    return {name: _questionnaire(name, one) for name, one in json.loads(text)["sets"].items()}


def _questionnaire(name: str, raw: Mapping[str, Any]) -> Questionnaire:
    return Questionnaire(
        name=name,
        items=tuple(raw["items"]),
        mean=tuple(raw["mean"]),
        covariance=tuple(tuple(row) for row in raw["covariance"]),
        surprises=tuple(tuple(row) for row in raw["surprises"]),
        labels={feature: tuple(one) for feature, one in raw["labels"].items()},
        label_models={
            feature: {
                int(mask): LabelModel(
                    weights=tuple(tuple(row) for row in one["weights"]),
                    threshold=one["threshold"],
                    calibrated_on=one["n"],
                )
                for mask, one in models.items()
            }
            for feature, models in raw["label_models"].items()
        },
        scale_models={
            feature: {
                int(mask): ScaleModel(weights=tuple(one["weights"]), r2=one["r2"])
                for mask, one in models.items()
            }
            for feature, models in raw["scale_models"].items()
        },
    )


def read_answers(
    answers: Mapping[str, int], questionnaires: Mapping[str, Questionnaire] | None = None
) -> dict[str, ItemReading]:
    """Return what the answered items say, by feature; features without any are not there."""
    known = load_questionnaires() if questionnaires is None else questionnaires
    by_set: dict[str, dict[str, int]] = {}
    for item, answer in answers.items():
        by_set.setdefault(ITEMS_BY_ID[item].questionnaire, {})[ITEMS_BY_ID[item].column] = answer
    found: dict[str, ItemReading] = {}
    for name, given in by_set.items():
        found.update(_read_one(known[name], given))
    return found


def _read_one(one: Questionnaire, given: Mapping[str, int]) -> dict[str, ItemReading]:
    mask, answered = subset_of(one.items, given)
    usual = is_exchangeable(answer_p_values(one, given))
    found = {}
    for feature, models in one.label_models.items():
        labels, model = one.labels[feature], models[mask]
        probabilities = label_probabilities(model, answered)
        best = max(range(len(labels)), key=lambda index: probabilities[index])
        scale = one.scale_models.get(feature, {}).get(mask)
        value: float | str = labels[best]
        confidence = probabilities[best]
        if scale is not None:
            value, confidence = scale_value(scale, answered), scale.r2
        found[feature] = ItemReading(
            feature=feature,
            value=value,
            confidence=round(confidence, 6),
            prediction_set=(
                prediction_set(labels, probabilities, model.threshold) if usual else labels
            ),
            is_exchangeable=usual,
            answered=len(given),
        )
    return found


def subset_of(items: Sequence[str], given: Mapping[str, int]) -> tuple[int, list[int]]:
    """Return which items were answered as a bit mask, and the answers in the items' order."""
    mask = sum(1 << index for index, item in enumerate(items) if item in given)
    return mask, [given[item] for item in items if item in given]


def label_probabilities(model: LabelModel, answered: Sequence[int]) -> list[float]:
    """Return the probability of each label."""
    return softmax([_linear(row, answered) for row in model.weights])


def scale_value(model: ScaleModel, answered: Sequence[int]) -> float:
    """Return the score, held inside 0 to 1."""
    return round(min(1.0, max(0.0, _linear(model.weights, answered))), 6)


def _linear(weights: Sequence[float], answered: Sequence[int]) -> float:
    return weights[0] + sum(
        weight * (answer - 3) for weight, answer in zip(weights[1:], answered, strict=True)
    )


def answer_p_values(one: Questionnaire, given: Mapping[str, int]) -> tuple[float, ...]:
    """Return for each answer, in the order of answering, how usual it is after the earlier ones."""
    order = [one.items.index(item) for item in given]
    values = [float(answer) for answer in given.values()]
    found = []
    for count, (index, value) in enumerate(zip(order, values, strict=True)):
        expected, spread = _given_earlier(one, order[:count], values[:count], index)
        strange = abs(value - expected) / spread
        found.append(round(p_value(strange, one.surprises[count]), 6))
    return tuple(found)


def _given_earlier(
    one: Questionnaire, earlier: list[int], values: list[float], index: int
) -> tuple[float, float]:
    """Return mean and deviation of an answer, given earlier ones, for a Gaussian of this shape."""
    if not earlier:
        return one.mean[index], math.sqrt(one.covariance[index][index])
    matrix = [[one.covariance[row][column] for column in earlier] for row in earlier]
    toward = [one.covariance[row][index] for row in earlier]
    weights = _solve(matrix, toward)
    expected = one.mean[index] + sum(
        weight * (value - one.mean[row])
        for weight, value, row in zip(weights, values, earlier, strict=True)
    )
    left = one.covariance[index][index] - sum(
        weight * also for weight, also in zip(weights, toward, strict=True)
    )
    return expected, math.sqrt(max(left, 1e-6))


def _solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Solve a small system of equations by elimination."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for pivot in range(size):
        for row in range(pivot + 1, size):
            factor = rows[row][pivot] / rows[pivot][pivot]
            rows[row] = [
                value - factor * above for value, above in zip(rows[row], rows[pivot], strict=True)
            ]
    found = [0.0] * size
    for row in reversed(range(size)):
        rest = sum(rows[row][column] * found[column] for column in range(row + 1, size))
        found[row] = (rows[row][size] - rest) / rows[row][row]
    return found
