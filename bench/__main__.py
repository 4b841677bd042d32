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

from bench.figures import Sizes
from bench.rows import ROWS
from bench.slow_disk import measure_sync_s
from bench.table import WIDTH_OF_A_FILE, print_table


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
        console = Console(width=None if sys.stdout.isatty() else WIDTH_OF_A_FILE)
        console.print(
            f"A sync takes {sync_s * 1_000_000:,.0f} µs here ({1 / sync_s:,.0f} a second). "
            f"Medians of {rows[0].repetitions} alternating runs. "
            f"SQLite {apsw.sqlite_lib_version()} (Salon), {sqlite3.sqlite_version} (sqlite3).",
            highlight=False,
        )
        print_table(rows, console)


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


if __name__ == "__main__":
    main()
