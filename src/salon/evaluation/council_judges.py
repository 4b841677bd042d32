"""What each judge is like: how often right, how often it follows the order, how like the others."""

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from salon.core.absent import Absent
from salon.evaluation.council_data import RecordedVotes

if TYPE_CHECKING:
    from salon.council.judges import Floats

_Z = 1.959964


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRow:
    """One judge. `first_shown` is how often it chose what was shown first, with 95 % interval."""

    judge: str
    accuracy: float
    votes: int
    changes: float | Absent
    """The share of items on which it changed its mind with the order."""
    first_shown: float | Absent
    low: float | Absent
    high: float | Absent

    @property
    def is_biased(self) -> bool:
        """Tell whether the interval leaves out one half."""
        if isinstance(self.low, Absent) or isinstance(self.high, Absent):
            return False
        return self.low > 0.5 or self.high < 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """How alike the judges' mistakes are, and how many independent judges they are worth."""

    judges: int
    correlation: float | Absent
    effective: float | Absent


def judge_rows(votes: RecordedVotes) -> tuple[JudgeRow, ...]:
    """Return every judge, the one most often right first."""
    rows = [
        _judge(name, [order[:, number] for order in votes.panel.orders], votes.truth)
        for number, name in enumerate(votes.panel.judges)
    ]
    return tuple(sorted(rows, key=lambda row: (-row.accuracy, row.judge)))


def _judge(name: str, orders: "list[Floats]", truth: "Floats") -> JudgeRow:
    import numpy as np

    cast = [(one, truth) for one in orders]
    right = sum(int(((one == label) & (one != 0)).sum()) for one, label in cast)
    votes = sum(int((one != 0).sum()) for one in orders)
    accuracy = right / votes if votes else 0.5
    if len(orders) < 2:
        unknown = Absent("only one order was asked")
        return JudgeRow(
            judge=name,
            accuracy=accuracy,
            votes=votes,
            changes=unknown,
            first_shown=unknown,
            low=unknown,
            high=unknown,
        )
    asked, swapped = orders[0], orders[1]
    both = (asked != 0) & (swapped != 0)
    # The first answer is shown first in one order, the second answer in the other.
    firsts = np.concatenate([asked[asked != 0] < 0, swapped[swapped != 0] > 0])
    share = float(firsts.mean()) if len(firsts) else 0.5
    # Two votes on one item hang together, so only the items are counted as independent.
    low, high = _interval(share, max(1, int(both.sum())))
    return JudgeRow(
        judge=name,
        accuracy=accuracy,
        votes=votes,
        changes=float((asked[both] != swapped[both]).mean()) if both.any() else 0.0,
        first_shown=share,
        low=low,
        high=high,
    )


def _interval(share: float, count: int) -> tuple[float, float]:
    """Return Wilson's interval."""
    middle = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    spread = _Z * sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2)) / (1 + _Z**2 / count)
    return middle - spread, middle + spread


def likeness(votes: RecordedVotes) -> Likeness:
    """Return how alike the judges are once it is known who is right: shared mistakes."""
    import numpy as np

    right = votes.panel.says * votes.truth[:, None]
    varied = right[:, right.std(axis=0) > 0]
    count = len(votes.panel.judges)
    if varied.shape[1] < 2 or len(right) < 3:
        few = Absent("too few judges or items differ")
        return Likeness(judges=count, correlation=few, effective=few)
    matrix = np.asarray(np.corrcoef(varied.T))
    mean = float(matrix[~np.eye(len(matrix), dtype=bool)].mean())
    return Likeness(
        judges=count, correlation=mean, effective=count / (1 + (count - 1) * max(0.0, mean))
    )
