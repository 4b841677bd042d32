"""How heavy a seat's vote is, learned from what became of the chapters it graded.

A chapter that was published held or failed: a person or a later check says so (`outcomes`). A seat
that approved what held and refused what failed gains; one that approves everything has told nothing
and loses. Weights are log-odds, 1 for a seat without a record, and never below 0.
They rank nothing by themselves: the plain geometric mean decides and the weighted one stands beside
it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import e, log

from salon.core.hashing import CardHash
from salon.council.ballots import LEAST_MEAN, LEAST_SCORE, counted_votes
from salon.council.rounds import Round, Verdict, Vote
from salon.council.seats import Seat

_PRIOR_OUTCOMES = 4.0
"""A seat starts as if it had been judged so often, half of it on chapters that held."""
_PRIOR_RIGHT = e / (1 + e)
"""And as if it had been right so often, which is a weight of 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """What one seat said of a chapter, and what became of the chapter."""

    seat: Seat
    approved: bool
    held: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """A seat's record on chapters whose outcome is known, and the weight that follows."""

    seat: Seat
    approved_held: int = 0
    approved_failed: int = 0
    refused_held: int = 0
    refused_failed: int = 0

    @property
    def outcomes(self) -> int:
        """Return how many outcomes there are."""
        return self.right + self.approved_failed + self.refused_held

    @property
    def right(self) -> int:
        """Return how often the seat was right."""
        return self.approved_held + self.refused_failed

    @property
    def log_odds(self) -> float:
        """Return the log-odds of its being right, on chapters that held and that failed alike."""
        held = _share(self.approved_held, self.refused_held)
        failed = _share(self.refused_failed, self.approved_failed)
        right = (held + failed) / 2
        return log(right / (1 - right))

    @property
    def weight(self) -> float:
        """Return the weight of this seat's vote: 1 without a record, never below 0."""
        return max(0.0, self.log_odds)


def _share(right: int, wrong: int) -> float:
    half = _PRIOR_OUTCOMES / 2
    return (right + half * _PRIOR_RIGHT) / (right + wrong + half)


def is_approval(vote: Vote) -> bool:
    """Tell whether a vote would have published: its verdict, or its scorecard by row 20."""
    if vote.verdict is not None:
        return vote.verdict is Verdict.UP
    return vote.scores.mean >= LEAST_MEAN and vote.scores.lowest >= LEAST_SCORE


def graded(
    rounds: Iterable[Round],
    held: Mapping[str, bool],
    *,
    souls: Mapping[Seat, CardHash] | None = None,
) -> list[Graded]:
    """Return what each seat said of the published chapters whose outcome is known, by round id.

    With `souls` only what a seat said while it had the soul that is named there: a new soul does
    not inherit the record of the one before.
    """
    return [
        Graded(seat=vote.seat, approved=is_approval(vote), held=held[round_.id])
        for round_ in rounds
        if round_.published is not None and round_.id in held
        for vote in counted_votes(round_)
        if vote.candidate == round_.published.candidate
        and (souls is None or round_.souls.get(vote.seat) == souls.get(vote.seat))
    ]


def reliabilities(history: Iterable[Graded]) -> dict[Seat, Reliability]:
    """Return the record of every seat, also of those that have none yet."""
    counts = Counter((one.seat, one.approved, one.held) for one in history)
    return {
        seat: Reliability(
            seat=seat,
            approved_held=counts[seat, True, True],
            approved_failed=counts[seat, True, False],
            refused_held=counts[seat, False, True],
            refused_failed=counts[seat, False, False],
        )
        for seat in Seat
    }


def seat_weights(history: Iterable[Graded]) -> dict[Seat, float]:
    """Return the weight of every seat's vote; with no history all weigh the same."""
    return {seat: one.weight for seat, one in reliabilities(history).items()}
