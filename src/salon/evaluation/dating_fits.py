"""Fitting and judging models of speed dates: ridge logistic regression, evening by evening.

A model is always judged on evenings that it has not seen: people of one evening met the same
people, so dates of one evening are not independent.
"""

from collections.abc import Callable
from typing import NamedTuple

from salon.evaluation.attribution import auroc
from salon.evaluation.dating_data import Numbers, Whole
from salon.steps.match_model import LogisticModel

RIDGE_BEFORE = 300.0
RIDGE_PROFILE = 100.0
RIDGE_RATINGS = 100.0
_ROUNDS = 30


class Standard(NamedTuple):
    """Numbers with mean 0 and deviation 1 where known; 0 where not."""

    mean: Numbers
    spread: Numbers


def standard_of(values: Numbers) -> Standard:
    """Return mean and deviation of each column, over what is known."""
    import numpy as np

    known = ~np.isnan(values)
    counts = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, values, 0.0).sum(axis=0) / counts
    spread = np.sqrt(np.where(known, (values - mean) ** 2, 0.0).sum(axis=0) / counts)
    return Standard(mean, np.where(spread > 0, spread, 1.0))


def standardised(values: Numbers, standard: Standard) -> Numbers:
    """Return columns on the scale of a standard; what is not known is average."""
    import numpy as np

    return np.nan_to_num((values - standard.mean) / standard.spread, nan=0.0)


def fit_logistic(values: Numbers, outcome: Whole, ridge: float) -> tuple[Numbers, float]:
    """Return weights and intercept of a ridge logistic model, by Newton's method."""
    import numpy as np

    design = np.column_stack([np.ones(len(values)), values])
    penalty = np.diag([0.0] + [ridge] * values.shape[1])
    weights = np.zeros(design.shape[1])
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(-design @ weights))
        slope = design.T @ (outcome - chance) - penalty @ weights
        curve = (design * (chance * (1 - chance))[:, None]).T @ design + penalty
        step = np.linalg.solve(curve, slope)
        weights = weights + step
        if np.abs(step).max() < 1e-8:
            break
    return weights[1:], float(weights[0])


def fit_model(
    names: tuple[str, ...], values: Numbers, outcome: Whole, ridge: float
) -> LogisticModel:
    """Fit a model that can be written down."""
    standard = standard_of(values)
    weights, intercept = fit_logistic(standardised(values, standard), outcome, ridge)
    return LogisticModel(
        names=names,
        mean=tuple(round(float(one), 5) for one in standard.mean),
        spread=tuple(round(float(one), 5) for one in standard.spread),
        weights=tuple(round(float(one), 5) for one in weights),
        intercept=round(intercept, 5),
    )


def model_scores(model: LogisticModel, values: Numbers) -> Numbers:
    """Return the probability of each row by a model that was written down."""
    import numpy as np

    scaled = standardised(values, Standard(np.array(model.mean), np.array(model.spread)))
    chances: Numbers = 1 / (1 + np.exp(-(scaled @ np.array(model.weights) + model.intercept)))
    return chances


Fit = Callable[[Numbers, Whole], Callable[[Numbers], Numbers]]
"""From rows and outcomes to what scores other rows."""


def our_fit(ridge: float) -> Fit:
    """Return how we fit: standardised columns, ridge logistic regression."""

    def fit(values: Numbers, outcome: Whole) -> Callable[[Numbers], Numbers]:
        import numpy as np

        standard = standard_of(values)
        weights, intercept = fit_logistic(standardised(values, standard), outcome, ridge)
        return lambda rows: 1 / (1 + np.exp(-(standardised(rows, standard) @ weights + intercept)))

    return fit


def leave_one_wave_out(values: Numbers, outcome: Whole, wave: Whole, fit: Fit) -> Numbers:
    """Return the score of each date by a model that never saw its evening."""
    import numpy as np

    scores = np.zeros(len(outcome))
    for one in np.unique(wave):
        predict = fit(values[wave != one], outcome[wave != one])
        scores[wave == one] = predict(values[wave == one])
    return scores


def auroc_by_wave(scores: Numbers, outcome: Whole, wave: Whole) -> dict[int, float]:
    """Return the AUROC inside each evening that has both outcomes."""
    import numpy as np

    found, middle = {}, float(np.nanmean(scores))
    for one in np.unique(wave):
        inside = wave == one
        area = auroc(outcome[inside] == 1, np.nan_to_num(scores[inside], nan=middle))
        if area is not None:
            found[int(one)] = float(area)
    return found
