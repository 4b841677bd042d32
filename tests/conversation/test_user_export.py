"""Everything about a user in one file: what it holds, what it refuses, and the way back."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.conversation.memory.kinds import Said, make_memory, source_of
from salon.conversation.memory.store import InMemoryStore
from salon.conversation.turns import (
    Turn,
    append_turn,
    as_session_id,
    record_turn,
    session_handle,
    walk_turns,
)
from salon.conversation.user_export import (
    UserExport,
    export_user,
    import_user,
    read_export,
    sessions_of,
)
from salon.core.canonical import canonical_json
from salon.core.errors import Conflict, InvalidExport, InvalidInput
from salon.core.hashing import content_hash

NOW = "2026-11-15T12:00:00.000000Z"


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[SqliteArchive]:
    with closing(SqliteArchive(tmp_path / "one.db")) as opened:
        yield opened


@pytest.fixture
def other(tmp_path: Path) -> Iterator[SqliteArchive]:
    with closing(SqliteArchive(tmp_path / "other.db")) as opened:
        yield opened


def say(archive: SqliteArchive, session: str, message: str, user: str = "ana") -> None:
    """Take a turn as a companion does, with one slot on its board."""
    name = as_session_id(session)
    last = next(walk_turns(archive, name), None)
    handle = archive.find_handle(session_handle(name))
    append_turn(
        archive,
        Turn(
            number=last.number + 1 if last else 1,
            session=name,
            speaker=user,
            message=message,
            replier="mina",
            reply={"response": "I see.", "ai_label": "AI"},
            at=NOW,
            previous=handle.current if handle else None,
            user=user,
            board={"current_emotion": {"value": {"valence": 0.123456}}},
        ),
    )


def remember(store: InMemoryStore, session: str, turn: int, text: str, quote: str) -> None:
    said = Said(session=session, turn=turn, text=text, at=NOW)
    start = text.index(quote)
    source = source_of(said, start, start + len(quote))
    store.put(make_memory(store.user, "moment", "conversation", quote, (source,), at=NOW), (said,))
    store.settle()


@pytest.fixture
def ana(archive: SqliteArchive) -> InMemoryStore:
    say(archive, "morning", "I live in Lisbon, near the río.")
    say(archive, "morning", "My dog is called Rex.")
    say(archive, "evening", "It rained.")
    say(archive, "foreign", "I am Bert.", user="bert")
    store = InMemoryStore("ana")
    remember(store, "morning", 2, "My dog is called Rex.", "dog is called Rex")
    return store


@pytest.fixture
def export(archive: SqliteArchive, ana: InMemoryStore) -> UserExport:
    sessions = sessions_of(archive, "ana")
    return export_user(archive, ana, sessions, features={"age": 3}, at=NOW)


def test_it_holds_the_user_s_sessions_and_memories_and_nobody_else_s(export: UserExport) -> None:
    held = json.loads(export.content)
    assert [one["session"] for one in held["sessions"]] == ["evening", "morning"]
    assert (export.sessions, export.turns, export.memories) == (2, 3, 1)
    assert held["memories"][0]["content"] == "dog is called Rex"
    assert held["features"] == {"age": 3}
    assert b"Bert" not in export.content
    assert "río" in export.content.decode()


def test_every_turn_can_be_checked_by_its_hash(export: UserExport) -> None:
    held = json.loads(export.content)
    for session in held["sessions"]:
        for turn in session["turns"]:
            assert content_hash(canonical_json(turn["record"])) == turn["hash"]


def test_a_session_in_which_an_expert_answered_belongs_to_its_speaker(
    archive: SqliteArchive,
) -> None:
    record_turn(
        archive,
        session=as_session_id("asked"),
        speaker="ana",
        message="What is silt?",
        replier="ida",
        reply={"response": "Mud."},
        citations=(),
        at=NOW,
    )
    assert list(sessions_of(archive, "ana")) == ["asked"]
    assert list(sessions_of(archive, "ida")) == []


def test_what_is_imported_has_the_same_heads_and_memories(
    archive: SqliteArchive, other: SqliteArchive, export: UserExport, ana: InMemoryStore
) -> None:
    store = InMemoryStore("ana")
    taken = import_user(other, store, read_export(export.content))
    assert (taken.sessions, taken.turns, taken.memories) == (2, 3, 1)
    assert store.memories() == ana.memories()
    for session in ("morning", "evening"):
        name = session_handle(as_session_id(session))
        assert other.resolve(name).current == archive.resolve(name).current
    assert [turn.message for turn in walk_turns(other, as_session_id("morning"))] == [
        "My dog is called Rex.",
        "I live in Lisbon, near the río.",
    ]


def test_importing_twice_changes_nothing(other: SqliteArchive, export: UserExport) -> None:
    store = InMemoryStore("ana")
    import_user(other, store, read_export(export.content))
    before = other.checkpoint()
    again = import_user(other, store, read_export(export.content))
    assert (again.sessions, again.turns, again.memories) == (0, 0, 0)
    assert other.checkpoint() == before


def test_a_later_export_brings_what_is_new_and_an_earlier_one_takes_nothing_back(
    archive: SqliteArchive, other: SqliteArchive, export: UserExport, ana: InMemoryStore
) -> None:
    store = InMemoryStore("ana")
    import_user(other, store, read_export(export.content))
    say(archive, "morning", "It is late now.")
    later = export_user(archive, ana, sessions_of(archive, "ana"), features={}, at=NOW)
    taken = import_user(other, store, read_export(later.content))
    assert (taken.sessions, taken.turns) == (1, 1)
    old = import_user(other, store, read_export(export.content))
    assert (old.sessions, old.turns) == (0, 0)
    assert len(list(walk_turns(other, as_session_id("morning")))) == 3


def test_a_session_that_went_another_way_is_refused_whole(
    other: SqliteArchive, export: UserExport
) -> None:
    say(other, "morning", "Something else was said here.")
    with pytest.raises(Conflict, match="another way"):
        import_user(other, InMemoryStore("ana"), read_export(export.content))
    assert other.find_handle("sessions/evening") is None


def changed(change: Callable[[dict[str, Any]], None], content: bytes, *, sealed: bool) -> bytes:
    held = json.loads(content)
    change(held)
    if sealed:
        del held["sha256"]
        held["sha256"] = content_hash(canonical_json(held))
    return json.dumps(held).encode()


CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "a word": lambda held: held["sessions"][1]["turns"][0]["record"].update(message="I lied."),
    "an order": lambda held: held["sessions"][1]["turns"].reverse(),
    "a turn gone": lambda held: held["sessions"][1]["turns"].pop(0),
    "another session": lambda held: held["sessions"][1].update(session="noon"),
    "another user": lambda held: held.update(user="bert"),
    "a memory moved": lambda held: held["memories"][0]["sources"][0].update(start=0),
    "a memory of nothing": lambda held: held["memories"][0]["sources"][0].update(turn=9),
}


@pytest.mark.parametrize("name", list(CHANGES))
@pytest.mark.parametrize("sealed", [False, True], ids=["as it was", "sealed anew"])
def test_a_changed_file_is_refused(
    other: SqliteArchive, export: UserExport, name: str, sealed: bool
) -> None:
    """Also where somebody made a new digest: turns and memories vouch for themselves."""
    content = changed(CHANGES[name], export.content, sealed=sealed)
    with pytest.raises(InvalidExport):
        import_user(other, InMemoryStore("ana"), read_export(content))
    assert list(other.handles()) == []


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"3", b'{"kind": "salon.user-export"}', b"\xff\xfe", b"[" * 100_000],
    ids=["empty", "cut", "list", "number", "bare", "bytes", "deep"],
)
def test_a_foreign_file_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidExport, match="no export"):
        read_export(content)


def test_a_session_whose_name_cannot_be_one_is_refused(export: UserExport) -> None:
    content = changed(
        lambda held: held["sessions"][0].update(session="../x"), export.content, sealed=True
    )
    with pytest.raises(InvalidInput):
        read_export(content)
