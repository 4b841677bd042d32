"""Opening a passage index over an archive, with either pair of engines."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from salon.core.archive import Archive
from salon.providers.indexes import IndexPlan, open_passage_index
from salon.retrieval.chunking import DEFAULT_CHUNKS, ChunkSettings
from salon.retrieval.following import CHANGES_PER_COMMIT, Scope
from salon.retrieval.passage_index import PassageIndex

Engine = Literal["fast", "single-file"]
ENGINES: tuple[Engine, ...] = ("fast", "single-file")


@contextmanager
def opened_index(
    folder: Path,
    archive: Archive,
    *,
    engine: Engine = "fast",
    scope: Scope = Scope.CARDS,
    chunks: ChunkSettings = DEFAULT_CHUNKS,
    changes_per_commit: int = CHANGES_PER_COMMIT,
) -> Iterator[PassageIndex]:
    """Open an index in `folder` for a block."""
    plan = IndexPlan(
        folder=folder,
        file=folder / "index.db" if engine == "single-file" else None,
        chunks=chunks,
        scope=scope,
        changes_per_commit=changes_per_commit,
    )
    with open_passage_index(archive, plan) as index:
        yield index
