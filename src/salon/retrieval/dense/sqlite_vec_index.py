"""The vector index inside one SQLite file, on the distances of sqlite-vec: exact, and slower.

Vectors are rows of an ordinary table and sqlite-vec computes their distances. Its own kind of table
is not used: it takes twice as long for a thousand passages, returns at most 4,096 and keeps the
order of equals to itself. Changes wait in memory until `commit` writes them in one transaction, or
as a part of one that is under way in the same file.

Invariants: `commit` is all or nothing; a removed vector is overwritten in the file.
"""

import json
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import apsw
import numpy as np

from salon.core.closing import Closable
from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.core.errors import UnknownProvider
from salon.core.hashing import CardHash
from salon.core.indexes import Cards, PassageId, Ranking
from salon.retrieval.dense.checks import refuse_other_model, require_query, require_rows
from salon.retrieval.index_file import IndexFile

_MOST = 2**31
"""More passages than this are not asked for; SQLite counts no further than 2**63."""
_NUMBERS = np.dtype("<f4")

_TABLES = """
CREATE TABLE IF NOT EXISTS dense_model (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    address TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    dimensions INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS dense_cards (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS dense_vectors (
    id INTEGER PRIMARY KEY,
    card INTEGER NOT NULL REFERENCES dense_cards(id) ON DELETE CASCADE,
    vector BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_dense_vectors_card ON dense_vectors(card);
"""
_IS_THERE = "SELECT count(*) FROM sqlite_master WHERE name = 'dense_vectors'"
_MODEL = "SELECT address, fingerprint, dimensions FROM dense_model"
_NEW_CARD = "INSERT INTO dense_cards (hash) VALUES (?) ON CONFLICT DO NOTHING"
_NEW_VECTOR = (
    "INSERT OR REPLACE INTO dense_vectors (id, card, vector)"
    " VALUES (?, (SELECT id FROM dense_cards WHERE hash = ?), ?)"
)
# A vector of nothing but zeros has no direction; its distance is that of unrelated ones.
_RANKED = (
    "SELECT id, coalesce(vec_distance_cosine(vector, :query), 1.0) AS distance FROM dense_vectors"
)
_OF_CARDS = (
    " WHERE card IN (SELECT id FROM dense_cards WHERE hash IN"
    " (SELECT value FROM json_each(:cards)))"
)
_BEST = " ORDER BY distance, id LIMIT :limit"


@dataclass(frozen=True, slots=True)
class _Addition:
    ids: list[PassageId]
    cards: list[CardHash]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class _Removal:
    cards: list[CardHash]


_Change: TypeAlias = _Addition | _Removal


