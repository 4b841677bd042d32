"""Numbers about a home, for whoever watches a server: no names, no texts, no ids.

Each number is cheap to ask for; a dashboard asks every few seconds.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from salon.archive.sqlite_archive import SqliteArchive
    from salon.gate.orders import Order
    from salon.retrieval.passage_index import Coverage

ROUNDS = "council/rounds/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """What there is and what waits, in numbers."""

    audit_entries: int
    orders: dict[str, int]
    """Orders about which something is still to be done or told, by state."""
    passages: int
    passages_with_vector: int
    index_behind: int
    """Audit entries that the index has not seen."""
    rounds: int


class MeasuringPart:
    """What the application can tell about its home in numbers."""

    if TYPE_CHECKING:

        @property
        def archive(self) -> SqliteArchive:
            """The application's archive."""

        outbox_orders: Callable[..., list[Order]]
        index_coverage: Callable[[], Coverage]

    def measurements(self) -> Measurements:
        """Return what there is in this home and what waits, in numbers."""
        coverage = self.index_coverage()
        return Measurements(
            audit_entries=self.archive.checkpoint().seq,
            orders=dict(Counter(str(one.state) for one in self.outbox_orders())),
            passages=coverage.passages,
            passages_with_vector=coverage.with_vector,
            index_behind=coverage.entries_behind,
            rounds=sum(1 for _ in self.archive.handles(prefix=ROUNDS)),
        )
