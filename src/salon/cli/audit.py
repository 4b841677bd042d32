"""`salon audit`: read the log, prove it, take its checkpoint away."""

import json
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import click

from salon.app import Salon, read_checkpoint_file
from salon.cli.common import checkpoint_option, emit, json_option, plain, with_salon
from salon.core.entries import EntryFilter, as_since, as_until
from salon.core.errors import OutsideFailed
from salon.core.events import AuditEntry

_NUMBER = click.IntRange(min=0)


@click.group()
def audit() -> None:
    """The log of everything that changed, and its proof."""


@audit.command()
@checkpoint_option
@json_option
@with_salon
def verify(salon: Salon, checkpoints: tuple[Path, ...], as_json: bool) -> None:
    """Check the chain of entries and its signed head; name the first bad entry."""
    head = salon.verify_audit([read_checkpoint_file(path) for path in checkpoints])
    signed = "signed" if head.signature else "not signed"
    emit(
        {"sound": True, "checkpoint": head},
        f"{head.seq:,} in the log, the chain holds, head {head.hash} ({signed})",
        as_json=as_json,
    )


@audit.command()
@click.option("--after", type=_NUMBER, default=0, help="Begin after this entry.")
@click.option("--before", type=_NUMBER, help="End before this entry.")
@click.option(
    "--limit", type=_NUMBER, default=50, show_default=True, help="At most so many; 0 for all."
)
@click.option("--newest", is_flag=True, help="The newest first.")
@click.option("--kind", "kinds", multiple=True, help="Only this kind; several times: any of them.")
@click.option("--session", help="Only turns and actions of this session.")
@click.option("--round", help="Only moves of this round of the council.")
@click.option("--handle", help="Only steps of this handle.")
@click.option("--document", help="Only what became of this document.")
@click.option("--avatar", help="Only turns with and uses of this avatar.")
@click.option("--by", help="Only what was done on behalf of this actor.")
@click.option("--since", help="Not before this day (2026-11-15) or moment (2026-11-15T08:30:00Z).")
@click.option("--until", help="Not after this day, all of it, or moment.")
@json_option
@with_salon
def log(
    salon: Salon,
    /,
    *,
    after: int,
    before: int | None,
    limit: int,
    newest: bool,
    as_json: bool,
    since: str | None,
    until: str | None,
    **asked: Any,
) -> None:
    """Print entries; with --json one object per line, ready to keep elsewhere."""
    where = EntryFilter(
        since=None if since is None else as_since(since),
        until=None if until is None else as_until(until),
        **asked,
    )
    found = salon.archive.audit_entries(
        after=after, before=before, where=where, newest_first=newest
    )
    for entry in islice(found, limit or None):
        line = json.dumps(plain(entry), ensure_ascii=False) if as_json else _line(entry)
        click.echo(line)


def _line(entry: AuditEntry) -> str:
    details = ", ".join(
        f"{name} {_short(value)}"
        for name, value in entry.body.items()
        if name != "kind" and value not in (None, [], "")
    )
    return f"{entry.seq:>6}  {entry.at}  {entry.by}  {entry.body['kind']}: {details}"


def _short(value: object) -> str:
    if isinstance(value, list):
        shown = ", ".join(_short(item) for item in value[:3])
        return shown if len(value) <= 3 else f"{shown} and {len(value) - 3} more"
    text = str(value)
    return text if len(text) < 64 else f"{text[:12]}…"


@audit.command()
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file."
)
@json_option
@with_salon
def checkpoint(salon: Salon, output: Path | None, as_json: bool) -> None:  # noqa: ARG001
    """Print the head of the log (always as JSON), to keep outside this machine.

    Whoever later cuts or rewrites the log cannot make it agree with this line again.
    """
    text = json.dumps(asdict(salon.archive.checkpoint()))
    if output is None:
        click.echo(text)
        return
    try:
        output.write_text(text + "\n")
    except OSError as error:
        raise OutsideFailed(f"{output} cannot be written: {error.strerror}") from error