class SqliteVecIndex(Closable):
    """Vectors of one model in tables of a SQLite file."""

    def __init__(self, file: IndexFile | Path | str, model: EmbeddingModel) -> None:
        self._model = model
        self._extension = _extension()
        self._prepared: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._changes: list[_Change] = []
        self._is_own_file = not isinstance(file, IndexFile)
        self._file = file if isinstance(file, IndexFile) else IndexFile(Path(file))
        with self._file.read() as connection:
            is_there = connection.execute(_IS_THERE).get
        if not is_there:  # an index that is there opens even while others write to it
            with self._file.write() as connection:
                connection.execute(_TABLES)

    @property
    def model(self) -> EmbeddingModel:
        """Return the model whose vectors these are."""
        return self._model

    def add(self, ids: Sequence[PassageId], cards: Sequence[CardHash], vectors: Vectors) -> None:
        """Take in the vectors of passages, in place of those with the same ids."""
        rows = require_rows(self._model, ids, cards, vectors)
        self._require_model()
        self._changes.append(_Addition(list(ids), list(cards), rows.astype(_NUMBERS)))

    def remove(self, cards: Iterable[CardHash]) -> None:
        """Forget every passage of these cards."""
        self._require_model()
        self._changes.append(_Removal(list(cards)))

    def commit(self) -> None:
        """Make what was added and removed durable and visible."""
        if not self._changes:
            return
        with self._file.write() as connection:
            self._refuse_other_model(connection)
            self._stamp(connection)
            for change in self._changes:
                _apply(connection, change)
        self._changes = []

    def search(self, vector: Vector, limit: int, *, cards: Cards = None) -> Ranking:
        """Rank passages by cosine similarity, exactly."""
        query = require_query(self._model, vector, limit).astype(_NUMBERS)
        bound: dict[str, apsw.SQLiteValue] = {
            "query": query.tobytes(),
            "limit": min(limit, _MOST),
            "cards": json.dumps(list(cards or ())),
        }
        sql = _RANKED + (_BEST if cards is None else _OF_CARDS + _BEST)
        with self._file.read() as connection:
            self._refuse_other_model(connection)
            self._prepare(connection)
            rows = connection.execute(sql, bound).fetchall()
        ids, distances = zip(*rows, strict=True) if rows else ((), ())
        return Ranking(np.array(ids, np.int64), 1 - np.array(distances, np.float32))

    def vectors(self, ids: Sequence[PassageId]) -> tuple[list[PassageId], Vectors]:
        """Return the vectors of those of these passages that are here, with their ids."""
        with self._file.read() as connection:
            self._refuse_other_model(connection)
            rows = connection.execute(
                "SELECT id, vector FROM dense_vectors WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps([int(number) for number in ids]),),
            )
            found = list(rows)
        held = np.frombuffer(b"".join(vector for _, vector in found), dtype=_NUMBERS)
        shaped = held.reshape(len(found), self._model.dimensions).astype(np.float32)
        return [PassageId(number) for number, _ in found], shaped

    def count(self) -> int:
        """Return how many passages are visible."""
        with self._file.read() as connection:
            self._refuse_other_model(connection)
            counted: int = connection.execute("SELECT count(*) FROM dense_vectors").get
            return counted

    def clear(self) -> None:
        """Forget everything, also that it ever held vectors of another model."""
        self._changes = []
        with self._file.write() as connection:
            for table in ("dense_vectors", "dense_cards", "dense_model"):
                connection.execute(f"DELETE FROM {table}")  # noqa: S608 - literals
            self._stamp(connection)

    def compact(self) -> None:
        """Commit, and make sure that nothing of what was removed is left in the file.

        Not inside a transaction: the log can only be emptied after it.
        """
        self.commit()
        self._file.empty_log()

    def close(self) -> None:
        """Let go of the file, unless it was lent, and of what was not committed."""
        self._changes = []
        if self._is_own_file:
            self._file.close()

    def _stamp(self, connection: apsw.Connection) -> None:
        model = self._model
        connection.execute(
            "INSERT OR IGNORE INTO dense_model VALUES (1, ?, ?, ?)",
            (model.address, model.fingerprint, model.dimensions),
        )

    def _require_model(self) -> None:
        with self._file.read() as connection:
            self._refuse_other_model(connection)

    def _refuse_other_model(self, connection: apsw.Connection) -> None:
        for address, fingerprint, dimensions in connection.execute(_MODEL).fetchall():
            held = EmbeddingModel(
                address=str(address), fingerprint=str(fingerprint), dimensions=int(str(dimensions))
            )
            refuse_other_model(self._model, held)

    def _prepare(self, connection: apsw.Connection) -> None:
        if connection not in self._prepared:
            connection.enable_load_extension(True)
            connection.load_extension(self._extension)
            connection.enable_load_extension(False)
            self._prepared.add(connection)


def _apply(connection: apsw.Connection, change: _Change) -> None:
    match change:
        case _Addition(ids, cards, vectors):
            connection.executemany(_NEW_CARD, ((card,) for card in dict.fromkeys(cards)))
            connection.executemany(
                _NEW_VECTOR,
                (
                    (int(number), card, vector.tobytes())
                    for number, card, vector in zip(ids, cards, vectors, strict=True)
                ),
            )
        case _Removal(cards):
            connection.executemany(
                "DELETE FROM dense_cards WHERE hash = ?", ((card,) for card in cards)
            )


def _extension() -> str:
    try:
        import sqlite_vec
    except ImportError as error:
        raise UnknownProvider(
            "vectors in a single file need the package sqlite-vec, which is not installed",
            hint="install salon with the extra `single-file`, or choose another engine",
        ) from error
    path: str = sqlite_vec.loadable_path()
    return path
