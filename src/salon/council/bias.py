"""What else moves a vote: where a candidate stood, and how like the voter's own draft it is.

Both are slopes of grades, compared within a draft and within a voter at once: a good draft is
good wherever it stands, and a strict voter is strict in every place. What is left of a grade after
that is laid against place or likeness. Measures only; no vote is changed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import NamedTuple

from salon.core.absent import Absent
from salon.council.ballots import counted_votes
from salon.council.rounds import Round, Vote
from salon.council.seats import Seat

_LEAST_LEFT = 10
"""Below so many degrees of freedom an interval would be wider than the scale."""
_SWEEPS = 200
_STILL = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """How many points a grade moves per step, with its 95 % interval, and from how many grades."""

    points: float
    low: float
    high: float
    grades: int

    @property
    def is_beyond_noise(self) -> bool:
        """Tell whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0


class _Grade(NamedTuple):
    draft: str
    voter: str
    seat: Seat
    score: float
    cause: float


def position_bias(rounds: Sequence[Round], *, seat: Seat | None = None) -> Slope | Absent:
    """Return the points a candidate gains per place further back in a voter's order.

    Negative: what is shown earlier gets more. With `seat`, of that voter alone, against the others'
    grades of the same drafts.
    """
    return _slope(rounds, lambda _, vote: float(vote.position), seat)


def self_preference(rounds: Sequence[Round], *, seat: Seat | None = None) -> Slope | Absent:
    """Return the points that a draft citing all that the voter's own draft cites gains over none.

    The others' grades of the same draft say what it is worth; positive means that voters favour
    what rests on their own sources.
    """
    return _slope(rounds, _likeness, seat)


def _slope(
    rounds: Sequence[Round], cause: Callable[[Round, Vote], float | None], seat: Seat | None
) -> Slope | Absent:
    found = _grades(rounds, cause)
    if seat is None:
        groups = [_groups([one.draft for one in found]), _groups([one.voter for one in found])]
    else:
        found = _beside_others(found, seat)
        groups = [_groups([one.voter for one in found])]
    left = len(found) - 1 - sum(map(len, groups))
    if left < _LEAST_LEFT:
        return Absent(f"{len(found)} grades are too few to tell")
    scores = _without_means(groups, [one.score for one in found])
    causes = _without_means(groups, [one.cause for one in found])
    spread = fsum(one**2 for one in causes)
    if spread < _STILL:
        return Absent("nothing differs between the voters that could be compared")
    both = list(zip(causes, scores, strict=True))
    points = fsum(x * y for x, y in both) / spread
    noise = fsum((y - points * x) ** 2 for x, y in both) / left
    margin = _t_975(left) * sqrt(noise / spread)
    return Slope(points=points, low=points - margin, high=points + margin, grades=len(found))


def _beside_others(grades: Sequence[_Grade], seat: Seat) -> list[_Grade]:
    """Return one seat's grades less what the others gave the same drafts."""
    drafts: dict[str, list[_Grade]] = {}
    for one in grades:
        drafts.setdefault(one.draft, []).append(one)
    found = []
    for own in (one for one in grades if one.seat is seat):
        others = [one.score for one in drafts[own.draft] if one.seat is not seat]
        if others:
            found.append(own._replace(score=own.score - fsum(others) / len(others)))
    return found


def _grades(rounds: Sequence[Round], cause: Callable[[Round, Vote], float | None]) -> list[_Grade]:
    found = []
    for number, round_ in enumerate(rounds):
        for attempt in range(round_.attempt + 1):
            for vote in counted_votes(round_, attempt=attempt):
                moved_by = cause(round_, vote)
                if vote.verdict is None and moved_by is not None:
                    found.append(
                        _Grade(
                            draft=f"{number}/{attempt}/{vote.candidate}",
                            voter=f"{number}/{attempt}/{vote.seat}",
                            seat=vote.seat,
                            score=vote.scores.mean,
                            cause=moved_by,
                        )
                    )
    return found


def _likeness(round_: Round, vote: Vote) -> float | None:
    """Return what share of the cards cited by the voter's own draft the candidate cites too."""
    own: set[str] = set()
    theirs: set[str] = set()
    for one in round_.candidates:
        if one.attempt == vote.attempt and not one.is_fusion:
            cited = {citation.hash for citation in one.citations}
            if one.id == vote.candidate:
                theirs |= cited
            elif vote.seat in one.authors:
                own |= cited
    return len(own & theirs) / len(own) if own else None


def _without_means(
    groups: Sequence[Sequence[Sequence[int]]], values: Sequence[float]
) -> list[float]:
    """Take out each group's mean, one grouping after the other until nothing moves."""
    left = list(values)
    for _ in range(_SWEEPS):
        moved = 0.0
        for rows in (rows for grouping in groups for rows in grouping):
            mean = fsum(left[row] for row in rows) / len(rows)
            moved = max(moved, abs(mean))
            for row in rows:
                left[row] -= mean
        if moved < _STILL:
            break
    return left


def _groups(names: Sequence[str]) -> list[list[int]]:
    found: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        found.setdefault(name, []).append(row)
    return list(found.values())


def _t_975(degrees: int) -> float:
    """Return the 97.5 % point of Student's t, to two digits from ten degrees on."""
    z = 1.959964
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
