"""The vector indexes that the shared behaviour tests run against: a new one only has to be listed.

`open` gets the folder of one test: an index that lives elsewhere makes its own name from it, the
same in every process.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from salon.core.embedding import EmbeddingModel, Vectors
from salon.core.hashing import CardHash
from salon.core.indexes import PassageId, VectorIndex
from salon.retrieval.dense.flat_index import FlatVectorIndex
from salon.retrieval.dense.sqlite_vec_index import SqliteVecIndex
from tests.providers.vectors import openers

DIMENSIONS = 16
MODEL = EmbeddingModel(address="test:small", fingerprint="a" * 64, dimensions=DIMENSIONS)
RETRAINED = EmbeddingModel(address="test:small", fingerprint="b" * 64, dimensions=DIMENSIONS)
WIDER = EmbeddingModel(address="test:wide", fingerprint="c" * 64, dimensions=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """How to open one kind of index, and what the shared tests may ask of it."""

    open: Callable[[Path, EmbeddingModel], VectorIndex]
    exact: bool = True
    """Of equal scores at the limit, those with the lowest ids are returned."""
    whole_commits: bool = True
    """Nothing of a change is seen before `commit`, and a kill before it leaves nothing of it."""
    many_processes: bool = True
    """Another process may search, and write when nobody else does."""


def open_flat(place: Path, model: EmbeddingModel) -> VectorIndex:
    """Open a flat index that always scans."""
    return FlatVectorIndex(place / "vectors", model)


def open_approximate(place: Path, model: EmbeddingModel) -> VectorIndex:
    """Open a flat index that leaves the exact scan as early as it can."""
    return FlatVectorIndex(place / "vectors", model, exact_up_to=0)


def open_sqlite_vec(place: Path, model: EmbeddingModel) -> VectorIndex:
    """Open an index inside a SQLite file."""
    return SqliteVecIndex(place / "vectors.db", model)


BACKENDS: dict[str, Backend] = {
    "flat": Backend(open=open_flat),
    "approximate": Backend(open=open_approximate),
    "sqlite-vec": Backend(open=open_sqlite_vec),
    "pgvector": Backend(open=openers.open_pgvector),
    "pgvector-graph": Backend(open=openers.open_pgvector_graph),
    "qdrant-local": Backend(
        open=openers.open_local_qdrant, whole_commits=False, many_processes=False
    ),
    "qdrant-server": Backend(open=openers.open_qdrant_server, exact=False),
    "qdrant-edge": Backend(
        open=openers.open_qdrant_edge, whole_commits=False, many_processes=False
    ),
}


@dataclass(slots=True)
class Place:
    """Where one index lives: open it as often as you like, all is closed in the end."""

    name: str
    folder: Path
    opened: list[VectorIndex] = field(default_factory=list)

    @property
    def backend(self) -> Backend:
        """Return what is known of the backend."""
        return BACKENDS[self.name]

    def open(self, model: EmbeddingModel = MODEL) -> VectorIndex:
        """Open the index."""
        index = self.backend.open(self.folder, model)
        self.opened.append(index)
        return index

    def command(self, *words: str) -> list[str]:
        """Return the command that does something to the index in another process."""
        module = "tests.retrieval.dense.other_process"
        return [sys.executable, "-m", module, self.name, str(self.folder), *words]

    def close(self) -> None:
        """Close whatever was opened."""
        for index in self.opened:
            index.close()


def card(number: int) -> CardHash:
    """Return the hash of a card that nobody has."""
    return CardHash(f"{number:064x}")


def unit_rows(count: int, *, seed: int, dimensions: int = DIMENSIONS) -> Vectors:
    """Return unit vectors that are the same each time."""
    rows = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def fill(
    index: VectorIndex, count: int, *, seed: int = 1, first: int = 0, per_card: int = 2
) -> Vectors:
    """Add and commit passages `first` up to `first + count`, a few in each card."""
    rows = unit_rows(count, seed=seed, dimensions=index.model.dimensions)
    numbers = range(first, first + count)
    index.add([PassageId(n) for n in numbers], [card(n // per_card) for n in numbers], rows)
    index.commit()
    return rows


def pieces(total: int, size: int) -> Iterator[tuple[int, int]]:
    """Cut a range into pieces."""
    for start in range(0, total, size):
        yield start, min(start + size, total)
