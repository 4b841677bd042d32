"""`salon memory`: what is kept about a user, to read, to search, to forget, to take along."""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from salon.app import Salon
from salon.cli.common import counted, emit, json_option, with_salon
from salon.cli.printing import printable

if TYPE_CHECKING:
    from salon.conversation.memory.kinds import Memory

_user = click.option(
    "--user",
    help="Whose memories: the id in the conversation (default: the user's name, as for "
    "`salon companion`).",
)


@click.group("memory")
def memory() -> None:
    """See, search, forget and export what companions remember of a user.

    Every memory shows the user's own words and the turn they come from.
    """


@memory.command("list")
@_user
@click.option("--closed", is_flag=True, help="Show facts that no longer hold as well.")
@json_option
@with_salon
def list_memories(salon: Salon, user: str | None, closed: bool, as_json: bool) -> None:
    """List what is kept about a user."""
    who = _who(salon, user)
    found = salon.memories(who, closed=closed)
    emit(found, "\n".join(_lines(found)) or _nothing(salon, who), as_json=as_json)


@memory.command("search")
@_user
@click.argument("query")
@click.option(
    "--limit", type=click.IntRange(1, 50), default=5, show_default=True, help="How many at most."
)
@json_option
@with_salon
def search_memories(salon: Salon, user: str | None, query: str, limit: int, as_json: bool) -> None:
    """Search what a user said, as a companion does in every turn."""
    who = _who(salon, user)
    found = salon.search_memories(who, query, limit=limit)
    lines = [f"{one.score:.3f}  {line}" for one in found for line in _lines([one.memory])]
    emit(
        [{"memory": one.memory, "score": one.score} for one in found],
        "\n".join(lines) or _nothing(salon, who),
        as_json=as_json,
    )


@memory.command("forget")
@_user
@click.argument("ids", nargs=-1)
@click.option("--about", default="", help="Forget whatever says this, in these or other words.")
@click.option("--everything", is_flag=True, help="Forget all that is kept about the user.")
@json_option
@with_salon
def forget_memories(
    salon: Salon,
    user: str | None,
    ids: tuple[str, ...],
    about: str,
    everything: bool,
    as_json: bool,
) -> None:
    """Forget memories for good: by id, by what they are about, or all.

    The turns in which it was said stay until their session is forgotten.
    """
    who = _who(salon, user)
    gone = salon.forget_memories(who, ids=ids, topic=about, everything=everything)
    if gone.ids:
        noun = counted(len(gone.ids), "memory").replace("memorys", "memories")
        text = f"{noun} of {who} forgotten"
    else:
        text = f"nothing was forgotten: {_nothing(salon, who, about=about)}"
    emit(gone, text, as_json=as_json)


@memory.command("export")
@_user
@json_option
@with_salon
def export_memories(salon: Salon, user: str | None, as_json: bool) -> None:
    """Print everything kept about a user as JSON; with --json on one line."""
    who = _who(salon, user)
    kept = salon.export_memories(who)
    emit(kept, json.dumps(kept, ensure_ascii=False, indent=2), as_json=as_json)
    if not kept["memories"]:
        click.echo(printable(f"note: {_nothing(salon, who)}"), err=True)


def _who(salon: Salon, user: str | None) -> str:
    """Return whose memories are meant: whoever `salon companion` would take for the speaker."""
    return user or salon.settings.actor


def _nothing(salon: Salon, user: str, *, about: str = "") -> str:
    """Say that there is nothing, and of whom there is something: a wrong name looks the same."""
    kept = salon.remembered_users()
    if user in kept:
        return f"nothing about {user} says {about!r}" if about else f"nothing of {user} fits"
    others = f"; there are memories of {', '.join(kept)} (--user NAME)" if kept else ""
    return f"nothing is kept about {user}{others}"


def _lines(memories: "Sequence[Memory]") -> Iterator[str]:
    for one in memories:
        source = one.sources[0]
        until = f", until {one.valid_to[:10]}" if one.valid_to else ""
        about = f" [{one.fact.attribute}: {one.fact.value}]" if one.fact else ""
        yield (
            f"{one.id}  {one.memory_type:<12} {one.valid_from[:10]}{until}  "
            f"\u201c{one.content}\u201d{about}  ({source.session}, turn {source.turn})"
        )
