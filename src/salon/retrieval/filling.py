"""Filling in vectors behind the words: passage by passage, resumable at any moment.

A vector is computed once and kept in the archive; the index of vectors is filled from there, so a
lost index costs no computing. Work goes in windows: a window's new vectors are durable before it
counts as done, and a process killed in the middle repeats at most one window.

It runs where the caller runs it: blocking for a command, in `BackgroundFilling` for a server.
"""

import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

import numpy as np

from salon.core.archive import Archive
from salon.core.embedding import Embedder, EmbeddingModel, Vector, Vectors
from salon.core.errors import HashMismatch, ModelMismatch, SalonError
from salon.core.hashing import CardHash
from salon.retrieval.catalogue import CataloguedPassage
from salon.retrieval.passage_index import PassageIndex

WINDOW = 1024
"""Passages per commit: enough to sort by length, little enough to lose."""
_LOWER_PRIORITY = 10

Filled = Callable[[int, int], None]


class ComputedVectors(Protocol):
    """Where vectors are kept once they were computed: the archive."""

    def put(self, model: EmbeddingModel, rows: Sequence[tuple[CardHash, int, int, Vector]]) -> None:
        """Keep vectors of spans; those of cards that are gone are left out."""

    def of_card(self, model: EmbeddingModel, card: CardHash) -> dict[tuple[int, int], Vector]:
        """Return the vectors of a card's spans."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FillReport:
    """What filling did, counted in passages."""

    computed: int = 0
    taken_from_archive: int = 0
    impossible: int = 0
    left: int = 0


class VectorFilling:
    """Gives every passage of an index its vector."""

    def __init__(
        self, index: PassageIndex, store: ComputedVectors, embedder: Embedder, window: int = WINDOW
    ) -> None:
        self._index = index
        self._archive: Archive = index.archive
        self._store = store
        self._embedder = embedder
        self._window = window

    def fill(
        self,
        on_progress: Filled = lambda _done, _total: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> FillReport:
        """Compute what is missing; `on_progress` gets passages with a vector and all of them."""
        self._index.use_model(self._embedder.model)
        self._index.repair_vectors()
        computed = taken = impossible = 0
        stats = self._index.stats()
        done = stats.with_vector
        on_progress(done, stats.passages)
        while not should_stop():
            window = self._index.catalogue.without_vector(self._window)
            if not window:
                break
            found = self._known(window)
            fresh, lost = self._compute([one for one in window if one.id not in found])
            found |= fresh
            have = [one for one in window if one.id in found]
            if have:
                self._index.add_vectors(have, np.stack([found[one.id] for one in have]))
            if lost:
                self._index.catalogue.mark_vectors((one.id for one in lost), can_have=False)
            computed += len(fresh)
            impossible += len(lost)
            taken += len(have) - len(fresh)
            done += len(have)
            on_progress(done, stats.passages)
        left = self._index.stats()
        return FillReport(
            computed=computed,
            taken_from_archive=taken,
            impossible=impossible,
            left=left.passages - left.with_vector,
        )

    def _known(self, window: Sequence[CataloguedPassage]) -> dict[int, Vector]:
        """Return the vectors that the archive has already."""
        model = self._embedder.model
        found: dict[int, Vector] = {}
        for card, passages in groupby(window, key=lambda one: one.hash):
            vectors = self._store.of_card(model, card)
            for one in passages:
                if (one.start, one.end) in vectors:
                    found[one.id] = vectors[one.start, one.end]
        return found

    def _compute(
        self, window: Sequence[CataloguedPassage]
    ) -> tuple[dict[int, Vector], list[CataloguedPassage]]:
        """Compute vectors and keep them; return them, and the passages whose text is lost."""
        texts: list[str] = []
        readable: list[CataloguedPassage] = []
        lost: list[CataloguedPassage] = []
        for card, passages in groupby(window, key=lambda one: one.hash):
            content = self._read(card)
            for one in passages:
                if content is None:
                    lost.append(one)
                else:
                    readable.append(one)
                    texts.append(content[one.start : one.end].decode())
        if not texts:
            return {}, lost
        model = self._embedder.model
        vectors = _checked(self._embedder.embed_passages(texts), len(texts), model)
        self._store.put(
            model,
            [
                (one.hash, one.start, one.end, vector)
                for one, vector in zip(readable, vectors, strict=True)
            ],
        )
        return {one.id: vector for one, vector in zip(readable, vectors, strict=True)}, lost

    def _read(self, card: CardHash) -> bytes | None:
        try:
            found = self._archive.find(card)
        except HashMismatch:
            return None
        return found.content if found else None


class BackgroundFilling:
    """Fills in vectors in a thread of low priority, whenever it is woken."""

    def __init__(self, fill: Callable[[Callable[[], bool]], object]) -> None:
        self._fill = fill
        self._wake = threading.Event()
        self._stop = threading.Event()
        self.failure: SalonError | None = None
        """Why the last round ended early; `None` while all is well."""
        self._idle = threading.Event()
        self._thread = threading.Thread(target=self._run, name="salon-filling", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Look for passages without a vector, now or after what is under way."""
        self._wake.set()

    @property
    def is_idle(self) -> bool:
        """Tell whether the last round is over and no other was asked for."""
        return self._idle.is_set() and not self._wake.is_set()

    def stop(self) -> None:
        """Finish the window under way and end the thread."""
        self._stop.set()
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        lower_priority()
        while True:
            self._wake.wait()
            self._idle.clear()
            self._wake.clear()
            if self._stop.is_set():
                return
            try:
                self._fill(self._stop.is_set)
                self.failure = None
            except SalonError as error:
                self.failure = error
            self._idle.set()


def lower_priority() -> None:
    """Let every other thread of the machine go first, where the system can tell threads apart."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOWER_PRIORITY)


def _checked(vectors: Vectors, count: int, model: EmbeddingModel) -> Vectors:
    if vectors.shape != (count, model.dimensions):
        raise ModelMismatch(
            f"{model} gave vectors of shape {vectors.shape} instead of {(count, model.dimensions)}",
            hint="choose another embedder; nothing was stored",
        )
    return vectors
