"""The vector index in plain files: exact while that is fast, by sketches beyond.

It needs no server and no engine, opens in no time because files are mapped and not read, and is
shared by processes: one writes at a time, the others search what is committed. Beyond `exact_up_to`
rows a search compares sketches (one bit a dimension) and scores only what is near by its whole
vector: there is no graph or tree to build, so adding stays cheap and deleting leaves no trace.

It is not the truth: delete the folder and it is built again from the archive. Invariants: see
`salon.core.indexes`; a removed vector is in no file any more once `compact` has returned.
"""

import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from salon.core.closing import Closable
from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.core.errors import StorageBusy
from salon.core.hashing import CardHash
from salon.core.indexes import Cards, PassageId, Ranking
from salon.retrieval.dense.checks import refuse_other_model, require_query, require_rows
from salon.retrieval.dense.flat_draft import Draft
from salon.retrieval.dense.flat_files import (
    Manifest,
    ManifestFile,
    WriterLock,
    damaged,
    file_errors,
    find_manifest,
    remove_other_generations,
    replace_manifest,
)
from salon.retrieval.dense.flat_snapshot import Generation, Snapshot
from salon.retrieval.dense.flat_writing import is_lean, rewrite
from salon.retrieval.dense.ranking import rank_all, rank_likely

EXACT_UP_TO = 25_000
"""Rows up to which all are scored: there both ways are as fast (see `bench/dense_sizes.py`)."""


class FlatVectorIndex(Closable):
    """Vectors of one model in a folder of their own."""

    def __init__(
        self, folder: Path, model: EmbeddingModel, *, exact_up_to: int = EXACT_UP_TO
    ) -> None:
        self._folder = folder
        self._model = model
        self._exact_up_to = exact_up_to
        self._writing = threading.RLock()
        self._loading = threading.Lock()
        self._draft: Draft | None = None
        self._loaded: tuple[ManifestFile | None, Snapshot] | None = None

    @property
    def model(self) -> EmbeddingModel:
        """Return the model whose vectors these are."""
        return self._model

    def add(self, ids: Sequence[PassageId], cards: Sequence[CardHash], vectors: Vectors) -> None:
        """Take in the vectors of passages, in place of those with the same ids."""
        rows = require_rows(self._model, ids, cards, vectors)
        with self._writing, file_errors(self._folder):
            self._ensure_draft().add(ids, cards, rows)

    def remove(self, cards: Iterable[CardHash]) -> None:
        """Forget every passage of these cards."""
        with self._writing, file_errors(self._folder):
            self._ensure_draft().remove(cards)

    def commit(self) -> None:
        """Make what was added and removed durable and visible."""
        with self._writing, file_errors(self._folder):
            if self._draft is None:
                return
            self._draft.commit(sketch=self._draft.rows > self._exact_up_to)
            self._draft = None
            base = self._snapshot()
            if base.manifest.dead > base.count:
                with suppress(StorageBusy):  # the next writer will see to it
                    self.compact()

    def search(self, vector: Vector, limit: int, *, cards: Cards = None) -> Ranking:
        """Rank passages by cosine similarity."""
        query = require_query(self._model, vector, limit)
        snapshot = self._snapshot()
        rows = None if cards is None else snapshot.rows_of(cards)
        rank = rank_all if snapshot.rows <= self._exact_up_to else rank_likely
        return rank(snapshot, query, limit, rows)

    def vectors(self, ids: Sequence[PassageId]) -> tuple[list[PassageId], Vectors]:
        """Return the vectors of those of these passages that are here, with their ids."""
        return self._snapshot().find_vectors(ids)

    def count(self) -> int:
        """Return how many passages are visible."""
        return self._snapshot().count

    def clear(self) -> None:
        """Forget everything, also that it ever held vectors of another model."""
        with self._writing, file_errors(self._folder):
            self._drop_draft()
            lock = WriterLock(self._folder)
            try:
                empty = Manifest.of_nothing(self._model)
                replace_manifest(self._folder, empty)
                remove_other_generations(self._folder, empty.generation)
            finally:
                lock.release()

    def compact(self) -> None:
        """Commit, and write what is left anew, so that nothing of what was removed stays."""
        with self._writing, file_errors(self._folder):
            self.commit()
            lock = WriterLock(self._folder)
            try:
                base = self._snapshot()
                remove_other_generations(self._folder, base.generation.name)
                if not is_lean(base):
                    rewrite(base)
            finally:
                lock.release()

    def close(self) -> None:
        """Let go of the files; what was not committed is gone."""
        with self._writing, self._loading:
            self._drop_draft()
            self._loaded = None

    def _ensure_draft(self) -> Draft:
        if self._draft is None:
            lock = WriterLock(self._folder)
            try:
                self._draft = Draft(lock, self._snapshot())
            except BaseException:
                lock.release()
                raise
        return self._draft

    def _drop_draft(self) -> None:
        if self._draft is not None:
            self._draft.close()
            self._draft = None

    def _snapshot(self) -> Snapshot:
        with file_errors(self._folder):
            loaded = self._loaded
            if loaded is None or not self._is_current(loaded[0]):
                with self._loading:
                    loaded = self._loaded = self._load()
        refuse_other_model(self._model, loaded[1].manifest.model)
        return loaded[1]

    def _is_current(self, file: ManifestFile | None) -> bool:
        return file.is_current() if file else find_manifest(self._folder) is None

    def _load(self) -> tuple[ManifestFile | None, Snapshot]:
        before = self._loaded[1] if self._loaded else None
        while (file := find_manifest(self._folder)) is not None:
            manifest = file.manifest
            if before is None or before.generation.name != manifest.generation:
                before = None
                generation = Generation(self._folder, manifest.generation, manifest.model)
            else:
                generation = before.generation
            try:
                return file, Snapshot(generation, manifest, before)
            except FileNotFoundError as error:
                if file.is_current():
                    raise damaged(f"{error.filename} is missing") from error
        nothing = Manifest.of_nothing(self._model)
        return None, Snapshot(Generation(self._folder, nothing.generation, self._model), nothing)
