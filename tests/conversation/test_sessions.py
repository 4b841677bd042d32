"""Sessions at hand: what the next turn needs, read once and again where the archive moved on."""

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.conversation.sessions import (
    HISTORY_TURNS,
    PAST_TURNS,
    Sessions,
    forget_session,
    in_order_of_time,
    session_ids,
    walk_cards,
)
from salon.conversation.turns import Turn, append_turn, as_session_id, session_handle, walk_turns
from salon.core.errors import HandleMoved, NotFound
from salon.core.events import TurnTaken
from salon.core.hashing import CardHash

SESSION = as_session_id("a-talk")


@dataclass(frozen=True, slots=True)
class Note:
    turn: int
    text: str


def keep(turn: Turn) -> Mapping[str, Note]:
    return {"message": Note(turn.number, turn.message)} if turn.number % 2 else {}


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[SqliteArchive]:
    with SqliteArchive(tmp_path / "salon.db") as opened:
        yield opened


def _turn(sessions: Sessions, message: str, session: str = "a-talk") -> Turn:
    state = sessions.get(as_session_id(session))
    return Turn(
        number=state.number + 1,
        session=state.session,
        speaker="ada",
        message=message,
        replier="mina",
        reply={"response": f"about {message}"},
        at=f"2026-11-15T00:00:{state.number:02}.000000Z",
        previous=state.head,
        preset="companion",
        user="ada",
        board={"words": {"value": 2}},
    )


def _say(archive: SqliteArchive, sessions: Sessions, message: str, session: str = "a-talk") -> Turn:
    turn = _turn(sessions, message, session)
    sessions.note(turn, append_turn(archive, turn), keep(turn))
    return turn


def test_a_state_kept_up_to_date_is_the_one_that_is_read_from_the_cards(
    archive: SqliteArchive,
) -> None:
    kept = Sessions(archive, keep)
    for number in range(7):
        _say(archive, kept, f"message {number}")
    state = kept.get(SESSION)
    assert state == Sessions(archive, keep).get(SESSION)
    assert state.number == 7
    assert (state.avatar, state.preset) == ("mina", "companion")
    assert [one.turn for one in state.past["message"]] == [1, 3, 5, 7]
    assert state.history.utterances[-2].content == "message 6"
    assert state.history.utterances[-1].content == "about message 6"


def test_only_the_latest_turns_are_held(archive: SqliteArchive) -> None:
    kept = Sessions(archive, keep)
    for number in range(PAST_TURNS + 7):
        _say(archive, kept, f"message {number}")
    state = kept.get(SESSION)
    assert state == Sessions(archive, keep).get(SESSION)
    assert len(state.history.utterances) == 2 * HISTORY_TURNS
    assert state.past["message"][0].turn == 9  # turns 8 to 107 are the last hundred


def test_a_turn_that_another_process_wrote_is_seen(archive: SqliteArchive) -> None:
    here, there = Sessions(archive, keep), Sessions(archive, keep)
    _say(archive, here, "one")
    _say(archive, there, "two")
    assert here.get(SESSION).number == 2
    late = replace(_turn(here, "three"), previous=None)
    with pytest.raises(HandleMoved):
        append_turn(archive, late)
    turn = _say(archive, there, "three")
    assert here.note(turn, CardHash("0" * 64), {}).number == 3


def test_the_least_recent_session_makes_room(archive: SqliteArchive) -> None:
    kept = Sessions(archive, keep, most=2)
    for session in ("a", "b", "a", "c"):
        _say(archive, kept, "hello", session)
    assert len(kept) == 2
    kept.drop(as_session_id("a"))
    assert len(kept) == 1
    kept.drop()
    assert len(kept) == 0
    assert kept.get(as_session_id("b")).number == 1


def test_names_are_held_by_one_at_a_time_and_forgotten_afterwards(archive: SqliteArchive) -> None:
    sessions = Sessions(archive, keep)
    inside, most, lock = [0], [0], threading.Lock()

    def enter(*names: str) -> None:
        for _ in range(20):
            with sessions.alone(*names):
                with lock:
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                with lock:
                    inside[0] -= 1

    threads = [
        threading.Thread(target=enter, args=names)
        for names in (("session a", "user u"), ("user u", "session b"), ("session c", "user u"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
    assert sessions._turns == {}


def test_the_card_and_what_is_written_along_are_one_transaction(archive: SqliteArchive) -> None:
    turn = _turn(Sessions(archive, keep), "hello")
    note = TurnTaken(avatar="mina", session="a-talk", number=1, message_sha256="0" * 64)

    def fail(*_: object) -> None:
        raise NotFound("the memory is gone")

    with pytest.raises(NotFound):
        append_turn(archive, turn, note=note, along=fail)
    assert session_ids(archive) == []
    seen: list[CardHash] = []
    card = append_turn(archive, turn, note=note, along=lambda _, card: seen.append(card))
    assert set(seen) == {card}
    assert next(iter(walk_turns(archive, SESSION))) == turn


def test_turns_of_several_sessions_stand_in_the_order_of_time(archive: SqliteArchive) -> None:
    kept = Sessions(archive, keep)
    for session in ("b", "a", "b"):
        _say(archive, kept, "hello", session)
    early = replace(_turn(kept, "the clock was set back", "b"), at="2026-01-01T00:00:00.000000Z")
    append_turn(archive, early)
    heads = [archive.resolve(session_handle(as_session_id(one))).current for one in "ab"]
    ordered = in_order_of_time([walk_cards(archive, head) for head in heads])
    assert [(turn.session, turn.number) for _, turn in ordered] == [
        ("a", 1),
        ("b", 1),
        ("b", 2),
        ("b", 3),
    ]


def test_a_session_is_forgotten_with_what_goes_along_or_not_at_all(
    archive: SqliteArchive,
) -> None:
    kept = Sessions(archive, keep)
    for number in range(3):
        _say(archive, kept, f"message {number}")

    def fail(_: object) -> None:
        raise NotFound("no such thing")

    with pytest.raises(NotFound):
        forget_session(archive, SESSION, along=fail)
    assert kept.get(SESSION).number == 3
    assert forget_session(archive, SESSION) == 3
    assert kept.get(SESSION).number == 0
    assert b"message" not in b"".join(archive.get(one.hash).content for one in archive.cards())
    with pytest.raises(NotFound, match="there is no session 'a-talk'"):
        forget_session(archive, SESSION)
