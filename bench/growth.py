"""`python -m bench.growth [--sizes N,N,…]`: what a corpus costs as it grows.

Each size is built in one process and searched in another, so that the memory of neither counts for
the other. Nothing is left on the disk. The query's embedding is left out: it does not grow.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from bench.corpora import INDEX
from bench.figures import Row, Sizes
from bench.own_process import answer_of, disk_mb
from bench.program import make_parser, report, say

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
QUERIES = 300
MOST_MB = 4_000.0


def growth_rows(folder: Path, passages: int, sizes: Sizes) -> list[Row]:
    """Measure one size."""
    say(f"building {passages:,} passages of {sizes.passage_characters:,} characters")
    built = answer_of("bench.corpora", folder, passages, sizes.passage_characters)
    say("searching")
    searched = answer_of("bench.searching", folder, sizes.passage_characters, sizes.queries)
    return _rows(passages, built, searched, folder, sizes.queries)


def _rows(
    asked: int, built: dict[str, Any], searched: dict[str, Any], folder: Path, queries: int
) -> list[Row]:
    passages, text_mb = built["passages"], built["text_mb"]

    def row(name: str, what: str, unit: str, salon: float, **more: Any) -> Row:
        return Row(
            name=f"growth-{asked}-{name}",
            what=f"{passages:,} passages: {what}",
            unit=unit,
            salon=salon,
            **{"peer_is": "", "repetitions": 1, **more},
        )

    memory: dict[str, Any] = {"below": MOST_MB, "peer_is": f"limit {MOST_MB:,.0f} MB"}
    return [
        row("words", "words indexed", "s", built["words_s"],
            peer_is=f"{text_mb / built['words_s']:.0f} MB/s"),
        row("vectors", "vectors indexed (computing left out)", "s", built["vectors_s"],
            peer_is=f"{passages / built['vectors_s']:,.0f} /s"),
        row("build-memory", "peak memory while indexing", "MB", built["peak_mb"], **memory),
        row("p50", "hybrid search, p50", "ms", searched["p50_ms"], repetitions=queries),
        row("p99", "hybrid search, p99", "ms", searched["p99_ms"], repetitions=queries),
        row("memory", "peak memory while searching", "MB", searched["peak_mb"], **memory),
        row("anonymous", "of which not mapped files", "MB", searched["anonymous_mb"]),
        row("disk", "indexes on disk", "MB", disk_mb(folder / INDEX),
            peer=text_mb, peer_is="the text"),
    ]  # fmt: skip


def main() -> None:
    """Measure every size, and print one table."""
    parser = make_parser("growth", __doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), metavar="N,N,…")
    parser.add_argument("--queries", type=int, default=QUERIES, metavar="N")
    parser.add_argument(
        "--characters",
        type=int,
        default=Sizes().passage_characters,
        metavar="N",
        help="length of a passage",
    )
    given = parser.parse_args()
    sizes = Sizes(queries=given.queries, passage_characters=given.characters)
    rows: list[Row] = []
    for passages in map(int, given.sizes.split(",")):
        folder = Path(tempfile.mkdtemp(prefix="salon-bench-", dir=given.folder))
        try:
            rows += growth_rows(folder, passages, sizes)
        finally:
            shutil.rmtree(folder)
    report(rows, as_json=given.json)


if __name__ == "__main__":
    main()
