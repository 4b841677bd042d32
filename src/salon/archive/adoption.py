"""Taking over what another program wrote into the file.

An MCard database that Salon opens for the first time has cards and handles that no audit entry
speaks of. Adoption records them, so that from then on the log accounts for everything.
"""

from collections.abc import Iterator
from itertools import islice
from typing import TypeVar

import apsw

from salon.archive.audit_log import AuditWriter, ChainSigner
from salon.core.events import CardsAdopted, HandlesAdopted

PER_EVENT = 10_000
T = TypeVar("T")


def adopt(connection: apsw.Connection, signer: ChainSigner | None, *, by: str, at: str) -> int:
    """Record every card and handle that the log does not know; return how many cards."""
    audit = AuditWriter(connection, signer)
    adopted = 0
    for hashes in _batches(row[0] for row in connection.execute(_FOREIGN_CARDS)):
        audit.append(CardsAdopted(hashes=tuple(hashes)), by=by, at=at)
        adopted += len(hashes)
    pairs = connection.execute("SELECT handle, current_hash FROM handle_registry ORDER BY handle")
    for batch in _batches((handle, current) for handle, current in pairs):
        audit.append(HandlesAdopted(handles=tuple(batch)), by=by, at=at)
    audit.seal()
    return adopted


_FOREIGN_CARDS = "SELECT hash FROM card ORDER BY rowid"


def _batches(items: Iterator[T]) -> Iterator[list[T]]:
    while batch := list(islice(items, PER_EVENT)):
        yield batch
