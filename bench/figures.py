"""What a measurement gives: rows of a table, each figure beside a peer's."""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

Measurement: TypeAlias = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is measured; tests measure less."""

    repetitions: int = 5
    batch: int = 10_000
    card_bytes: int = 120
    writers: int = 32
    adds_per_writer: int = 150
    slow_adds_per_writer: int = 25
    single_commits: int = 2_000
    slow_single_commits: int = 60
    reads: int = 20_000
    stream_bytes: int = 100_000_000
    export_card_bytes: int = 65_536
    passages: int = 100_000
    passage_characters: int = 1_000
    queries: int = 200
    embedded_passages: int = 400
    readers: int = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table: a figure beside its peer's, and what either should reach."""

    name: str
    what: str
    unit: str
    salon: float
    peer: float | None = None
    peer_is: str
    least_ratio: float | None = None
    most_ratio: float | None = None
    least: float | None = None
    below: float | None = None
    repetitions: int

    @property
    def ratio(self) -> float | None:
        """Return Salon's figure over the peer's."""
        return None if self.peer is None else self.salon / self.peer

    @property
    def is_met(self) -> bool | None:
        """Tell whether the goal is met; `None` where there is none."""
        if self.below is not None:
            return self.salon < self.below
        if self.least is not None:
            return self.salon >= self.least
        if self.ratio is not None and self.least_ratio is not None:
            return self.ratio >= self.least_ratio
        if self.ratio is not None and self.most_ratio is not None:
            return self.ratio <= self.most_ratio
        return None

    def as_json(self) -> dict[str, object]:
        """Return the row for machines."""
        return {
            "name": self.name,
            "what": self.what,
            "unit": self.unit,
            "salon": self.salon,
            "peer": self.peer,
            "peer_is": self.peer_is,
            "ratio": self.ratio,
            "goal_ratio": self.least_ratio,
            "goal_most_ratio": self.most_ratio,
            "goal_least": self.least,
            "goal_below": self.below,
            "met": self.is_met,
            "repetitions": self.repetitions,
        }


class Stopwatch:
    """Seconds between entering and leaving `timed`."""

    seconds = 0.0


@contextmanager
def timed() -> Iterator[Stopwatch]:
    """Measure what happens inside."""
    watch = Stopwatch()
    began = time.perf_counter()
    yield watch
    watch.seconds = time.perf_counter() - began


def alternate(salon: Measurement, peer: Measurement, repetitions: int) -> tuple[float, float]:
    """Run both sides in turns and return the median of each."""
    pairs = [(salon(), peer()) for _ in range(repetitions)]
    return statistics.median(pair[0] for pair in pairs), statistics.median(
        pair[1] for pair in pairs
    )
