"""The companion's real steps together: their order, their turns, and sixty turns to the byte."""

import socket
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from bench.turns import SCRIPT
from salon.app import Salon
from salon.blackboard.checking import Plan, make_plan
from salon.blackboard.replaying import Replayed
from salon.blackboard.steps import slots_read
from salon.blackboard.triggers import in_words
from salon.conversation.turns import Turn, as_session_id, turn_to_json, walk_turns
from salon.core.clock import SteppingClock
from salon.settings import load_settings
from salon.steps.companion import COMPANION
from salon.steps.turn_taking import BY_PROFILE, IN_EVERY_TURN, RESOURCES, with_patience
from tools.steps_page import steps_page, steps_svg

TURNS = 60
SESSION = as_session_id("a-talk")
NOT_DUE = {"absent": "not due"}


@cache
def plan() -> Plan:
    return make_plan(COMPANION, given=(*IN_EVERY_TURN, *BY_PROFILE, *RESOURCES))


@cache
def _before(step: str) -> frozenset[str]:
    """Return the steps that have run when a step runs."""
    needs = plan().needs[step]
    return needs.union(*(_before(one) for one in needs))


# Order


@pytest.mark.requirement("companion/pipeline/step-1-together")
def test_emotion_scam_and_recall_wait_for_nobody() -> None:
    assert {"emotion", "scam", "memory_recall"} <= {one.name for one in plan().layers()[0]}


@pytest.mark.requirement(
    "companion/pipeline/step-2-features", "companion/pipeline/step-3-transitions"
)
def test_features_follow_the_first_readings_and_transitions_follow_features() -> None:
    assert {"emotion", "memory_recall"} <= _before("features")
    assert "features" in _before("transitions")


@pytest.mark.requirement(
    "companion/pipeline/step-4-relationship", "companion/pipeline/step-6-probes"
)
def test_the_relationship_follows_the_transitions_and_probes_follow_the_features() -> None:
    assert {"features", "transitions"} <= _before("relationship")
    assert "features" in _before("probes")
    probes = next(step for step in COMPANION if step.name == "probes")
    assert in_words(probes.when) == "when any confidence is below 0.6"


@pytest.mark.requirement("companion/external/calendar-and-mail")
def test_no_step_has_a_calendar_or_mail_to_work_with() -> None:
    held = {slot.name for slot in RESOURCES}
    assert held == {"chat", "readings_chat", "embedder", "emotion_embedder", "memory"}
    read = {slot.name for step in COMPANION for slot in slots_read(step) if slot in RESOURCES}
    assert read <= held


@pytest.mark.requirement(
    "companion/pipeline/step-5-milestones", "companion/pipeline/step-7-synthesis"
)
def test_milestones_follow_the_relationship_and_the_synthesis_follows_all_readings() -> None:
    assert {"features", "relationship"} <= _before("milestones")
    assert {"features", "transitions", "relationship", "milestones", "probes"} <= _before(
        "discussion"
    )


@pytest.mark.requirement("companion/pipeline/step-8-reply", "companion/pipeline/step-9-memory")
def test_the_persona_replies_after_every_reading_and_memory_is_written_after_the_reply() -> None:
    readings = {
        "emotion", "memory_recall", "features", "relationship", "probes", "discussion"
    }  # fmt: skip
    assert readings <= _before("persona")
    assert "persona" in _before("memory_write")


@pytest.mark.requirement("companion/pattern/declared-contract", "companion/board/slots")
def test_every_agent_of_the_source_is_a_declared_step_with_its_slot() -> None:
    assert {step.name: step.writes.name for step in COMPANION} == {
        "emotion": "current_emotion",
        "scam": "scam",
        "memory_recall": "retrieved_memories",
        "features": "features",
        "transitions": "predicted_feature_changes",
        "relationship": "relationship_result",
        "milestones": "milestone_report",
        "probes": "suggested_probes",
        "discussion": "discussion_synthesis",
        "persona": "reply",
        "memory_write": "memory_write",
        "matching": "matches",
    }


