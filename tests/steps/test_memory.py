"""Recall and memory write as steps of a turn."""

from collections.abc import Mapping
from typing import Any

import pytest

from salon.blackboard.slots import Slot
from salon.blackboard.triggers import EVERY_TURN, AnyOf, Every
from salon.conversation.memory.store import InMemoryStore
from salon.core.absent import Absent
from salon.core.embedding import Embedder
from salon.providers.embedders import open_embedder
from salon.steps import memory_recall, memory_write
from salon.steps.emotion import EMOTION
from salon.steps.given import EMBEDDER, MESSAGE, NOW, USER
from salon.steps.memory_recall import MEMORIES, MEMORY, SESSION, TOP_K, Memories
from salon.steps.memory_write import MEMORY_WRITE, MemoryWrite
from tests.steps.trait_talk import feeling
from tests.steps.views import TurnView


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return open_embedder("embedded:minilm")


class Memory:
    """A conversation of which only memory is watched."""

    def __init__(self, embedder: Embedder, user: str = "ann") -> None:
        self.embedder = embedder
        self.store = InMemoryStore(user)
        self.messages: list[tuple[int, str]] = []
        self.writes: list[tuple[int, MemoryWrite]] = []
        self.emotions: list[tuple[int, Any]] = []

    def given(self, message: str) -> dict[Slot[Any], Any]:
        return {
            MESSAGE: message,
            USER: self.store.user,
            NOW: _at(len(self.messages) + 1),
            SESSION: "s",
            MEMORY: self.store,
            EMBEDDER: self.embedder,
        }

    def recall(self, message: str) -> Memories:
        found = memory_recall.recall(TurnView(memory_recall.STEP, self.given(message)))
        assert isinstance(found, Memories)
        return found

    def say(self, message: str) -> None:
        self.messages.append((len(self.messages) + 1, message))
        self.emotions.append((len(self.messages), feeling("joy", 0.15 * len(self.messages))))

    def write(self, message: str) -> MemoryWrite:
        turn = len(self.messages) + 1
        view = TurnView(
            memory_write.STEP,
            self.given(message),
            turn=turn,
            past={
                MESSAGE: self.messages,
                NOW: [(number, _at(number)) for number, _ in self.messages],
                MEMORY_WRITE: self.writes,
                EMOTION: self.emotions,
            },
        )
        done = memory_write.write_memory(view)
        assert isinstance(done, MemoryWrite)
        self.store.settle()
        self.say(message)
        self.writes.append((turn, done))
        return done


def _at(turn: int) -> str:
    return f"2026-03-01T10:{turn:02}:00.000000Z"


# Recall


@pytest.mark.requirement("companion/memory-recall/by-meaning", "companion/memory-recall/reads")
def test_what_says_the_same_in_other_words_is_recalled_with_its_citation(
    embedder: Embedder,
) -> None:
    talk = Memory(embedder)
    talk.write("I bring up my two kids on my own since the divorce.")
    talk.write("The tram was late again this morning.")
    best = talk.recall("being a single parent is hard").items[0]
    assert best.citation.quote == "I bring up my two kids on my own since the divorce."
    assert (best.citation.session, best.citation.turn, best.citation.card) == ("s", 1, "")
    assert best.timestamp == _at(1)


@pytest.mark.requirement(
    "companion/memory-recall/top-k",
    "companion/memory-recall/memories",
    "companion/memory-recall/memory-types",
)
def test_five_memories_come_back_at_most_each_with_its_fields(embedder: Embedder) -> None:
    talk = Memory(embedder)
    for number in range(12):
        talk.write(f"I walked around lake number {number} with my brother.")
    talk.write("I got the job at the lake museum!")
    found = talk.recall("walking at the lake").items
    assert len(found) == TOP_K == 5
    for one in found:
        assert one.content
        assert one.timestamp
        assert 0 <= one.relevance_score <= 1
        assert one.memory_type in {"conversation", "feature", "milestone"}
    kinds = {one.memory_type for one in talk.store.memories()}
    assert kinds <= {"conversation", "feature", "milestone"}
    assert "milestone" in kinds


@pytest.mark.requirement("companion/memory-recall/trigger")
def test_recall_is_due_in_every_turn() -> None:
    assert memory_recall.STEP.when is EVERY_TURN
    assert memory_recall.STEP.writes is MEMORIES


def test_nothing_unrelated_is_recalled(embedder: Embedder) -> None:
    talk = Memory(embedder)
    talk.write("Fish swim.")
    talk.write("My mortgage was renewed by the bank.")
    scores = [one.relevance_score for one in talk.recall("xylophone").items]
    assert all(score >= memory_recall.LEAST_RELEVANT for score in scores)


