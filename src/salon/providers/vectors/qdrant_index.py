"""A vector index in Qdrant: on a server, or in the local mode of its client.

The vectors of a model are in a collection whose name is made from that model, so vectors of two
models cannot meet. As long as the collection of another model is there the index is refused;
clearing removes it.

Qdrant has no transactions. Nothing is sent before `commit`, but a search during a commit may see
a part of it: the new passages come before the old ones go. A kill may leave such a part, and
committing the same again completes it. The local mode scans, holds everything in memory, belongs
to one process and unpickles what is in its folder: it is for trying things out.
"""

import hashlib
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TypeVar

import numpy as np
from qdrant_client import QdrantClient, models

from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.core.errors import ModelMismatch, ProviderFailed
from salon.core.hashing import CardHash
from salon.core.indexes import Cards, PassageId, Ranking
from salon.providers.vectors.noting import NotingIndex
from salon.providers.vectors.pending import Change
from salon.providers.vectors.qdrant_link import QdrantLink, is_missing
from salon.providers.vectors.ranking import rank_with_equals
from salon.retrieval.dense.checks import refuse_other_model, require_query

T = TypeVar("T")

COLLECTION = "salon_passages"
EXACT_UP_TO = 50_000
"""Up to this many passages in one of its segments the server looks at each one."""

_POINTS_PER_REQUEST = 256


