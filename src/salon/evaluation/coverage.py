"""How often prediction sets hold the truth, and how large they are: over many random splits.

Each split fits on a third of the people, calibrates on a third and looks at the last third, with
the same fitted model for ours and for `crepes`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from salon.core.errors import UnknownProvider
from salon.evaluation.trait_data import Labels, Numbers
from salon.steps.conformal import ALPHA, Score, quantile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Sets: TypeAlias = "npt.NDArray[np.bool_]"
_BINS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFigures:
    """What the sets of one method are worth, averaged over splits."""

    method: str
    coverage: float
    lowest: float
    highest: float
    mean_size: float
    splits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFigures:
    """One predicted feature: how good the point prediction is, and each method's sets."""

    target: str
    items: int
    people: int
    labels: int
    accuracy: float
    ece: float
    """Mean gap between the probability of the named label and how often it is right."""
    methods: tuple[SetFigures, ...]


def measure_splits(
    target: str, values: Numbers, classes: Labels, *, count: int, splits: int
) -> TargetFigures:
    """Measure our sets beside those of `crepes`, on the same models and the same people."""
    import numpy as np

    marks: dict[str, list[tuple[float, float]]] = {}
    right, gaps = [], []
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(values))
        fit, calibrate, test = np.array_split(order, 3)
        model = _fit(values[fit], classes[fit])
        before = _all_labels(model, values[calibrate], count)
        after = _all_labels(model, values[test], count)
        truth = classes[test]
        for name in ("lac", "aps"):
            sets = make_sets(before, classes[calibrate], after, name)
            marks.setdefault(f"salon, {name}", []).append(mark(sets, truth))
        known = np.isin(classes[calibrate], model.classes_)
        theirs = _crepes_sets(
            model, values[calibrate][known], classes[calibrate][known], values[test], seed=seed
        )
        marks.setdefault("crepes", []).append(mark(theirs, np.searchsorted(model.classes_, truth)))
        right.append(float((after.argmax(axis=1) == truth).mean()))
        gaps.append(calibration_error(after, truth))
    return TargetFigures(
        target=target,
        items=values.shape[1],
        people=len(values),
        labels=count,
        accuracy=float(np.mean(right)),
        ece=float(np.mean(gaps)),
        methods=tuple(summed(name, some) for name, some in marks.items()),
    )


def summed(method: str, marks: Sequence[tuple[float, float]]) -> SetFigures:
    """Return what several splits say together."""
    covered = [one for one, _ in marks]
    return SetFigures(
        method=method,
        coverage=sum(covered) / len(covered),
        lowest=min(covered),
        highest=max(covered),
        mean_size=sum(size for _, size in marks) / len(marks),
        splits=len(marks),
    )


def make_sets(calibration: Numbers, classes: Labels, probabilities: Numbers, score: Score) -> Sets:
    """Return which labels are in each person's set."""
    import numpy as np

    own = strangeness(calibration, score)[np.arange(len(classes)), classes]
    strange = strangeness(probabilities, score)
    inside: Sets = strange <= quantile(own.tolist(), ALPHA)
    empty = ~inside.any(axis=1)
    inside[empty, strange[empty].argmin(axis=1)] = True
    return inside


def strangeness(probabilities: Numbers, score: Score) -> Numbers:
    """Return `conformal.scores_of` for many people at once."""
    import numpy as np

    if score == "lac":
        return 1.0 - probabilities
    at_least = probabilities[:, None, :] >= probabilities[:, :, None]
    shares: Numbers = np.where(at_least, probabilities[:, None, :], 0.0).sum(axis=2)
    return shares


def mark(sets: Sets, truth: Labels) -> tuple[float, float]:
    """Return how often the truth was inside, and the mean size."""
    import numpy as np

    return float(sets[np.arange(len(truth)), truth].mean()), float(sets.sum(axis=1).mean())


def calibration_error(probabilities: Numbers, truth: Labels) -> float:
    """Return the expected calibration error of the named label, over ten bins."""
    import numpy as np

    sure, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
    place = np.minimum((sure * _BINS).astype(int), _BINS - 1)
    total = 0.0
    for one in range(_BINS):
        inside = place == one
        if inside.any():
            total += inside.mean() * abs(float(sure[inside].mean() - right[inside].mean()))
    return float(total)


def _fit(values: Numbers, classes: Labels) -> Any:
    linear = peer_module("sklearn.linear_model")
    return linear.LogisticRegression(max_iter=1000).fit(values, classes)


def peer_module(name: str) -> Any:
    """Return a module of a peer, or raise `UnknownProvider` with how to get it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise UnknownProvider(
            f"{name.partition('.')[0]} is not installed", hint="pip install 'salon[eval]'"
        ) from error


def _all_labels(model: Any, values: Numbers, count: int) -> Numbers:
    """Return a column for each label, 0 for one that the fitting people did not have."""
    import numpy as np

    found = np.zeros((len(values), count))
    found[:, model.classes_] = model.predict_proba(values)
    return found


def _crepes_sets(
    model: Any, calibration: Numbers, classes: Labels, asked: Numbers, *, seed: int
) -> Sets:
    import numpy as np

    wrapped = peer_module("crepes").WrapClassifier(model)
    wrapped.calibrate(calibration, classes, seed=seed)
    sets = wrapped.predict_set(asked, confidence=1 - ALPHA, labels=False, seed=seed)
    return np.asarray(sets, dtype=bool)
