"""Engines for vectors, each behind the same few functions: build from a file, open, ask.

As a program (`python -m bench.engines build|search NAME FOLDER WORK`) this does one of both and
prints what it took. `WORK` holds `vectors.npy`, `queries.npy` and `nearest.npy`.
"""

import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bench.figures import timed
from bench.own_process import anonymous_mb, give_answer, peak_mb
from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.core.hashing import CardHash
from salon.core.indexes import PassageId
from salon.retrieval.dense.flat_index import FlatVectorIndex

TOP = 10
WARM_UP = 10
_BATCH = 5_000
_NAME = "vectors"

Ask: TypeAlias = Callable[[Vector], list[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """How to build an index in a folder and how to ask it."""

    title: str
    build: Callable[[Path, Vectors], None]
    opened: Callable[[Path], Any]
    module: str | None = None
    package: str = ""
    most: int | None = None
    """Vectors beyond which building takes many minutes."""

    @property
    def is_installed(self) -> bool:
        """Tell whether it can be measured here."""
        return self.module is None or find_spec(self.module) is not None


def _batches(vectors: Vectors) -> Iterator[tuple[int, Vectors]]:
    for start in range(0, len(vectors), _BATCH):
        yield start, np.ascontiguousarray(vectors[start : start + _BATCH])


def _flat(folder: Path, dimensions: int) -> FlatVectorIndex:
    model = EmbeddingModel(address="bench:engines", fingerprint="1", dimensions=dimensions)
    return FlatVectorIndex(folder / str(dimensions), model)


def _build_salon(folder: Path, vectors: Vectors) -> None:
    with _flat(folder, vectors.shape[1]) as index:
        for start, batch in _batches(vectors):
            ids = [PassageId(start + place) for place in range(len(batch))]
            index.add(ids, [CardHash(f"{id_ // 100:064x}") for id_ in ids], batch)
            index.commit()


@contextmanager
def _open_salon(folder: Path) -> Iterator[Ask]:
    (dimensions,) = (int(path.name) for path in folder.iterdir())
    with _flat(folder, dimensions) as index:
        yield lambda vector: index.search(vector, TOP).ids.tolist()


def _chroma_client(folder: Path) -> Any:
    import chromadb  # noqa: PLC0415 - not everybody has it

    settings = chromadb.config.Settings(anonymized_telemetry=False)
    return chromadb.PersistentClient(str(folder), settings=settings)


def _build_chroma(folder: Path, vectors: Vectors) -> None:
    collection = _chroma_client(folder).create_collection(
        _NAME, configuration={"hnsw": {"space": "ip"}}, embedding_function=None
    )
    for start, batch in _batches(vectors):
        ids = [str(start + place) for place in range(len(batch))]
        collection.add(ids=ids, embeddings=batch)


@contextmanager
def _open_chroma(folder: Path) -> Iterator[Ask]:
    collection = _chroma_client(folder).get_collection(_NAME, embedding_function=None)

    def ask(vector: Vector) -> list[int]:
        found = collection.query(query_embeddings=vector[None], n_results=TOP, include=[])
        return [int(id_) for id_ in found["ids"][0]]

    yield ask


def _build_lance(folder: Path, vectors: Vectors) -> Any:
    import lancedb  # noqa: PLC0415

    pyarrow: Any = import_module("pyarrow")  # comes with lancedb
    dimensions = vectors.shape[1]
    schema = pyarrow.schema(
        [("id", pyarrow.int64()), ("vector", pyarrow.list_(pyarrow.float32(), dimensions))]
    )

    def batches() -> Iterator[Any]:
        for start, batch in _batches(vectors):
            rows = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(batch.ravel()), dimensions)
            ids = pyarrow.array(np.arange(start, start + len(batch)))
            yield pyarrow.RecordBatch.from_arrays([ids, rows], schema=schema)

    reader = pyarrow.RecordBatchReader.from_batches(schema, batches())
    return lancedb.connect(str(folder)).create_table(_NAME, reader)


def _build_lance_graph(folder: Path, vectors: Vectors) -> None:
    from lancedb.index import HnswSq  # noqa: PLC0415

    _build_lance(folder, vectors).create_index("vector", config=HnswSq(distance_type="dot"))


@contextmanager
def _open_lance(folder: Path) -> Iterator[Ask]:
    import lancedb  # noqa: PLC0415

    table = lancedb.connect(str(folder)).open_table(_NAME)

    def ask(vector: Vector) -> list[int]:
        search = table.search(vector).distance_type("dot").limit(TOP)
        found: list[int] = search.select(["id", "_distance"]).to_arrow()["id"].to_pylist()
        return found

    yield ask


def _build_qdrant(folder: Path, vectors: Vectors) -> None:
    from qdrant_client import QdrantClient, models  # noqa: PLC0415

    client = QdrantClient(path=str(folder))
    client.create_collection(
        _NAME,
        vectors_config=models.VectorParams(size=vectors.shape[1], distance=models.Distance.DOT),
    )
    for start, batch in _batches(vectors):
        client.upload_collection(_NAME, batch, ids=range(start, start + len(batch)))
    client.close()


@contextmanager
def _open_qdrant(folder: Path) -> Iterator[Ask]:
    from qdrant_client import QdrantClient  # noqa: PLC0415

    client = QdrantClient(path=str(folder))

    def ask(vector: Vector) -> list[int]:
        found = client.query_points(_NAME, query=vector, limit=TOP, with_payload=False)
        return [int(point.id) for point in found.points]

    yield ask
    client.close()


def _from_package(package: str, title: str, **how: Any) -> Engine:
    """Return an engine that comes from a package; its module is called like it."""
    return Engine(title=title, module=package.replace("-", "_"), package=package, **how)


SALON = "salon"
ENGINES = {
    SALON: Engine(title="Salon", build=_build_salon, opened=_open_salon),
    "chromadb": _from_package("chromadb", "chromadb", build=_build_chroma, opened=_open_chroma),
    "lancedb": _from_package(
        "lancedb", "lancedb, no index", build=_build_lance, opened=_open_lance
    ),
    "lancedb-hnsw": _from_package(
        "lancedb", "lancedb, HNSW-SQ", build=_build_lance_graph, opened=_open_lance
    ),
    "qdrant-local": _from_package(
        "qdrant-client",
        "qdrant-client local",
        build=_build_qdrant,
        opened=_open_qdrant,
        most=20_000,
    ),
}


def _build(engine: Engine, folder: Path, work: Path) -> dict[str, float]:
    vectors = np.load(work / "vectors.npy", mmap_mode="r")
    folder.mkdir(parents=True)
    with timed() as watch:
        engine.build(folder, vectors)
    return {"seconds": watch.seconds, "peak_mb": peak_mb()}


def _search(engine: Engine, folder: Path, work: Path) -> dict[str, float]:
    queries, nearest = np.load(work / "queries.npy"), np.load(work / "nearest.npy")
    before = peak_mb()
    took, found = [], []
    with engine.opened(folder) as ask:
        for query, right in zip(queries, nearest, strict=True):
            with timed() as watch:
                answer = ask(query)
            took.append(watch.seconds * 1000)
            found.append(len(set(answer) & set(right.tolist())) / len(right))
        return {
            "p50_ms": statistics.median(took[WARM_UP:] or took),
            "recall": statistics.fmean(found),
            "before_mb": before,
            "anonymous_mb": anonymous_mb(),
            "peak_mb": peak_mb(),
        }


def main() -> None:
    """Do what the arguments say."""
    verb, name, folder, work = sys.argv[1:]
    do = {"build": _build, "search": _search}[verb]
    give_answer(do(ENGINES[name], Path(folder), Path(work)))


if __name__ == "__main__":
    main()
