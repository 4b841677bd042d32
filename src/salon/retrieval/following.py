"""Keeping a derived index in step with an archive, by reading the archive's audit log.

It knows what changed and how far an index has come; what an index makes of a card's text is the
index's own affair. It never writes to the archive.

Invariants: the rows of an index and the place it has reached are committed together, so a process
killed at any moment leaves an index that is merely behind; an index whose place is not in this
archive's chain (another archive, an older copy) or whose settings differ starts over; catching up
twice changes nothing.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple, Protocol, TypeAlias, cast

import apsw

from salon.archive.content_types import HEAD_BYTES, is_text
from salon.core.archive import Archive
from salon.core.documents import DocumentId
from salon.core.errors import DocumentNotFound, HashMismatch, NotFound
from salon.core.events import (
    GENESIS,
    AuditEntry,
    CardsAdded,
    CardsAdopted,
    CardsDeleted,
    DocumentAdded,
    DocumentRemoved,
    ExportImported,
)
from salon.core.hashing import CardHash
from salon.retrieval.index_file import IndexFile

CHANGES_PER_COMMIT = 5_000
BYTES_PER_COMMIT = 32 * 1024 * 1024
"""A commit ends with the change that reaches either of these: few commits, bounded memory."""
LARGE_BYTES = 1024 * 1024

Outcome: TypeAlias = Literal["indexed", "already", "not_text", "damaged", "removed", "nothing"]
Verb: TypeAlias = Literal[
    "card_added", "card_gone", "document_added", "document_gone", "document_imported", "pass"
]


class Scope(StrEnum):
    """Which cards of an archive an index takes in."""

    CARDS = "cards"
    """Every card that is text."""
    DOCUMENTS = "documents"
    """The texts of the documents in the corpus, and nothing else."""


class Change(NamedTuple):
    """One thing that happened: to a card, or to a document with its text."""

    verb: Verb
    card: CardHash = CardHash("")
    document: DocumentId = DocumentId("")


_STATE = """
CREATE TABLE IF NOT EXISTS salon_follower (
    name TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    seq INTEGER NOT NULL,
    chain_hash TEXT NOT NULL,
    within INTEGER NOT NULL,
    uncompacted INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS salon_followed_document (
    name TEXT NOT NULL,
    document TEXT NOT NULL,
    card TEXT NOT NULL,
    PRIMARY KEY (name, document)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS idx_followed_document_card ON salon_followed_document(name, card);
"""


class TextIndex(Protocol):
    """What an index must offer to be kept in step. All but `compact` runs in a transaction."""

    def create_tables(self) -> None:
        """Make the tables that are not there."""

    def drop_tables(self) -> None:
        """Forget everything."""

    def has(self, card: CardHash) -> bool:
        """Tell whether this card was taken in."""

    def insert(self, card: CardHash, text: str) -> None:
        """Take in the text of a card."""

    def remove(self, card: CardHash) -> bool:
        """Forget a card, tell whether it was there."""

    def flush(self) -> None:
        """Make durable what is kept outside the transaction; it is about to be committed."""

    def compact(self) -> None:
        """Make sure that nothing of removed cards is left in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaughtUp:
    """What catching up did, counted in cards."""

    indexed: int = 0
    already: int = 0
    not_text: int = 0
    damaged: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How far an index has come: after entry `seq`, and `within` changes into the next one."""

    seq: int = 0
    chain_hash: str = GENESIS
    within: int = 0
    uncompacted: bool = False


class Follower:
    """Brings one index up to date with one archive."""

    def __init__(
        self,
        file: IndexFile,
        index: TextIndex,
        *,
        name: str,
        fingerprint: str,
        scope: Scope = Scope.CARDS,
        changes_per_commit: int = CHANGES_PER_COMMIT,
    ) -> None:
        self._file = file
        self._index = index
        self._name = name
        self._fingerprint = f"{fingerprint} scope={scope}"
        self._scope = scope
        self._changes_per_commit = changes_per_commit
        with file.write() as connection:
            connection.execute(_STATE)
            if self._read_place(connection) is None:
                self._start_over(connection)

    def catch_up(
        self, archive: Archive, on_entries: Callable[[int], None] = lambda _: None
    ) -> CaughtUp:
        """Take in what happened in the archive since the last time; report entries as they go."""
        if self._is_up_to_date(archive):
            return CaughtUp()  # without waiting for a writer
        counts: Counter[Outcome] = Counter()
        place: Place | None = self.place()
        while place is not None:
            before = place.seq
            place = self._advance(archive, counts)
            if place is not None:
                on_entries(max(0, place.seq - before))
        return CaughtUp(
            indexed=counts["indexed"],
            already=counts["already"],
            not_text=counts["not_text"],
            damaged=counts["damaged"],
            removed=counts["removed"],
        )

    def rebuild(self, archive: Archive) -> CaughtUp:
        """Forget everything and build it again."""
        with self._file.write() as connection:
            self._start_over(connection)
        return self.catch_up(archive)

    def compact(self) -> bool:
        """Leave nothing of removed cards in the files; tell whether there was anything to do."""
        if not self.place().uncompacted:
            return False
        self._index.compact()
        with self._file.write() as connection:
            connection.execute(
                "UPDATE salon_follower SET uncompacted = 0 WHERE name = ?", (self._name,)
            )
        self._file.empty_log()
        return True

    def place(self) -> Place:
        """Return how far the index has come."""
        with self._file.read() as connection:
            return self._read_place(connection) or Place()

    def behind(self, archive: Archive) -> int:
        """Return how many audit entries the index has not seen."""
        if self._is_up_to_date(archive):
            return 0
        place, head = self.place(), archive.checkpoint()
        seen = place.seq if _is_in_chain(archive, place) else 0
        return head.seq - seen

    def _is_up_to_date(self, archive: Archive) -> bool:
        place, head = self.place(), archive.checkpoint()
        return (place.seq, place.chain_hash) == (head.seq, head.hash)

    def documents_of(self, card: CardHash) -> list[DocumentId]:
        """Return the documents whose text this card is, as far as the index has come."""
        with self._file.read() as connection:
            return [
                DocumentId(document)
                for (document,) in connection.execute(
                    "SELECT document FROM salon_followed_document WHERE name = ? AND card = ?"
                    " ORDER BY document",
                    (self._name, card),
                )
            ]

    def _advance(self, archive: Archive, counts: Counter[Outcome]) -> Place | None:
        """Take one commit's worth of changes; return the place reached, `None` at the end."""
        outcomes: list[Outcome] = []
        read = 0
        with self._file.write() as connection:
            place = self._read_place(connection)
            if place is None or not _is_in_chain(archive, place):
                self._start_over(connection)
                place = Place()
            reached = place
            with closing(_changes(archive, place, self._scope)) as walk:
                for change, after in walk:
                    outcome, size = self._apply(connection, archive, change)
                    outcomes.append(outcome)
                    reached = after
                    read += size
                    if len(outcomes) >= self._changes_per_commit or read >= BYTES_PER_COMMIT:
                        break
            if outcomes:
                removed = "removed" in outcomes
                self._index.flush()
                self._write_place(connection, reached, uncompacted=place.uncompacted or removed)
        counts.update(outcomes)
        return reached if outcomes else None

    def _apply(
        self, connection: apsw.Connection, archive: Archive, change: Change
    ) -> tuple[Outcome, int]:
        """Do one change; return what it was and how much text was read for it."""
        match change.verb:
            case "card_added":
                return self._take_in(archive, change.card)
            case "card_gone":
                return self._forget(change.card), 0
            case "document_added" | "document_imported":
                card = change.card or _text_of(archive, change.document)
                if card is None:
                    return "nothing", 0
                connection.execute(
                    "INSERT OR REPLACE INTO salon_followed_document VALUES (?, ?, ?)",
                    (self._name, change.document, card),
                )
                return self._take_in(archive, card)
            case "document_gone":
                return self._let_go(connection, change.document), 0
            case _:
                return "nothing", 0

    def _take_in(self, archive: Archive, card: CardHash) -> tuple[Outcome, int]:
        if self._index.has(card):
            return "already", 0
        try:
            text = read_text(archive, card)
        except NotFound:
            return "nothing", 0  # added and deleted since; its deletion comes later in the log
        except HashMismatch:
            return "damaged", 0
        if text is None:
            return "not_text", 0
        self._index.insert(card, text)
        return "indexed", len(text)

    def _forget(self, card: CardHash) -> Outcome:
        return "removed" if self._index.remove(card) else "nothing"

    def _let_go(self, connection: apsw.Connection, document: DocumentId) -> Outcome:
        """Forget a document, and its text if no other document has the same."""
        named = (self._name, document)
        card = connection.execute(
            "DELETE FROM salon_followed_document WHERE name = ? AND document = ? RETURNING card",
            named,
        ).get
        if card is None:
            return "nothing"
        other = connection.execute(
            "SELECT 1 FROM salon_followed_document WHERE name = ? AND card = ?",
            (self._name, card),
        ).get
        return "nothing" if other else self._forget(CardHash(card))

    def _start_over(self, connection: apsw.Connection) -> None:
        self._index.drop_tables()
        self._index.create_tables()
        connection.execute("DELETE FROM salon_followed_document WHERE name = ?", (self._name,))
        self._write_place(connection, Place(), uncompacted=True)

    def _read_place(self, connection: apsw.Connection) -> Place | None:
        """Return the place of an index with these settings, or `None`."""
        row = connection.execute(
            "SELECT seq, chain_hash, within, uncompacted FROM salon_follower"
            " WHERE name = ? AND fingerprint = ?",
            (self._name, self._fingerprint),
        ).fetchone()
        if row is None:
            return None
        seq, chain_hash, within, uncompacted = row
        return Place(seq=seq, chain_hash=chain_hash, within=within, uncompacted=bool(uncompacted))

    def _write_place(self, connection: apsw.Connection, place: Place, *, uncompacted: bool) -> None:
        connection.execute(
            "INSERT OR REPLACE INTO salon_follower VALUES (?, ?, ?, ?, ?, ?)",
            (
                self._name,
                self._fingerprint,
                place.seq,
                place.chain_hash,
                place.within,
                int(uncompacted),
            ),
        )


def read_text(archive: Archive, card: CardHash) -> str | None:
    """Return a card's text, checked against its hash; `None` if it is not UTF-8 text."""
    if archive.info(card).size > LARGE_BYTES:
        with archive.open(card) as stream:
            if not is_text(stream.read(HEAD_BYTES)):
                return None
    return as_text(archive.get(card).content)


def as_text(content: bytes) -> str | None:
    """Return content as text, or `None` if it is none."""
    if b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _is_in_chain(archive: Archive, place: Place) -> bool:
    if place.seq == 0:
        return True
    with closing(_entries(archive, after=place.seq - 1)) as entries:
        entry = next(entries, None)
    return entry is not None and (entry.seq, entry.hash) == (place.seq, place.chain_hash)


def _text_of(archive: Archive, document: DocumentId) -> CardHash | None:
    try:
        return archive.get_document(document).text
    except DocumentNotFound:
        return None  # removed since; its removal comes later in the log


def _changes(
    archive: Archive, place: Place, scope: Scope
) -> Generator[tuple[Change, Place], None, None]:
    """Walk single changes after `place`, each with the place that is reached by it."""
    seq, chain_hash, done = place.seq, place.chain_hash, place.within
    with closing(_entries(archive, after=place.seq)) as entries:
        for entry in entries:
            changes = list(_CHANGES_OF[scope](entry)) or [Change("pass")]
            for number, change in enumerate(changes[done:], start=done + 1):
                if number < len(changes):
                    yield change, Place(seq=seq, chain_hash=chain_hash, within=number)
                else:
                    yield change, Place(seq=entry.seq, chain_hash=entry.hash)
            seq, chain_hash, done = entry.seq, entry.hash, 0


def _changes_to_cards(entry: AuditEntry) -> Iterator[Change]:
    body = entry.body
    match body["kind"]:
        case CardsAdded.kind | CardsAdopted.kind:
            for card in cast("list[str]", body["hashes"]):
                yield Change("card_added", card=CardHash(card))
        case CardsDeleted.kind:
            yield from _deleted_cards(entry)


def _changes_to_documents(entry: AuditEntry) -> Iterator[Change]:
    body = entry.body
    match body["kind"]:
        case DocumentAdded.kind:
            yield Change(
                "document_added",
                card=CardHash(cast("str", body["text"])),
                document=DocumentId(cast("str", body["document"])),
            )
        case DocumentRemoved.kind:
            yield Change("document_gone", document=DocumentId(cast("str", body["document"])))
        case CardsDeleted.kind:
            for document in cast("list[str]", body["documents_removed"]):
                yield Change("document_gone", document=DocumentId(document))
            yield from _deleted_cards(entry)
        case ExportImported.kind:
            for document, _ in cast("list[list[str]]", body["documents"]):
                yield Change("document_imported", document=DocumentId(document))


def _deleted_cards(entry: AuditEntry) -> Iterator[Change]:
    gone = (cast("str", entry.body["hash"]), *cast("list[str]", entry.body["also_deleted"]))
    for card in gone:
        yield Change("card_gone", card=CardHash(card))


_CHANGES_OF: dict[Scope, Callable[[AuditEntry], Iterator[Change]]] = {
    Scope.CARDS: _changes_to_cards,
    Scope.DOCUMENTS: _changes_to_documents,
}


def _entries(archive: Archive, *, after: int) -> Generator[AuditEntry, None, None]:
    # A generator, so that closing it also ends the reading of a log that is not read to its end.
    yield from archive.audit_entries(after=after)
