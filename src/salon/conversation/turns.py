"""Turn records: what was asked and replied, each a card that names the one before it.

The handle `sessions/ID` points at the latest turn of a session, so a session is a chain that can be
walked back, and none of it can be changed without all later cards changing. The cards that a turn
cites are kept as long as the turn is.

A turn on a blackboard also holds what replays it: whose turn it was, what was given, what a model
said and what every slot held. Turns without these are written as they always were.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from salon.conversation.discussion import Discussion, Utterance
from salon.core.archive import Archive, ArchiveTransaction
from salon.core.citations import Citation
from salon.core.documents import Span
from salon.core.errors import HandleMoved, InvalidInput
from salon.core.events import Note
from salon.core.hashing import CardHash
from salon.core.ids import SessionId
from salon.core.records import RecordKind

KIND = "salon.turn"
VERSION = 1
_ID = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
_LONGEST_ID = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message and the reply to it, numbered from 1.

    `reply` is what was given back, as plain data with the field names of the source protocols.
    """

    number: int
    session: SessionId
    speaker: str
    message: str
    replier: str
    reply: dict[str, object]
    at: str
    previous: CardHash | None = None
    preset: str | None = None
    """The kind of conversation; `None` where an expert answered on its own."""
    user: str | None = None
    """Whose memories and features the turn reads and writes."""
    given: dict[str, object] | None = None
    """What the steps were given besides message, user, history and time."""
    model: dict[str, object] | None = None
    """What a chat model said, by the digest of what it was asked."""
    board: dict[str, dict[str, object]] | None = None
    """What each step wrote, `{"value": …}`, or why it did not, `{"absent": …}`."""


Along = Callable[[ArchiveTransaction, CardHash], None]
"""Writes more in the transaction of a turn, whose card it is told."""


def as_session_id(name: str) -> SessionId:
    """Return a name as the id of a session, or raise `InvalidInput`."""
    if len(name) > _LONGEST_ID or not _ID.fullmatch(name):
        raise InvalidInput(
            f"{name!r} is not the id of a session",
            hint="use lower-case letters and digits, with single hyphens or underscores between",
        )
    return SessionId(name)


def session_handle(session: SessionId) -> str:
    """Return the handle behind which a session's latest turn is."""
    return f"sessions/{session}"


def record_turn(
    archive: Archive,
    *,
    session: SessionId,
    speaker: str,
    message: str,
    replier: str,
    reply: dict[str, object],
    citations: Sequence[Citation],
    at: str,
    note: Note | None = None,
) -> Turn:
    """Append a turn to a session, again if somebody else was faster."""
    while True:  # each time around somebody else has appended a turn, so somebody gets on
        handle = archive.find_handle(session_handle(session))
        previous = None if handle is None else handle.current
        number = 1 if previous is None else read_turn(archive, previous).number + 1
        turn = Turn(
            number=number,
            session=session,
            speaker=speaker,
            message=message,
            replier=replier,
            reply=reply,
            at=at,
            previous=previous,
        )

        with suppress(HandleMoved):
            append_turn(archive, turn, citations=citations, note=note)
            return turn


def append_turn(
    archive: Archive,
    turn: Turn,
    *,
    citations: Sequence[Citation] = (),
    note: Note | None = None,
    along: Along | None = None,
) -> CardHash:
    """Write a turn that follows `turn.previous`, or raise `HandleMoved` if another one does.

    The card, the note in the audit log and whatever `along` writes are one transaction.
    """
    content = turn_to_json(turn)

    def append(tx: ArchiveTransaction) -> CardHash:
        card = tx.add(content).hash
        tx.set_handle(session_handle(turn.session), card, expected_current=turn.previous)
        tx.cite(card, [Span(hash=c.hash, start=c.start, end=c.end) for c in citations])
        if note is not None:
            tx.note(replace(note, turn=card))
        if along is not None:
            along(tx, card)
        return card

    return archive.write(append)


def walk_turns(archive: Archive, session: SessionId) -> Iterator[Turn]:
    """Walk the turns of a session from the latest to the first."""
    handle = archive.find_handle(session_handle(session))
    card = None if handle is None else handle.current
    while card is not None:
        turn = read_turn(archive, card)
        yield turn
        card = turn.previous


def discussion_of(turns: Sequence[Turn], *, topic: str | None = None) -> Discussion:
    """Return what was said in turns, the first one first."""
    said: list[Utterance] = []
    for turn in turns:
        if turn.message:
            said.append(Utterance(role=turn.speaker, content=turn.message))
        if text := str(turn.reply.get("response", "")):
            said.append(Utterance(role=turn.replier, content=text))
    return Discussion(utterances=tuple(said), topic=topic)


_CARD = RecordKind(kind=KIND, version=VERSION, called="a turn", check=lambda found: Turn(**found))


def turn_to_json(turn: Turn) -> bytes:
    """Return a turn as its card holds it, without what it does not have."""
    found: dict[str, object] = {
        "number": turn.number,
        "session": turn.session,
        "speaker": turn.speaker,
        "message": turn.message,
        "replier": turn.replier,
        "reply": turn.reply,
        "at": turn.at,
        "previous": turn.previous,
    }
    more = {name: getattr(turn, name) for name in _OPTIONAL}
    return _CARD.write(found | {name: item for name, item in more.items() if item is not None})


_OPTIONAL = ("preset", "user", "given", "model", "board")


def read_turn(archive: Archive, card: CardHash) -> Turn:
    """Return the turn that a card records, or raise `InvalidDocument`."""
    return _CARD.read(archive.get(card).content, name=f"card {card}")
