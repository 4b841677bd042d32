"""One user's memory: what can be read, what can be changed, and what waits to be written.

A store belongs to one user and one turn. Reads see what is pending. Nothing is durable before
`commit` ran in a transaction that was written. `InMemoryStore` keeps everything here and serves
replays and tests; `archived.py` has the one that lives in an archive.

Invariants: no memory of another user gets in (`put` refuses it); a quote that the message does not
have is refused; a forgotten memory leaves nothing but its id.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from salon.conversation.memory.kinds import Memory, MemoryId, Said, overlap, require_quoted
from salon.conversation.memory.search import Utterance, UtteranceSearch
from salon.core.archive import ArchiveTransaction
from salon.core.embedding import Embedder, Vector, Vectors
from salon.core.errors import InvalidInput

if TYPE_CHECKING:
    from salon.core.hashing import CardHash

_SPARE = 4
"""How many times more is looked at than asked for, since some say the same."""


class Recalled(NamedTuple):
    """A memory that was found, and how well it fits; the score orders, it is no probability."""

    memory: Memory
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """A memory that is new, or takes the place of its earlier form."""

    memory: Memory
    vector: "Vector | None" = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    """A memory that goes, with all its earlier forms."""

    id: MemoryId


Change = Put | Forget


class MemoryStore(Protocol):
    """What a turn can do with one user's memory."""

    @property
    def user(self) -> str:
        """Return whose memory this is."""

    def memories(self) -> tuple[Memory, ...]:
        """Return everything remembered, in the order it was said; closed facts too."""

    def find(self, memory: MemoryId) -> Memory | None:
        """Return a memory by its id."""

    def card_of(self, session: str, turn: int) -> "CardHash | None":
        """Return the card of a turn that a memory cites, `None` while it is not recorded."""

    def search(
        self, query: str, embedder: Embedder, *, limit: int = 5, now: str | None = None
    ) -> list[Recalled]:
        """Return what bears on a query, best first; what no longer holds stays out."""

    def alike(self, text: str, embedder: Embedder, *, at_least: float) -> tuple[MemoryId, ...]:
        """Return the memories, closed ones too, whose cosine with a text is at least that."""

    def put(
        self, memory: Memory, said: Iterable[Said] = (), *, vector: "Vector | None" = None
    ) -> None:
        """Lay down a memory; every new source must be quoted from `said`."""

    def forget(self, memories: Iterable[MemoryId]) -> tuple[MemoryId, ...]:
        """Take memories away for good; return those that were there."""

    def pending(self) -> tuple[Change, ...]:
        """Return what waits to be written, in order."""

    def commit(self, tx: ArchiveTransaction, turn: "CardHash | None" = None) -> None:
        """Write what is pending into a transaction; may run again, so it only uses `tx`.

        `turn` is the card of the turn that is being recorded: what quotes it goes when it goes.
        """

    def settle(self) -> None:
        """Take note that the transaction is durable: nothing is pending any more."""

    def discard(self) -> None:
        """Drop what is pending: the turn was not recorded."""


class Snapshot:
    """Memories at one moment with their vectors, and the search over them, made when asked for."""

    def __init__(
        self, memories: Mapping[MemoryId, Memory], vectors: Mapping[MemoryId, Vector]
    ) -> None:
        self.memories = dict(memories)
        self.vectors = dict(vectors)
        self._search: UtteranceSearch | None = None
        self._findable: tuple[Memory, ...] = ()

    def changed(self, changes: Sequence[Change]) -> "Snapshot":
        """Return a snapshot with changes applied."""
        memories, vectors = dict(self.memories), dict(self.vectors)
        for change in changes:
            if isinstance(change, Forget):
                memories.pop(change.id, None)
                vectors.pop(change.id, None)
                continue
            memories[change.memory.id] = change.memory
            if change.vector is not None:
                vectors[change.memory.id] = change.vector
        return Snapshot(memories, vectors)

    def in_order(self) -> tuple[Memory, ...]:
        """Return the memories in the order in which they were said."""
        return tuple(sorted(self.memories.values(), key=_when))

    def search(
        self, query: str, embedder: Embedder, *, limit: int, now: str | None
    ) -> list[Recalled]:
        """Return what bears on a query, best first."""
        index = self._index(embedder)
        if not self._findable:
            return []
        vector = embedder.embed_query(index.query_text(query))
        found: list[Recalled] = []
        # A fact and the moment it was said in are the same words: the better one stands for both.
        for hit in index.search(query, vector, limit=limit * _SPARE, now=now):
            memory = self._findable[hit.place]
            if not any(overlap(memory.sources, one.memory.sources) for one in found):
                found.append(Recalled(memory, hit.score))
        return found[:limit]

    def alike(self, text: str, embedder: Embedder, *, at_least: float) -> tuple[MemoryId, ...]:
        """Return the memories whose cosine with a text is at least that."""
        listed = self.in_order()
        if not listed:
            return ()
        cosines = self._vectors_of(listed, embedder) @ embedder.embed_query(text)
        return tuple(one.id for one, near in zip(listed, cosines, strict=True) if near >= at_least)

    def _vectors_of(self, memories: Sequence[Memory], embedder: Embedder) -> Vectors:
        missing = [one for one in memories if one.id not in self.vectors]
        made = embedder.embed_passages([one.content for one in missing]) if missing else ()
        self.vectors.update({one.id: as_kept(made[n]) for n, one in enumerate(missing)})
        rows = [self.vectors[one.id] for one in memories]
        size = embedder.model.dimensions
        return np.stack(rows) if rows else np.zeros((0, size), dtype=np.float32)

    def _index(self, embedder: Embedder) -> UtteranceSearch:
        if self._search is None:
            findable = _findable(self.in_order())
            vectors = self._vectors_of(findable, embedder)
            self._search = UtteranceSearch([_utterance(one) for one in findable], vectors)
            self._findable = findable
        return self._search


