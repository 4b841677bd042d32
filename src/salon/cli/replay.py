"""`salon replay`: take the turns of a session again, from their records, and compare."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from salon.app import Salon
from salon.cli.common import counted, emit, json_option, with_salon

if TYPE_CHECKING:
    from salon.blackboard.replaying import Replayed, Way

DIFFERS = 6
"""The exit code of an integrity check that failed."""
NOTHING_TO_COMPARE = 3
"""The exit code where no turn could be compared: not found, rather than fine."""


@click.command()
@click.argument("session")
@json_option
@with_salon
def replay(salon: Salon, session: str, as_json: bool) -> int:
    """Run every turn of SESSION again and compare it with its record, byte for byte.

    Message, time, settings, randomness and what a chat model said come from the record; memories
    come from the turns before. Nothing is written.

    That is for a companion's turns. Those of experts and assistants are not run again: what they
    cite and claim is checked against the archive once more. Ends with 6 where a turn comes out
    otherwise or does not hold, with 3 where there was nothing to compare.
    """
    turns = []
    for one in salon.replay_session(session):
        turns.append(one)
        if not as_json:
            emit(None, "\n".join(_lines(one)), as_json=False)
    value = {
        "session": session,
        "turns": [asdict(one) for one in turns],
        "same": _count(turns, "run", is_same=True),
        "holding": _count(turns, "checked", is_same=True),
        "not_compared": _count(turns, "not_compared"),
    }
    emit(value, _summary(turns), as_json=as_json)
    if any(one.is_same is False for one in turns):
        return DIFFERS
    return 0 if any(one.is_same for one in turns) else NOTHING_TO_COMPARE


def _lines(one: "Replayed") -> Iterator[str]:
    yield f"turn {one.number}: {one.outcome}"
    if one.is_same is False:
        yield f"  recorded: {one.recorded}"
        if one.way == "run":
            yield f"  replayed: {one.replayed}"


def _summary(turns: "Sequence[Replayed]") -> str:
    parts = []
    if run := _count(turns, "run"):
        parts.append(f"{_count(turns, 'run', is_same=True)} of {counted(run, 'turn')} the same")
    if checked := _count(turns, "checked"):
        parts.append(
            f"{_count(turns, 'checked', is_same=True)} of {counted(checked, 'turn')} of experts "
            "and assistants hold (checked again, not run again)"
        )
    if left := _count(turns, "not_compared"):
        parts.append(f"{counted(left, 'turn')} not compared")
    return "; ".join(parts)


def _count(turns: "Sequence[Replayed]", way: "Way", *, is_same: bool | None = None) -> int:
    return sum(one.way == way and (is_same is None or one.is_same is is_same) for one in turns)
