"""Big Five from what somebody writes: ridge regression on sentence embeddings, and its worth.

It is worth little, and says so: the correlations are cross-validated, and the feature step gives
each reading a weight of r squared.
"""

from typing import TYPE_CHECKING

from salon.evaluation.trait_data import Numbers

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

RIDGE = 3.0
FOLDS = 10
_SEED = 7


def fit_ridge(vectors: Numbers, targets: Numbers, ridge: float = RIDGE) -> tuple[Numbers, Numbers]:
    """Return the weights, one column for each target, and the intercepts."""
    import numpy as np

    centre, middle = vectors.mean(axis=0), targets.mean(axis=0)
    shifted = vectors - centre
    inner = shifted.T @ shifted + ridge * np.eye(vectors.shape[1])
    weights = np.linalg.solve(inner, shifted.T @ (targets - middle))
    return weights, middle - centre @ weights


def out_of_fold(
    vectors: Numbers, targets: Numbers, *, ridge: float = RIDGE, folds: int = FOLDS
) -> Numbers:
    """Return what each person would be predicted by a model that never saw them."""
    import numpy as np

    fold = np.random.default_rng(_SEED).permutation(len(vectors)) % folds
    predicted = np.zeros_like(targets)
    for one in range(folds):
        weights, intercept = fit_ridge(vectors[fold != one], targets[fold != one], ridge)
        predicted[fold == one] = vectors[fold == one] @ weights + intercept
    return predicted


def cross_validated(vectors: Numbers, targets: Numbers, *, ridge: float = RIDGE) -> list[float]:
    """Return the cross-validated correlation with each target."""
    predicted = out_of_fold(vectors, targets, ridge=ridge)
    return [
        correlation(predicted[:, column], targets[:, column]) for column in range(targets.shape[1])
    ]


def correlation(one: "npt.NDArray[np.float64]", other: "npt.NDArray[np.float64]") -> float:
    """Return Pearson's r; 0 where one of the two does not vary."""
    import numpy as np

    if one.std() == 0 or other.std() == 0:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])
