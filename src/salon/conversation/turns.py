"""Turn records: what was asked and replied, each a card that names the one before it.

The handle `sessions/ID` points at the latest turn of a session, so a session is a chain that can be
walked back, and none of it can be changed without all later cards changing. The cards that a turn
cites are kept as long as the turn is.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from salon.conversation.discussion import Discussion, Utterance
from salon.core.archive import Archive, ArchiveTransaction
from salon.core.canonical import canonical_json
from salon.core.citations import Citation
from salon.core.documents import Span
from salon.core.errors import HandleMoved, InvalidDocument, InvalidInput
from salon.core.events import Note
from salon.core.hashing import CardHash
from salon.core.ids import SessionId

KIND = "salon.turn"
VERSION = 1
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
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


def as_session_id(name: str) -> SessionId:
    """Return a name as the id of a session, or raise `InvalidInput`."""
    if len(name) > _LONGEST_ID or not _ID.fullmatch(name):
        raise InvalidInput(
            f"{name!r} is not the id of a session",
            hint="use lower-case letters, digits and single hyphens",
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
    name = session_handle(session)
    while True:  # each time around somebody else has appended a turn, so somebody gets on
        handle = archive.find_handle(name)
        previous = None if handle is None else handle.current
        number = 1 if previous is None else _read(archive, previous).number + 1
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

        def append(
            tx: ArchiveTransaction, turn: Turn = turn, previous: CardHash | None = previous
        ) -> None:
            card = tx.add(_to_json(turn))
            tx.set_handle(name, card.hash, expected_current=previous)
            tx.cite(card.hash, [Span(hash=c.hash, start=c.start, end=c.end) for c in citations])
            if note is not None:
                tx.note(replace(note, turn=card.hash))

        with suppress(HandleMoved):
            archive.write(append)
            return turn


def walk_turns(archive: Archive, session: SessionId) -> Iterator[Turn]:
    """Walk the turns of a session from the latest to the first."""
    handle = archive.find_handle(session_handle(session))
    card = None if handle is None else handle.current
    while card is not None:
        turn = _read(archive, card)
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


def _to_json(turn: Turn) -> bytes:
    return canonical_json(
        {
            "kind": KIND,
            "version": VERSION,
            "number": turn.number,
            "session": turn.session,
            "speaker": turn.speaker,
            "message": turn.message,
            "replier": turn.replier,
            "reply": turn.reply,
            "at": turn.at,
            "previous": turn.previous,
        }
    )


def _read(archive: Archive, card: CardHash) -> Turn:
    content = archive.get(card).content
    try:
        found = json.loads(content)
        kind = found.pop("kind"), found.pop("version")
        turn = Turn(**found)
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError) as error:
        raise InvalidDocument(f"card {card} is not a turn: {error}") from error
    if kind != (KIND, VERSION):
        raise InvalidDocument(f"card {card} is not a turn but {kind[0]} {kind[1]}")
    return turn
