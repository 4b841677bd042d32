"""Sixty turns through the public WebSocket: every event at exactly its turn, in its shape."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from salon.core.clock import SteppingClock
from tests.api.client import Event, talking
from tests.api.homes import companion_home
from tests.api.serving import served

TURNS = 60
SCRIPT = (
    "Good morning! I slept well and the sun is out.",
    "I live in Porto and I work as a nurse.",
    "My sister visits me next week, I am so happy.",
    "Honestly, the night shifts make me tired and sad.",
    "I enjoy long walks, jazz records and cooking for friends.",
    "Sometimes I worry that people will leave me.",
    "I trust you with this; it is good to talk.",
    "Yesterday I was angry at the bus driver.",
    "I planned my whole month, I like things in order.",
    "Thank you for listening, that means a lot to me.",
)
SCAM_TURNS = (22, 44)
SCAM = (
    "My love, you are my soulmate. Please send money right now, wire it in bitcoin, it is urgent, "
    "and tell nobody about it."
)
AT_TURNS = {
    "bot_response": range(1, TURNS + 1),
    "emotion_update": range(1, TURNS + 1),
    "feature_update": range(3, TURNS + 1, 3),
    "relationship_prediction": range(5, TURNS + 1, 5),
    "milestone_report": (10, 30),
}


def script() -> list[str]:
    return [SCAM if n in SCAM_TURNS else SCRIPT[n % len(SCRIPT)] for n in range(1, TURNS + 1)]


@pytest.fixture(scope="module")
def conversation(tmp_path_factory: pytest.TempPathFactory) -> list[list[Event]]:
    return play(tmp_path_factory.mktemp("first"))


def play(home: Path, turns: int = TURNS) -> list[list[Event]]:
    """Hold the conversation in a home of its own, at times of its own, and return its events."""
    with companion_home(home) as salon:
        salon.clock = SteppingClock(datetime(2026, 11, 15, 9, 0, tzinfo=UTC))
        with served(salon) as address, talking(address, "sixty") as talk:
            return [talk.say(message) for message in script()[:turns]]


@pytest.mark.requirement(
    "companion/websocket-out/feature-update",
    "companion/websocket-out/relationship-prediction",
    "companion/websocket-out/milestone-report",
    "companion/pipeline/turn-numbers",
)
@pytest.mark.parametrize("kind", list(AT_TURNS))
def test_every_event_is_sent_at_exactly_its_turns_and_once(
    conversation: list[list[Event]], kind: str
) -> None:
    """Each event was held against its published schema when it was received."""
    sent = [
        turn
        for turn, events in enumerate(conversation, start=1)
        for event in events
        if event["type"] == kind
    ]
    assert sent == list(AT_TURNS[kind])


@pytest.mark.requirement("companion/websocket-out/scam-warning")
def test_a_scam_is_warned_of_in_its_turns_and_in_no_other(
    conversation: list[list[Event]],
) -> None:
    warned = [
        turn
        for turn, events in enumerate(conversation, start=1)
        if "scam_warning" in {event["type"] for event in events}
    ]
    assert set(SCAM_TURNS) <= set(warned)
    # A warning may last while its cause is in sight; it never comes before.
    assert min(warned) == SCAM_TURNS[0]
    for turn in SCAM_TURNS:
        (event,) = [one for one in conversation[turn - 1] if one["type"] == "scam_warning"]
        assert set(event["data"]) == {"risk_score", "warning_level", "patterns"}
        assert event["data"]["patterns"]


def test_turns_are_numbered_from_one_and_the_reply_comes_last(
    conversation: list[list[Event]],
) -> None:
    assert [events[-1]["turn"] for events in conversation] == list(range(1, TURNS + 1))
    assert all(events[-1]["type"] == "bot_response" for events in conversation)
    ids = [event["event_id"] for events in conversation for event in events]
    assert ids == sorted(set(ids))


def test_the_fields_of_each_event_are_those_of_the_protocol(
    conversation: list[list[Event]],
) -> None:
    fields = {
        event["type"]: set(event["data"])
        for events in conversation[:29]
        for event in events
        if "data" in event
    }
    assert fields["emotion_update"] == {
        "emotion",
        "confidence",
        "intensity",
        "valence",
        "arousal",
    }
    assert fields["feature_update"] == {"predicted_features", "confidences", "conformal_result"}
    assert fields["relationship_prediction"] == {
        "sentiment",
        "rel_status",
        "rel_type",
        "can_advance",
        "advance_prediction_set",
        "trust_score",
        "turn",
    }
    assert fields["milestone_report"] == {
        "turn",
        "current_status",
        "predicted_status_at_30",
        "predicted_status_probs",
        "sentiment_trend",
        "trust_level",
        "confidence",
    }
    features = next(one for one in conversation[2] if one["type"] == "feature_update")
    assert len(features["data"]["predicted_features"]) == 42


def test_the_same_conversation_gives_the_same_events(
    conversation: list[list[Event]], tmp_path: Path
) -> None:
    assert play(tmp_path, 12) == conversation[:12]
