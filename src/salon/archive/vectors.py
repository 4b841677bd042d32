"""The vectors of passages as they were computed, kept beside the cards they were made from.

They are computed values and not state: every one can be made again from its card and its model, so
no audit event speaks of them, no export carries them and replaying the log ignores them. Keeping
them saves the hours that computing took: every index of vectors is filled from here.

Invariants: a vector goes when its card goes; what `put` took is durable once it returns; numbers
are kept as float16, as exact as models are.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple, TypeAlias

import apsw
import numpy as np

from salon.archive.database import storage_errors
from salon.archive.rows import has_card
from salon.archive.sqlite_archive import SqliteArchive
from salon.archive.transaction import SqliteTransaction
from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.core.errors import ArchiveCorrupt, InvalidInput
from salon.core.hashing import CardHash

ROWS_PER_COMMIT = 4096
"""Rows written or deleted at a time: other writers get their turn in between."""
ROWS_PER_READ = 4096
_HALF = np.dtype("<f2")
_EVERYTHING = 2**63 - 1

Span: TypeAlias = tuple[CardHash, int, int]
"""A card, and the bytes from the first up to the second number."""
Row: TypeAlias = tuple[CardHash, int, int, Vector]

# A vector that is the same is not written again.
_PUT = (
    "INSERT INTO passage_vector (model, card_hash, start, stop, vector) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (card_hash, model, start, stop) DO UPDATE SET vector = excluded.vector"
    " WHERE vector IS NOT excluded.vector"
)
# By row and not by the index on cards, which would bring them out of order.
_WALK = (
    "SELECT id, card_hash, start, stop, vector FROM passage_vector"
    " WHERE +model = ? AND id > ? ORDER BY id LIMIT ?"
)
_FORGET = (
    "DELETE FROM passage_vector WHERE id IN (SELECT id FROM passage_vector"
    " WHERE +model = ? AND id > ? ORDER BY id LIMIT ?) RETURNING id"
)


class StoredVector(NamedTuple):
    """A vector as kept; `id` grows with the time it came."""

    id: int
    card: CardHash
    start: int
    end: int
    vector: Vector


class VectorStore:
    """The vectors in one archive, by the model that made them."""

    def __init__(self, archive: SqliteArchive) -> None:
        self._archive = archive

    def put(self, model: EmbeddingModel, rows: Sequence[Row]) -> None:
        """Keep vectors of spans, in place of earlier ones; those of cards that are gone are not.

        Rows go in by the thousand: what a kill interrupts is there in part.
        """
        packed = _packed(model, [vector for *_, vector in rows])
        size = model.dimensions * _HALF.itemsize
        bound = (
            (card, start, end, packed[place * size : (place + 1) * size])
            for place, (card, start, end, _) in enumerate(rows)
        )
        while chunk := list(islice(bound, ROWS_PER_COMMIT)):
            self._archive.write_sqlite(partial(_put, model=model, rows=chunk))

    def missing(self, model: EmbeddingModel, spans: Iterable[Span]) -> list[Span]:
        """Return those of the spans that have no vector."""
        with storage_errors(self._archive.path):
            number = self._find(model)
            known: dict[CardHash, set[tuple[int, int]]] = {}
            absent: list[Span] = []
            for card, start, end in spans:
                if card not in known:
                    known[card] = set(self._spans_of(number, card))
                if (start, end) not in known[card]:
                    absent.append((card, start, end))
            return absent

    def of_card(self, model: EmbeddingModel, card: CardHash) -> dict[tuple[int, int], Vector]:
        """Return the vectors of a card's spans."""
        with storage_errors(self._archive.path):
            found = self._archive.read_sqlite().execute(
                "SELECT start, stop, vector FROM passage_vector"
                " WHERE card_hash = ? AND model = ? ORDER BY start, stop",
                (card, self._find(model)),
            )
            rows = list(found)
        vectors = _unpacked(model, [vector for _, _, vector in rows])
        return {(start, end): vectors[n] for n, (start, end, _) in enumerate(rows)}

    def walk(
        self, model: EmbeddingModel, *, after: int = 0, limit: int | None = None
    ) -> Iterator[StoredVector]:
        """Walk the vectors of a model in the order they came, from the one after `after`."""
        number, left = self._find(model), _EVERYTHING if limit is None else limit
        while left > 0:
            with storage_errors(self._archive.path):
                found = self._archive.read_sqlite().execute(
                    _WALK, (number, after, min(left, ROWS_PER_READ))
                )
                rows = list(found)
            if not rows:
                return
            vectors = _unpacked(model, [row[4] for row in rows])
            for (row, card, start, end, _), vector in zip(rows, vectors, strict=True):
                yield StoredVector(row, card, start, end, vector)
            after, left = rows[-1][0], left - len(rows)

    def count(self, model: EmbeddingModel) -> int:
        """Return how many vectors of a model there are."""
        with storage_errors(self._archive.path):
            counted: int = (
                self._archive.read_sqlite()
                .execute(
                    "SELECT count(*) FROM passage_vector WHERE model = ?", (self._find(model),)
                )
                .get
            )
            return counted

    def models(self) -> list[EmbeddingModel]:
        """Return the models whose vectors are here, in the order they came."""
        with storage_errors(self._archive.path):
            rows = self._archive.read_sqlite().execute(
                "SELECT address, fingerprint, dimensions FROM embedding_model ORDER BY id"
            )
            return [
                EmbeddingModel(address=address, fingerprint=fingerprint, dimensions=dimensions)
                for address, fingerprint, dimensions in rows
            ]

    def forget(self, model: EmbeddingModel) -> int:
        """Delete the vectors of a model and return how many there were."""
        number, after, deleted = self._find(model), 0, 0
        while gone := self._archive.write_sqlite(partial(_forget, model=number, after=after)):
            after, deleted = max(gone), deleted + len(gone)
        return deleted

    def prune(self, keep: EmbeddingModel) -> int:
        """Delete the vectors of every other model and return how many there were."""
        return sum(self.forget(model) for model in self.models() if model != keep)

    def _find(self, model: EmbeddingModel) -> int:
        """Return the number of a model; 0, which none has, if it is not known here."""
        found = _find_model(self._archive.read_sqlite(), model)
        return 0 if found is None else found

    def _spans_of(self, model: int, card: CardHash) -> list[tuple[int, int]]:
        rows = self._archive.read_sqlite().execute(
            "SELECT start, stop FROM passage_vector WHERE card_hash = ? AND model = ?",
            (card, model),
        )
        return list(rows)


