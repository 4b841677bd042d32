"""`python -m bench [--json] [--only NAME]`: measure, and print one table."""

import argparse
import json
import sqlite3
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import apsw
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.figures import Row, Sizes
from bench.rows import ROWS
from bench.slow_disk import measure_sync_s

WIDTH_OF_A_FILE = 140


def main() -> None:
    """Measure what was asked for, and print it."""
    given = _parse_arguments()
    sizes = replace(Sizes(), repetitions=given.repetitions)
    names = given.only or list(ROWS)
    with tempfile.TemporaryDirectory(prefix="salon-bench-", dir=given.folder) as folder:
        sync_s = measure_sync_s(Path(folder))
        rows = []
        for name in track(names, "measuring", console=Console(stderr=True), transient=True):
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                rows.append(ROWS[name](Path(scratch), sizes))
    if given.json:
        outcome = {"sync_s": sync_s, "rows": [row.as_json() for row in rows]}
        Console().print_json(json.dumps(outcome))
    else:
        _print_table(rows, sync_s)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measure the archive against its limits."
    )
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument(
        "--only", action="append", choices=list(ROWS), metavar="NAME", help=", ".join(ROWS)
    )
    parser.add_argument("--repetitions", type=int, default=Sizes().repetitions, metavar="N")
    parser.add_argument(
        "--folder", type=Path, help="measure on the disk of this folder (default: temporary files)"
    )
    return parser.parse_args()


def _print_table(rows: list[Row], sync_s: float) -> None:
    console = Console(width=None if sys.stdout.isatty() else WIDTH_OF_A_FILE)
    console.print(
        f"A sync takes {sync_s * 1_000_000:,.0f} µs here ({1 / sync_s:,.0f} a second). "
        f"Medians of {rows[0].repetitions} alternating runs. "
        f"SQLite {apsw.sqlite_lib_version()} (Salon), {sqlite3.sqlite_version} (sqlite3).",
        highlight=False,
    )
    table = Table(box=None, pad_edge=False)
    for title in ("what", "Salon", "peer", "", "ratio", "goal", "met"):
        table.add_column(title, justify="right" if title in {"Salon", "ratio"} else "left")
    for row in rows:
        table.add_row(
            row.what,
            _with_unit(row.salon, row.unit),
            "" if row.peer is None else _with_unit(row.peer, row.unit),
            row.peer_is,
            "" if row.ratio is None else f"{row.ratio:.2f}",
            _goal(row),
            {True: "yes", False: "NO", None: "-"}[row.is_met],
        )
    console.print(table)


def _goal(row: Row) -> str:
    if row.below is not None:
        return f"< {row.below:.0f} {row.unit}"
    return "-" if row.least_ratio is None else f"≥ {row.least_ratio:g}"


def _with_unit(figure: float, unit: str) -> str:
    return f"{figure:,.0f} {unit}" if figure >= 100 else f"{figure:.1f} {unit}"


if __name__ == "__main__":
    main()