@pytest.mark.requirement("companion/summary/table", "companion/pattern/declared-contract")
def test_the_published_table_lists_every_agent_with_the_trigger_of_the_source() -> None:
    rows = [line.split(" | ") for line in steps_page().splitlines() if line.startswith("| `")]
    shown = {row[0].strip("| `"): row for row in rows}
    begins = {
        "emotion": "every turn",
        "scam": "every 2 turns",
        "memory_recall": "every turn",
        "features": "every 3 turns",
        "transitions": "every 3 turns",
        "relationship": "every 5 turns, or at turns 10, 30",
        "milestones": "at turns 10, 30",
        "probes": "when any confidence is below 0.6",
        "discussion": "every 3 turns",
        "persona": "every turn",
        "memory_write": "every 5 turns",
        "matching": "at turn 1, or every 10 turns",
    }
    assert set(shown) == set(begins)
    for step in COMPANION:
        when, reads, _, writes = shown[step.name][1:5]
        assert when.startswith(begins[step.name])
        assert writes == f"`{step.writes.name}`"
        assert all(f"`{one.name}`" in reads for one in slots_read(step))
    assert steps_svg().count("<rect") == len(COMPANION)


def test_a_step_that_asks_a_model_gets_the_time_that_a_model_may_take() -> None:
    usual = {step.name: step.timeout_s for step in COMPANION}
    patient = {step.name: step.timeout_s for step in with_patience(COMPANION, 120.0)}
    assert patient["persona"] == usual["persona"] + 120.0
    assert patient["scam"] == usual["scam"]
    assert with_patience(COMPANION, 0.0) == COMPANION


# Sixty turns


def _messages() -> list[str]:
    return [
        SCRIPT[number % len(SCRIPT)] + (f" That was day {number}." if number % 4 == 0 else "")
        for number in range(TURNS)
    ]


def _talk(home: Path, *, pauses: tuple[int, ...] = ()) -> list[Turn]:
    """Hold the conversation, in a new process's place after each pause."""
    clock = SteppingClock(datetime(2026, 11, 15, 9, tzinfo=UTC))
    ends = (*pauses, TURNS)
    messages = _messages()
    for begin, end in zip((0, *pauses), ends, strict=True):
        with Salon(load_settings(home=home, environment={})) as salon:
            salon.clock = clock
            for message in messages[begin:end]:
                salon.take_turn(SESSION, message, user="ada")
            turns = list(walk_turns(salon.archive, SESSION))[::-1]
    return turns


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("companion")


@pytest.fixture(scope="module")
def turns(home: Path) -> list[Turn]:
    return _talk(home / "one")


@pytest.fixture(scope="module")
def replayed(home: Path, turns: list[Turn]) -> list[Replayed]:
    assert turns
    with Salon(load_settings(home=home / "one", environment={})) as salon:
        return list(salon.replay_session(SESSION))


def _due(turns: list[Turn], slot: str) -> list[int]:
    return [one.number for one in turns if (one.board or {})[slot] != NOT_DUE]


EVERY = list(range(1, TURNS + 1))


@pytest.mark.parametrize(
    ("slot", "due"),
    [
        ("current_emotion", EVERY),
        ("retrieved_memories", EVERY),
        ("reply", EVERY),
        ("features", EVERY[2::3]),
        ("predicted_feature_changes", EVERY[2::3]),
        ("discussion_synthesis", EVERY[2::3]),
        ("relationship_result", EVERY[4::5]),
        ("memory_write", EVERY[4::5]),
        ("milestone_report", [10, 30]),
        ("matches", [1, *EVERY[9::10]]),
    ],
)
def test_every_slot_is_filled_in_exactly_its_turns(
    turns: list[Turn], slot: str, due: list[int]
) -> None:
    assert _due(turns, slot) == due


