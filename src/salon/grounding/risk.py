"""Risk control: how sure one must be to answer, so that few of the answers are unsupported.

Labelled questions give pairs of a score and whether the answer was right. From a strict threshold
downwards, each is accepted as long as an upper confidence bound on the rate of wrong answers among
those given stays at or below `alpha`; the first failure ends the search, so looking at many
thresholds costs nothing (Learn-then-Test with fixed sequences, begun at a few shares of questions
that are fixed beforehand and share `delta`). With probability `1 - delta` over the labelled
questions, the rate on new questions of the same kind is at most `alpha`. Where too little is
labelled to promise anything, there is no threshold, not a guess.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

DEFAULT_ALPHA = 0.1
DEFAULT_DELTA = 0.1
_STARTS = (0.05, 0.2, 0.45)
"""Shares of the questions that are answered where a search begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A question that was asked: how sure the answer was, and whether it was right."""

    score: float
    is_right: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What a threshold means on labelled questions."""

    threshold: float
    answered: int
    wrong: int
    of: int

    @property
    def risk(self) -> float:
        """Return the share of wrong answers among those given."""
        return self.wrong / self.answered if self.answered else 0.0

    @property
    def coverage(self) -> float:
        """Return the share of questions that were answered."""
        return self.answered / self.of if self.of else 0.0


def risk_curve(judged: Sequence[Judged]) -> list[Point]:
    """Return one point per score that occurs, from the strictest threshold to the loosest."""
    points, wrong = [], 0
    ordered = sorted(judged, key=lambda one: -one.score)
    for answered, one in enumerate(ordered, start=1):
        wrong += not one.is_right
        if answered == len(ordered) or ordered[answered].score < one.score:
            points.append(
                Point(threshold=one.score, answered=answered, wrong=wrong, of=len(ordered))
            )
    return points


def find_threshold(
    judged: Sequence[Judged], *, alpha: float = DEFAULT_ALPHA, delta: float = DEFAULT_DELTA
) -> Point | None:
    """Return the loosest threshold that can be promised, `None` if none can."""
    curve, share = risk_curve(judged), delta / len(_STARTS)
    fewest = _fewest(alpha, share)
    best = None
    for start in _STARTS:
        begins = max(fewest, math.ceil(start * len(judged)))
        for point in curve:
            if point.answered < begins:
                continue
            # The bound is at most alpha where so few mistakes at that rate are this improbable.
            if _at_most(point.wrong, point.answered, alpha) > share:
                break
            if best is None or point.answered > best.answered:
                best = point
    return best


def upper_bound(wrong: int, answered: int, delta: float = DEFAULT_DELTA) -> float:
    """Return what the true rate is at most, with probability `1 - delta` (Clopper and Pearson)."""
    if answered == 0 or wrong >= answered:
        return 1.0
    low, high = wrong / answered, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _at_most(wrong, answered, middle) > delta:
            low = middle
        else:
            high = middle
    return high


def _fewest(alpha: float, delta: float) -> int:
    """Return how many answers without a mistake it takes to promise anything."""
    return math.ceil(math.log(delta) / math.log1p(-alpha))


def _at_most(wrong: int, answered: int, rate: float) -> float:
    """Return the probability of so few wrong answers at a rate: the binomial distribution."""
    log_rate, log_rest = math.log(rate), math.log1p(-rate) if rate < 1 else -math.inf
    if log_rest == -math.inf:
        return 0.0
    total = 0.0
    log_ways = 0.0
    for count in range(wrong + 1):
        if count:
            log_ways += math.log(answered - count + 1) - math.log(count)
        total += math.exp(log_ways + count * log_rate + (answered - count) * log_rest)
    return min(total, 1.0)
