"""The passages of one archive with the indexes that find them, kept in step as one thing.

Words are in one engine, vectors in another, and the catalogue says which passages there are; this
module makes the three agree. It does not rank, and it makes no vectors: see `searcher` and
`filling`.

Invariants: what the engines hold beyond the catalogue is never returned, and what the catalogue
holds is in the lexical engine; writers take turns behind the catalogue's transaction, also across
processes, and readers never wait for one.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from salon.core.archive import Archive
from salon.core.closing import Closable
from salon.core.documents import DocumentId
from salon.core.embedding import EmbeddingModel, Vectors
from salon.core.errors import ModelMismatch
from salon.core.hashing import CardHash
from salon.core.indexes import IndexedText, LexicalIndex, VectorIndex
from salon.retrieval.catalogue import Catalogue, CataloguedPassage, CatalogueStats
from salon.retrieval.chunking import DEFAULT_CHUNKS, ChunkSettings
from salon.retrieval.following import (
    CHANGES_PER_COMMIT,
    CaughtUp,
    Follower,
    Scope,
)
from salon.retrieval.index_file import IndexFile

OpenVectors = Callable[[EmbeddingModel], VectorIndex]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of the archive the indexes reflect."""

    passages: int
    with_vector: int
    entries_behind: int

    @property
    def vectors_share(self) -> float:
        """Return the share of passages that have a vector; 1 where there are no passages."""
        return self.with_vector / self.passages if self.passages else 1.0


class PassageIndex(Closable):
    """Passages of one archive, found by words and by vectors."""

    def __init__(
        self,
        file: IndexFile,
        archive: Archive,
        *,
        lexical: LexicalIndex,
        open_vectors: OpenVectors,
        chunks: ChunkSettings = DEFAULT_CHUNKS,
        scope: Scope = Scope.DOCUMENTS,
        changes_per_commit: int = CHANGES_PER_COMMIT,
    ) -> None:
        self.archive = archive
        self.lexical = lexical
        self.catalogue = Catalogue(file, chunks)
        self.catalogue.create_tables()
        self._file = file
        self._open_vectors = open_vectors
        self._vectors: VectorIndex | None = None
        self._vectors_lock = threading.Lock()
        self._follower = Follower(
            file,
            _Members(self),
            name="passages",
            fingerprint=f"{self.catalogue.fingerprint} {lexical.fingerprint}",
            scope=scope,
            changes_per_commit=changes_per_commit,
        )
        self._repair_lexical()

    def close(self) -> None:
        """Let go of the files."""
        self.lexical.close()
        with self._vectors_lock:
            if self._vectors is not None:
                self._vectors.close()
                self._vectors = None
        self._file.close()

    # Keeping in step

    def catch_up(self, on_entries: Callable[[int], None] = lambda _: None) -> CaughtUp:
        """Take in what happened in the archive since the last time."""
        return self._follower.catch_up(self.archive, on_entries)

    def rebuild(self) -> CaughtUp:
        """Forget everything and build it again from the archive."""
        return self._follower.rebuild(self.archive)

    def compact(self) -> bool:
        """Leave nothing of removed cards in any file; tell whether there was anything to do."""
        return self._follower.compact()

    def behind(self) -> int:
        """Return how many audit entries the index has not seen."""
        return self._follower.behind(self.archive)

    def documents_of(self, card: CardHash) -> list[DocumentId]:
        """Return the documents whose text this card is, as far as the index has come."""
        return self._follower.documents_of(card)

    def seq(self) -> int:
        """Return the audit entry that the index reflects."""
        return self._follower.place().seq

    def stats(self) -> CatalogueStats:
        """Count what is there."""
        return self.catalogue.stats()

    def coverage(self) -> Coverage:
        """Tell how much of the archive is reflected."""
        stats = self.stats()
        return Coverage(
            passages=stats.passages,
            with_vector=stats.with_vector,
            entries_behind=self.behind(),
        )

    def _repair_lexical(self) -> None:
        """Build anew what somebody deleted beside the catalogue."""
        if self.lexical.count() == 0 and self.stats().passages:
            with self.writing():
                self.index_words_again()

    def writing(self) -> AbstractContextManager[object]:
        """Keep other writers out for a block."""
        return self._file.write()

    def index_words_again(self) -> None:
        """Give the lexical engine every passage anew; searches go on as before meanwhile."""
        self.lexical.clear()
        for card in self.catalogue.cards():
            found = self.archive.find(card)
            if found is None:
                continue  # its deletion comes later in the log
            self.lexical.add(
                IndexedText(passage.id, card, found.content[passage.start : passage.end].decode())
                for passage in self.catalogue.passages_of(card)
            )
        self.lexical.commit()

    # Vectors

    def use_model(self, model: EmbeddingModel) -> None:
        """Count and search the vectors of this model from now on; those of another one go."""
        if not self.catalogue.use_model(model):
            return
        with self._vectors_lock:
            if self._vectors is not None:
                self._vectors.close()
            self._vectors = index = self._open_vectors(model)
        try:
            index.count()
        except ModelMismatch:  # the files are from before
            with self.writing():
                index.clear()
                index.commit()

    @property
    def vectors(self) -> VectorIndex | None:
        """Return the index of vectors, `None` as long as no model was chosen."""
        with self._vectors_lock:
            if self._vectors is None:
                model = self.catalogue.model()
                self._vectors = None if model is None else self._open_vectors(model)
            return self._vectors

    def add_vectors(self, passages: Sequence[CataloguedPassage], vectors: Vectors) -> None:
        """Put vectors into the index and note that they are there."""
        index = self.vectors
        assert index is not None, "use_model comes first"
        with self._file.write():
            index.add([found.id for found in passages], [found.hash for found in passages], vectors)
            index.commit()
            self.catalogue.mark_vectors(found.id for found in passages)

    def repair_vectors(self) -> None:
        """Note what is missing if the index of vectors was lost or replaced."""
        index = self.vectors
        if index is not None and index.count() < self.stats().with_vector:
            with self._file.write():
                index.clear()
                index.commit()
                self.catalogue.unmark_vectors()


class _Members:
    """The catalogue and both engines, as `Follower` wants them written."""

    def __init__(self, index: PassageIndex) -> None:
        self._index = index
        self._removed: list[CardHash] = []

    def create_tables(self) -> None:
        self._index.catalogue.create_tables()

    def drop_tables(self) -> None:
        if (vectors := self._index.vectors) is not None:
            vectors.clear()
            vectors.commit()
        self._index.catalogue.drop_tables()
        self._index.lexical.clear()
        self._index.lexical.commit()
        self._removed = []

    def has(self, card: CardHash) -> bool:
        return self._index.catalogue.has(card)

    def insert(self, card: CardHash, text: str) -> None:
        self._index.lexical.add(self._index.catalogue.insert(card, text))

    def remove(self, card: CardHash) -> bool:
        removed = self._index.catalogue.remove(card)
        if removed:
            self._index.lexical.remove([card])
            self._removed.append(card)
        return removed

    def flush(self) -> None:
        self._index.lexical.commit()
        if self._removed and (vectors := self._index.vectors) is not None:
            vectors.remove(self._removed)
            vectors.commit()
        self._removed = []

    def compact(self) -> None:
        if self._index.lexical.needs_rebuild_to_compact:
            with self._index.writing():
                self._index.index_words_again()
        self._index.lexical.compact()
        if (vectors := self._index.vectors) is not None:
            vectors.compact()
