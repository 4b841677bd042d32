"""How good a ranking is, how honest its probabilities are, and whether a difference is noise.

Pure functions of rankings, judgements and numbers: nothing here searches or measures time.

The ranking measures are those of `trec_eval`: linear gain, logarithmic discount, an ideal ranking
made from all judgements, whether or not the documents were found. What nobody judged, and what was
judged zero or less, counts as not relevant.

Invariants: every measure lies in 0 to 1; calibration error does not depend on the order of its
pairs; the same numbers give the same interval on every run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Grades: TypeAlias = Mapping[str, int]
"""The judged documents of one query with their grades."""
Floats: TypeAlias = "npt.NDArray[np.float64]"

Binning: TypeAlias = Literal["equal_width", "equal_mass"]

BINS = 10
RESAMPLES = 10_000
SEED = 20_261_115
CONFIDENCE = 0.95
_RESAMPLES_AT_ONCE = 200  # a matrix of so many rows stays small for any number of queries


def ndcg(ranking: Sequence[str], grades: Grades, depth: int) -> float:
    """Return the discounted gain of the first `depth`, as a share of the best possible one."""
    ideal = _discounted(sorted((max(grade, 0) for grade in grades.values()), reverse=True)[:depth])
    if ideal == 0:
        return 0.0
    return _discounted([max(grades.get(name, 0), 0) for name in ranking[:depth]]) / ideal


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def recall(ranking: Sequence[str], grades: Grades, depth: int) -> float:
    """Return the share of the relevant documents that are among the first `depth`."""
    relevant = _relevant(grades)
    return len(relevant.intersection(ranking[:depth])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], grades: Grades, depth: int) -> float:
    """Return one over the rank of the first relevant document, zero if none is in `depth`."""
    relevant = _relevant(grades)
    ranks = (rank for rank, name in enumerate(ranking[:depth], start=1) if name in relevant)
    first = next(ranks, None)
    return 1 / first if first else 0.0


def average_precision(ranking: Sequence[str], grades: Grades) -> float:
    """Return the precision at each relevant document, averaged over all that are relevant."""
    relevant = _relevant(grades)
    found = 0
    total = 0.0
    for rank, name in enumerate(ranking, start=1):
        if name in relevant:
            found += 1
            total += found / rank
    return total / len(relevant) if relevant else 0.0


def judged_share(ranking: Sequence[str], grades: Grades, depth: int) -> float:
    """Return the share of the first `depth` on which somebody passed a judgement."""
    shown = ranking[:depth]
    return sum(name in grades for name in shown) / len(shown) if shown else 0.0


def _relevant(grades: Grades) -> set[str]:
    return {name for name, grade in grades.items() if grade > 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin:
    """Predictions of about the same probability, and how often they came true."""

    lower: float
    upper: float
    count: int
    predicted: float
    observed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """How far probabilities are from what they promise: the mean gap over the bins."""

    error: float
    bins: tuple[ReliabilityBin, ...]


def reliability(
    probabilities: Sequence[float],
    outcomes: Sequence[bool],
    *,
    binning: Binning,
    bins: int = BINS,
) -> Reliability | None:
    """Hold probabilities against outcomes, bin by bin; `None` where there are none.

    Bins have equal width between 0 and 1, or hold about equally many predictions. Equal
    predictions share a bin, so there may be fewer bins than asked for; empty ones are left out.
    """
    if not probabilities:
        return None
    predicted = np.asarray(probabilities, dtype=np.float64)
    observed = np.asarray(outcomes, dtype=np.float64)
    if predicted.shape != observed.shape:
        raise ValueError(f"{len(predicted)} predictions for {len(observed)} outcomes")
    if not ((predicted >= 0) & (predicted <= 1)).all():
        raise ValueError("a probability lies between 0 and 1")
    starts = _bin_starts(predicted, binning, bins)
    places = np.searchsorted(starts, predicted, side="right") - 1
    ends = np.append(starts[1:], 1.0)
    found = tuple(
        ReliabilityBin(
            lower=float(starts[place]),
            upper=float(ends[place]),
            count=int((places == place).sum()),
            predicted=float(predicted[places == place].mean()),
            observed=float(observed[places == place].mean()),
        )
        for place in np.unique(places).tolist()
    )
    gaps = sum(one.count * abs(one.predicted - one.observed) for one in found)
    return Reliability(error=gaps / len(predicted), bins=found)


def _bin_starts(predicted: Floats, binning: Binning, bins: int) -> Floats:
    if binning == "equal_width":
        return np.arange(bins) / bins
    places = np.arange(bins) * len(predicted) // bins
    return np.unique(np.sort(predicted)[places])


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """By how much one system is better than another over the same queries.

    `low` and `high` hold the true mean difference with 95 % confidence; `p` is how often a
    difference at least so far from zero comes about by the choice of queries alone.
    """

    mean: float
    low: float
    high: float
    p: float

    @property
    def verdict(self) -> Literal["better", "worse", "within noise"]:
        """What the interval says: on one side of zero, or across it."""
        if self.low > 0:
            return "better"
        return "worse" if self.high < 0 else "within noise"


def paired_bootstrap(
    ours: Sequence[float],
    theirs: Sequence[float],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Difference:
    """Compare two systems query by query, drawing the queries again and again."""
    differences = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    means = _resampled_means(differences, resamples, np.random.default_rng(seed))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    opposed = min(int((means <= 0).sum()), int((means >= 0).sum()))
    return Difference(
        mean=float(differences.mean()),
        low=float(low),
        high=float(high),
        p=min(1.0, 2 * (opposed + 1) / (resamples + 1)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerComparison:
    """By how much something is better than a peer over the same cases, as a report says it."""

    peer: str
    difference: float
    low: float
    high: float
    p: float
    verdict: str


def compare_with_peer(peer: str, ours: Sequence[float], theirs: Sequence[float]) -> PeerComparison:
    """Hold our figure for each case against the peer's for the same one."""
    found = paired_bootstrap(ours, theirs)
    return PeerComparison(
        peer=peer,
        difference=found.mean,
        low=found.low,
        high=found.high,
        p=found.p,
        verdict=found.verdict,
    )


def _resampled_means(values: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    means = np.empty(resamples)
    for start in range(0, resamples, _RESAMPLES_AT_ONCE):
        count = min(_RESAMPLES_AT_ONCE, resamples - start)
        drawn = rng.integers(0, len(values), size=(count, len(values)))
        means[start : start + count] = values[drawn].mean(axis=1)
    return means


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share of the values lies."""
    return float(np.percentile(values, share * 100))
