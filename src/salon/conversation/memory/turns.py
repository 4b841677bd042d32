"""What the user said in a turn of a session, read from the cards of the turns."""

import json
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import NamedTuple

from salon.conversation.turns import session_handle
from salon.core.archive import Archive
from salon.core.hashing import CardHash
from salon.core.ids import SessionId

_SESSIONS = 64


class SaidThen(NamedTuple):
    """The card of a turn, who took it and what they said."""

    card: CardHash
    user: str | None
    text: str


@dataclass(slots=True)
class _Session:
    head: CardHash | None = None
    turns: dict[int, SaidThen] = field(default_factory=dict)


class TurnMessages:
    """Messages by session and turn. A session is read once; later only what is new in it is."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, session: str, turn: int) -> SaidThen | None:
        """Return what was said in a turn; nothing if the session or the turn was deleted."""
        handle = self._archive.find_handle(session_handle(SessionId(session)))
        head = None if handle is None else handle.current
        with self._lock:
            known = self._sessions.pop(session, None) or _Session()
            if head != known.head:
                known = self._read(head, known)
            self._sessions[session] = known
            while len(self._sessions) > _SESSIONS:
                self._sessions.popitem(last=False)
            return known.turns.get(turn)

    def _read(self, head: CardHash | None, known: _Session) -> _Session:
        new: dict[int, SaidThen] = {}
        card = head
        while card is not None and card != known.head:
            found = self._archive.find(card)
            if found is None:  # the rest of the session was deleted
                return _Session(head=head, turns=new)
            about = json.loads(found.content)
            new[int(about["number"])] = SaidThen(card, about.get("user"), str(about["message"]))
            card = about["previous"]
        # Reaching no known card means that the session was begun anew.
        turns = {**known.turns, **new} if card is not None else new
        return _Session(head=head, turns=turns)
