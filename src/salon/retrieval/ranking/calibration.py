"""Turning evidence into probabilities: a logistic curve, and how to fit one.

It knows nothing of words and vectors. How honest probabilities turn out to be is measured
elsewhere (`salon.evaluation.metrics`).

Invariant: no slope of a fitted curve is negative, so more evidence never makes a passage less
probable, and a list in the order of its evidence is in the order of its probabilities.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = "npt.NDArray[np.float64]"

RIDGE = 1e-6
"""Keeps slopes finite where evidence parts the outcomes without exception."""
_MOST_STEPS = 200
_LONGEST_STEP = 5.0
_STILL = 1e-8


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The log-odds of relevance: `start`, and each piece of evidence times its slope."""

    start: float
    slopes: tuple[float, ...]


def as_probabilities(log_odds: Floats) -> Floats:
    """Return the probabilities that belong to log-odds, however large."""
    return 0.5 * (1.0 + np.tanh(0.5 * log_odds))


def fit_curve(evidence: Floats, outcomes: Floats, importance: Floats) -> Curve:
    """Return the curve that makes the outcomes most likely.

    `evidence` has a row for each outcome (0 or 1) and a column for each piece; `importance` says
    how much each row counts. A piece that would speak against relevance gets no slope.
    """
    kept = list(range(evidence.shape[1]))
    fitted = _most_likely(evidence, outcomes, importance)
    while kept and fitted[1:].min() < 0:
        del kept[int(fitted[1:].argmin())]
        fitted = _most_likely(evidence[:, kept], outcomes, importance)
    slopes = np.zeros(evidence.shape[1])
    slopes[kept] = fitted[1:]
    return Curve(start=float(fitted[0]), slopes=tuple(slopes.tolist()))


def _most_likely(evidence: Floats, outcomes: Floats, importance: Floats) -> Floats:
    """Return start and slopes, by Newton's method."""
    rows = np.column_stack([np.ones(len(evidence)), evidence])
    counts = importance / importance.sum()
    ridge = np.full(rows.shape[1], RIDGE)
    found = np.zeros(rows.shape[1])
    for _ in range(_MOST_STEPS):
        expected = as_probabilities(rows @ found)
        gradient = rows.T @ (counts * (outcomes - expected)) - ridge * found
        spread = counts * expected * (1.0 - expected)
        step = np.linalg.solve((rows * spread[:, None]).T @ rows + np.diag(ridge), gradient)
        longest = float(np.abs(step).max())
        # Far from the goal the curve is flat, and a whole step would overshoot.
        found += step * min(1.0, _LONGEST_STEP / max(longest, _STILL))
        if longest < _STILL:
            break
    return found


def curve_between(alphas: Sequence[float], curves: Sequence[Curve], alpha: float) -> Curve:
    """Return the curve for an `alpha` between those that curves were fitted for."""
    columns = zip(*(curve.slopes for curve in curves), strict=True)
    return Curve(
        start=float(np.interp(alpha, alphas, [curve.start for curve in curves])),
        slopes=tuple(float(np.interp(alpha, alphas, column)) for column in columns),
    )
