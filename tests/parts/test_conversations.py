"""Turns through the application, with toy steps: recorded once, replayed to the byte, forgotten."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from salon.app import Salon
from salon.blackboard.slots import Slot
from salon.blackboard.steps import Step, View
from salon.conversation.memory.kinds import Said, make_memory, source_of
from salon.conversation.sessions import session_ids
from salon.conversation.turns import (
    append_turn,
    as_session_id,
    session_handle,
    turn_to_json,
    walk_turns,
)
from salon.core.absent import Absent
from salon.core.errors import (
    AvatarNotFound,
    Conflict,
    ContentTooLarge,
    HandleMoved,
    HandleNotFound,
    InvalidDocument,
    InvalidInput,
    NotFound,
)
from salon.core.hashing import CardHash, content_hash
from salon.experts.profile import make_profile
from salon.providers.chat.scripted import ScriptedChat
from salon.steps.emotion import EMOTION, EmotionReading
from salon.steps.given import MESSAGE, USER
from salon.steps.memory_recall import MEMORY
from tests.experts.profiles import config
from tests.mcp_server.homes import make_home
from tests.parts.talking import GUESS, LENGTH, TOTAL, Talking, clock, talking, toy_steps

SESSION = as_session_id("a-talk")
LATE = Slot("late", int)


@pytest.fixture
def salon(tmp_path: Path) -> Iterator[Talking]:
    with talking(tmp_path / "home") as opened:
        yield opened


def _bodies(salon: Talking, kind: str) -> list[dict[str, object]]:
    return [dict(one.body) for one in salon.archive.audit_entries() if one.body.get("kind") == kind]


def _cards(salon: Talking) -> list[bytes]:
    return [turn_to_json(turn) for turn in walk_turns(salon.archive, SESSION)][::-1]


@pytest.mark.requirement(
    "companion/pattern/turn-path",
    "companion/pipeline/returns-reply",
    "companion/boundaries/no-waiting",
)
def test_a_message_goes_in_and_the_reply_comes_out(salon: Talking) -> None:
    taken = salon.take_turn("a-talk", "good morning", user="ada")
    assert taken.reply.startswith("Mina on turn 1 of 12")
    assert "'ada', '2026-11-15T09:00:00.000000Z', 'a-talk'" in taken.reply
    assert taken.board[LENGTH] == 12
    assert taken.board[TOTAL] == Absent("not due")
    assert taken.ai_label == "AI"
    assert [event.type for event in taken.events] == ["bot_response"]
    assert taken.events[0].bot_id == "mina"  # type: ignore[union-attr]


@pytest.mark.requirement("companion/pipeline/turn-numbers")
def test_a_turn_is_a_message_and_its_reply_numbered_from_one(salon: Talking) -> None:
    numbers = [salon.take_turn("a-talk", f"message {n}").turn.number for n in range(31)]
    assert numbers == list(range(1, 32))
    turns = list(walk_turns(salon.archive, SESSION))
    assert [one.message for one in turns] == [f"message {n}" for n in range(30, -1, -1)]
    assert all(one.reply["response"] for one in turns)


def test_a_step_sees_what_earlier_turns_wrote_also_after_a_restart(tmp_path: Path) -> None:
    with talking(tmp_path) as salon:
        salon.take_turn("a-talk", "12345")
        assert salon.take_turn("a-talk", "1234").board[TOTAL] == 9
        salon.take_turn("a-talk", "123")
    with talking(tmp_path) as salon:
        assert salon.take_turn("a-talk", "12").board[TOTAL] == 14


def test_a_turn_is_one_card_and_one_note_without_a_word_of_it(salon: Talking) -> None:
    salon.take_turn("a-talk", "raise", user="ada")
    notes = _bodies(salon, "turn_taken")
    assert len(notes) == 1
    turn = salon.archive.resolve(session_handle(SESSION)).current
    assert notes[0] == {
        "kind": "turn_taken",
        "turn": turn,
        "avatar": "mina",
        "session": "a-talk",
        "number": 1,
        "message_sha256": content_hash(b"raise"),
        "absent": ["length: failed: ValueError"],
    }
    card = json.loads(salon.archive.get(CardHash(turn)).content)
    assert card["board"]["length"] == {"absent": "failed: ValueError: cannot measure 'raise'"}
    assert card["preset"] == "companion"
    assert card["user"] == "ada"
    assert "took" not in json.dumps(card)


def test_a_failing_step_leaves_the_reply_standing(salon: Talking) -> None:
    taken = salon.take_turn("a-talk", "raise")
    assert taken.reply.startswith("Mina on turn 1 of Absent")
    assert [one.step for one in taken.board.failures] == ["length"]


def test_where_no_reply_could_be_made_the_turn_says_so(salon: Talking) -> None:
    taken = salon.take_turn("a-talk", "mute")
    assert "I have no reply" in taken.reply
    assert taken.turn.reply["outcome"] == "no_reply"
    assert taken.events[-1].type == "bot_response"
    assert taken.events[-1].content == taken.reply
    assert _bodies(salon, "turn_taken")[0]["absent"] == ["reply: failed: RuntimeError"]
    assert salon.take_turn("a-talk", "again").turn.number == 2


def test_events_are_told_to_whoever_listens_after_the_turn_is_recorded(salon: Talking) -> None:
    heard: list[tuple[str, int]] = []

    def hear(event: object) -> None:
        recorded = len(list(walk_turns(salon.archive, SESSION)))
        heard.append((event.type, recorded))  # type: ignore[attr-defined]

    salon.take_turn("a-talk", "hello", on_event=hear)
    assert heard == [("bot_response", 1)]


def test_a_reading_that_fits_no_event_takes_no_reply_along(salon: Talking) -> None:
    wild = EmotionReading(
        emotion="joy",
        confidence=1.0,
        intensity=1.0,
        valence=1.0,
        arousal=7.0,
        reply_strategy="",
        tone="",
        probabilities={},
    )
    feeling = Step(name="feeling", about="wild", reads=(), writes=EMOTION, run=lambda _: wild)
    salon.steps = lambda: (*toy_steps(), feeling)
    taken = salon.take_turn("a-talk", "hello")
    assert taken.board[EMOTION] == wild
    assert [event.type for event in taken.events] == ["bot_response"]


@pytest.mark.parametrize(
    ("session", "message", "user", "error"),
    [
        ("a-talk", " \n", "ada", InvalidInput),
        ("a-talk", "x" * 100_001, "ada", ContentTooLarge),
        ("a-talk", "half \ud800", "ada", InvalidInput),
        ("A Talk", "hello", "ada", InvalidInput),
        ("a-talk", "hello", "", InvalidInput),
        ("a-talk", "hello", "a\nb", InvalidInput),
        ("a-talk", "hello", "a" * 129, InvalidInput),
    ],
    ids=["empty", "long", "half", "session", "no-user", "line", "long-user"],
)
def test_what_cannot_be_a_turn_is_refused_and_leaves_nothing(
    salon: Talking, session: str, message: str, user: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        salon.take_turn(session, message, user=user)
    assert session_ids(salon.archive) == []


def test_messages_to_one_session_never_interleave(salon: Talking) -> None:
    threads = [
        threading.Thread(target=salon.take_turn, args=("a-talk", f"from {n}")) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    turns = list(walk_turns(salon.archive, SESSION))[::-1]
    assert [one.number for one in turns] == list(range(1, 9))
    lengths = [len(one.message) for one in turns]
    totals = [(one.board or {})["total"] for one in turns]
    assert totals[1::2] == [{"value": sum(lengths[: n + 1])} for n in range(1, 8, 2)]
    for earlier, later in pairwise(turns):
        assert earlier.at < later.at


def test_sessions_and_users_do_not_see_each_other(salon: Talking) -> None:
    salon.take_turn("a-talk", "12345", user="ada")
    salon.take_turn("b-talk", "1", user="bob")
    assert salon.take_turn("b-talk", "12", user="bob").board[TOTAL] == 3


# Who replies


def _avatar(salon: Talking, avatar: str, preset: str) -> None:
    salon.new_avatar(make_profile(config() | {"id": avatar, "salon": {"preset": preset}}))


def test_a_session_goes_on_with_its_avatar(salon: Talking) -> None:
    _avatar(salon, "other", "companion")
    first = salon.take_turn("a-talk", "hello", avatar="other")
    assert first.turn.replier == "other"
    assert salon.take_turn("a-talk", "and now?").turn.replier == "other"
    with pytest.raises(InvalidInput, match="is held with other"):
        salon.take_turn("a-talk", "hello", avatar="mina")
    assert salon.take_turn("b-talk", "hello").turn.replier == "mina"


def test_an_expert_answers_from_its_corpus_in_the_same_way(salon: Talking) -> None:
    _avatar(salon, "scholar", "expert")
    taken = salon.take_turn("a-talk", "What is a bridge?", avatar="scholar", user="ada")
    assert taken.turn.number == 1
    assert taken.turn.speaker == "ada"
    assert taken.reply == taken.turn.reply["response"]
    assert taken.events[0].content == taken.reply  # type: ignore[union-attr]
    assert taken.board.recorded == {}
    assert len(_bodies(salon, "avatar_used")) == 1
    _avatar(salon, "other-scholar", "expert")
    again = salon.take_turn("a-talk", "And a boat?", avatar="other-scholar")
    assert again.turn.number == 2


def test_an_assistant_takes_its_turn_through_the_gate(salon: Talking) -> None:
    taken = salon.take_turn(
        "a-talk", "Someone on my team keeps missing deadlines.", avatar="manager-assistant"
    )
    assert taken.turn.replier == "manager-assistant"
    assert taken.assisted is not None
    assert taken.reply == taken.assisted.text
    assert taken.events[-1].type == "bot_response"
    assert len(_bodies(salon, "turn_taken")) == 1
    assert salon.take_turn("a-talk", "It is Ben.").turn.number == 2


def test_an_avatar_that_is_not_there_or_is_no_partner_is_refused(salon: Talking) -> None:
    with pytest.raises(AvatarNotFound):
        salon.take_turn("a-talk", "hello", avatar="nobody")
    _avatar(salon, "board", "council")
    with pytest.raises(InvalidInput, match="is a council"):
        salon.take_turn("a-talk", "hello", avatar="board")


def test_the_companion_is_there_without_any_setup_and_can_be_edited(tmp_path: Path) -> None:
    with talking(tmp_path) as salon:
        salon.take_turn("a-talk", "hello")
        assert salon.profile("mina").salon.preset == "companion"
        path = salon.avatar_folder("mina") / "config.json"
        path.write_text(path.read_text("utf-8").replace('"Mina"', '"Nina"'), "utf-8")
        assert salon.take_turn("a-talk", "hello").reply.startswith("Nina")
        assert salon.ensure_companion().name == "Nina"
        assert [one.is_same for one in salon.replay_session("a-talk")] == [True, True]


def test_a_preset_that_was_edited_counts_from_the_next_turn(salon: Talking) -> None:
    _avatar(salon, "board", "council")
    path = salon.avatar_folder("board") / "config.json"
    path.write_text(path.read_text("utf-8").replace('"council"', '"companion"'), "utf-8")
    assert salon.take_turn("a-talk", "hello", avatar="board").turn.preset == "companion"


@pytest.mark.parametrize(
    ("preset", "way"),
    [
        ("companion", "salon companion --avatar other"),
        ("assistant", "salon assistant --avatar other"),
        ("council", "salon council"),
    ],
)
def test_who_is_no_expert_answers_no_single_question(salon: Talking, preset: str, way: str) -> None:
    _avatar(salon, "other", preset)
    _avatar(salon, "scholar", "expert")
    with pytest.raises(InvalidInput, match=f"other is an? {preset}") as refused:
        salon.respond("other", "What is a bridge?")
    assert way in str(refused.value.hint)
    with pytest.raises(InvalidInput, match=f"other is an? {preset}"):
        salon.gather(["scholar", "other"], "bridges")
    assert not list(session_ids(salon.archive)), "nothing was recorded"


# Replay


@pytest.mark.parametrize(
    "lines", [None, ["Sun.", "Rain.", "Snow.", "Fog."]], ids=["alone", "model"]
)
def test_a_session_replays_to_the_same_bytes(tmp_path: Path, lines: list[str] | None) -> None:
    with talking(tmp_path) as salon:
        salon.model = ScriptedChat(lines) if lines else None
        for message in ("hello", "raise", "mute", "1234"):
            salon.take_turn("a-talk", message, user="ada")
    with talking(tmp_path) as salon:
        again = list(salon.replay_session("a-talk"))
        assert [(one.number, one.outcome) for one in again] == [
            (number, "same") for number in range(1, 5)
        ]
        guesses = [(turn.board or {})["guess"] for turn in walk_turns(salon.archive, SESSION)]
        said = [{"value": line} for line in lines or ()][::-1]
        assert guesses == (said or [{"absent": "no chat model is set"}] * 4)


def test_two_homes_with_the_same_clock_write_the_same_cards(tmp_path: Path) -> None:
    cards = []
    for home in ("one", "two"):
        with talking(tmp_path / home) as salon:
            for number in range(12):
                salon.take_turn("a-talk", f"message {number}", user="ada")
            cards.append(_cards(salon))
    assert cards[0] == cards[1]
    assert len(cards[0]) == 12


def test_a_replay_names_the_first_slot_that_differs(salon: Talking) -> None:
    salon.take_turn("a-talk", "hello")
    salon.take_turn("a-talk", "hello")
    first, second = list(walk_turns(salon.archive, SESSION))[::-1]
    board: dict[str, dict[str, object]] = {**(second.board or {}), "total": {"value": 11}}
    earlier = second.previous
    assert earlier is not None
    salon.archive.write(lambda tx: tx.set_handle(session_handle(SESSION), earlier))
    append_turn(salon.archive, replace(second, board=board))
    again = list(salon.replay_session("a-talk"))
    assert [one.outcome for one in again] == ["same", "differs in slot total"]
    assert (again[1].recorded, again[1].replayed) == ('{"value":11}', '{"value":10}')
    assert first.number == 1


def test_a_replay_of_nothing_is_refused(salon: Talking) -> None:
    with pytest.raises(NotFound):
        list(salon.replay_session("a-talk"))


def test_a_turn_that_cites_nothing_is_counted_as_not_compared(salon: Talking) -> None:
    _avatar(salon, "scholar", "expert")
    salon.take_turn("a-talk", "What is a bridge?", avatar="scholar")
    (again,) = salon.replay_session("a-talk")
    assert (again.way, again.is_same) == ("not_compared", None)
    assert again.outcome == "not compared: the reply cites nothing"


def test_an_experts_turn_is_checked_again_and_a_changed_quote_is_found(tmp_path: Path) -> None:
    settings = make_home(tmp_path / "home")
    with Salon(settings) as salon:
        turn = salon.take_turn("a-talk", "Who digs in March?", avatar="ida-weir").turn
        assert turn.reply["citations"]
        (again,) = salon.replay_session("a-talk")
        assert (again.way, again.is_same, again.outcome) == ("checked", True, "its proof holds")
        text = str(turn.reply["response"])
        assert "two days" in text
        forged = turn.reply | {"response": text.replace("two days", "nine days")}
        salon.archive.write(lambda tx: tx.remove_handle(session_handle(SESSION)))
        append_turn(salon.archive, replace(turn, reply=forged))
        (again,) = salon.replay_session("a-talk")
        assert (again.way, again.is_same) == ("checked", False)
        assert "nine days" in str(again.recorded)


def test_a_turn_in_which_a_step_hung_replays_to_the_same_bytes(tmp_path: Path) -> None:
    release = threading.Event()

    def hang(view: View) -> int:
        release.wait(60)
        return view.turn

    hanging = Step(name="hanging", about="hangs", reads=(), writes=LATE, run=hang, timeout_s=0.02)
    with talking(tmp_path) as salon:
        salon.steps = lambda: (*toy_steps(), hanging)
        taken = salon.take_turn("a-talk", "hello")
        assert taken.board[LATE] == Absent("timed out after 0.02 s")
        release.set()
        assert [one.outcome for one in salon.replay_session("a-talk")] == ["same"]


def test_what_a_failing_step_laid_down_in_memory_is_not_kept(tmp_path: Path) -> None:
    def remember(view: View) -> int:
        store, message, user = view[MEMORY], view[MESSAGE], view[USER]
        assert not isinstance(store, Absent)
        assert not isinstance(message, Absent)
        assert not isinstance(user, Absent)
        said = Said(session="a-talk", turn=view.turn, text=message, at="2026-11-15T09:00:00Z")
        sources = (source_of(said, 0, len(message)),)
        store.put(make_memory(user, "moment", "conversation", message, sources, at=said.at), [said])
        if message == "fail":
            raise ValueError("after the words were laid down")
        return view.turn

    reads = (MEMORY, MESSAGE, USER)
    remembering = Step(name="late", about="remembers", reads=reads, writes=LATE, run=remember)
    with talking(tmp_path) as salon:
        salon.steps = lambda: (*toy_steps(), remembering)
        for message in ("one", "fail", "three"):
            salon.take_turn("a-talk", message, user="ada")
        assert [one.content for one in salon.memory_of("ada").memories()] == ["one", "three"]
        assert salon.memory_of("bob").memories() == ()
        assert all(one.is_same for one in salon.replay_session("a-talk"))
        assert salon.forget_session("a-talk") == 3
        assert salon.memory_of("ada").memories() == ()


def test_a_record_of_a_model_that_was_damaged_is_refused(tmp_path: Path) -> None:
    with talking(tmp_path) as salon:
        salon.model = ScriptedChat(["Sun."])
        turn = salon.take_turn("a-talk", "hello").turn
        salon.archive.write(lambda tx: tx.remove_handle(session_handle(SESSION)))
        append_turn(salon.archive, replace(turn, model={"said": []}))
        with pytest.raises(InvalidDocument, match="no readable model record"):
            list(salon.replay_session("a-talk"))


def test_a_conversation_goes_on_after_values_of_another_form(salon: Talking) -> None:
    turn = salon.take_turn("a-talk", "12345").turn
    salon.archive.write(lambda tx: tx.remove_handle(session_handle(SESSION)))
    board: dict[str, dict[str, object]] = {**(turn.board or {}), "length": {"value": "five"}}
    append_turn(salon.archive, replace(turn, board=board))
    assert salon.take_turn("a-talk", "123").board[TOTAL] == 3
    assert [one.outcome for one in salon.replay_session("a-talk")] == [
        "differs in slot length",
        "same",
    ]


# Another process


def test_a_turn_is_taken_anew_where_another_process_was_faster(tmp_path: Path) -> None:
    with talking(tmp_path) as salon, talking(tmp_path) as other:
        salon.take_turn("a-talk", "one")
        meddle = iter([True])

        def meddling() -> None:
            if next(meddle, False):
                other.clock = clock(10)
                other.take_turn("a-talk", "meanwhile")

        _before_recording(salon, meddling)
        taken = salon.take_turn("a-talk", "two")
        assert taken.turn.number == 3
        assert taken.board[LENGTH] == 3
        assert [one.message for one in walk_turns(salon.archive, SESSION)] == [
            "two",
            "meanwhile",
            "one",
        ]


def test_a_companion_s_session_belongs_to_one_person(tmp_path: Path) -> None:
    with talking(tmp_path) as salon:
        salon.take_turn("a-talk", "one", user="ada")
        with pytest.raises(Conflict, match="somebody else"):
            salon.take_turn("a-talk", "two", user="bob")
        assert salon.take_turn("a-talk", "two", user="ada").turn.number == 2


def test_a_turn_that_is_always_too_late_is_a_conflict(tmp_path: Path) -> None:
    with talking(tmp_path) as salon, talking(tmp_path) as other:
        _before_recording(salon, lambda: other.take_turn("a-talk", "meanwhile"))
        with pytest.raises(HandleMoved):
            salon.take_turn("a-talk", "late")


def _before_recording(salon: Talking, do: Callable[[], object]) -> None:
    record: Callable[..., None] = salon._record_companion_turn

    def recording(*args: Any) -> None:
        do()
        record(*args)

    vars(salon)["_record_companion_turn"] = recording


# Forgetting


def test_a_forgotten_session_is_gone_card_by_card(salon: Talking) -> None:
    cards = []
    for message in ("one", "two", "three"):
        salon.take_turn("a-talk", message)
        cards.append(salon.archive.resolve(session_handle(SESSION)).current)
    salon.take_turn("b-talk", "stays")
    assert salon.forget_session("a-talk") == 3
    assert not any(salon.archive.has(card) for card in cards)
    assert all(salon.archive.find_tombstone(card) for card in cards)
    with pytest.raises(HandleNotFound):
        salon.archive.resolve(session_handle(SESSION))
    assert session_ids(salon.archive) == ["b-talk"]
    assert salon.verify().is_sound
    assert salon.take_turn("a-talk", "new").turn.number == 1
    with pytest.raises(NotFound):
        salon.forget_session("never")


def test_times_are_kept_beside_the_records(tmp_path: Path) -> None:
    with talking(tmp_path) as salon:
        salon.take_turn("a-talk", "hello")
        assert set(salon.step_medians()) == {"length", "guess", "reply"}
        salon._step_times.close()
    with talking(tmp_path) as salon:
        assert set(salon.step_medians()) == {"length", "guess", "reply"}
        assert salon.take_turn("a-talk", "x").board[GUESS] == Absent("no chat model is set")
