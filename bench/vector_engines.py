"""`python -m bench.vector_engines [--passages N]`: Salon's vector index beside well-known ones.

All take the same vectors and answer the same queries, each building in one process and searching
in another, one after the other. An engine that is not installed is named with how to install it;
one that takes many minutes to build is measured at a smaller size, Salon beside it at the same.
"""

import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.engines import ENGINES, SALON, TOP
from bench.figures import Row, Sizes
from bench.own_process import answer_of, disk_mb
from bench.program import make_parser, report, say
from bench.synthetic import SyntheticEmbedder
from salon.core.embedding import Vectors

QUERIES = 200
_BLOCK = 8_192


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What one engine took at one size."""

    build_s: float
    disk_mb: float
    p50_ms: float
    recall: float
    peak_mb: float


def engine_rows(folder: Path, names: Iterable[str], sizes: Sizes) -> list[Row]:
    """Measure Salon and these engines."""
    known: dict[int, Figures] = {}
    rows: list[Row] = []
    for name in names:
        engine = ENGINES[name]
        count = min(sizes.passages, engine.most or sizes.passages)
        work = folder / str(count)
        if count not in known:
            _make_work(work, count, sizes.queries)
            known[count] = _measure(SALON, folder, work)
        if engine.is_installed:
            theirs = _measure(name, folder, work)
            rows += _rows(name, known[count], theirs, count, sizes.queries)
        else:
            rows.append(_not_installed(name, known[count], count, sizes.queries))
    return rows


def _make_work(work: Path, count: int, queries: int) -> None:
    """Write down vectors, queries and what an exact scan finds."""
    work.mkdir(parents=True)
    embedder = SyntheticEmbedder()
    vectors: Vectors = np.concatenate(
        [
            embedder.embed_passages(
                [f"passage {n}" for n in range(start, min(count, start + _BLOCK))]
            )
            for start in range(0, count, _BLOCK)
        ]
    )
    asked = embedder.embed_passages([f"question {number}" for number in range(queries)])
    nearest = [np.argsort(-(vectors @ query), kind="stable")[:TOP] for query in asked]
    np.save(work / "vectors.npy", vectors)
    np.save(work / "queries.npy", asked)
    np.save(work / "nearest.npy", np.array(nearest))


def _measure(name: str, folder: Path, work: Path) -> Figures:
    say(f"{ENGINES[name].title}: {work.name} vectors")
    index = folder / f"{name}-{work.name}"
    built = answer_of("bench.engines", "build", name, index, work)
    disk = disk_mb(index)
    searched = answer_of("bench.engines", "search", name, index, work)
    shutil.rmtree(index)
    return Figures(
        build_s=built["seconds"],
        disk_mb=disk,
        p50_ms=searched["p50_ms"],
        recall=searched["recall"],
        peak_mb=searched["peak_mb"],
    )


def _rows(name: str, ours: Figures, theirs: Figures, count: int, queries: int) -> list[Row]:
    engine = ENGINES[name]

    def row(part: str, what: str, unit: str, salon: float, peer: float) -> Row:
        return Row(
            name=f"{name}-{part}",
            what=f"{count:,} vectors: {what}",
            unit=unit,
            salon=salon,
            peer=peer,
            peer_is=engine.title,
            least=0.99 if part == "recall" else None,
            repetitions=queries if part in {"p50", "recall"} else 1,
        )

    return [
        row("build", "build", "s", ours.build_s, theirs.build_s),
        row("disk", "disk", "MB", ours.disk_mb, theirs.disk_mb),
        row("p50", f"the best {TOP}, p50", "ms", ours.p50_ms, theirs.p50_ms),
        row("recall", f"recall@{TOP}", "", ours.recall, theirs.recall),
        row("memory", "peak memory while searching", "MB", ours.peak_mb, theirs.peak_mb),
    ]


def _not_installed(name: str, ours: Figures, count: int, queries: int) -> Row:
    engine = ENGINES[name]
    return Row(
        name=f"{name}-p50",
        what=f"{count:,} vectors: the best {TOP}, p50",
        unit="ms",
        salon=ours.p50_ms,
        peer_is=f"{engine.title}: not installed (pip install {engine.package})",
        repetitions=queries,
    )


def main() -> None:
    """Measure, and print one table."""
    others = [name for name in ENGINES if name != SALON]
    parser = make_parser("vector_engines", __doc__)
    parser.add_argument("--passages", type=int, default=Sizes().passages, metavar="N")
    parser.add_argument("--queries", type=int, default=QUERIES, metavar="N")
    parser.add_argument(
        "--engine",
        action="append",
        choices=others,
        metavar="NAME",
        help=f"only this one, may be given again: {', '.join(others)}",
    )
    given = parser.parse_args()
    sizes = Sizes(passages=given.passages, queries=given.queries)
    with tempfile.TemporaryDirectory(prefix="salon-bench-", dir=given.folder) as folder:
        rows = engine_rows(Path(folder), given.engine or others, sizes)
    report(rows, as_json=given.json)


if __name__ == "__main__":
    main()