def _put(
    transaction: SqliteTransaction,
    model: EmbeddingModel,
    rows: Sequence[tuple[CardHash, int, int, bytes]],
) -> None:
    connection = transaction.connection
    number = _find_model(connection, model)
    if number is None:
        connection.execute(
            "INSERT INTO embedding_model (address, fingerprint, dimensions) VALUES (?, ?, ?)",
            (model.address, model.fingerprint, model.dimensions),
        )
        number = connection.last_insert_rowid()
    there = {card for card in {row[0] for row in rows} if has_card(connection, card)}
    connection.executemany(_PUT, ((number, *row) for row in rows if row[0] in there))


def _forget(transaction: SqliteTransaction, model: int, after: int) -> list[int]:
    connection = transaction.connection
    gone = [row[0] for row in connection.execute(_FORGET, (model, after, ROWS_PER_COMMIT))]
    transaction.deleted_content = bool(gone)
    if not gone:
        connection.execute(
            "DELETE FROM embedding_model WHERE id = ?1"
            " AND NOT EXISTS (SELECT 1 FROM passage_vector WHERE model = ?1)",
            (model,),
        )
    return gone


def _find_model(connection: apsw.Connection, model: EmbeddingModel) -> int | None:
    found: int | None = connection.execute(
        "SELECT id FROM embedding_model WHERE address = ? AND fingerprint = ? AND dimensions = ?",
        (model.address, model.fingerprint, model.dimensions),
    ).get
    return found


def _packed(model: EmbeddingModel, vectors: Sequence[Vector]) -> bytes:
    """Return the vectors as halves, one after the other."""
    if not vectors:
        return b""
    if any(vector.shape != (model.dimensions,) for vector in vectors):
        raise InvalidInput(f"a vector that has not the {model.dimensions} numbers of {model}")
    with np.errstate(over="ignore", invalid="ignore"):
        halves = np.stack(vectors).astype(_HALF)
    if not np.isfinite(halves).all():
        raise InvalidInput("a vector with something in it that is not a number")
    return halves.tobytes()


def _unpacked(model: EmbeddingModel, blobs: Sequence[bytes]) -> Vectors:
    """Return vectors from their bytes, as rows."""
    size = model.dimensions * _HALF.itemsize
    if any(type(blob) is not bytes or len(blob) != size for blob in blobs):
        raise ArchiveCorrupt(
            f"a vector of {model} has not {model.dimensions} numbers",
            hint="`salon archive verify` lists the damage; forget the model and compute it anew",
        )
    halves = np.frombuffer(b"".join(blobs), dtype=_HALF)
    return halves.reshape(len(blobs), model.dimensions).astype(np.float32)
