"""A vector index by Qdrant Edge: the engine of the Qdrant server, inside this process.

The shard belongs to one process at a time; whoever comes second is told so. Within the process
any number of indexes may share it.

The engine has no transactions. Nothing reaches it before `commit`, but a search during a commit
may see a part of it: the new passages come before the old ones go. A kill may leave such a part,
and committing the same again completes it.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

import numpy as np
import qdrant_edge as edge

from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.core.errors import StorageFailed
from salon.core.hashing import CardHash
from salon.core.indexes import Cards, PassageId, Ranking
from salon.providers.vectors.edge_shard import HeldShard, ShardFolder, edge_errors
from salon.providers.vectors.noting import NotingIndex
from salon.providers.vectors.one_process import OneProcess
from salon.providers.vectors.pending import Change
from salon.providers.vectors.ranking import rank_with_equals
from salon.retrieval.dense.checks import refuse_other_model, require_query

T = TypeVar("T")

EXACT_UP_TO = 50_000
"""Up to this many passages a search looks at each one; beyond, a graph is built."""

_POINTS_PER_UPDATE = 1000
_FOLDERS = OneProcess(open_engine=ShardFolder, close=ShardFolder.close)


class QdrantEdgeIndex(NotingIndex):
    """The vectors of one archive in a folder."""

    def __init__(
        self, folder: Path, model: EmbeddingModel, *, exact_up_to: int = EXACT_UP_TO
    ) -> None:
        super().__init__(model)
        self._exact_up_to = exact_up_to
        self._path = folder
        self._folder: ShardFolder | None = _FOLDERS.take(folder)

    def commit(self) -> None:
        """Hand what was noted to the engine and write it out; build the graph where it is due."""
        folder = self._open_folder()
        with folder.writing, edge_errors(self._path):
            if not self._pending:
                return
            held = self._find_own() or self._start_over(folder)
            _apply(held.shard, self._pending.boiled_down())
            held.shard.flush()
            self._pending.forget()
            info = held.shard.info()
            if info.points_count - info.indexed_vectors_count > self._exact_up_to:
                held.shard.optimize()
                held.shard.flush()

    def search(self, vector: Vector, limit: int, *, cards: Cards = None) -> Ranking:
        """Rank by cosine: exactly among few passages, by the engine's graph among many."""
        query = edge.Query.Nearest(require_query(self._model, vector, limit).tolist())
        wanted = None if cards is None else _of_cards(cards)

        def find(count: int) -> list[tuple[int, float]]:
            request = edge.QueryRequest(
                query=query,
                filter=wanted,
                limit=count,
                params=edge.SearchParams(hnsw_ef=max(512, 8 * count)),
                with_vector=False,
                with_payload=False,
            )
            found = self._read(lambda shard: shard.query(request)) or []
            return [(int(point.id), point.score) for point in found]

        return rank_with_equals(find, limit)

    def vectors(self, ids: Sequence[PassageId]) -> tuple[list[PassageId], Vectors]:
        """Return the vectors of those of these passages that are here."""
        wanted: list[edge.PointId] = list(ids)
        records = self._read(lambda shard: shard.retrieve(wanted, False, True)) or []
        rows = np.array([record.vector for record in records], dtype=np.float32)
        found = [PassageId(int(record.id)) for record in records]
        return found, rows.reshape(len(found), self._model.dimensions)

    def count(self) -> int:
        """Return how many passages are visible."""
        return self._read(lambda shard: shard.count(edge.CountRequest(exact=True))) or 0

    def clear(self) -> None:
        """Forget everything, also what another model left here."""
        folder = self._open_folder()
        with folder.writing, edge_errors(self._path):
            self._pending.forget()
            self._start_over(folder)

    def compact(self) -> None:
        """Rewrite the segments that something was removed from."""
        with self._open_folder().writing, edge_errors(self._path):
            held = self._find_own()
            if held is not None:
                held.shard.optimize()
                held.shard.flush()

    def close(self) -> None:
        """Let go of the folder."""
        folder, self._folder = self._folder, None
        if folder is not None:
            _FOLDERS.give_back(self._path)

    def _start_over(self, folder: ShardFolder) -> HeldShard:
        return folder.start_over(self._model, exact_up_to=self._exact_up_to)

    def _open_folder(self) -> ShardFolder:
        if self._folder is None:
            raise StorageFailed(f"the index in {self._path} is closed")
        return self._folder

    def _turn(self) -> AbstractContextManager[object]:
        return self._open_folder().writing

    def _find_own(self) -> HeldShard | None:
        """Return this model's shard, `None` where there is none; refuse another's."""
        held = self._open_folder().held
        if held is not None:
            refuse_other_model(self._model, held.model)
        return held

    def _read(self, ask: Callable[[edge.EdgeShard], T]) -> T | None:
        while held := self._find_own():
            try:
                with edge_errors(self._path):
                    return ask(held.shard)
            except StorageFailed:
                if self._find_own() is held:
                    raise
                # It was cleared in the middle of the question: ask the new one.
        return None


def _apply(shard: edge.EdgeShard, change: Change) -> None:
    rows = change.rows.tolist()
    points = [
        edge.Point(number, row, {"card": card})
        for number, card, row in zip(change.ids, change.cards, rows, strict=True)
    ]
    for start in range(0, len(points), _POINTS_PER_UPDATE):
        part = points[start : start + _POINTS_PER_UPDATE]
        shard.update(edge.UpdateOperation.upsert_points(part))
    if change.removed_cards:
        going = _of_cards(change.removed_cards, but=change.added_again())
        shard.update(edge.UpdateOperation.delete_points_by_filter(going))
    if change.removed_ids:
        shard.update(edge.UpdateOperation.delete_points(list(change.removed_ids)))


def _of_cards(cards: Iterable[CardHash], *, but: Sequence[PassageId] = ()) -> edge.Filter:
    names: list[str] = sorted(set(cards))
    wanted = edge.FieldCondition("card", match=edge.MatchAny(names))
    if not but:
        return edge.Filter(must=[wanted])
    return edge.Filter(must=[wanted], must_not=[edge.HasIdCondition(set(but))])
