"""Messages of a user, and an archive in which they are recorded as turns."""

from collections.abc import Sequence

from salon.archive.sqlite_archive import SqliteArchive
from salon.conversation.memory.kinds import Memory, Said, make_memory, source_of
from salon.conversation.memory.store import MemoryStore
from salon.conversation.turns import Turn, append_turn, session_handle
from salon.core.hashing import CardHash
from salon.core.ids import SessionId

AT = "2026-03-0{}T10:00:00.000000Z"


def said(text: str, *, turn: int = 1, session: str = "s", day: int = 1) -> Said:
    """Return one message."""
    return Said(session=session, turn=turn, text=text, at=AT.format(day))


def moment(
    text: str, *, user: str = "ann", turn: int = 1, session: str = "s"
) -> tuple[Memory, Said]:
    """Return a memory of a whole message, and the message."""
    message = said(text, turn=turn, session=session)
    source = source_of(message, 0, len(text))
    return make_memory(user, "moment", "conversation", text, (source,), at=message.at), message


def record(
    archive: SqliteArchive,
    message: str,
    *,
    user: str = "ann",
    session: str = "s",
    store: MemoryStore | None = None,
) -> CardHash:
    """Record a turn as a conversation does, with what is pending in memory."""
    handle = archive.find_handle(session_handle(SessionId(session)))
    previous = None if handle is None else handle.current
    number = 1 if previous is None else _number(archive, previous) + 1
    turn = Turn(
        number=number,
        session=SessionId(session),
        speaker=user,
        message=message,
        replier="mina",
        reply={"response": "I see."},
        at=AT.format(1),
        previous=previous,
        preset="companion",
        user=user,
    )
    card = append_turn(archive, turn, along=None if store is None else store.commit)
    if store is not None:
        store.settle()
    return card


def _number(archive: SqliteArchive, card: CardHash) -> int:
    from salon.conversation.turns import read_turn

    return read_turn(archive, card).number


def contents(memories: Sequence[Memory]) -> list[str]:
    """Return what memories say."""
    return [one.content for one in memories]
