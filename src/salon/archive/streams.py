"""Large content: in and out of the archive in pieces, never whole in memory."""

import io
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

import apsw

from salon.archive import rows
from salon.archive.card_writes import require_card_size
from salon.archive.transaction import SqliteTransaction
from salon.core.cards import MAX_CARD_BYTES, AddedCard
from salon.core.clock import GTime
from salon.core.errors import HashMismatch, InvalidInput
from salon.core.hashing import Algorithm, CardHash, algorithm_of, new_digest

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PIECE = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A stream that was read once: where it begins, how long it is, what it hashes to."""

    stream: BinaryIO
    begins: int
    size: int
    hash: CardHash
    algorithm: Algorithm


@contextmanager
def measured(stream: BinaryIO, algorithm: Algorithm) -> Iterator[Measured]:
    """Hash a stream, spooling it to a temporary file if it cannot be read twice."""
    if stream.seekable():
        yield _measure(stream, None, algorithm)
        return
    with tempfile.TemporaryFile() as spool:
        yield _measure(stream, spool, algorithm)


def read_exactly(stream: BinaryIO, size: int) -> bytes:
    """Read so many bytes, also from a stream that gives a few at a time; fewer at its end."""
    pieces = []
    while size and (piece := stream.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _measure(stream: BinaryIO, spool: BinaryIO | None, algorithm: Algorithm) -> Measured:
    begins = 0 if spool else stream.tell()
    if not spool:
        require_card_size(_remaining(stream, begins))
    digest, size = new_digest(algorithm), 0
    # One byte beyond the limit is enough to know.
    while piece := stream.read(min(PIECE, MAX_CARD_BYTES + 1 - size)):
        size += len(piece)
        if size > MAX_CARD_BYTES:
            require_card_size(size)
        digest.update(piece)
        if spool:
            spool.write(piece)
    require_card_size(size)
    return Measured(
        stream=spool or stream,
        begins=begins,
        size=size,
        hash=CardHash(digest.hexdigest()),
        algorithm=algorithm,
    )


def _remaining(stream: BinaryIO, begins: int) -> int:
    remaining = stream.seek(0, os.SEEK_END) - begins
    stream.seek(begins)
    return remaining


def insert_measured(transaction: SqliteTransaction, content: Measured, g_time: GTime) -> AddedCard:
    """Insert a measured stream, unless it is known; a collision climbs like any other."""
    connection = transaction.connection
    known = rows.find_card_row(connection, content.hash)
    if known is not None:
        rowid, info = known
        if info.size == content.size and _is_same(connection, rowid, content):
            return AddedCard(content.hash, False)
        content.stream.seek(content.begins)
        whole = read_exactly(content.stream, content.size)
        return transaction.add(whole, algorithm=content.algorithm)
    connection.execute(
        "INSERT INTO card (hash, content, g_time) VALUES (?, zeroblob(?), ?)",
        (content.hash, content.size, g_time),
    )
    digest = new_digest(content.algorithm)
    content.stream.seek(content.begins)
    with connection.blob_open(
        "main", "card", "content", connection.last_insert_rowid(), True
    ) as blob:
        left = content.size
        while left and (piece := content.stream.read(min(PIECE, left))):
            digest.update(piece)
            blob.write(piece)
            left -= len(piece)
    if digest.hexdigest() != content.hash:
        raise InvalidInput(
            "the file changed while it was read",
            hint="run the same command again; nothing was kept",
        )
    added = AddedCard(content.hash, True)
    transaction.record_added([added])
    return added


def _is_same(connection: apsw.Connection, rowid: int, content: Measured) -> bool:
    content.stream.seek(content.begins)
    with connection.blob_open("main", "card", "content", rowid, False) as blob:
        while stored := blob.read(PIECE):
            if stored != read_exactly(content.stream, len(stored)):
                return False
    return True


class CardStream(io.RawIOBase):
    """A card's bytes, read in pieces; reading to the end checks the hash."""

    def __init__(self, connection: apsw.Connection, rowid: int, card: CardHash) -> None:
        super().__init__()
        self._connection = connection
        self._blob = connection.blob_open("main", "card", "content", rowid, False)
        self._card = card
        self._digest = new_digest(algorithm_of(card))
        self._hashed = 0
        self.size = self._blob.length()

    def readable(self) -> bool:
        """Tell that this can be read."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Fill `buffer` and return how many bytes that were."""
        view = memoryview(buffer).cast("B")
        left = self.size - self._blob.tell()
        piece = self._blob.read(min(len(view), left))
        view[: len(piece)] = piece
        self._digest.update(piece)
        self._hashed += len(piece)
        if piece and self._hashed == self.size and self._digest.hexdigest() != self._card:
            raise HashMismatch(
                f"card {self._card} holds other bytes than its hash says",
                hint="the archive file was changed or damaged; run `salon archive verify`",
                hash=self._card,
            )
        return len(piece)

    def close(self) -> None:
        """Let go of the archive."""
        if not self.closed:
            self._blob.close()
            self._connection.close()
        super().close()


def open_card(connect: Callable[[], apsw.Connection], card: CardHash) -> BinaryIO:
    """Open a card for reading in pieces, on a connection of its own."""
    connection = connect()
    found = rows.find_card_row(connection, card)
    if found is None:
        error = rows.missing_card(connection, card)
        connection.close()
        raise error
    return io.BufferedReader(CardStream(connection, found[0], card), PIECE)
