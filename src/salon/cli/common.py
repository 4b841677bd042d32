"""What every command needs: Salon itself, `--json`, progress."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import click

from salon.app import Salon
from salon.cli.place import settings_in_force
from salon.cli.printing import printable

P = ParamSpec("P")
R = TypeVar("R")


def with_salon(command: Callable[Concatenate[Salon, P], R]) -> Callable[P, R]:
    """Hand the command a Salon in the home that was asked for, and close it afterwards."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with Salon(settings_in_force()) as salon:
            return command(salon, *args, **kwargs)

    return run


def fill_in(salon: Salon) -> None:
    """Let missing vectors follow in the background while people talk."""
    coverage = salon.index_coverage()
    is_unread = not coverage.passages and coverage.entries_behind > 0
    if coverage.with_vector < coverage.passages or is_unread:
        salon.start_indexing()


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON instead of text for people."
)

checkpoint_option = click.option(
    "--checkpoint",
    "checkpoints",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="A checkpoint kept elsewhere, to hold the audit log against; the last one that was noted "
    "beside the archive is always used.",
)


def emit(value: object, text: str, *, as_json: bool) -> None:
    """Print `value` as JSON or `text` for people."""
    click.echo(json.dumps(plain(value), ensure_ascii=False) if as_json else printable(text))


def plain(value: object) -> object:
    """Turn dataclasses, named tuples and tuples into what JSON knows."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    return value


@contextmanager
def byte_progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar for work that is counted in bytes, if there is a person to see it."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total or None)
        yield lambda count: progress.advance(task, count)


@contextmanager
def item_progress(label: str, total: int) -> Iterator[Callable[[str], None]]:
    """Show a bar for work that is counted in items, each named as it begins."""
    if not sys.stderr.isatty() or total < 2:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[name]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total, name="")
        yield lambda name: progress.update(task, advance=1, name=name)


@contextmanager
def amount_progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar for work that reports how much is done, and of how much."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def counted(number: int, noun: str) -> str:
    """Return `1 card` or `2 cards`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def human_bytes(count: int) -> str:
    """Return a size as people read it."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:,.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1000
    return ""
