"""Memories in an archive: one card each, in a chain of changes behind one handle per user.

The handle `memories/KEY` (KEY is a digest of the user's id) points at the latest change. A change
names the one before it, the memories that it put (id and card) and those that were forgotten. So a
write costs what it changes, and the past of a fact stays readable as long as the fact is kept.

Forgetting deletes every card that the memory ever had and leaves the archive's tombstones, which
name no word of it; the vector lies in the same card and goes along. The record of the turn in which
it was said is another card and stays: see docs/guides/memory.md.

Invariant: what comes out of `open` was put by this user and says what the cited turn says.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from salon.conversation.memory.cards import (
    ChangeCard,
    change_bytes,
    memory_bytes,
    memory_from,
    read_change,
)
from salon.conversation.memory.kinds import Memory, MemoryId, require_quoted
from salon.conversation.memory.store import Forget, InMemoryStore, Put, Recalled, Snapshot
from salon.conversation.memory.turns import TurnMessages
from salon.core.archive import Archive, ArchiveTransaction
from salon.core.embedding import Embedder, Vector
from salon.core.errors import IntegrityFailed
from salon.core.hashing import CardHash, content_hash

FORGOTTEN = "forgotten on request"
_USERS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """One user's memories as of one change; `cards` are all that each memory ever had."""

    head: CardHash | None = None
    snapshot: Snapshot = field(default_factory=lambda: Snapshot({}, {}))
    cards: dict[MemoryId, tuple[CardHash, ...]] = field(default_factory=dict)
    unsupported: tuple[MemoryId, ...] = ()
    """Memories that were left out, since the cited turn does not say what they quote."""


def memories_handle(user: str) -> str:
    """Return the handle behind which a user's latest change is."""
    return f"memories/{content_hash(user.encode(errors='surrogatepass'))[:32]}"


class MemoryLibrary:
    """Every user's memories in one archive. May be used by many threads at once."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.messages = TurnMessages(archive)
        self._loaded: OrderedDict[str, Loaded] = OrderedDict()
        self._lock = threading.RLock()

    def open(self, user: str) -> "ArchivedStore":
        """Return a user's memory for one turn."""
        return ArchivedStore(self, user, self.load(user))

    def users(self) -> Iterator[str]:
        """Walk the users of whom anything was ever kept."""
        for handle in self.archive.handles(prefix="memories/"):
            yield read_change(self.archive, handle.current).user

    def load(self, user: str) -> Loaded:
        """Return a user's memories as they are now."""
        with self._lock:
            known = self._loaded.pop(user, None) or Loaded()
            head = self.head(user)
            if head != known.head:
                known = self._catch_up(user, known, head)
            self.keep(user, known)
            return known

    def keep(self, user: str, loaded: Loaded) -> None:
        """Remember what was loaded or written, so that the next turn need not read it."""
        with self._lock:
            self._loaded[user] = loaded
            self._loaded.move_to_end(user)
            while len(self._loaded) > _USERS:
                self._loaded.popitem(last=False)

    def head(self, user: str) -> CardHash | None:
        """Return the latest change of a user's memories."""
        handle = self.archive.find_handle(memories_handle(user))
        return None if handle is None else handle.current

    def find_card(self, session: str, turn: int) -> CardHash | None:
        """Return the card of a turn, `None` while it is not recorded."""
        found = self.messages.find(session, turn)
        return None if found is None else found.card

    def _catch_up(self, user: str, known: Loaded, head: CardHash | None) -> Loaded:
        changes = list(self._changes(head, known.head))
        if changes and changes[-1].previous != known.head:
            known = Loaded()  # another life of the handle: read everything
            changes = list(self._changes(head, None))
        memories, vectors = dict(known.snapshot.memories), dict(known.snapshot.vectors)
        cards, unsupported = dict(known.cards), set(known.unsupported)
        gone = {one for change in changes for one in change.forgotten}
        for change in reversed(changes):
            for memory_id, card in change.put:
                if memory_id in gone and not self.archive.has(card):
                    continue
                cards[memory_id] = (*cards.get(memory_id, ()), card)
                found = self._read_memory(user, card)
                unsupported.discard(memory_id)
                if found is None:
                    unsupported.add(memory_id)
                    memories.pop(memory_id, None)
                    continue
                memories[memory_id], vector = found
                if vector is not None:
                    vectors[memory_id] = vector
            for memory_id in change.forgotten:
                for where in (memories, vectors, cards):
                    where.pop(memory_id, None)
                unsupported.discard(memory_id)
        return Loaded(
            head=head,
            snapshot=Snapshot(memories, vectors),
            cards=cards,
            unsupported=tuple(sorted(unsupported)),
        )

    def _changes(self, head: CardHash | None, until: CardHash | None) -> Iterator[ChangeCard]:
        """Walk changes from the latest back to the one after `until`."""
        card = head
        while card is not None and card != until:
            change = read_change(self.archive, card)
            yield change
            card = change.previous

    def _read_memory(self, user: str, card: CardHash) -> "tuple[Memory, Vector | None] | None":
        """Return a memory that is the user's and quotes what was said, otherwise nothing."""
        found = self.archive.find(card)
        if found is None:
            return None
        memory, vector = memory_from(found.content, card)
        if memory.user != user or not self.is_said(memory):
            return None
        return memory, vector

    def is_said(self, memory: Memory) -> bool:
        """Tell whether the user said in the cited turns what the memory quotes."""
        for source in memory.sources:
            found = self.messages.find(source.session, source.turn)
            if found is None or found.user != memory.user:
                return False
            try:
                require_quoted(source, found.text)
            except IntegrityFailed:
                return False
        return bool(memory.sources)


