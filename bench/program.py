"""What every program of the bench has in common: its options, its progress, its table."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from bench.figures import Row
from bench.table import WIDTH_OF_A_FILE, print_table


def make_parser(program: str, description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that all programs have."""
    parser = argparse.ArgumentParser(
        prog=f"python -m bench.{program}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument(
        "--folder", type=Path, help="work on the disk of this folder (default: temporary files)"
    )
    return parser


def say(progress: str) -> None:
    """Tell how far the work is, beside the table and not in it."""
    sys.stderr.write(f"{progress}\n")
    sys.stderr.flush()


def report(rows: Sequence[Row], *, as_json: bool) -> None:
    """Print the rows for people or for machines."""
    if as_json:
        sys.stdout.write(json.dumps([row.as_json() for row in rows], indent=2) + "\n")
    else:
        print_table(rows, Console(width=None if sys.stdout.isatty() else WIDTH_OF_A_FILE))
