"""From messages to changes of memory: facts reconciled with what is known, moments, episodes.

A fact that is known makes it surer; one that contradicts a known fact closes it with the time and
the words of the contradiction; nothing is stored twice. What the user asks to forget goes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from salon.conversation.memory.extraction import (
    Statement,
    find_events,
    find_moments,
    find_statements,
    same_value,
)
from salon.conversation.memory.forgetting import find_request, matching
from salon.conversation.memory.kinds import (
    EPISODE_TURNS,
    Episode,
    Fact,
    Memory,
    MemoryId,
    Said,
    Source,
    closed,
    confirmed,
    make_memory,
    source_of,
)
from salon.conversation.memory.search import stems_of
from salon.conversation.memory.sentences import sentence_spans
from salon.conversation.memory.store import MemoryStore
from salon.core.embedding import Embedder

FIRST_CONFIDENCE = 0.8
"""How sure a fact is that was said once, by rules that are right about four times in five."""
EPISODE_SENTENCES = 3
_LONGEST_SENTENCE = 240
Span = tuple[int, int]


@dataclass(slots=True)
class Written:
    """What was done, by kind of change, in order."""

    stored: list[MemoryId] = field(default_factory=list)
    updated: list[MemoryId] = field(default_factory=list)
    deleted: list[MemoryId] = field(default_factory=list)

    @property
    def action(self) -> Literal["store", "update", "delete", "none"]:
        """The strongest thing that was done."""
        if self.deleted:
            return "delete"
        if self.updated:
            return "update"
        return "store" if self.stored else "none"

    @property
    def affected(self) -> tuple[MemoryId, ...]:
        """Every memory that was touched, once."""
        return tuple(dict.fromkeys((*self.deleted, *self.updated, *self.stored)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message of the user, and the parts of it that are not to be kept."""

    said: Said
    private: tuple[Span, ...] = ()
    is_kept: bool = True
    """False: nothing of it may be remembered, a cry for help for one."""


def write_messages(store: MemoryStore, messages: Sequence[Heard], embedder: Embedder) -> Written:
    """Lay down what messages say, in order; what they ask to forget goes."""
    done = Written()
    for heard in messages:
        request = find_request(heard.said.text)
        if request is not None:
            gone = store.forget(matching(request, store, embedder))
            done.deleted += gone
            done.stored = [one for one in done.stored if one not in gone]
            done.updated = [one for one in done.updated if one not in gone]
        elif heard.is_kept:
            _write_facts(store, heard, done)
            _write_moments(store, heard, done)
    _embed(store, done.stored, embedder)
    return done


def write_episode(
    store: MemoryStore,
    messages: Sequence[Heard],
    embedder: Embedder,
    *,
    trend: str,
    is_milestone: bool,
) -> MemoryId | None:
    """Lay down the episode that the last turns make up, once there are ten since the last one."""
    first = _next_episode_turn(store.memories(), messages)
    window = [one for one in messages if one.said.turn >= first]
    if not window or window[-1].said.turn - first + 1 < EPISODE_TURNS:
        return None
    first = window[0].said.turn
    events = [
        source_of(one.said, *span)
        for one in window
        if one.is_kept
        for span in find_events(one.said)
        if not _touches(span, one.private)
    ]
    told = _telling_sentences([one for one in window if one.is_kept], events)
    if not told:
        return None
    episode = Episode(
        first_turn=first,
        last_turn=window[-1].said.turn,
        key_events=tuple(one.quote for one in events),
        emotion_trend=trend,
    )
    memory = make_memory(
        store.user,
        "episode",
        "milestone" if is_milestone or events else "conversation",
        " ".join(one.quote for one in told),
        tuple(told),
        at=window[-1].said.at,
        episode=episode,
    )
    store.put(memory, [one.said for one in window])
    _embed(store, [memory.id], embedder)
    return memory.id


