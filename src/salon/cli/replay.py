"""`salon replay`: take the turns of a session again, from their records, and compare."""

from dataclasses import asdict

import click

from salon.app import Salon
from salon.cli.common import counted, emit, json_option, with_salon

DIFFERS = 6
"""The exit code of an integrity check that failed."""


@click.command()
@click.argument("session")
@json_option
@with_salon
def replay(salon: Salon, session: str, as_json: bool) -> None:
    """Run every turn of SESSION again and compare it with its record, byte for byte.

    Message, time, settings, randomness and what a chat model said come from the record; memories
    come from the turns before. Nothing is written. Ends with 6 where a turn comes out otherwise.
    """
    turns = []
    for one in salon.replay_session(session):
        turns.append(one)
        if not as_json:
            emit(None, f"turn {one.number}: {one.outcome}", as_json=False)
            if not one.is_same:
                text = f"  recorded: {one.recorded}\n  replayed: {one.replayed}"
                emit(None, text, as_json=False)
    same = sum(one.is_same for one in turns)
    value = {"session": session, "turns": [asdict(one) for one in turns], "same": same}
    if as_json:
        emit(value, "", as_json=True)
    elif not turns:
        emit(None, "no turn of a companion to replay", as_json=False)
    else:
        emit(None, f"{same} of {counted(len(turns), 'turn')} the same", as_json=False)
    if same < len(turns):
        raise click.exceptions.Exit(DIFFERS)
