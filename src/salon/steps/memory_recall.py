"""Memory recall: what this user said before that bears on what they say now.

It finds and never paraphrases: `content` is what the store holds, and the citation is the span of
the user's own message. It reads one user's store, so another user's memories cannot come back.
"""

import re
from dataclasses import dataclass

from salon.blackboard.slots import Given, Resource, Slot
from salon.blackboard.steps import Step, View
from salon.conversation.memory.kinds import Source
from salon.conversation.memory.store import MemoryStore, Recalled
from salon.core.absent import Absent
from salon.steps.given import EMBEDDER, MESSAGE, NOW, USER

TOP_K = 5
LEAST_RELEVANT = 0.1
"""What scores less has nothing to do with the message."""
_ASKS_FOR_MEMORIES = re.compile(
    r"\b(?:remember|know|recall|kept) (?:about|of) me\b"
    r"|\bwhat (?:did|have) i (?:tell|told|say|said)\b",
    re.IGNORECASE,
)

MEMORY = Resource("memory", MemoryStore)
"""What is kept about the user of this turn; see `salon.conversation.memory`."""
SESSION = Given("session", str)
"""The id of the conversation: memories cite (session, turn, start, end)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCitation:
    """The span of the user's message that a memory came from; offsets count characters.

    `card` is the hash of the turn's record, or "" while that turn is not recorded yet.
    """

    session: str
    turn: int
    start: int
    end: int
    quote: str
    card: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievedMemory:
    """One memory that bears on the message.

    `relevance_score` orders memories and lies between 0 and 1; it is not a probability (see
    docs/guides/memory.md). `memory_type` is one of `conversation`, `feature` and `milestone`.
    """

    id: str
    content: str
    timestamp: str
    relevance_score: float
    memory_type: str
    citation: MemoryCitation


@dataclass(frozen=True, slots=True, kw_only=True)
class Memories:
    """What was recalled, the most relevant first."""

    items: tuple[RetrievedMemory, ...] = ()


MEMORIES = Slot("retrieved_memories", Memories)


def recall(view: View) -> Memories | Absent:
    """Return what the user said before that bears on the message."""
    message, store, embedder = view[MESSAGE], view[MEMORY], view[EMBEDDER]
    if isinstance(message, Absent) or isinstance(store, Absent) or isinstance(embedder, Absent):
        return Absent("there is no message, no memory or no embedder to recall with")
    if store.user != view[USER]:
        return Absent("the memory at hand is another user's")
    now = view[NOW]
    found = store.search(
        message, embedder, limit=TOP_K, now=None if isinstance(now, Absent) else now
    )
    # Whoever asks what is remembered at all is told something, relevant or not.
    least = 0.0 if _ASKS_FOR_MEMORIES.search(message) else LEAST_RELEVANT
    return Memories(items=tuple(_retrieved(one, store) for one in found if one.score >= least))


def cite(source: Source, store: MemoryStore) -> MemoryCitation:
    """Return a source with the card of its turn, where that is recorded."""
    return MemoryCitation(
        session=source.session,
        turn=source.turn,
        start=source.start,
        end=source.end,
        quote=source.quote,
        card=store.card_of(source.session, source.turn) or "",
    )


def _retrieved(found: Recalled, store: MemoryStore) -> RetrievedMemory:
    memory = found.memory
    return RetrievedMemory(
        id=memory.id,
        content=memory.content,
        timestamp=memory.valid_from,
        relevance_score=found.score,
        memory_type=memory.memory_type,
        citation=cite(memory.sources[-1], store),
    )


STEP = Step(
    name="memory_recall",
    about="what the user said before that bears on the message",
    reads=(MESSAGE, USER, NOW, MEMORY, EMBEDDER),
    writes=MEMORIES,
    run=recall,
)
