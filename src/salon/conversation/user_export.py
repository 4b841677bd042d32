"""Everything about one user in one file, and the way back: turns, memories and features.

The file is readable JSON. Every turn stands in it as its record with the hash of its card, and the
whole has a digest, so a file that was changed or cut is refused, and what comes back has the same
hashes as before. It is no backup of an archive; `salon archive export` is.

Invariant: importing what was exported gives the same session heads and the same memories.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from salon.conversation.memory.kinds import Memory, Said
from salon.conversation.turns import KIND as TURN_KIND
from salon.conversation.turns import as_session_id, session_handle
from salon.core.archive import Archive, ArchiveTransaction
from salon.core.canonical import canonical_json
from salon.core.errors import Conflict, InvalidExport, SalonError
from salon.core.hashing import CardHash, content_hash
from salon.core.ids import SessionId

if TYPE_CHECKING:
    from salon.conversation.memory.store import MemoryStore

KIND = "salon.user-export"
VERSION = 1
_DIGEST = "sha256"
_PREFIX = session_handle(SessionId(""))


@dataclass(frozen=True, slots=True, kw_only=True)
class UserExport:
    """A file that holds everything about one user."""

    user: str
    filename: str
    content: bytes
    sessions: int
    turns: int
    memories: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UserImport:
    """What an import brought; what was there already is not counted."""

    user: str
    sessions: int
    turns: int
    memories: int


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _TurnCard(_Shape):
    hash: str
    record: dict[str, Any]


class _Session(_Shape):
    session: str
    turns: tuple[_TurnCard, ...]


class _File(_Shape):
    kind: Literal["salon.user-export"]
    version: Literal[1]
    user: str
    at: str
    sessions: tuple[_Session, ...]
    memories: tuple[Memory, ...]
    features: dict[str, Any]
    sha256: str


# Out


def sessions_of(archive: Archive, user: str) -> Iterator[SessionId]:
    """Walk the sessions in which a user spoke."""
    for handle in archive.handles(prefix=_PREFIX):
        if any(_user_of(record) == user for _, record in _chain(archive, handle.current)):
            yield SessionId(handle.name.removeprefix(_PREFIX))


def _user_of(record: Mapping[str, Any]) -> str:
    return str(record.get("user") or record["speaker"])


def export_user(
    archive: Archive,
    store: "MemoryStore",
    sessions: Iterable[SessionId],
    *,
    features: Mapping[str, object],
    at: str,
) -> UserExport:
    """Return the file of a user; `features` are the latest ones, to be read by people."""
    user = store.user
    listed = []
    for session in sorted(sessions):
        head = archive.resolve(session_handle(session)).current
        chain = [{"hash": card, "record": record} for card, record in _chain(archive, head)]
        listed.append({"session": session, "turns": chain[::-1]})
    memories = store.memories()
    body: dict[str, object] = {
        "kind": KIND,
        "version": VERSION,
        "user": user,
        "at": at,
        "sessions": listed,
        "memories": TypeAdapter(tuple[Memory, ...]).dump_python(memories, mode="json"),
        "features": dict(features),
    }
    digest = content_hash(canonical_json(body))
    text = json.dumps(body | {_DIGEST: digest}, ensure_ascii=False, indent=1)
    return UserExport(
        user=user,
        # Only the digest: a name may hold what a file name must not.
        filename=f"salon-export-{digest[:12]}.json",
        content=text.encode() + b"\n",
        sessions=len(listed),
        turns=sum(len(one["turns"]) for one in listed),
        memories=len(memories),
    )


def _chain(archive: Archive, head: CardHash | None) -> Iterator[tuple[CardHash, dict[str, Any]]]:
    while head is not None:
        record = json.loads(archive.get(head).content)
        yield head, record
        head = record["previous"]


# In


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedExport:
    """An export that was read and holds together."""

    user: str
    sessions: Mapping[SessionId, Sequence[tuple[CardHash, bytes]]]
    """The cards of each session, the first turn first."""
    said: tuple[Said, ...]
    memories: tuple[Memory, ...]


def read_export(content: bytes) -> CheckedExport:
    """Return what a file holds, or raise `InvalidExport` where it is foreign or was changed."""
    try:
        values = json.loads(content)
        file = _File.model_validate_json(content)
        claimed = values.pop(_DIGEST)
        digest = content_hash(canonical_json(values))
    except (ValidationError, ValueError, TypeError, RecursionError, AttributeError) as error:
        raise InvalidExport(
            "this file is no export of a user",
            hint="give a file that /export-data or `GET …/export` made",
        ) from error
    if digest != claimed:
        raise InvalidExport("this export was changed or cut", hint="take the file as it was made")
    sessions = {as_session_id(one.session): _checked_turns(one) for one in file.sessions}
    said = tuple(
        Said(session=one.session, turn=turn["number"], text=turn["message"], at=turn["at"])
        for one in file.sessions
        for turn in (card.record for card in one.turns)
        if _user_of(turn) == file.user
    )
    if any(memory.user != file.user for memory in file.memories):
        raise InvalidExport("this export holds a memory of somebody else")
    return CheckedExport(user=file.user, sessions=sessions, said=said, memories=file.memories)


def _checked_turns(session: _Session) -> list[tuple[CardHash, bytes]]:
    cards: list[tuple[CardHash, bytes]] = []
    previous: CardHash | None = None
    for number, turn in enumerate(session.turns, start=1):
        record = turn.record
        content = canonical_json(record)
        expected = (TURN_KIND, session.session, number, previous)
        found = tuple(record.get(name) for name in ("kind", "session", "number", "previous"))
        if found != expected or content_hash(content) != turn.hash:
            raise InvalidExport(f"turn {number} of session {session.session} is not as it was")
        previous = CardHash(turn.hash)
        cards.append((previous, content))
    return cards


def import_user(archive: Archive, store: "MemoryStore", export: CheckedExport) -> UserImport:
    """Take an export in, all of it or nothing; what is known already stays as it is."""
    new = {one: _new_cards(archive, one, cards) for one, cards in export.sessions.items()}
    known = {memory.id for memory in store.memories()}
    memories = [memory for memory in export.memories if memory.id not in known]
    try:
        for memory in memories:
            store.put(memory, export.said)
    except SalonError as error:
        store.discard()
        raise InvalidExport(f"a memory of this export does not hold: {error.message}") from error

    def take_in(tx: ArchiveTransaction) -> None:
        for session, (head, cards) in new.items():
            if not cards:
                continue
            added = [tx.add(content).hash for content in cards]
            tx.set_handle(session_handle(session), added[-1], expected_current=head)
        store.commit(tx)

    archive.write(take_in)
    store.settle()
    return UserImport(
        user=export.user,
        sessions=sum(1 for _, cards in new.values() if cards),
        turns=sum(len(cards) for _, cards in new.values()),
        memories=len(memories),
    )


def _new_cards(
    archive: Archive, session: SessionId, cards: Sequence[tuple[CardHash, bytes]]
) -> tuple[CardHash | None, list[bytes]]:
    """Return where a session stands here, and the turns that it lacks."""
    handle = archive.find_handle(session_handle(session))
    if handle is None:
        return None, [content for _, content in cards]
    hashes = [card for card, _ in cards]
    here = {card for card, _ in _chain(archive, handle.current)}
    if handle.current not in hashes and not (hashes and hashes[-1] in here):
        raise Conflict(
            f"session {session} went another way here",
            hint="delete or rename one of them; two ways cannot be joined",
        )
    place = hashes.index(handle.current) + 1 if handle.current in hashes else len(hashes)
    return handle.current, [content for _, content in cards[place:]]
