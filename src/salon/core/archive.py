"""The interface of an archive: the one place where Salon's truth is kept.

Callers know this module and nothing of SQLite or PostgreSQL. Reads return values or raise
`NotFound`; `find_…` returns `None` instead. All writing happens inside `write`, which runs a
function in one transaction: everything it did is durable when `write` returns, or nothing is.
The other writing methods are `write` with a single call inside.

Invariants that every backend keeps: a card's content hashes to its name; handles and documents
point at existing cards; every state change appends exactly one audit event in the same
transaction; replaying the audit log gives the set of live cards, handles and documents.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, Protocol, TypeVar

from salon.core.cards import AddedCard, Card, CardInfo, Tombstone
from salon.core.documents import (
    Document,
    DocumentId,
    Provenance,
    Span,
    Verification,
    VerificationStatus,
)
from salon.core.entries import EVERY_ENTRY, EntryFilter
from salon.core.events import AuditEntry, Checkpoint, Note
from salon.core.handles import ANYTHING, Anything, Handle, HandleMove, HandleName
from salon.core.hashing import DEFAULT_ALGORITHM, Algorithm, CardHash

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """Why a card cannot simply be deleted."""

    handles: tuple[HandleName, ...] = ()
    past_of_handles: tuple[HandleName, ...] = ()
    citing_cards: tuple[CardHash, ...] = ()
    documents: tuple[DocumentId, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.handles or self.past_of_handles or self.citing_cards or self.documents)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """What a deletion took with it."""

    hash: CardHash
    also_deleted: tuple[CardHash, ...] = ()
    handles_removed: tuple[HandleName, ...] = ()
    documents_removed: tuple[DocumentId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveStats:
    """How much there is."""

    cards: int
    bytes: int
    handles: int
    documents: int
    citations: int
    tombstones: int
    audit_entries: int
    file_bytes: int


class ArchiveTransaction(Protocol):
    """What can be written, all of it inside one transaction."""

    def add(self, content: bytes, *, algorithm: Algorithm = DEFAULT_ALGORITHM) -> AddedCard:
        """Store one card; known content is recognised and nothing is written."""

    def add_many(
        self, contents: Sequence[bytes], *, algorithm: Algorithm = DEFAULT_ALGORITHM
    ) -> list[AddedCard]:
        """Store many cards as one audit event."""

    def set_handle(
        self,
        handle: str,
        card: CardHash,
        *,
        expected_current: CardHash | Anything | None = ANYTHING,
    ) -> Handle:
        """Make or move a handle, if it points where `expected_current` says (`None`: nowhere)."""

    def rename_handle(self, handle: str, new_name: str) -> Handle:
        """Give a handle another name; its history goes along."""

    def remove_handle(self, handle: str) -> None:
        """Forget a name; its card and its history stay."""

    def prune_history(self, handle: str, *, older_than: datetime | None = None) -> int:
        """Drop the past of a handle (all of it, or what is older), return how many moves."""

    def add_document(
        self,
        provenance: Provenance,
        *,
        source: CardHash,
        text: CardHash | None = None,
        layout: CardHash | None = None,
    ) -> Document:
        """Register a source whose cards are already stored."""

    def find_document_by_source(self, source: CardHash) -> Document | None:
        """Return the document made from this source card, as this transaction sees it."""

    def set_verification(
        self, document: DocumentId, status: VerificationStatus, *, notes: str = ""
    ) -> Document:
        """Judge a source; earlier judgements are kept."""

    def remove_document(self, document: DocumentId) -> None:
        """Take a source out of the corpus; its cards stay."""

    def cite(self, citing: CardHash, spans: Iterable[Span]) -> None:
        """Record that one card cites spans of others, so that these are kept."""

    def note(self, event: Note) -> None:
        """Record in the audit log alone that something happened."""

    def is_derived(self, card: CardHash) -> bool:
        """Tell whether a card is only there because of others."""

    def mark_derived(self, card: CardHash, *, from_card: CardHash) -> None:
        """Record that a card was made from another and goes when that one goes."""

    def delete(self, card: CardHash, *, reason: str, force: bool = False) -> Deletion:
        """Delete a card, leaving a tombstone; refused while something needs it."""


class Archive(Protocol):
    """The store of cards, handles, documents and the audit log."""

    # Writing

    def write(self, work: Callable[[ArchiveTransaction], T], *, by: str | None = None) -> T:
        """Run `work` in one durable transaction, on behalf of `by`.

        If a transaction that several callers share breaks (a full disk), each one's work is tried
        again alone; so `work` may run twice and must do nothing but use the transaction.
        """

    def add(
        self, content: bytes, *, algorithm: Algorithm = DEFAULT_ALGORITHM, by: str | None = None
    ) -> AddedCard:
        """Store one card."""

    def add_many(
        self,
        contents: Iterable[bytes],
        *,
        algorithm: Algorithm = DEFAULT_ALGORITHM,
        by: str | None = None,
    ) -> list[AddedCard]:
        """Store many cards in one transaction."""

    def add_stream(
        self, stream: BinaryIO, *, algorithm: Algorithm = DEFAULT_ALGORITHM, by: str | None = None
    ) -> AddedCard:
        """Store one card from a stream, without holding it in memory."""

    def put(
        self,
        handle: str,
        content: bytes,
        *,
        expected_current: CardHash | Anything | None = ANYTHING,
        by: str | None = None,
    ) -> Handle:
        """Store a card and point a handle at it, in one transaction."""

    def put_stream(
        self,
        handle: str,
        stream: BinaryIO,
        *,
        algorithm: Algorithm = DEFAULT_ALGORITHM,
        expected_current: CardHash | Anything | None = ANYTHING,
        by: str | None = None,
    ) -> tuple[AddedCard, Handle]:
        """Store a card from a stream and point a handle at it, in one transaction."""

    # Cards

    def get(self, card: CardHash) -> Card:
        """Return a card, checked against its hash, or raise `CardNotFound` or `CardDeleted`."""

    def find(self, card: CardHash) -> Card | None:
        """Return a card, checked against its hash, or `None`."""

    def has(self, card: CardHash) -> bool:
        """Tell whether the card is there."""

    def open(self, card: CardHash) -> BinaryIO:
        """Return a card's bytes as a stream that checks the hash when it reaches the end."""

    def info(self, card: CardHash) -> CardInfo:
        """Return size and time of a card."""

    def content_type(self, card: CardHash) -> str:
        """Return the media type detected from a card's first bytes."""

    def cards(self, *, prefix: str = "", limit: int | None = None) -> Iterator[CardInfo]:
        """Walk the cards in the order they came, or those whose hash starts with `prefix`."""

    def find_tombstone(self, card: CardHash) -> Tombstone | None:
        """Return what stayed of a deleted card."""

    def needs(self, card: CardHash) -> Needs:
        """Tell who needs a card."""

    # Handles

    def resolve(self, handle: str) -> Handle:
        """Return a handle or raise `HandleNotFound`."""

    def find_handle(self, handle: str) -> Handle | None:
        """Return a handle or `None`."""

    def handles(self, *, prefix: str = "") -> Iterator[Handle]:
        """Walk the handles by name."""

    def history(self, handle: str) -> list[HandleMove]:
        """Return every step of a handle, newest first."""

    # Documents

    def get_document(self, document: DocumentId) -> Document:
        """Return a document or raise `DocumentNotFound`."""

    def find_document_by_source(self, source: CardHash) -> Document | None:
        """Return the document made from this source card, if there is one."""

    def documents_of(self, text: CardHash) -> list[Document]:
        """Return the documents whose text this card is, in the order they came."""

    def documents_stamp(self) -> tuple[int, ...]:
        """Return what changes whenever a document comes, goes or is judged; cheap to ask for."""

    def documents(self) -> Iterator[Document]:
        """Walk the documents in the order they came."""

    def verifications(self, document: DocumentId) -> list[Verification]:
        """Return every judgement on a document, newest first."""

    # Audit

    def audit_entries(
        self,
        *,
        after: int = 0,
        before: int | None = None,
        where: EntryFilter = EVERY_ENTRY,
        newest_first: bool = False,
    ) -> Iterator[AuditEntry]:
        """Walk the entries of the audit log that match, between two numbers, both left out."""

    def count_audit_entries(self, where: EntryFilter = EVERY_ENTRY) -> int | None:
        """Count the entries that match, or return None where that takes more than a moment."""

    def checkpoint(self) -> Checkpoint:
        """Return the head of the audit chain, signed where a key is at hand."""

    def stats(self) -> ArchiveStats:
        """Count everything."""

    def close(self) -> None:
        """Finish what is under way and let go of the file."""
