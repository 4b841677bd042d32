"""Sessions at hand: where each conversation stands, for those that were talked in lately.

What counts is the chain of turn cards; this is only what the next turn needs of it, and it is read
again whenever the archive says otherwise. A session has one turn at a time.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Protocol

from salon.conversation.discussion import Discussion
from salon.conversation.turns import Turn, discussion_of, read_turn, session_handle
from salon.core.archive import Archive, ArchiveTransaction
from salon.core.errors import NotFound
from salon.core.hashing import CardHash
from salon.core.ids import SessionId

MOST_RESIDENT = 1_000
HISTORY_TURNS = 50
"""How many turns of talk the next turn is given."""
PAST_TURNS = 100
"""How far back a step can look at what slots held."""


class Kept(Protocol):
    """What one slot held in one turn, for later turns to look back at."""

    @property
    def turn(self) -> int:
        """Return the number of that turn."""


KeepOf = Callable[[Turn], Mapping[str, Any]]
"""Returns what later turns may look back at in a turn, by slot: each a `Kept`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """Where a conversation stands: everything the next turn needs of the turns before it."""

    session: SessionId
    head: CardHash | None = None
    number: int = 0
    avatar: str | None = None
    preset: str | None = None
    user: str | None = None
    """Whose conversation it is, where it is one person's."""
    history: Discussion = field(default_factory=Discussion)
    past: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """By slot, oldest first; each a `Kept`."""


def after(state: SessionState, turn: Turn, card: CardHash, kept: Mapping[str, Any]) -> SessionState:
    """Return where a conversation stands after one more turn."""
    said = discussion_of([turn]).utterances
    oldest = turn.number - PAST_TURNS
    past = dict(state.past)
    for slot, found in kept.items():
        earlier = past.get(slot, ())
        if earlier and earlier[0].turn <= oldest:
            earlier = tuple(one for one in earlier if one.turn > oldest)
        past[slot] = (*earlier, found)
    return replace(
        state,
        head=card,
        number=turn.number,
        avatar=turn.replier,
        preset=turn.preset,
        user=turn.user,
        history=Discussion(utterances=(*state.history.utterances, *said)[-2 * HISTORY_TURNS :]),
        past=past,
    )


class Sessions:
    """The sessions of an archive, the latest ones at hand. May be used by many threads at once."""

    def __init__(self, archive: Archive, keep: KeepOf, *, most: int = MOST_RESIDENT) -> None:
        self._archive = archive
        self._keep = keep
        self._most = most
        self._states: OrderedDict[SessionId, SessionState] = OrderedDict()
        self._lock = threading.Lock()
        self._turns: dict[str, threading.Lock] = {}
        self._wanted: Counter[str] = Counter()

    @contextmanager
    def alone(self, *names: str) -> Iterator[None]:
        """Hold these names, so that nobody else takes a turn under one of them meanwhile."""
        ordered = sorted(set(names))
        locks = [self._borrow(name) for name in ordered]
        for lock in locks:
            lock.acquire()
        try:
            yield
        finally:
            for lock in locks:
                lock.release()
            for name in ordered:
                self._give_back(name)

    def get(self, session: SessionId) -> SessionState:
        """Return where a session stands, as the archive has it now."""
        handle = self._archive.find_handle(session_handle(session))
        head = None if handle is None else handle.current
        with self._lock:
            state = self._states.get(session)
            if state is not None and state.head == head:
                self._states.move_to_end(session)
                return state
        return self._put(load_state(self._archive, session, head, self._keep))

    def note(self, turn: Turn, card: CardHash, kept: Mapping[str, Any]) -> SessionState:
        """Take in a turn that was just recorded."""
        with self._lock:
            state = self._states.get(turn.session)
        if state is None or state.head != turn.previous:
            return self.get(turn.session)
        return self._put(after(state, turn, card, kept))

    def drop(self, session: SessionId | None = None) -> None:
        """Forget what is at hand of a session, or of all of them."""
        with self._lock:
            if session is None:
                self._states.clear()
            else:
                self._states.pop(session, None)

    def __len__(self) -> int:
        return len(self._states)

    def _put(self, state: SessionState) -> SessionState:
        with self._lock:
            self._states[state.session] = state
            self._states.move_to_end(state.session)
            while len(self._states) > self._most:
                self._states.popitem(last=False)
        return state

    def _borrow(self, name: str) -> threading.Lock:
        with self._lock:
            self._wanted[name] += 1
            return self._turns.setdefault(name, threading.Lock())

    def _give_back(self, name: str) -> None:
        with self._lock:
            self._wanted[name] -= 1
            if not self._wanted[name]:
                del self._wanted[name], self._turns[name]


def load_state(
    archive: Archive, session: SessionId, head: CardHash | None, keep: KeepOf
) -> SessionState:
    """Return where a session stands after the turn `head`, read from its cards."""
    state = SessionState(session=session)
    latest = list(islice(walk_cards(archive, head), PAST_TURNS))
    for card, turn in reversed(latest):
        state = after(state, turn, card, keep(turn))
    return state


def forget_session(
    archive: Archive,
    session: SessionId,
    *,
    along: Callable[[ArchiveTransaction], None] = lambda _: None,
) -> int:
    """Delete every turn of a session and its handle, and return how many turns there were.

    What was derived from these turns goes with them, and `along` may delete more in the same
    transaction; tombstones stay. `NotFound` where nobody ever spoke in it.
    """
    name = session_handle(session)

    def forget(tx: ArchiveTransaction) -> int:
        cards = [card for card, _ in walk_cards(archive, archive.resolve(name).current)]
        along(tx)
        tx.prune_history(name)
        tx.remove_handle(name)
        for card in cards:
            tx.delete(card, reason=f"session {session} forgotten", force=True)
        return len(cards)

    if archive.find_handle(name) is None:
        raise NotFound(f"there is no session {session!r}", hint="nobody has spoken in it")
    return archive.write(forget)


def session_ids(archive: Archive) -> list[SessionId]:
    """Return the sessions that somebody has spoken in, by name."""
    prefix = session_handle(SessionId(""))
    return [SessionId(one.name.removeprefix(prefix)) for one in archive.handles(prefix=prefix)]


def in_order_of_time(
    sessions: Iterable[Iterable[tuple[CardHash, Turn]]],
) -> list[tuple[CardHash, Turn]]:
    """Return the turns of several sessions as they happened; each session begins with its latest.

    A clock that was set back never puts a turn before the one that it follows.
    """
    found: list[tuple[str, CardHash, Turn]] = []
    for turns in sessions:
        at = ""
        for card, turn in reversed(list(turns)):
            at = max(at, turn.at)
            found.append((at, card, turn))
    found.sort(key=lambda one: (one[0], one[2].session, one[2].number))
    return [(card, turn) for _, card, turn in found]


def walk_cards(archive: Archive, head: CardHash | None) -> Iterator[tuple[CardHash, Turn]]:
    """Walk turns with their cards, from `head` back to the first."""
    card = head
    while card is not None:
        turn = read_turn(archive, card)
        yield card, turn
        card = turn.previous
