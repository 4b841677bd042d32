"""Turn records: a chain of cards behind a handle."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.conversation.turns import (
    as_session_id,
    discussion_of,
    record_turn,
    session_handle,
    walk_turns,
)
from salon.core.citations import Citation
from salon.core.errors import CardInUse, InvalidDocument, InvalidInput
from tests.grounding.worlds import World, make_world

SESSION = as_session_id("a-talk")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = make_world(tmp_path)
    yield made
    made.archive.close()


def _record(world: World, message: str, *cited: Citation) -> int:
    turn = record_turn(
        world.archive,
        session=SESSION,
        speaker="You",
        message=message,
        replier="ada-berg",
        reply={"response": f"about {message}", "score": 0.5},
        citations=cited,
        at="2026-11-15T00:00:00.000000Z",
    )
    return turn.number


def test_turns_are_numbered_from_one_and_walked_back(world: World) -> None:
    assert [_record(world, message) for message in ("a", "b", "c")] == [1, 2, 3]
    turns = list(walk_turns(world.archive, SESSION))
    assert [one.message for one in turns] == ["c", "b", "a"]
    assert turns[-1].previous is None
    assert turns[0].reply == {"response": "about c", "score": 0.5}


def test_a_session_reads_as_a_discussion(world: World) -> None:
    _record(world, "a")
    _record(world, "b")
    discussion = discussion_of(list(walk_turns(world.archive, SESSION))[::-1], topic="letters")
    assert [(one.role, one.content) for one in discussion.utterances] == [
        ("You", "a"),
        ("ada-berg", "about a"),
        ("You", "b"),
        ("ada-berg", "about b"),
    ]
    assert discussion.topic == "letters"


def test_what_a_turn_cites_is_kept(world: World) -> None:
    cited = world.cite(world.bridge, "The bridge was built in 1874")
    _record(world, "when?", cited)
    world.archive.write(lambda tx: tx.remove_document(world.bridge.id))
    with pytest.raises(CardInUse):
        world.archive.write(lambda tx: tx.delete(cited.hash, reason="test"))


def test_turns_that_are_recorded_at_once_all_stay(world: World) -> None:
    threads = [
        threading.Thread(target=_record, args=(world, f"turn {number}")) for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    turns = list(walk_turns(world.archive, SESSION))
    assert [one.number for one in turns] == list(range(8, 0, -1))
    assert {one.message for one in turns} == {f"turn {number}" for number in range(8)}


def test_a_session_that_nobody_began_is_empty(world: World) -> None:
    assert list(walk_turns(world.archive, as_session_id("nobody"))) == []


@pytest.mark.parametrize("content", [b"not json", b"[]", b'{"kind": "salon.turn", "version": 9}'])
def test_a_card_that_is_no_turn_is_refused(world: World, content: bytes) -> None:
    world.archive.put(session_handle(SESSION), content)
    with pytest.raises(InvalidDocument, match="not a turn"):
        list(walk_turns(world.archive, SESSION))


@pytest.mark.parametrize("name", ["", "A", "a b", "../x", "a--b", "a" * 65])
def test_what_is_no_session_id_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="not the id of a session"):
        as_session_id(name)