class ArchivedStore(InMemoryStore):
    """One user's memory for one turn, kept in the archive once the turn is written."""

    def __init__(self, library: MemoryLibrary, user: str, loaded: Loaded) -> None:
        super().__init__(user, loaded.snapshot)
        self._library = library
        self._loaded = loaded
        self._written: Loaded | None = None

    def card_of(self, session: str, turn: int) -> CardHash | None:
        """Return the card of a turn that a memory cites, `None` while it is not recorded."""
        return self._library.find_card(session, turn)

    @property
    def unsupported(self) -> tuple[MemoryId, ...]:
        """Return the memories that were left out, since their turn does not say what they quote."""
        return self._loaded.unsupported

    def search(
        self, query: str, embedder: Embedder, *, limit: int = 5, now: str | None = None
    ) -> list[Recalled]:
        """Return what bears on a query, best first, less what was deleted with its session."""
        kept = self._loaded.snapshot.memories
        found = super().search(query, embedder, limit=limit, now=now)
        return [
            one for one in found if one.memory.id not in kept or self._library.is_said(one.memory)
        ]

    def commit(self, tx: ArchiveTransaction, turn: CardHash | None = None) -> None:
        """Write what is pending into a transaction; `HandleMoved`: another turn was faster."""
        self._written = None
        if not self._pending:
            return
        base = self._library.load(self._user)
        puts, forgotten = self._net_changes(base)
        cards = dict(base.cards)
        listed: list[tuple[MemoryId, CardHash]] = []
        for put in puts:
            card = tx.add(memory_bytes(put)).hash
            for said in self._turns_of(put.memory, turn):
                tx.mark_derived(card, from_card=said)
            listed.append((put.memory.id, card))
            cards[put.memory.id] = (*cards.get(put.memory.id, ()), card)
        for one in forgotten:
            for card in dict.fromkeys(cards.pop(one, ())):
                tx.delete(card, reason=FORGOTTEN, force=True)
        if not listed and not forgotten:
            return
        change = tx.add(change_bytes(self._user, base.head, listed, forgotten)).hash
        tx.set_handle(memories_handle(self._user), change, expected_current=base.head)
        snapshot = base.snapshot.changed([*puts, *(Forget(id=one) for one in forgotten)])
        self._written = Loaded(
            head=change, snapshot=snapshot, cards=cards, unsupported=base.unsupported
        )

    def settle(self) -> None:
        """Take note that the transaction is durable: nothing is pending any more."""
        super().settle()
        if self._written is not None:
            self._loaded = self._written
            self._library.keep(self._user, self._written)
            self._written = None

    def _turns_of(self, memory: Memory, current: CardHash | None) -> tuple[CardHash, ...]:
        """Return the cards of the turns that a memory quotes; `current` is being written."""
        cards = [
            self._library.find_card(one.session, one.turn) or current for one in memory.sources
        ]
        return tuple(dict.fromkeys(card for card in cards if card is not None))

    def _net_changes(self, base: Loaded) -> tuple[list[Put], list[MemoryId]]:
        """Return the last word on each memory, less what another turn has forgotten meanwhile."""
        last = {_id_of(change): change for change in self._pending}
        here = self._loaded.snapshot.memories
        puts = [
            replace(change, vector=self._current.vectors.get(name))
            for name, change in last.items()
            if isinstance(change, Put) and (name not in here or name in base.cards)
        ]
        forgotten = [
            name
            for name, change in last.items()
            if isinstance(change, Forget) and name in base.cards
        ]
        return puts, forgotten


def _id_of(change: Put | Forget) -> MemoryId:
    return change.id if isinstance(change, Forget) else change.memory.id
