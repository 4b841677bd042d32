"""What can be remembered: facts, moments and episodes, each with the words that it came from.

Three kinds, after where they live. *Working* memory is the last messages of the conversation and is
never stored: the history has it. *Episodic* memory holds moments (something the user said) and
episodes (ten turns, in the user's own sentences). *Semantic* memory holds facts about the user.

Invariant: `content` of a moment or an episode is made of quotes alone, and every memory has a
source. Whoever asks what a memory rests on gets the message and the characters.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Literal, NewType

from salon.core.canonical import canonical_json
from salon.core.errors import IntegrityFailed, InvalidInput
from salon.core.hashing import content_hash

MemoryId = NewType("MemoryId", str)
Kind = Literal["moment", "episode", "fact"]
MemoryType = Literal["conversation", "feature", "milestone"]

WORKING_MESSAGES = 20
"""How many messages working memory has."""
EPISODE_TURNS = 10
"""How many turns one episode covers."""
_ID_LENGTH = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Characters `start` up to `end` of what the user said in one turn of one session."""

    session: str
    turn: int
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message of the user, as the turn has it; `at` is the instant of the turn."""

    session: str
    turn: int
    text: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something the user said about themselves: who, what, which.

    Of an attribute that `is_single` there is one value at a time: a new one closes the old.
    """

    attribute: str
    value: str
    subject: str = "user"
    is_single: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """Which turns an episode covers, what happened in them and where the mood went."""

    first_turn: int
    last_turn: int
    key_events: tuple[str, ...] = ()
    emotion_trend: str = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One thing remembered about one user.

    `valid_to` is when it stopped being so, by the user's own later words in `closed_by`.
    """

    id: MemoryId
    user: str
    kind: Kind
    memory_type: MemoryType
    content: str
    sources: tuple[Source, ...]
    valid_from: str
    confidence: float = 1.0
    fact: Fact | None = None
    episode: Episode | None = None
    valid_to: str | None = None
    closed_by: Source | None = None

    @property
    def is_open(self) -> bool:
        """Whether it still holds, as far as the user has said."""
        return self.valid_to is None


def make_memory(
    user: str,
    kind: Kind,
    memory_type: MemoryType,
    content: str,
    sources: tuple[Source, ...],
    *,
    at: str,
    confidence: float = 1.0,
    fact: Fact | None = None,
    episode: Episode | None = None,
) -> Memory:
    """Return a memory whose id follows from what it says and where it comes from."""
    spans = [[one.session, one.turn, one.start, one.end] for one in sources]
    about = [fact.attribute, fact.value] if fact else []
    key = canonical_json([user, kind, content, about, spans])
    return Memory(
        id=MemoryId(f"mem_{content_hash(key)[:_ID_LENGTH]}"),
        user=user,
        kind=kind,
        memory_type=memory_type,
        content=content,
        sources=sources,
        valid_from=at,
        confidence=confidence,
        fact=fact,
        episode=episode,
    )


def source_of(said: Said, start: int, end: int) -> Source:
    """Return the span of a message, or raise `InvalidInput` where it has none such."""
    if not 0 <= start < end <= len(said.text):
        raise InvalidInput(
            f"a message of {len(said.text)} characters has no span from {start} to {end}"
        )
    return Source(
        session=said.session, turn=said.turn, start=start, end=end, quote=said.text[start:end]
    )


def require_quoted(source: Source, text: str) -> None:
    """Raise `IntegrityFailed` unless the message says there what the source quotes."""
    if text[source.start : source.end] != source.quote or not source.quote:
        raise IntegrityFailed(
            f"turn {source.turn} of session {source.session} does not say what a memory quotes",
            hint="`salon memory forget` removes the memory",
        )


def closed(memory: Memory, *, at: str, by: Source) -> Memory:
    """Return the memory as no longer so, since `at`, because of later words."""
    return replace(memory, valid_to=at, closed_by=by)


def confirmed(memory: Memory, by: Source) -> Memory:
    """Return the memory as said once more: surer, with one source more."""
    if by in memory.sources:
        return memory
    surer = round(1 - (1 - memory.confidence) * 0.5, 6)
    return replace(memory, confidence=surer, sources=(*memory.sources, by))


def overlap(sources: Iterable[Source], others: Collection[Source]) -> bool:
    """Tell whether any of the sources has characters in common with any of the others."""
    return any(
        one.session == other.session
        and one.turn == other.turn
        and one.start < other.end
        and other.start < one.end
        for one in sources
        for other in others
    )