def as_kept(vector: Vector) -> Vector:
    """Return a vector as exact as an archive keeps it: a search is the same after a load."""
    return vector.astype("<f2").astype(np.float32)


class InMemoryStore:
    """A store that lives as long as the process."""

    def __init__(self, user: str, snapshot: Snapshot | None = None) -> None:
        self._user = user
        self._base = snapshot or Snapshot({}, {})
        self._current = self._base
        self._pending: list[Change] = []

    @property
    def user(self) -> str:
        """Return whose memory this is."""
        return self._user

    def memories(self) -> tuple[Memory, ...]:
        """Return everything remembered, in the order it was said; closed facts too."""
        return self._current.in_order()

    def find(self, memory: MemoryId) -> Memory | None:
        """Return a memory by its id."""
        return self._current.memories.get(memory)

    def card_of(self, session: str, turn: int) -> "CardHash | None":  # noqa: ARG002 - none here
        """Return nothing: what is not in an archive has no cards."""
        return None

    def search(
        self, query: str, embedder: Embedder, *, limit: int = 5, now: str | None = None
    ) -> list[Recalled]:
        """Return what bears on a query, best first; what no longer holds stays out."""
        return self._current.search(query, embedder, limit=limit, now=now)

    def alike(self, text: str, embedder: Embedder, *, at_least: float) -> tuple[MemoryId, ...]:
        """Return the memories, closed ones too, whose cosine with a text is at least that."""
        return self._current.alike(text, embedder, at_least=at_least)

    def put(
        self, memory: Memory, said: Iterable[Said] = (), *, vector: "Vector | None" = None
    ) -> None:
        """Lay down a memory; every new source must be quoted from `said`."""
        if memory.user != self._user:
            raise InvalidInput("a memory of one user cannot be put into the memory of another")
        self._require_sources(memory, {(one.session, one.turn): one.text for one in said})
        self._change(Put(memory=memory, vector=None if vector is None else as_kept(vector)))

    def forget(self, memories: Iterable[MemoryId]) -> tuple[MemoryId, ...]:
        """Take memories away for good; return those that were there."""
        gone = tuple(one for one in memories if one in self._current.memories)
        for one in gone:
            self._change(Forget(id=one))
        return gone

    def pending(self) -> tuple[Change, ...]:
        """Return what waits to be written, in order."""
        return tuple(self._pending)

    def commit(self, tx: ArchiveTransaction, turn: "CardHash | None" = None) -> None:
        """Write nothing: this store is not in an archive."""

    def settle(self) -> None:
        """Take note that the turn is recorded: nothing is pending any more."""
        self._base, self._pending = self._current, []

    def discard(self) -> None:
        """Drop what is pending: the turn was not recorded."""
        self._current, self._pending = self._base, []

    def _change(self, change: Change) -> None:
        self._pending.append(change)
        self._current = self._current.changed([change])

    def _require_sources(self, memory: Memory, texts: Mapping[tuple[str, int], str]) -> None:
        if not memory.sources:
            raise InvalidInput("a memory needs the words that it came from")
        before = self._current.memories.get(memory.id)
        known = () if before is None else (*before.sources, before.closed_by)
        quoted = (*memory.sources, *((memory.closed_by,) if memory.closed_by else ()))
        for source in quoted:
            if source in known:
                continue
            if (source.session, source.turn) not in texts:
                raise InvalidInput(f"turn {source.turn} was not handed in, so it cannot be quoted")
            require_quoted(source, texts[source.session, source.turn])


def _findable(memories: Sequence[Memory]) -> tuple[Memory, ...]:
    """Return what may come back: open, and not the words of a fact that has been closed."""
    stale = [source for one in memories if not one.is_open for source in one.sources]
    return tuple(
        one for one in memories if one.is_open and not (stale and overlap(one.sources, stale))
    )


def _utterance(memory: Memory) -> Utterance:
    return Utterance(
        id=memory.id,
        text=memory.content,
        thread=memory.sources[0].session if memory.kind == "moment" else memory.id,
        speaker="",
        at=memory.valid_from,
    )


def _when(memory: Memory) -> tuple[str, str, int, int, str]:
    first = memory.sources[0]
    # Moments stand together, so that what was said before and after is beside them.
    return (memory.kind, memory.valid_from, first.turn, first.start, memory.id)
