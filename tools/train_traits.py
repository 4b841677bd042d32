"""Fit what reads traits: `python -m tools.train_traits [--data FOLDER]`.

Writes `conformal_items.json` (models and calibrated quantiles for every set of answered items, from
`openpsych_ecr` and `openpsych_big5`) and `traits_text.npz` with `traits_text.json` (Big Five from
the embedding of what somebody writes, from `openpsych_sentences`). Half of the people fit, the
other half calibrate. The same data give the same bytes.
"""

import argparse
import json
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from salon.evaluation.trait_data import (
    Answered,
    Labels,
    Numbers,
    read_attachment,
    read_big_five,
    read_sentences,
)
from salon.evaluation.trait_text import cross_validated, fit_ridge
from salon.providers.embedders.minilm import open_minilm
from salon.providers.embedders.options import EmbedderOptions
from salon.steps.conformal import ALPHA, quantile
from salon.steps.questionnaire_items import ATTACHMENT, ITEMS
from salon.steps.trait_reader import wording_vector
from tools.data_folder import add_data_option

OUT = Path(__file__).parents[1] / "src" / "salon" / "steps" / "weights"
_SEED = 20261115
_DIGITS = 5
_PERCENTILES = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    parser.add_argument("--only", choices=("items", "text"))
    given = parser.parse_args()
    if given.only != "text":
        _train_items(given.data)
    if given.only != "items":
        _train_text(given.data)


def _train_items(data: Path) -> None:
    sets = {
        ATTACHMENT: read_attachment(data / "openpsych_ecr" / "data.csv.gz"),
        **read_big_five(data / "openpsych_big5" / "data.tsv.gz"),
    }
    fitted = {
        "alpha": ALPHA,
        "sets": {name: _fit_questionnaire(name, people) for name, people in sets.items()},
    }
    (OUT / "conformal_items.json").write_text(
        json.dumps(fitted, separators=(",", ":")) + "\n", "utf-8"
    )


def _fit_questionnaire(name: str, people: Answered) -> dict[str, Any]:
    columns = [item.column for item in ITEMS if item.questionnaire == name]
    answers = people.answers[:, [people.columns.index(one) for one in columns]]
    order = np.random.default_rng(_SEED).permutation(len(answers))
    fit, calibrate = order[: len(order) // 2], order[len(order) // 2 :]
    label_models: dict[str, dict[str, Any]] = {feature: {} for feature in people.classes}
    scale_models: dict[str, dict[str, Any]] = {feature: {} for feature in people.scales}
    for count in range(1, len(columns) + 1):
        for chosen in combinations(range(len(columns)), count):
            mask = str(sum(1 << index for index in chosen))
            some = answers[:, chosen] - 3
            for feature, classes in people.classes.items():
                label_models[feature][mask] = _fit_labels(
                    some, classes, fit, calibrate, len(people.labels[feature])
                )
            for feature, scale in people.scales.items():
                scale_models[feature][mask] = _fit_scale(some, scale, fit, calibrate)
    print(f"{name}: {len(answers):,} people, items {', '.join(columns)}")
    return {
        "items": columns,
        "mean": _rounded(answers[fit].mean(axis=0)),
        "covariance": _rounded(np.cov(answers[fit].T)),
        "surprises": _surprises(answers, fit, calibrate),
        "labels": people.labels,
        "label_models": label_models,
        "scale_models": scale_models,
    }


def _fit_labels(
    some: Numbers, classes: Labels, fit: Labels, calibrate: Labels, count: int
) -> dict[str, Any]:
    linear = import_module("sklearn.linear_model")
    model = linear.LogisticRegression(max_iter=1000).fit(some[fit], classes[fit])
    weights = np.full((count, some.shape[1] + 1), 0.0)
    weights[:, 0] = -20.0  # a label that nobody had
    weights[model.classes_] = np.c_[model.intercept_, model.coef_]
    weights = np.round(weights, _DIGITS)
    logits = weights[:, 0] + some[calibrate] @ weights[:, 1:].T
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities = powers / powers.sum(axis=1, keepdims=True)
    scores = 1 - probabilities[np.arange(len(calibrate)), classes[calibrate]]
    # Answers are few, so scores tie; a hair more keeps ties inside after rounding.
    threshold = quantile(scores.tolist()) + 1e-9
    return {"weights": _rounded(weights), "threshold": round(threshold, 9), "n": len(calibrate)}


def _fit_scale(some: Numbers, scale: Numbers, fit: Labels, check: Labels) -> dict[str, Any]:
    design = np.c_[np.ones(len(some)), some]
    weights = np.linalg.lstsq(design[fit], scale[fit], rcond=None)[0]
    left = scale[check] - design[check] @ weights
    return {
        "weights": _rounded(weights),
        "r2": round(float(1 - left.var() / scale[check].var()), _DIGITS),
    }


def _surprises(answers: Numbers, fit: Labels, calibrate: Labels) -> list[list[float]]:
    """Return percentiles of how strange the next answer is, over random orders of answering."""
    rng = np.random.default_rng(_SEED)
    mean, covariance = answers[fit].mean(axis=0), np.cov(answers[fit].T)
    width = answers.shape[1]
    strange: list[list[float]] = [[] for _ in range(width)]
    for _ in range(30):
        order = rng.permutation(width)
        people = answers[rng.choice(calibrate, 500, replace=False)]
        for count in range(width):
            known, index = order[:count], order[count]
            weights = np.linalg.solve(covariance[np.ix_(known, known)], covariance[known, index])
            expected = mean[index] + (people[:, known] - mean[known]) @ weights
            spread = np.sqrt(covariance[index, index] - weights @ covariance[known, index])
            strange[count] += (np.abs(people[:, index] - expected) / spread).tolist()
    points = (np.arange(_PERCENTILES) + 0.5) / _PERCENTILES
    return [_rounded(np.quantile(one, points)) for one in strange]


def _train_text(data: Path) -> None:
    people = read_sentences(data / "openpsych_sentences" / "data1_bigfive.csv.gz")
    with open_minilm("minilm", EmbedderOptions(threads=1)) as embedder:
        vectors = np.stack([wording_vector(one, embedder) for one in people.parts]).astype(float)
    features = tuple(people.scales)
    targets = np.column_stack([people.scales[name] for name in features])
    weights, intercept = fit_ridge(vectors, targets)
    correlations = cross_validated(vectors, targets)
    np.savez(
        OUT / "traits_text.npz",
        weights=weights.astype(np.float32),
        intercept=intercept.astype(np.float32),
    )
    report = {
        "features": features,
        "people": len(people.texts),
        "r": {name: round(value, 4) for name, value in zip(features, correlations, strict=True)},
    }
    (OUT / "traits_text.json").write_text(json.dumps(report, indent=2) + "\n", "utf-8")
    print(report)


def _rounded(values: Any) -> Any:
    return np.round(np.asarray(values, dtype=np.float64), _DIGITS).tolist()


if __name__ == "__main__":
    main()
