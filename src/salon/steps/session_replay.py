"""Replaying a session: its turns again, in order, from their records alone.

Memories are a function of the turns before, in every session of the same user; so those turns are
run as well, into stores that begin empty and are never written anywhere.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from salon.blackboard.replaying import Replayed
from salon.blackboard.slots import Slot
from salon.conversation.memory.store import InMemoryStore, MemoryStore
from salon.conversation.sessions import (
    SessionState,
    after,
    in_order_of_time,
    session_ids,
    walk_cards,
)
from salon.conversation.turns import Turn, session_handle
from salon.core.archive import Archive
from salon.core.errors import NotFound
from salon.core.hashing import CardHash
from salon.core.ids import SessionId
from salon.steps.turn_taking import COMPANION_PRESET, TurnTaking, kept_of

TakingOf = Callable[[Turn], TurnTaking]
"""Returns what takes turns with the steps that a recorded turn had."""
ResourcesOf = Callable[[MemoryStore], Mapping[Slot[Any], Any]]
"""Returns what the steps work with, around one user's memory."""
Check = Callable[[Turn, SessionState], Replayed]
"""Holds a turn that cannot be run again against the archive, as far as its record allows."""


class _ReplayedStore(InMemoryStore):
    """A user's memory made anew; it knows the cards of the turns that were played."""

    def __init__(self, user: str, cards: Mapping[tuple[str, int], CardHash]) -> None:
        super().__init__(user)
        self._cards = cards

    def card_of(self, session: str, turn: int) -> CardHash | None:
        """Return the card of a turn, `None` where it was not played yet."""
        return self._cards.get((session, turn))


def replay_session(
    archive: Archive,
    session: SessionId,
    *,
    taking_of: TakingOf,
    resources_of: ResourcesOf,
    check: Check,
) -> Iterator[Replayed]:
    """Walk the turns of a session as they come out now; raises `NotFound`.

    A companion's turn is run again; any other is checked, and says so.
    """
    users = {turn.user for _, turn in _turns(archive, session)}
    cards: dict[tuple[str, int], CardHash] = {}
    stores: dict[str, _ReplayedStore] = {}
    states: dict[SessionId, SessionState] = {}
    for card, turn in _played(archive, session, users):
        state = states.get(turn.session, SessionState(session=turn.session))
        taking = taking_of(turn)
        if turn.preset == COMPANION_PRESET and turn.user is not None and turn.user in users:
            store = stores.setdefault(turn.user, _ReplayedStore(turn.user, cards))
            again, board = taking.replay(turn, state, resources_of(store))
            if taking.is_memory_whole(board):
                store.settle()
            else:
                store.discard()
            if turn.session == session:
                yield again
        elif turn.session == session:
            yield check(turn, state)
        cards[turn.session, turn.number] = card
        states[turn.session] = after(state, turn, card, kept_of(turn, taking.plan.past))


def _played(
    archive: Archive, session: SessionId, users: set[str | None]
) -> list[tuple[CardHash, Turn]]:
    """Return the turns that matter, as they happened, up to the last one of the session."""
    others = [one for one in session_ids(archive) if one != session]
    shared = [turns for one in others if _users(turns := _turns(archive, one)) & users - {None}]
    played = in_order_of_time([_turns(archive, session), *shared])
    last = max(place for place, (_, turn) in enumerate(played) if turn.session == session)
    return played[: last + 1]


def _turns(archive: Archive, session: SessionId) -> list[tuple[CardHash, Turn]]:
    handle = archive.find_handle(session_handle(session))
    if handle is None:
        raise NotFound(f"there is no session {session!r}", hint="it exists with its first turn")
    return list(walk_cards(archive, handle.current))


def _users(turns: list[tuple[CardHash, Turn]]) -> set[str | None]:
    return {turn.user for _, turn in turns}
