"""Real reviews and real annotators: whether joined grades foresee a decision, who agrees with whom.

A paper's reviews are joined by the plain mean (the peer), by the council's geometric mean, and by
means weighted with how sure reviewers say they are, as given and as learned on other papers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from salon.core.absent import Absent
from salon.core.errors import InvalidInput
from salon.evaluation.attribution import auroc
from salon.evaluation.council_data import Annotated, Paper

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from salon.council.judges import Floats

    Flags = NDArray[np.bool_]

FOLDS, REPEATS, SEED, RESAMPLES = 10, 5, 20_261_115, 1_000
MEAN, GEOMETRIC, BY_CONFIDENCE = "mean score", "geometric mean", "weighted by confidence"
LEARNED = "weights learned by confidence"
_MIDDLE = 5.5
_LEVELS = (1, 2, 3, 4, 5)
_LOOSE, _TIGHT = 0.01, 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRow:
    """How well one way of joining reviews puts accepted papers before rejected ones."""

    system: str
    auroc: float
    low: float
    high: float
    brier: float | Absent
    """The squared error of its probability; only what is learned gives one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewsReport:
    """All ways of joining on the same papers."""

    papers: int
    accepted: int
    reviews: int
    rows: tuple[ReviewRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorsReport:
    """How three people agree who saw the same pairs."""

    pairs: int
    agreement: dict[str, float]
    """By annotator: how often it says what both others say, where those agree."""
    correlation: float | Absent
    effective: float | Absent
    unanimous: float


def evaluate_reviews(papers: Sequence[Paper]) -> ReviewsReport:
    """Join the reviews of the papers whose decision is known."""
    import numpy as np

    known = [paper for paper in papers if paper.accepted is not None and paper.graded()]
    truth = np.array([bool(paper.accepted) for paper in known])
    if not 0 < truth.sum() < len(truth):
        raise InvalidInput("there are no accepted and rejected papers with reviews to tell apart")
    scores = {name: np.array([join(one) for one in known]) for name, join in _JOINS.items()}
    rows = [
        _row(name, truth, found, Absent("it is no probability")) for name, found in scores.items()
    ]
    learned, brier = _learned(known, truth)
    rows.append(_row(LEARNED, truth, learned, brier))
    return ReviewsReport(
        papers=len(known),
        accepted=int(truth.sum()),
        reviews=sum(len(paper.graded()) for paper in known),
        rows=tuple(rows),
    )


def _grades(paper: Paper) -> list[tuple[float, float]]:
    """Return scores with how sure the reviewer is, in the middle where nothing is said."""
    return [(one.recommendation or 0.0, one.confidence or 3.0) for one in paper.graded()]


def _mean(paper: Paper) -> float:
    grades = _grades(paper)
    return sum(score for score, _ in grades) / len(grades)


def _geometric(paper: Paper) -> float:
    from math import exp, log

    grades = _grades(paper)
    return exp(sum(log(max(score, 0.5)) for score, _ in grades) / len(grades))


def _by_confidence(paper: Paper) -> float:
    grades = _grades(paper)
    sure = sum(confidence for _, confidence in grades)
    return sum(score * confidence for score, confidence in grades) / sure


_JOINS = {MEAN: _mean, GEOMETRIC: _geometric, BY_CONFIDENCE: _by_confidence}


def _learned(papers: Sequence[Paper], truth: "Flags") -> "tuple[Floats, float]":
    """Return scores weighted as learned on other papers, and the Brier score of their chances."""
    import numpy as np

    from salon.council.judges import fit_logistic, probability

    features = np.array([_features(paper) for paper in papers])
    sign = np.where(truth, 1.0, -1.0)
    ridge = np.array([_LOOSE, _LOOSE, *[_TIGHT] * len(_LEVELS)])
    rng = np.random.default_rng(SEED)
    found, errors = np.zeros(len(sign)), []
    for _ in range(REPEATS):
        folds = rng.permutation(len(sign)) % FOLDS
        said = np.zeros(len(sign))
        for fold in range(FOLDS):
            inside, outside = folds == fold, folds != fold
            weights = fit_logistic(features[outside] * sign[outside, None], ridge=ridge)
            said[inside] = features[inside] @ weights
            # As a mean score again: log-odds of two folds differ by how many papers each accepted.
            found[inside] += features[inside, 1:] @ weights[1:] / np.abs(weights[1:]).sum()
        errors.append(float(np.mean((probability(said) - truth) ** 2)))
    return np.round(found, 9), float(np.mean(errors))  # equal scores must stay equal


def _features(paper: Paper) -> list[float]:
    """Return a constant, the mean, and what each level of confidence adds to the mean."""
    grades = _grades(paper)
    by_level = [
        sum(score - _MIDDLE for score, sure in grades if round(sure) == level) / len(grades)
        for level in _LEVELS
    ]
    return [1.0, _mean(paper) - _MIDDLE, *by_level]


def _row(system: str, truth: "Flags", scores: "Floats", brier: float | Absent) -> ReviewRow:
    import numpy as np

    rng = np.random.default_rng(SEED)
    yes, no = np.flatnonzero(truth), np.flatnonzero(~truth)
    drawn = []
    for _ in range(RESAMPLES):
        rows = np.concatenate([rng.choice(yes, len(yes)), rng.choice(no, len(no))])
        drawn.append(auroc(truth[rows], scores[rows]) or 0.0)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return ReviewRow(
        system=system,
        auroc=auroc(truth, scores) or 0.0,
        low=float(low),
        high=float(high),
        brier=brier,
    )


def evaluate_annotators(pairs: Sequence[Annotated]) -> AnnotatorsReport:
    """Say how three annotators agree, and how many independent ones they are worth."""
    import numpy as np

    if not pairs:
        raise InvalidInput("there are no annotated pairs")
    table = np.array([(one.annotator1, one.annotator2, one.annotator3) for one in pairs])
    names = [f"annotator{number + 1}" for number in range(table.shape[1])]
    agreement = {}
    for number, name in enumerate(names):
        others = np.delete(table, number, axis=1)
        agreed = others[:, 0] == others[:, 1]
        agreement[name] = float((table[agreed, number] == others[agreed, 0]).mean())
    return AnnotatorsReport(
        pairs=len(pairs),
        agreement=agreement,
        correlation=(found := _correlation(table)),
        effective=found if isinstance(found, Absent) else 3 / (1 + 2 * max(0.0, found)),
        unanimous=float((table == table[:, :1]).all(axis=1).mean()),
    )


def _correlation(table: "Floats") -> float | Absent:
    """Return the mean correlation of the sides taken: first -1, neither 0, second 1."""
    import numpy as np

    sides = np.where(table == 1, -1.0, np.where(table == 2, 1.0, 0.0))
    if sides.std(axis=0).min() == 0:
        return Absent("an annotator always says the same")
    matrix = np.corrcoef(sides.T)
    return float(np.mean([matrix[one, other] for one, other in combinations(range(3), 2)]))