class QdrantIndex(NotingIndex):
    """The vectors of one archive in the collections that begin with `collection`."""

    def __init__(
        self, link: QdrantLink, model: EmbeddingModel, *, collection: str = COLLECTION
    ) -> None:
        self._link = link
        super().__init__(model)
        self._family = re.compile(rf"{re.escape(collection)}_[0-9a-f]{{32}}")
        self._name = f"{collection}_{_digest(model)}"
        self._writing = threading.Lock()
        self._is_known = False
        try:
            self._collections()  # so that a wrong address shows at once
        except BaseException:
            link.close()
            raise

    def commit(self) -> None:
        """Send what was noted, and wait until it is applied."""
        with self._writing:
            if not self._pending:
                return
            change = self._pending.boiled_down()
            try:
                self._apply(change)
            except ProviderFailed as error:
                if not is_missing(error):
                    raise
                self._is_known = False  # somebody cleared the index a moment ago
                self._apply(change)
            self._pending.forget()

    def search(self, vector: Vector, limit: int, *, cards: Cards = None) -> Ranking:
        """Rank by cosine: exactly among few passages, by Qdrant's graph among many."""
        query = require_query(self._model, vector, limit).tolist()
        wanted = None if cards is None else _of_cards(cards)

        def find(client: QdrantClient, count: int) -> list[tuple[int, float]]:
            found = client.query_points(
                self._name,
                query=query,
                query_filter=wanted,
                search_params=self._search_params(count),
                limit=count,
                with_payload=False,
            )
            return [(int(point.id), point.score) for point in found.points]

        return rank_with_equals(lambda count: self._read(partial(find, count=count)) or [], limit)

    def vectors(self, ids: Sequence[PassageId]) -> tuple[list[PassageId], Vectors]:
        """Return the vectors of those of these passages that are here."""

        def fetch(client: QdrantClient) -> list[models.Record]:
            return client.retrieve(self._name, list(ids), with_payload=False, with_vectors=True)

        records = self._read(fetch) or []
        rows = np.array([record.vector for record in records], dtype=np.float32)
        found = [PassageId(int(record.id)) for record in records]
        return found, rows.reshape(len(found), self._model.dimensions)

    def count(self) -> int:
        """Return how many passages are visible."""
        counted = self._read(lambda client: client.count(self._name, exact=True))
        return counted.count if counted is not None else 0

    def clear(self) -> None:
        """Forget everything, also what another model left here."""
        with self._writing:
            self._pending.forget()
            self._link.run(self._start_over)
            self._is_known = True

    def compact(self) -> None:
        """Do nothing but refuse another model's index.

        A server rewrites its segments by itself once enough in them is deleted; there is no
        request for it. Until then deleted vectors stay in its files, as they do in local mode.
        """
        self._find_own()

    def close(self) -> None:
        """Let go of the connection or of the folder."""
        self._link.close()

    def _collections(self) -> list[str]:
        """Return the names of the collections of this index, of whatever model."""
        listed = self._link.run(lambda client: client.get_collections()).collections
        return [found.name for found in listed if self._family.fullmatch(found.name)]

    def _turn(self) -> AbstractContextManager[object]:
        return self._writing

    def _find_own(self) -> bool:
        """Tell whether this model's collection is there; refuse if only another's is."""
        if not self._is_known:
            names = self._collections()
            self._is_known = self._name in names
            if names and not self._is_known:
                self._refuse(names[0])
        return self._is_known

    def _refuse(self, name: str) -> None:
        described = self._link.run(lambda client: client.get_collection(name))
        metadata = described.config.metadata or {}
        if set(metadata) >= {"address", "fingerprint", "dimensions"}:
            held = EmbeddingModel(
                address=str(metadata["address"]),
                fingerprint=str(metadata["fingerprint"]),
                dimensions=int(metadata["dimensions"]),
            )
            refuse_other_model(self._model, held)
        raise ModelMismatch(
            f"the collection {name} holds vectors of another model, not of {self._model}",
            hint="go back to the model it was built with, or build it again",
        )

    def _read(self, ask: Callable[[QdrantClient], T]) -> T | None:
        """Ask this model's collection; `None` where there is none (any more)."""
        while self._find_own():
            try:
                return self._link.run(ask)
            except ProviderFailed as error:
                if not is_missing(error):
                    raise
                self._is_known = False
        return None

    def _search_params(self, count: int) -> models.SearchParams | None:
        # The local mode scans anyway, and warns that it does not heed them.
        return None if self._link.is_local else models.SearchParams(hnsw_ef=max(512, 8 * count))

    def _apply(self, change: Change) -> None:
        if not self._find_own():
            self._link.run(self._create)
            self._is_known = True
        for start in range(0, len(change.ids), _POINTS_PER_REQUEST):
            self._link.run(partial(self._send, change=change, start=start))
        if change.removed_cards:
            going = _of_cards(change.removed_cards, but=change.added_again())
            selector = models.FilterSelector(filter=going)
            self._link.run(lambda client: client.delete(self._name, selector))
        if change.removed_ids:
            points = models.PointIdsList(points=list(change.removed_ids))
            self._link.run(lambda client: client.delete(self._name, points))

    def _send(self, client: QdrantClient, change: Change, start: int) -> None:
        part = slice(start, start + _POINTS_PER_REQUEST)
        client.upsert(
            self._name,
            models.Batch(
                ids=list(change.ids[part]),
                vectors=change.rows[part].tolist(),
                payloads=[{"card": card} for card in change.cards[part]],
            ),
        )

    def _start_over(self, client: QdrantClient) -> None:
        for found in client.get_collections().collections:
            if self._family.fullmatch(found.name):
                client.delete_collection(found.name)
        self._create(client)

    def _create(self, client: QdrantClient) -> None:
        threshold_kb = max(1, EXACT_UP_TO * self._model.dimensions * 4 // 1024)
        client.create_collection(
            self._name,
            vectors_config=models.VectorParams(
                size=self._model.dimensions, distance=models.Distance.DOT
            ),
            hnsw_config=models.HnswConfigDiff(
                m=16, ef_construct=128, full_scan_threshold=threshold_kb
            ),
            optimizers_config=models.OptimizersConfigDiff(indexing_threshold=threshold_kb),
            metadata={
                "address": self._model.address,
                "fingerprint": self._model.fingerprint,
                "dimensions": self._model.dimensions,
            },
        )
        if not self._link.is_local:
            client.create_payload_index(self._name, "card", models.PayloadSchemaType.KEYWORD)


def _digest(model: EmbeddingModel) -> str:
    named = f"{model.address}\n{model.fingerprint}\n{model.dimensions}"
    return hashlib.sha256(named.encode()).hexdigest()[:32]


def _of_cards(cards: Iterable[CardHash], *, but: Sequence[PassageId] = ()) -> models.Filter:
    names: list[str] = sorted(set(cards))
    wanted = models.FieldCondition(key="card", match=models.MatchAny(any=names))
    if not but:
        return models.Filter(must=[wanted])
    return models.Filter(must=[wanted], must_not=[models.HasIdCondition(has_id=list(but))])