def _write_facts(store: MemoryStore, heard: Heard, done: Written) -> None:
    for statement in find_statements(heard.said):
        if _touches((statement.start, statement.end), heard.private):
            continue
        source = source_of(heard.said, statement.start, statement.end)
        known = [one for one in store.memories() if one.fact and one.is_open]
        same = _find_same(known, statement)
        for old in _contradicted(known, statement):
            store.put(closed(old, at=heard.said.at, by=source), [heard.said])
            done.updated.append(old.id)
        if same is not None and source not in same.sources:
            store.put(confirmed(same, source), [heard.said])
            done.updated.append(same.id)
        elif same is None and not statement.negates:
            memory = _fact_memory(store.user, heard.said, statement, source)
            store.put(memory, [heard.said])
            done.stored.append(memory.id)


def _fact_memory(user: str, said: Said, statement: Statement, source: Source) -> Memory:
    return make_memory(
        user,
        "fact",
        "feature",
        source.quote,
        (source,),
        at=said.at,
        confidence=FIRST_CONFIDENCE,
        fact=Fact(
            attribute=statement.attribute, value=statement.value, is_single=statement.is_single
        ),
    )


def _find_same(known: Iterable[Memory], statement: Statement) -> Memory | None:
    if statement.negates:
        return None
    for one in known:
        fact = one.fact
        is_about = fact is not None and fact.attribute == statement.attribute
        if fact is not None and is_about and same_value(fact.value, statement.value):
            return one
    return None


def _contradicted(known: Iterable[Memory], statement: Statement) -> list[Memory]:
    """Return the open facts that a statement says are no longer so."""
    return [one for one in known if one.fact and _contradicts(statement, one.fact)]


def _contradicts(statement: Statement, fact: Fact) -> bool:
    is_same = same_value(fact.value, statement.value)
    if statement.negates:
        return fact.attribute == statement.attribute and (is_same or not statement.value)
    if fact.attribute == statement.attribute:
        return statement.is_single and not is_same
    return fact.attribute == statement.opposite and is_same


def _write_moments(store: MemoryStore, heard: Heard, done: Written) -> None:
    events = find_events(heard.said)
    for span in find_moments(heard.said, heard.private):
        is_event = any(span[0] < end and start < span[1] for start, end in events)
        source = source_of(heard.said, *span)
        memory = make_memory(
            store.user,
            "moment",
            "milestone" if is_event else "conversation",
            source.quote,
            (source,),
            at=heard.said.at,
        )
        if store.find(memory.id) is None:
            store.put(memory, [heard.said])
            done.stored.append(memory.id)


def _embed(store: MemoryStore, stored: Iterable[MemoryId], embedder: Embedder) -> None:
    """Give new memories their vectors now, so that recall need not."""
    new = [memory for one in dict.fromkeys(stored) if (memory := store.find(one))]
    if new:
        vectors = embedder.embed_passages([one.content for one in new])
        for memory, vector in zip(new, vectors, strict=True):
            store.put(memory, vector=vector)


def _next_episode_turn(memories: Iterable[Memory], messages: Sequence[Heard]) -> int:
    if not messages:
        return 1
    session = messages[-1].said.session
    ends = [
        one.episode.last_turn
        for one in memories
        if one.episode and one.sources[0].session == session
    ]
    return max(ends, default=0) + 1


def _telling_sentences(messages: Sequence[Heard], events: Sequence[Source]) -> list[Source]:
    """Return the sentences that say most, none of which repeats another, in the order said."""
    spans = {(one.turn, one.start, one.end) for one in events}
    listed: list[tuple[float, Source]] = []
    for heard in messages:
        for start, end in sentence_spans(heard.said.text):
            quote = heard.said.text[start:end]
            if _touches((start, end), heard.private) or quote.endswith("?"):
                continue
            worth = min(len(set(stems_of(quote))), 12) + 6.0 * (
                (heard.said.turn, start, end) in spans
            )
            if len(quote) <= _LONGEST_SENTENCE and worth > 2:
                listed.append((worth, source_of(heard.said, start, end)))
    chosen: list[Source] = []
    for _, source in sorted(listed, key=lambda one: (-one[0], one[1].turn, one[1].start)):
        stems = set(stems_of(source.quote))
        if all(len(stems & set(stems_of(one.quote))) <= len(stems) / 2 for one in chosen):
            chosen.append(source)
        if len(chosen) == EPISODE_SENTENCES:
            break
    return sorted(chosen, key=lambda one: (one.turn, one.start))


def _touches(span: Span, private: Iterable[Span]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in private)
