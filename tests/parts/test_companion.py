"""Commands, export and import, and events made again, on the real app."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from salon.app import Salon
from salon.core.absent import Absent
from salon.core.clock import SteppingClock
from salon.core.errors import InvalidExport, InvalidInput, NotFound, StorageFailed
from salon.parts.companion import COMMANDS, is_command
from salon.settings import load_settings
from salon.steps.outlook import Outlook
from salon.steps.relationship import RELATIONSHIP
from salon.steps.reporting import outlook_of, outlook_text, readings
from salon.steps.wire import turn_events

SAID = (
    "Hello, I am Ana and I live in Lisbon.",
    "I work as a gardener and I love it.",
    "My dog is called Rex, he is wonderful.",
    "Today I feel a little sad, to be honest.",
    "Thank you for listening, I trust you.",
)


def open_salon(home: Path) -> Salon:
    salon = Salon(load_settings(home=home, environment={}))
    salon.clock = SteppingClock(datetime(2026, 11, 15, 9, 0, tzinfo=UTC))
    return salon


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    """A home in which Ana took twelve turns."""
    with open_salon(tmp_path_factory.mktemp("home")) as one:
        for n in range(12):
            one.take_turn("life", SAID[n % len(SAID)], user="ana")
        one.take_turn("short", "Just this once.", user="bert")
        yield one


def test_a_slash_makes_a_command() -> None:
    assert is_command("/help")
    assert is_command("  /help")
    assert not is_command("and/or")


def test_help_lists_every_command_with_what_it_is_for(salon: Salon) -> None:
    answer = salon.run_command("HELP", session="life", user="ana")
    assert answer.command == "/help"
    assert [line.split(":")[0] for line in answer.text.splitlines()] == list(COMMANDS)
    assert (answer.turn, answer.bot_id) == (12, "mina")


def test_a_command_in_a_session_that_is_not_there_yet(salon: Salon) -> None:
    assert salon.run_command("/help", session="new", user="ana").turn == 0
    with pytest.raises(NotFound):
        salon.run_command("/predict-future", session="new", user="ana")
    with pytest.raises(InvalidInput, match="no command /dance"):
        salon.run_command("dance", session="new", user="ana")
    assert salon.archive.find_handle("sessions/new") is None


@pytest.mark.requirement("companion/external/analyze-relationship")
def test_the_report_tells_what_was_read_and_where(salon: Salon) -> None:
    text = salon.run_command("/analyze-relationship", session="life", user="ana").text
    latest = readings(salon.session_turns("life"), RELATIONSHIP)[-1][1]
    assert "12 turns so far" in text
    assert "Read in turn 10:" in text
    assert f"status: {latest.rel_status}" in text
    assert latest.reasoning_trace in text
    assert "Trust: turn 5:" in text
    assert "Milestone of turn 10:" in text
    assert "predicted status at 30" in text
    for expert in latest.experts:
        assert expert.finding in text


def test_a_report_on_too_little_says_what_is_not_known(salon: Salon) -> None:
    text = salon.analyze_relationship("short")
    assert "1 turn so far" in text
    assert "Status: not known yet" in text
    assert "Scam: not read yet." in text
    future = salon.predict_future("short")
    assert future == "Turn 50: not known: the relationship is read for the first time in turn 5."


@pytest.mark.requirement("companion/external/predict-future")
def test_the_future_is_turn_fifty_with_its_doubt(salon: Salon) -> None:
    text = salon.run_command("/predict-future", session="life", user="ana").text
    assert text.startswith("Turn 50, seen from the reading of turn 10:")
    assert "No coverage is promised" in text
    assert "1 predictions of the next reading" in text or "its 1 prediction" in text
    found = outlook_of(salon.session_turns("life"))
    assert isinstance(found, Outlook)
    assert found.steps == 8
    assert found.likeliest in text


def test_a_first_prediction_says_that_none_was_checked_yet(salon: Salon) -> None:
    text = outlook_text(salon.session_turns("life")[:7])
    assert "seen from the reading of turn 5" in text
    assert "could not be checked yet" in text


def test_a_report_names_the_worst_scam_reading(salon: Salon) -> None:
    salon.take_turn("fraud", "You are my soulmate, we are meant to be.", user="dora")
    salon.take_turn(
        "fraud",
        "Please send money right now, wire it in bitcoin, it is urgent and must stay a secret.",
        user="dora",
    )
    text = salon.analyze_relationship("fraud")
    assert re.search(r"Scam: level (medium|high) in turn 2 \(.*money request", text)


def test_once_turn_fifty_has_been_there_is_nothing_to_predict(salon: Salon) -> None:
    found = outlook_of(salon.session_turns("life"), at=12)
    assert isinstance(found, Absent)
    assert "turn 12 has been" in found.reason


def test_a_report_writes_nothing(salon: Salon) -> None:
    before = salon.archive.checkpoint()
    for name in COMMANDS:
        salon.run_command(name, session="life", user="ana")
    assert salon.archive.checkpoint() == before


def test_events_made_again_are_those_that_were_sent(salon: Salon) -> None:
    taken = salon.take_turn("again", "I am glad today.", user="carla")
    assert salon.events_after("again", 0) == taken.events
    assert salon.events_after("again", taken.events[0].event_id) == taken.events[1:]
    assert salon.events_after("again", taken.events[-1].event_id) == ()
    assert salon.latest_event_id("again") == taken.events[-1].event_id
    assert salon.events_after("nobody", 0) == ()
    assert salon.latest_event_id("nobody") == 0
    turns = salon.session_turns("life")
    assert salon.events_after("life", 999) == tuple(
        event for turn in turns[9:] for event in turn_events(turn)
    )


def test_an_export_holds_the_user_and_nobody_else(salon: Salon) -> None:
    made = salon.export_user("ana")
    held = json.loads(made.content)
    assert [one["session"] for one in held["sessions"]] == ["life"]
    assert len(held["features"]["predicted_features"]) == 42
    assert made.memories == len(held["memories"]) > 0
    assert b"Just this once" not in made.content
    with pytest.raises(NotFound):
        salon.export_user("nobody")


def test_an_export_comes_back_elsewhere_and_the_conversation_goes_on(
    salon: Salon, tmp_path: Path
) -> None:
    made = salon.export_user("ana")
    with open_salon(tmp_path) as other:
        taken = other.import_user(made.content)
        assert (taken.turns, taken.memories) == (12, made.memories)
        assert other.memory_of("ana").memories() == salon.memory_of("ana").memories()
        assert other.session_turns("life") == salon.session_turns("life")
        assert other.analyze_relationship("life") == salon.analyze_relationship("life")
        assert other.take_turn("life", "I am here now.", user="ana").turn.number == 13
        assert other.verify().is_sound
        with pytest.raises(InvalidExport):
            other.import_user(made.content.replace(b"Lisbon", b"London", 1))


def test_what_was_forgotten_can_be_brought_back_by_its_owner(tmp_path: Path) -> None:
    with open_salon(tmp_path) as salon:
        for said in SAID:
            salon.take_turn("life", said, user="ana")
        made = salon.export_user("ana")
        salon.forget_session("life")
        assert salon.memory_of("ana").memories() == ()
        with pytest.raises(NotFound):
            salon.session_turns("life")
        taken = salon.import_user(made.content)
        assert (taken.turns, taken.memories) == (5, made.memories)
        assert [turn.message for turn in salon.session_turns("life")] == list(SAID)


def test_readiness_says_what_is_wrong(salon: Salon, monkeypatch: pytest.MonkeyPatch) -> None:
    assert salon.readiness() == {"archive": "ok"}

    def fail() -> None:
        raise StorageFailed("the disk is gone")

    monkeypatch.setattr(salon.archive, "checkpoint", fail)
    assert salon.readiness() == {"archive": "the disk is gone"}