@pytest.mark.requirement(
    "companion/emotion/time",
    "companion/scam/time",
    "companion/memory-recall/time",
    "companion/transitions/time",
    "companion/synthesis/time",
    "companion/persona/time",
    "companion/memory-write/time",
    "companion/matching/time",
    "companion/summary/turn-latency",
)
def test_the_recorded_times_stay_far_within_what_the_source_allows(
    home: Path, turns: list[Turn]
) -> None:
    assert len(turns) == TURNS
    allowed = {
        "emotion": 1.0, "scam": 0.5, "memory_recall": 0.2, "transitions": 0.1, "discussion": 1.0,
        "persona": 3.0, "memory_write": 1.0, "matching": 0.1,
    }  # fmt: skip
    with Salon(load_settings(home=home / "one", environment={})) as salon:
        medians = salon.step_medians()
    assert {name: medians[name] <= limit for name, limit in allowed.items()} == dict.fromkeys(
        allowed, True
    )
    assert sum(medians.values()) <= 5.0


def test_no_step_fails_in_sixty_turns(turns: list[Turn]) -> None:
    failed = [
        (one.number, slot, held["absent"])
        for one in turns
        for slot, held in (one.board or {}).items()
        if str(held.get("absent", "")).startswith(("failed", "gave", "timed out", "refused"))
    ]
    assert failed == []


def test_the_same_conversation_in_another_home_writes_the_same_cards(
    home: Path, turns: list[Turn]
) -> None:
    again = _talk(home / "two", pauses=(7, 33))
    assert [turn_to_json(one) for one in again] == [turn_to_json(one) for one in turns]


def test_sixty_turns_replay_to_the_same_bytes(replayed: list[Replayed]) -> None:
    assert [(one.number, one.outcome) for one in replayed] == [(number, "same") for number in EVERY]


@pytest.mark.requirement("companion/external/outside-services")
def test_without_a_provider_a_turn_reaches_nothing_outside(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached: list[object] = []

    def connect(_: socket.socket, address: object) -> None:
        reached.append(address)
        raise OSError("no network here")

    monkeypatch.setattr(socket.socket, "connect", connect)
    with Salon(load_settings(home=home / "offline", environment={})) as salon:
        for message in _messages()[:3]:
            assert salon.take_turn(SESSION, message).reply
    assert reached == []


def test_a_session_of_the_same_user_replays_with_the_memories_of_the_other(home: Path) -> None:
    with Salon(load_settings(home=home / "both", environment={})) as salon:
        salon.clock = SteppingClock(datetime(2026, 11, 15, 9, tzinfo=UTC))
        for session in ("first", "second"):
            for message in _messages()[:6]:
                salon.take_turn(session, message, user="ada")
        for message in _messages()[:2]:
            salon.take_turn("third", message, user="bob")
        found = list(salon.replay_session("second"))
        assert [one.outcome for one in found] == ["same"] * 6
        recalled = [
            (one.board or {})["retrieved_memories"]["value"]["items"]  # type: ignore[index]
            for one in walk_turns(salon.archive, as_session_id("second"))
        ]
        assert any(one["citation"]["session"] == "first" for items in recalled for one in items)
        strange = next(walk_turns(salon.archive, as_session_id("third"))).board or {}
        assert strange["retrieved_memories"] == {"value": {"items": []}}


def test_a_forgotten_session_takes_its_memories_along(home: Path) -> None:
    with Salon(load_settings(home=home / "forgotten", environment={})) as salon:
        for message in _messages()[:5]:
            salon.take_turn("first", message, user="ada")
        kept = salon.memory_of("ada").memories()
        assert kept
        assert salon.forget_session("first") == 5
        assert salon.memory_of("ada").memories() == ()
        left = b"".join(salon.archive.get(one.hash).content for one in salon.archive.cards())
        assert b"bakery" not in left