def test_whoever_asks_what_is_remembered_is_told_something(embedder: Embedder) -> None:
    talk = Memory(embedder)
    talk.write("My mortgage was renewed by the bank.")
    assert talk.recall("What do you remember about me?").items


def test_another_users_memory_at_hand_is_not_read(embedder: Embedder) -> None:
    talk = Memory(embedder)
    talk.write("I bring up my two kids on my own.")
    given: Mapping[Slot[Any], Any] = {**talk.given("kids"), USER: "bob"}
    found = memory_recall.recall(TurnView(memory_recall.STEP, given))
    assert found == Absent("the memory at hand is another user's")
    written = memory_write.write_memory(TurnView(memory_write.STEP, given))
    assert written == Absent("the memory at hand is another user's")


@pytest.mark.parametrize("missing", [MEMORY, EMBEDDER, MESSAGE])
def test_recall_says_that_it_cannot_where_something_is_missing(
    missing: Slot[Any], embedder: Embedder
) -> None:
    given = {slot: one for slot, one in Memory(embedder).given("hello").items() if slot != missing}
    assert isinstance(memory_recall.recall(TurnView(memory_recall.STEP, given)), Absent)


# Writing


@pytest.mark.requirement(
    "companion/memory-write/output",
    "companion/memory-write/actions",
    "companion/memory-write/reads",
)
def test_store_update_and_delete_show_in_a_later_recall(embedder: Embedder) -> None:
    talk = Memory(embedder)
    for message in ("Good morning to you.", "Rain.", "Still rain.", "It stopped."):
        talk.say(message)
    stored = talk.write("I live in Lyon.")
    assert stored.memory_action == "store"
    assert stored.memories_affected
    assert "Lyon" in talk.recall("Where do I live?").items[0].content
    updated = talk.write("I moved to Ghent last week.")
    assert updated.memory_action == "update"
    recalled = [one.content for one in talk.recall("Where do I live?").items]
    assert "Ghent" in recalled[0]
    assert not [one for one in recalled if "Lyon" in one]
    deleted = talk.write("Please forget that I moved to Ghent")
    assert deleted.memory_action == "delete"
    assert not [one for one in talk.recall("Where do I live?").items if "Ghent" in one.content]
    assert talk.write("ok").memory_action == "none"


@pytest.mark.requirement("companion/memory-write/trigger")
def test_memory_is_written_every_five_turns_and_when_asked_to_forget() -> None:
    when = memory_write.STEP.when
    assert isinstance(when, AnyOf)
    assert when.triggers[0] == Every(5)
    assert when.triggers[1].test("please forget that I smoke")  # type: ignore[union-attr]
    assert not when.triggers[1].test("do not forget me")  # type: ignore[union-attr]


def test_the_window_is_what_was_said_since_the_last_write(embedder: Embedder) -> None:
    talk = Memory(embedder)
    talk.say("I live in Lyon.")
    for message in ("one", "two", "three", "four"):
        talk.say(message)
    talk.write("five")
    assert talk.store.memories() == ()  # turn 1 lies six turns back
    for message in ("I love marzipan cake.", "seven", "eight", "nine"):
        talk.say(message)
    talk.write("ten")
    assert [one.content for one in talk.store.memories() if one.fact] == ["I love marzipan cake"]


def test_the_tenth_turn_closes_an_episode_with_its_mood(embedder: Embedder) -> None:
    talk = Memory(embedder)
    for number in range(1, 10):
        talk.say(f"The garden gave us {number} baskets of apples and pears.")
    done = talk.write("The kitchen smells of plum jam and cinnamon today.")
    (episode,) = [one for one in talk.store.memories() if one.episode]
    assert episode.id in done.memories_affected
    assert episode.episode is not None
    assert episode.episode.emotion_trend == "improving"
    assert (episode.episode.first_turn, episode.episode.last_turn) == (1, 10)


@pytest.mark.parametrize(
    "message",
    [
        "My card number is 4111 1111 1111 1111, please keep it for me.",
        "You can call me at +44 20 7946 0958 in the evening.",
        "My social security number is 078-05-1120 in case you need it.",
    ],
)
def test_private_data_of_high_risk_is_not_kept(message: str, embedder: Embedder) -> None:
    talk = Memory(embedder)
    talk.write(message)
    assert talk.store.memories() == ()


def test_a_cry_for_help_is_not_kept(embedder: Embedder) -> None:
    talk = Memory(embedder)
    talk.write("I want to die and nobody in this town would notice.")
    assert talk.store.memories() == ()


def test_nothing_to_write_to_is_said(embedder: Embedder) -> None:
    given = Memory(embedder).given("hello")
    for missing in (MEMORY, SESSION):
        less = {slot: one for slot, one in given.items() if slot != missing}
        assert isinstance(memory_write.write_memory(TurnView(memory_write.STEP, less)), Absent)
