"""A vector index in PostgreSQL, by the extension pgvector: shared by as many servers as you like.

`salon_embedding_model` has one row: which model's vectors are held, and by its number in which
table `salon_passage_vector_<number>` they are. Clearing and compacting make a new table under the
next number and drop the old one in the same transaction, so a reader reads a whole table or finds
it gone and looks again.

Small tables are scanned, which is exact. Beyond a size an HNSW graph is built; a search that is
filtered stays exact as long as its cards have few enough passages.

Invariants: a commit is one transaction; writers take turns, readers do not wait for them; a card
that was removed is in no other table either.
"""

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
import psycopg

from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.core.errors import ProviderFailed
from salon.core.indexes import Cards, PassageId, Ranking
from salon.providers.vectors import pgvector_tables as tables
from salon.providers.vectors.noting import NotingIndex
from salon.providers.vectors.pending import Change
from salon.providers.vectors.pgvector_search import Question, find_nearest
from salon.providers.vectors.pgvector_tables import HeldVectors
from salon.providers.vectors.postgres_link import Connection, PostgresLink
from salon.providers.vectors.ranking import as_ranking
from salon.retrieval.dense.checks import refuse_other_model, require_query

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

EXACT_UP_TO = 50_000
"""Up to this many passages a search looks at each one."""


class _Ask(Protocol[T_co]):
    """A question to a table."""

    def __call__(self, connection: Connection, held: HeldVectors) -> T_co: ...


class PgvectorIndex(NotingIndex):
    """The vectors of one archive, in the schema that the address leads to."""

    def __init__(
        self, address: str, model: EmbeddingModel, *, exact_up_to: int = EXACT_UP_TO
    ) -> None:
        super().__init__(model)
        self._exact_up_to = exact_up_to
        self._writing = threading.Lock()
        self._known: HeldVectors | None = None
        self._link = PostgresLink(address)
        try:
            self._link.run(tables.ensure_registry)
        except BaseException:
            self._link.close()
            raise

    def commit(self) -> None:
        """Do in one transaction what was noted, then see whether a graph is due."""
        with self._writing:
            if not self._pending:
                return
            change = self._pending.boiled_down()
            self._link.run(lambda connection: self._apply(connection, change))
            self._pending.forget()
            self._link.run(self._build_graph_if_due)

    def search(self, vector: Vector, limit: int, *, cards: Cards = None) -> Ranking:
        """Rank by cosine: exactly among few passages, by the graph among many."""
        query = require_query(self._model, vector, limit)
        question = Question(
            vector=str(query.tolist()),
            limit=limit,
            cards=None if cards is None else sorted(set(cards)),
        )
        find = partial(find_nearest, question=question, exact_up_to=self._exact_up_to)
        return as_ranking(self._read(find) or [], limit)

    def vectors(self, ids: Sequence[PassageId]) -> tuple[list[PassageId], Vectors]:
        """Return the vectors of those of these passages that are here."""
        rows = self._read(partial(tables.read_vectors, ids=list(ids))) or []
        found = np.array([row for _, row in rows], dtype=np.float32)
        return [number for number, _ in rows], found.reshape(-1, self._model.dimensions)

    def count(self) -> int:
        """Return how many passages are visible."""
        return self._read(tables.count_passages) or 0

    def clear(self) -> None:
        """Forget everything, also what another model left here."""
        with self._writing:
            self._pending.forget()
            self._known = self._link.run(self._start_over)

    def compact(self) -> None:
        """Move what is left into a new table; the file of the old one is emptied at once.

        A table with a graph is vacuumed instead, because building the graph again takes minutes:
        that overwrites the removed vectors in the graph, while in the table their place is free
        and stays as it is until something new is written there. What the server keeps for its own
        recovery, and in backups, is out of reach from here.
        """
        with self._writing:
            if self._read(tables.has_graph):
                self._read(tables.vacuum)
            else:
                self._known = self._link.run(self._move)

    def close(self) -> None:
        """Let go of the connections."""
        self._link.close()

    def _turn(self) -> AbstractContextManager[object]:
        return self._writing

    def _find_own(self) -> HeldVectors | None:
        """Return where this model's vectors are, `None` before the very first commit."""
        if self._known is None:
            self._known = self._require_own(self._link.run(tables.find_held))
        return self._known

    def _require_own(self, held: HeldVectors | None) -> HeldVectors | None:
        if held is not None:
            refuse_other_model(self._model, held.model)
        return held

    def _read(self, ask: "_Ask[T]") -> T | None:
        """Ask the table with the vectors, wherever it has moved to; `None` where there is none."""
        gone: HeldVectors | None = None
        while held := self._find_own():
            try:
                return self._link.run(partial(ask, held=held))
            except ProviderFailed as error:
                missing = isinstance(error.__cause__, psycopg.errors.UndefinedTable)
                if not missing or held == gone:
                    raise
                gone, self._known = held, None
        return None

    def _apply(self, connection: Connection, change: Change) -> None:
        with connection.transaction():
            tables.take_turn(connection)
            held = self._require_own(tables.find_held(connection))
            held = held or tables.create_table(connection, self._model)
            tables.apply_change(connection, held, change)

    def _build_graph_if_due(self, connection: Connection) -> None:
        with connection.transaction():
            tables.take_turn(connection)
            held = tables.find_held(connection)
            if (
                held is not None
                and held.model.dimensions <= tables.MOST_INDEXED_DIMENSIONS
                and not tables.has_graph(connection, held)
                and tables.has_more_than(connection, held, self._exact_up_to)
            ):
                tables.build_graph(connection, held)

    def _start_over(self, connection: Connection) -> HeldVectors:
        with connection.transaction():
            tables.take_turn(connection)
            old = tables.find_held(connection)
            new = tables.create_table(connection, self._model)
            if old is not None:
                tables.drop_table(connection, old)
            return new

    def _move(self, connection: Connection) -> HeldVectors | None:
        with connection.transaction():
            tables.take_turn(connection)
            old = self._require_own(tables.find_held(connection))
            if old is None:
                return None
            new = tables.create_table(connection, self._model)
            tables.copy_table(connection, old, new)
            tables.drop_table(connection, old)
            return new
