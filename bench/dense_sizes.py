"""How a search among vectors is best done, by how many there are: `python -m bench.dense_sizes`.

Each way answers the same queries, the ways in turns, beside the bare product of a matrix and a
vector with the best of it picked. Says what each takes on the clock and on the processors, how much
of the exact answer it finds, how long it takes to build and how long to open. Measures among
vectors made up in themes, or among real ones mixed with each other (`--real FILE.npz`, with
passages in `E` and queries in `Q`). Nothing is kept.

On a machine with other work to do, set `OPENBLAS_NUM_THREADS=1` and read the processor's time: the
bare product otherwise waits, in circles, for a second thread that does not get its turn.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.core.hashing import CardHash
from salon.core.indexes import PassageId
from salon.retrieval.dense.flat_index import FlatVectorIndex

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
GRAPHS_UP_TO = 100_000
"""Beyond, a graph takes the better part of an hour to build."""
LIMITS = (10, 1000)
QUERIES = 60
DIMENSIONS = 384
OVERSAMPLING = 4
_BATCH = 8192
_ROOT = Path(__file__).parent.parent

Found: TypeAlias = npt.NDArray[np.int64]
Way: TypeAlias = Callable[[Vector, int], Found]


@dataclass(slots=True)
class Figures:
    """What one way took for one limit."""

    clock: list[float] = field(default_factory=list)
    processors: list[float] = field(default_factory=list)
    of_ten: list[float] = field(default_factory=list)
    of_all: list[float] = field(default_factory=list)


def made_up(count: int, queries: int) -> tuple[Vectors, Vectors]:
    """Return passages around themes that share a few directions, and queries a little further."""
    random = np.random.default_rng(count)
    directions = random.normal(size=(96, DIMENSIONS)) * np.arange(1, 97)[:, np.newaxis] ** -0.5
    themes = _unit(random.normal(size=(max(count // 50, 10), 96)) @ directions)

    def around(size: int, spread: float) -> Vectors:
        noise = random.standard_normal((size, DIMENSIONS), dtype=np.float32)
        noise *= np.float32(spread / DIMENSIONS**0.5)
        return _unit(themes[random.integers(0, len(themes), size)] + noise)

    pieces = [around(min(100_000, count - done), 0.7) for done in range(0, count, 100_000)]
    return np.concatenate(pieces), around(queries, 0.9)


def from_real(file: Path, count: int, queries: int) -> tuple[Vectors, Vectors]:
    """Return real passages, mixed in pairs where there are not enough, and real queries."""
    random = np.random.default_rng(count)
    held = np.load(file)
    passages, asked = _unit(held["E"]), _unit(held["Q"])
    pieces = [passages[:count]]
    for done in range(len(passages), count, 100_000):
        size = min(100_000, count - done)
        one, two, three, four = random.integers(0, len(passages), (4, size))
        share = random.uniform(0.5, 1, (size, 1)).astype(np.float32)
        mixed = share * passages[one] + (1 - share) * passages[two]
        pieces.append(_unit(mixed + 0.25 * (passages[three] - passages[four])))
    return np.concatenate(pieces), asked[random.permutation(len(asked))[:queries]]


def ways(rows: Vectors, folder: Path, *, graphs: bool, built: dict[str, float]) -> dict[str, Way]:
    """Build whatever each way needs, noting how long that took."""
    found: dict[str, Way] = {"bare": lambda query, limit: _best(rows @ query, limit)}
    began = time.process_time()
    with _flat(folder, 0) as index:
        for start in range(0, len(rows), _BATCH):
            numbers = range(start, min(start + _BATCH, len(rows)))
            cards = [CardHash(f"{number // 10:064x}") for number in numbers]
            index.add([PassageId(n) for n in numbers], cards, rows[start : start + _BATCH])
        index.commit()
    built["sketches"] = time.process_time() - began
    for name, exact_up_to in (("exact", len(rows)), ("sketches", 0)):
        found[name] = partial(_search, _flat(folder, exact_up_to))
    if graphs:
        found |= _usearch_ways(rows, built)
    return found


def _usearch_ways(rows: Vectors, built: dict[str, float]) -> dict[str, Way]:
    engine: Any = import_module("usearch.index")  # of the extra `bench`; only here
    Index, MetricKind, search = engine.Index, engine.MetricKind, engine.search  # noqa: N806

    def rescored(keys: Found, query: Vector, limit: int) -> Found:
        return keys[_best(rows[keys] @ query, limit)]

    found: dict[str, Way] = {}
    for kind in ("f16", "i8"):
        graph = Index(ndim=rows.shape[1], metric=MetricKind.IP, dtype=kind, expansion_search=128)
        began = time.process_time()
        graph.add(np.arange(len(rows)), rows, threads=2)
        built[f"graph {kind}"] = time.process_time() - began

        def by_graph(query: Vector, limit: int, graph: Any = graph) -> Found:
            keys = graph.search(query, min(limit * OVERSAMPLING, len(rows))).keys
            return rescored(keys.astype(np.int64), query, limit)

        found[f"graph {kind}"] = by_graph
    bytes_each = np.rint(rows * (127 / np.abs(rows).max())).astype(np.int8)

    def by_bytes(query: Vector, limit: int) -> Found:
        asked = np.rint(query * (127 / np.abs(query).max())).astype(np.int8)
        wanted = min(limit * OVERSAMPLING, len(rows))
        keys = search(bytes_each, asked, wanted, MetricKind.IP, exact=True, threads=2).keys
        return rescored(keys.astype(np.int64), query, limit)

    found["bytes"] = by_bytes
    return found


def measure(found: dict[str, Way], queries: Vectors, limit: int) -> dict[str, Figures]:
    """Let every way answer every query, in turns."""
    figures = {name: Figures() for name in found}
    for query in queries:
        right = found["bare"](query, limit)
        for name, way in found.items():
            clock, processors = time.perf_counter(), time.process_time()
            answer = way(query, limit)
            figures[name].processors.append(time.process_time() - processors)
            figures[name].clock.append(time.perf_counter() - clock)
            figures[name].of_ten.append(np.isin(right[:10], answer[:10]).mean())
            figures[name].of_all.append(np.isin(right, answer).mean())
    return figures


def opening(folder: Path, exact_up_to: int) -> str:
    """Return how a fresh process opens the index, answers once, and what memory it takes."""
    words = [sys.executable, "-m", "bench.dense_sizes", "--open", str(folder), str(exact_up_to)]
    done = subprocess.run(words, cwd=_ROOT, check=True, capture_output=True, text=True)  # noqa: S603
    return done.stdout.strip()


def _open_and_answer(folder: Path, exact_up_to: int) -> str:
    query = _unit(np.random.default_rng(1).normal(size=(60, DIMENSIONS)))
    began = time.perf_counter()
    with _flat(folder, exact_up_to) as index:
        index.search(query[0], 1000)
        first = time.perf_counter() - began
        for one in query:
            index.search(one, 1000)
    status = Path("/proc/self/status").read_text("ascii")
    peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return f"{first * 1000:.0f} ms, {int(peak) / 1024:.0f} MB"


def _search(index: FlatVectorIndex, query: Vector, limit: int) -> Found:
    return index.search(query, limit).ids


def _flat(folder: Path, exact_up_to: int) -> FlatVectorIndex:
    model = EmbeddingModel(address="bench:made", fingerprint="0" * 64, dimensions=DIMENSIONS)
    return FlatVectorIndex(folder, model, exact_up_to=exact_up_to)


def _best(scores: Vector, limit: int) -> Found:
    limit = min(limit, len(scores))
    best = np.argpartition(scores, len(scores) - limit)[-limit:]
    return best[np.argsort(-scores[best])]


def _unit(rows: npt.ArrayLike) -> Vectors:
    numbers = np.asarray(rows, dtype=np.float32)
    unit: Vectors = numbers / np.linalg.norm(numbers, axis=1, keepdims=True)
    return unit


def _print(console: Console, count: int, limit: int, figures: dict[str, Figures]) -> None:
    table = Table(title=f"{count:,} vectors, the best {limit}", title_justify="left")
    for heading in ("way", "p50 ms", "p99 ms", "cpu ms", "against bare", "of 10", f"of {limit}"):
        table.add_column(heading, justify="left" if heading == "way" else "right")
    bare = float(np.median(figures["bare"].clock))
    for name, one in figures.items():
        table.add_row(
            name,
            f"{np.median(one.clock) * 1000:.2f}",
            f"{np.quantile(one.clock, 0.99) * 1000:.2f}",
            f"{np.median(one.processors) * 1000:.2f}",
            f"{np.median(one.clock) / bare:.2f}",
            f"{np.mean(one.of_ten):.4f}",
            f"{np.mean(one.of_all):.4f}",
        )
    console.print(table)


def run(sizes: Sequence[int], real: Path | None, *, graphs: bool, console: Console) -> None:
    """Measure each size and print its tables."""
    for count in sizes:
        rows, queries = from_real(real, count, QUERIES) if real else made_up(count, QUERIES)
        rows = rows.astype(np.float16).astype(np.float32)  # as the archive keeps them
        with tempfile.TemporaryDirectory(prefix="salon-bench-") as scratch:
            folder, built = Path(scratch) / "vectors", dict[str, float]()
            found = ways(rows, folder, graphs=graphs and count <= GRAPHS_UP_TO, built=built)
            for limit in LIMITS:
                _print(console, count, limit, measure(found, queries, limit))
            console.print("built, in cpu s:", {name: round(s, 1) for name, s in built.items()})
            for name, exact_up_to in (("exact", count), ("sketches", 0)):
                console.print(f"opened and first answered, {name}:", opening(folder, exact_up_to))


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.dense_sizes", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--real", type=Path, metavar="FILE", help="an .npz with E and Q")
    parser.add_argument("--graphs", action="store_true", help="measure usearch too, which is slow")
    parser.add_argument("--open", nargs=2, metavar=("FOLDER", "N"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.open:
        sys.stdout.write(_open_and_answer(Path(given.open[0]), int(given.open[1])) + "\n")
    else:
        run(given.sizes, given.real, graphs=given.graphs, console=Console(width=100))


if __name__ == "__main__":
    main()
