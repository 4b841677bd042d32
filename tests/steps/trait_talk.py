"""A conversation through the real steps for features, relationship and matching.

Feelings and memories are given, not read: these tests are about what is made of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import numpy as np

from salon.blackboard.board import Board
from salon.blackboard.checking import make_plan
from salon.blackboard.running import Runner
from salon.blackboard.slots import Dated, Slot
from salon.blackboard.steps import Step
from salon.blackboard.workers import Workers
from salon.conversation.discussion import Discussion, Utterance
from salon.core.absent import Absent
from salon.core.chat import ChatModel
from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.steps import features, matching, milestones, probes, relationship, transitions
from salon.steps.discussion_room import DISCUSSION_ROOM
from salon.steps.emotion import EMOTION, READINGS_CHAT, EmotionReading
from salon.steps.given import CHAT, EMBEDDER, HISTORY, MESSAGE, NOW, USER
from salon.steps.memory_recall import MEMORIES, SESSION, Memories, MemoryCitation, RetrievedMemory
from salon.steps.memory_write import MEMORY_WRITE, MemoryWrite

T = TypeVar("T")
USER_ID = "anna"
BOT = "mina"
NO_MODEL = Absent("no chat model is set")
_READ_ELSEWHERE = (EMOTION, MEMORIES)


def feeling(emotion: str = "neutral", valence: float = 0.0) -> EmotionReading:
    """Return a reading of one message."""
    return EmotionReading(
        emotion=emotion,
        confidence=0.8,
        intensity=0.5,
        valence=valence,
        arousal=0.4,
        reply_strategy="Engage",
        tone="casual",
        probabilities={emotion: 1.0},
    )


def memory(quote: str, *, session: str = "earlier") -> RetrievedMemory:
    """Return something that the person said in another conversation."""
    return RetrievedMemory(
        id=f"m-{quote}",
        content=quote,
        timestamp="2026-11-01T00:00:00Z",
        relevance_score=0.9,
        memory_type="conversation",
        citation=MemoryCitation(session=session, turn=1, start=0, end=len(quote), quote=quote),
    )


class Wordless:
    """An embedder for which all texts are alike: what it says about traits is the average."""

    model = EmbeddingModel(address="test:wordless", fingerprint="0", dimensions=384)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.full((len(texts), 384), 1 / np.sqrt(384), dtype=np.float32)

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed_passages([text])[0]
        return vector

    def close(self) -> None:
        """Hold nothing."""


STEPS: tuple[Step[Any], ...] = (
    features.STEP,
    transitions.STEP,
    relationship.STEP,
    milestones.STEP,
    probes.STEP,
    matching.STEP,
)


@cache
def _runner() -> Runner:
    given = (MESSAGE, HISTORY, USER, NOW, SESSION, EMBEDDER, READINGS_CHAT, EMOTION, MEMORIES,
             MEMORY_WRITE, DISCUSSION_ROOM, CHAT)  # fmt: skip
    return Runner(make_plan(STEPS, given=given), Workers())


@dataclass
class Talk:
    """A conversation that goes on turn by turn."""

    chat: ChatModel | None = None
    session: str = "here"
    has_room: bool = False
    boards: list[Board] = field(default_factory=list)
    said: list[Utterance] = field(default_factory=list)
    past: dict[str, tuple[Dated[Any], ...]] = field(default_factory=dict)

    def say(
        self,
        message: str,
        *,
        felt: EmotionReading | None = None,
        recalled: Sequence[RetrievedMemory] = (),
        reply: str = "I see.",
        wrote: str = "none",
    ) -> Board:
        """Take one turn."""
        turn = len(self.boards) + 1
        reading = felt or feeling()
        given: Mapping[Slot[Any], object] = {
            MESSAGE: message,
            HISTORY: Discussion(utterances=tuple(self.said)),
            USER: USER_ID,
            NOW: f"2026-11-15T10:{turn:02}:00Z",
            SESSION: self.session,
            EMBEDDER: Wordless(),
            DISCUSSION_ROOM: self.has_room,
            CHAT: NO_MODEL if self.chat is None else self.chat,
            READINGS_CHAT: NO_MODEL if self.chat is None else self.chat,
            EMOTION: reading,
            MEMORIES: Memories(items=tuple(recalled)),
        }
        board = _runner().run(turn, given=given, past=self.past)
        self.boards.append(board)
        self._keep(EMOTION, turn, reading)
        self._keep(MEMORY_WRITE, turn, MemoryWrite(memory_action=wrote))  # type: ignore[arg-type]
        for step in STEPS:
            value = board[step.writes]
            if not isinstance(value, Absent):
                self._keep(step.writes, turn, value)
        self.said += [
            Utterance(role=USER_ID, content=message),
            Utterance(role=BOT, content=reply),
        ]
        return board

    def go_on(self, turns: int, message: str = "It was an ordinary day.", **more: Any) -> Board:
        """Take several turns with the same words."""
        for _ in range(turns):
            self.say(message, **more)
        return self.boards[-1]

    def until(self, turn: int, message: str = "It was an ordinary day.", **more: Any) -> Board:
        """Go on until a turn has been."""
        return self.go_on(turn - len(self.boards), message, **more)

    def latest(self, slot: Slot[T]) -> T:
        """Return the newest value of a slot."""
        value: T = self.past[slot.name][-1].value
        return value

    def _keep(self, slot: Slot[Any], turn: int, value: object) -> None:
        dated = Dated(turn=turn, value=value)
        self.past[slot.name] = (*self.past.get(slot.name, ()), dated)
