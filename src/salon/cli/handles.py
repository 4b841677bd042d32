"""`salon archive handle` and `salon archive history`: names and where they pointed."""

from datetime import UTC, datetime

import click

from salon.app import Salon
from salon.cli.common import counted, emit, json_option, with_salon
from salon.core.handles import ANYTHING, Anything, HandleMove
from salon.core.hashing import CardHash, as_card_hash
from salon.council.naming import require_free


def expected_current(expect: str | None) -> CardHash | Anything | None:
    """Return what `--expect` says a handle points at."""
    if expect is None:
        return ANYTHING
    return None if expect == "none" else as_card_hash(expect)


@click.group()
def handle() -> None:
    """Names that point at cards."""


@handle.command("ls")
@click.argument("prefix", default="")
@json_option
@with_salon
def list_handles(salon: Salon, prefix: str, as_json: bool) -> None:
    """List handles, all or those whose name starts with PREFIX."""
    handles = list(salon.archive.handles(prefix=prefix))
    lines = [f"{found.current}  {found.name}" for found in handles]
    emit(handles, "\n".join(lines) or "no handles", as_json=as_json)


@handle.command()
@click.argument("name")
@json_option
@with_salon
def show(salon: Salon, name: str, as_json: bool) -> None:
    """Show where a handle points and since when."""
    found = salon.archive.resolve(name)
    emit(
        found,
        f"{found.name} → {found.current}\nmade {found.created_at}, moved {found.updated_at}",
        as_json=as_json,
    )


@handle.command("set")
@click.argument("name")
@click.argument("reference", metavar="HASH|HANDLE")
@click.option(
    "--expect",
    help="Move it only if it points at this hash now; `none` if it must be new.",
)
@json_option
@with_salon
def set_(salon: Salon, name: str, reference: str, expect: str | None, as_json: bool) -> None:
    """Make a handle, or move it to another card; those of the council are its own."""
    require_free(name)
    card = salon.find_card_hash(reference)
    expected = expected_current(expect)
    found = salon.archive.write(lambda tx: tx.set_handle(name, card, expected_current=expected))
    emit(found, f"{found.name} → {found.current}", as_json=as_json)


@handle.command()
@click.argument("name")
@click.argument("new_name")
@json_option
@with_salon
def rename(salon: Salon, name: str, new_name: str, as_json: bool) -> None:
    """Give a handle another name; its history goes along."""
    for one in (name, new_name):
        require_free(one)
    found = salon.archive.write(lambda tx: tx.rename_handle(name, new_name))
    emit(found, f"{name} is now {found.name}", as_json=as_json)


@handle.command("rm")
@click.argument("name")
@json_option
@with_salon
def remove(salon: Salon, name: str, as_json: bool) -> None:
    """Forget a handle; its card and its history stay."""
    require_free(name)
    salon.archive.write(lambda tx: tx.remove_handle(name))
    emit({"removed": name}, f"removed {name}", as_json=as_json)


@handle.command()
@click.argument("name")
@click.option(
    "--older-than",
    type=click.DateTime(),
    help="Only steps before this moment (UTC); without it, the whole past.",
)
@json_option
@with_salon
def prune(salon: Salon, name: str, older_than: datetime | None, as_json: bool) -> None:
    """Drop old steps of a handle's history, so that old cards can be deleted."""
    before = older_than.replace(tzinfo=UTC) if older_than else None
    removed = salon.archive.write(lambda tx: tx.prune_history(name, older_than=before))
    emit(
        {"handle": name, "removed": removed}, f"{counted(removed, 'move')} dropped", as_json=as_json
    )


@click.command()
@click.argument("name", metavar="HANDLE")
@json_option
@with_salon
def history(salon: Salon, name: str, as_json: bool) -> None:
    """Show every step of a handle, newest first."""
    steps = salon.archive.history(name)
    emit(steps, "\n".join(_line(step) for step in steps) or "no steps kept", as_json=as_json)


def _line(step: HandleMove) -> str:
    if step.previous is None:
        return f"{step.moved_at}  made at {step.current}"
    if step.current is None:
        return f"{step.moved_at}  removed from {step.previous}"
    return f"{step.moved_at}  moved from {step.previous} to {step.current}"
