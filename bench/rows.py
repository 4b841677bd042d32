"""The table, row by row."""

import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from bench.adds import (
    batch_add,
    concurrent_adds,
    concurrent_adds_against_the_ceiling,
    concurrent_adds_on_a_slow_disk,
)
from bench.bulk import import_export, make_export, make_large_file, stream_add
from bench.embedders import (
    embed_load,
    embed_passages,
    embed_passages_multilingual,
    embed_passages_static,
    embed_query,
    embed_sentences,
)
from bench.figures import Row, Sizes, alternate, timed
from bench.memory import LIMIT_MB, Work, growth_mb
from bench.reads import reads_by_hash

MakeRow: TypeAlias = Callable[[Path, Sizes], Row]


def stream_memory(folder: Path, sizes: Sizes) -> Row:
    """Memory while one large file is added as one card.

    No limit: SQLite holds a row twice while it inserts it, because MCard's columns put `g_time`
    behind the content. The peer is a plain INSERT of the same bytes.
    """
    source = make_large_file(folder, sizes)
    return Row(
        name="stream-memory",
        what=f"memory growth, one card of {source.stat().st_size / 1_000_000:.3g} MB",
        unit="MB",
        salon=_median_growth("stream", source, folder, sizes),
        peer=_median_growth("raw", source, folder, sizes),
        peer_is="sqlite3, one INSERT",
        repetitions=sizes.repetitions,
    )


def import_memory(folder: Path, sizes: Sizes) -> Row:
    """Memory while an export is imported."""
    source = make_export(folder, sizes)
    return Row(
        name="import-memory",
        what=f"memory growth, import of {source.stat().st_size / 1_000_000:.3g} MB",
        unit="MB",
        salon=_median_growth("import", source, folder, sizes),
        peer_is=f"limit {LIMIT_MB:.0f} MB",
        below=LIMIT_MB,
        repetitions=sizes.repetitions,
    )


def startup(folder: Path, sizes: Sizes) -> Row:  # noqa: ARG001 - all rows are made alike
    """How long the command line takes to be imported, beyond a bare interpreter."""
    figures = alternate(
        lambda: _interpreter_ms("import salon.cli.main"),
        lambda: _interpreter_ms("pass"),
        sizes.repetitions,
    )
    return Row(
        name="startup",
        what="start of the command line",
        unit="ms",
        salon=figures[0],
        peer=figures[1],
        peer_is="python -c pass",
        repetitions=sizes.repetitions,
    )


ROWS: dict[str, MakeRow] = {
    "batch-add": batch_add,
    "concurrent-adds": concurrent_adds,
    "concurrent-adds-ceiling": concurrent_adds_against_the_ceiling,
    "concurrent-adds-slow-disk": concurrent_adds_on_a_slow_disk,
    "reads": reads_by_hash,
    "stream-add": stream_add,
    "import": import_export,
    "stream-memory": stream_memory,
    "import-memory": import_memory,
    "startup": startup,
    "embed-load": embed_load,
    "embed-query": embed_query,
    "embed-sentences": embed_sentences,
    "embed-passages": embed_passages,
    "embed-passages-static": embed_passages_static,
    "embed-passages-use": embed_passages_multilingual,
}


def _median_growth(work: Work, source: Path, folder: Path, sizes: Sizes) -> float:
    return statistics.median(
        growth_mb(work, source, folder / f"{work}-memory-{number}.db")
        for number in range(sizes.repetitions)
    )


def _interpreter_ms(code: str) -> float:
    with timed() as watch:
        subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603
    return watch.seconds * 1000
