"""Putting a passage index together from engines that are chosen by name."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from salon.core.archive import Archive
from salon.retrieval.chunking import DEFAULT_CHUNKS, ChunkSettings
from salon.retrieval.following import CHANGES_PER_COMMIT, Scope
from salon.retrieval.index_file import IndexFile
from salon.retrieval.passage_index import PassageIndex

if TYPE_CHECKING:
    from salon.core.embedding import EmbeddingModel
    from salon.core.indexes import LexicalIndex, VectorIndex

EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPlan:
    """Which engines, where their files are, and what they take in.

    `file` is given for the single-file mode: everything is in that SQLite file, beside whatever
    else is in it. `vectors` may name a store outside, in either mode.
    """

    folder: Path
    file: Path | None = None
    vectors: str = EMBEDDED
    chunks: ChunkSettings = DEFAULT_CHUNKS
    scope: Scope = Scope.DOCUMENTS
    changes_per_commit: int = CHANGES_PER_COMMIT

    @property
    def engine(self) -> Literal["fast", "single-file"]:
        """Return the mode by its name in the settings."""
        return "fast" if self.file is None else "single-file"


def open_passage_index(archive: Archive, plan: IndexPlan) -> PassageIndex:
    """Open the index that a plan describes, over an archive that is open already."""
    file = IndexFile(plan.file or plan.folder / "passages.db")
    return PassageIndex(
        file,
        archive,
        lexical=_open_lexical(plan, file),
        open_vectors=lambda model: _open_vectors(plan, file, model),
        chunks=plan.chunks,
        scope=plan.scope,
        changes_per_commit=plan.changes_per_commit,
    )


def _open_lexical(plan: IndexPlan, file: IndexFile) -> "LexicalIndex":
    if plan.engine == "single-file":
        from salon.retrieval.lexical.fts5_index import Fts5Index

        return Fts5Index(file)
    from salon.retrieval.lexical.tantivy_index import TantivyIndex

    return TantivyIndex(plan.folder / "words")


def _open_vectors(plan: IndexPlan, file: IndexFile, model: "EmbeddingModel") -> "VectorIndex":
    if plan.vectors != EMBEDDED:
        from salon.providers.vectors import open_vector_index

        return open_vector_index(plan.vectors, model, folder=plan.folder / "vectors")
    if plan.engine == "single-file":
        from salon.retrieval.dense.sqlite_vec_index import SqliteVecIndex

        return SqliteVecIndex(file, model)
    from salon.retrieval.dense.flat_index import FlatVectorIndex

    return FlatVectorIndex(plan.folder / "vectors", model)
