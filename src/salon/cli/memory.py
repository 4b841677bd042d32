"""`salon memory`: what is kept about a user, to read, to search, to forget, to take along."""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from salon.app import Salon
from salon.cli.common import counted, emit, json_option, with_salon

if TYPE_CHECKING:
    from salon.conversation.memory.kinds import Memory

_user = click.option(
    "--user", default="user", show_default=True, help="Whose memories: the id in the conversation."
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
def list_memories(salon: Salon, user: str, closed: bool, as_json: bool) -> None:
    """List what is kept about a user."""
    found = salon.memories(user, closed=closed)
    emit(found, "\n".join(_lines(found)) or f"nothing is kept about {user}", as_json=as_json)


@memory.command("search")
@_user
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 50), default=5, show_default=True)
@json_option
@with_salon
def search_memories(salon: Salon, user: str, query: str, limit: int, as_json: bool) -> None:
    """Search what a user said, as a companion does in every turn."""
    found = salon.search_memories(user, query, limit=limit)
    lines = [f"{one.score:.3f}  {line}" for one in found for line in _lines([one.memory])]
    emit(
        [{"memory": one.memory, "score": one.score} for one in found],
        "\n".join(lines) or f"nothing is kept about {user}",
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
    salon: Salon, user: str, ids: tuple[str, ...], about: str, everything: bool, as_json: bool
) -> None:
    """Forget memories for good: by id, by what they are about, or all.

    The turns in which it was said stay until their session is forgotten.
    """
    gone = salon.forget_memories(user, ids=ids, topic=about, everything=everything)
    noun = counted(len(gone.ids), "memory").replace("memorys", "memories")
    emit(gone, f"{noun} forgotten", as_json=as_json)


@memory.command("export")
@_user
@with_salon
def export_memories(salon: Salon, user: str) -> None:
    """Print everything kept about a user as JSON."""
    click.echo(json.dumps(salon.export_memories(user), ensure_ascii=False, indent=2))


def _lines(memories: "Sequence[Memory]") -> Iterator[str]:
    for one in memories:
        source = one.sources[0]
        until = f", until {one.valid_to[:10]}" if one.valid_to else ""
        about = f" [{one.fact.attribute}: {one.fact.value}]" if one.fact else ""
        yield (
            f"{one.id}  {one.memory_type:<12} {one.valid_from[:10]}{until}  "
            f"\u201c{one.content}\u201d{about}  ({source.session}, turn {source.turn})"
        )
