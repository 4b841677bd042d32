"""Taking over what another program wrote into the file.

An MCard database that Salon opens for the first time has cards and handles that no audit entry
speaks of, and MCard may go on writing to a file that Salon knows. Adoption records what came and
what moved, so that the log accounts for everything again. It never excuses what is missing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import apsw

from salon.archive.audit.log import AuditWriter
from salon.archive.audit.replay import replay
from salon.core.events import CardsAdopted, HandlesAdopted
from salon.core.hashing import CardHash

PER_EVENT = 10_000
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """How much was taken over."""

    cards: int
    handles: int


def adopt(connection: apsw.Connection, audit: AuditWriter, *, by: str, at: str) -> Adopted:
    """Record every card and every handle position that the log does not know."""
    logged = replay(connection)
    cards = 0
    for hashes in _batches(logged.cards_never_logged()):
        adopted = tuple(CardHash(card) for card in hashes)
        audit.append(CardsAdopted(hashes=adopted), by=by, at=at)
        cards += len(adopted)
    there = connection.execute("SELECT handle, current_hash FROM handle_registry ORDER BY handle")
    moved = [(name, card) for name, card in there if logged.handles.get(str(name)) != card]
    for batch in _batches(iter(moved)):
        audit.append(
            HandlesAdopted(handles=tuple((str(name), str(card)) for name, card in batch)),
            by=by,
            at=at,
        )
    return Adopted(cards=cards, handles=len(moved))


def _batches(items: Iterator[T]) -> Iterator[list[T]]:
    while batch := list(islice(items, PER_EVENT)):
        yield batch
