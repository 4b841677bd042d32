"""The archive in one SQLite file: truth for everything else in Salon.

Reads run on a connection per thread and never wait for a writer. Writes go through the group
commit of this process; other processes take turns by SQLite's own lock. Safe with several
threads and several processes; not with a network file system.
"""

import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeVar

import apsw

from salon.archive import migrations, rows, streams
from salon.archive.adoption import Adopted, adopt
from salon.archive.audit.finding import count_entries, find_entries
from salon.archive.audit.log import AuditWriter, ChainSigner, read_checkpoint
from salon.archive.card_writes import CardRow, prepare, require_card_size
from salon.archive.checks.verification import SealCheck, VerificationReport, verify_archive
from salon.archive.content_types import HEAD_BYTES, detect_content_type
from salon.archive.database import (
    connect_for_reading,
    connect_for_writing,
    storage_errors,
    translate,
)
from salon.archive.group_commit import GroupCommit
from salon.archive.transaction import SqliteTransaction, get_handle
from salon.core.archive import ArchiveStats, ArchiveTransaction, Needs
from salon.core.cards import AddedCard, Card, CardInfo, Tombstone, require_intact
from salon.core.clock import Clock, GTime, SystemClock, g_time, instant
from salon.core.closing import Closable
from salon.core.documents import Document, DocumentId, Verification
from salon.core.entries import EVERY_ENTRY, EntryFilter
from salon.core.errors import FileMissing, StorageReadOnly
from salon.core.events import AuditEntry, Checkpoint
from salon.core.handles import ANYTHING, Anything, Handle, HandleMove, as_handle_name
from salon.core.hashing import DEFAULT_ALGORITHM, Algorithm, CardHash
from salon.core.ids import IdMaker, RandomIds
from salon.core.text import require_text

T = TypeVar("T")


class SqliteArchive(Closable):
    """The interface `core.archive.Archive` over one SQLite file."""

    def __init__(
        self,
        path: Path | str,
        *,
        actor: str = "local",
        clock: Clock | None = None,
        ids: IdMaker | None = None,
        signer: Callable[[], ChainSigner | None] = lambda: None,
        read_only: bool = False,
        vfs: str | None = None,
    ) -> None:
        self.path = Path(path)
        self._actor = require_text(actor, "the actor")
        self._clock = clock or SystemClock()
        self._read_only = read_only
        self._closed = False
        self._vfs = vfs
        self._local = threading.local()
        # Weak: a thread that ends takes its connection with it.
        self._readers: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._readers_lock = threading.Lock()
        self._writer = GroupCommit(
            self._connect_writer,
            clock=self._clock,
            ids=ids or RandomIds(),
            signer=signer,
            translate=lambda error: translate(error, self.path),
        )
        with storage_errors(self.path):
            self._prepare_schema(signer)

    @classmethod
    def temporary(cls, **options: object) -> "SqliteArchive":
        """Return an archive in a folder that goes with it, for trials and tests."""
        folder = tempfile.TemporaryDirectory(prefix="salon-")
        archive = cls(Path(folder.name) / "salon.db", **options)  # type: ignore[arg-type]
        archive._folder = folder
        return archive

    _folder: tempfile.TemporaryDirectory[str] | None = None

    def close(self) -> None:
        """Finish what is under way and let go of the file."""
        self._closed = True
        with self._readers_lock:
            readers = list(self._readers)
            self._readers.clear()
        for reader in readers:
            reader.close()
        self._local = threading.local()
        self._writer.close()  # last: whoever closes last tidies the log into the file
        if self._folder:
            self._folder.cleanup()

    # Writing

    def write(self, work: Callable[[ArchiveTransaction], T], *, by: str | None = None) -> T:
        """Run `work` in one durable transaction, on behalf of `by`."""
        return self._writer.run(work, by=self._who(by))

    def write_sqlite(self, work: Callable[[SqliteTransaction], T], *, by: str | None = None) -> T:
        """Run work that needs more of the transaction than every backend has."""
        return self._writer.run(work, by=self._who(by))

    def add(
        self, content: bytes, *, algorithm: Algorithm = DEFAULT_ALGORITHM, by: str | None = None
    ) -> AddedCard:
        """Store one card."""
        prepared = prepare((content,), algorithm, self._clock)
        return self._writer.add_cards(prepared, by=self._who(by))[0]

    def add_many(
        self,
        contents: Iterable[bytes],
        *,
        algorithm: Algorithm = DEFAULT_ALGORITHM,
        by: str | None = None,
    ) -> list[AddedCard]:
        """Store many cards in one transaction."""
        prepared = prepare(list(contents), algorithm, self._clock)
        return self._writer.add_cards(prepared, by=self._who(by)) if prepared else []

    def add_rows(self, prepared: Sequence[CardRow], *, by: str | None = None) -> list[AddedCard]:
        """Store cards that were hashed and stamped elsewhere: by an export, by MCard."""
        for _, content, _ in prepared:
            require_card_size(len(content))
        return self._writer.add_cards(prepared, by=self._who(by))

    def add_stream(
        self, stream: BinaryIO, *, algorithm: Algorithm = DEFAULT_ALGORITHM, by: str | None = None
    ) -> AddedCard:
        """Store one card from a stream, without holding it in memory."""
        with streams.measured(stream, algorithm) as content:
            return self.add_measured(content, g_time=g_time(algorithm, self._clock.now()), by=by)

    def add_measured(
        self, content: streams.Measured, *, g_time: GTime, by: str | None = None
    ) -> AddedCard:
        """Store a stream that is hashed already; for this package only."""
        return self.write_sqlite(
            lambda transaction: streams.insert_measured(transaction, content, g_time), by=by
        )

    def put(
        self,
        handle: str,
        content: bytes,
        *,
        expected_current: CardHash | Anything | None = ANYTHING,
        by: str | None = None,
    ) -> Handle:
        """Store a card and point a handle at it, in one transaction."""
        return self.write(
            lambda tx: tx.set_handle(
                handle, tx.add(content).hash, expected_current=expected_current
            ),
            by=by,
        )

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
        as_handle_name(handle)
        stamp = g_time(algorithm, self._clock.now())
        with streams.measured(stream, algorithm) as content:

            def work(transaction: SqliteTransaction) -> tuple[AddedCard, Handle]:
                added = streams.insert_measured(transaction, content, stamp)
                moved = transaction.set_handle(
                    handle, added.hash, expected_current=expected_current
                )
                return added, moved

            return self.write_sqlite(work, by=by)

    def adopt(self, *, by: str | None = None) -> Adopted:
        """Record what another program wrote into the file since the log last knew everything."""
        return self.write_sqlite(lambda transaction: transaction.adopt(), by=by)

    def compact(self) -> int:
        """Write the file anew without what was deleted, also not in its log; return bytes saved.

        Waits for a moment when nobody else reads or writes the file.
        """
        with storage_errors(self.path):
            before = self.path.stat().st_size
            connection = self._connect_writer()
            try:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                connection.close()
            return before - self.path.stat().st_size

    # Cards

    def get(self, card: CardHash) -> Card:
        """Return a card, checked against its hash, or raise `CardNotFound` or `CardDeleted`."""
        found = self.find(card)
        if found is None:
            raise rows.missing_card(self._reader(), card)
        return found

    def find(self, card: CardHash) -> Card | None:
        """Return a card, checked against its hash, or `None`."""
        try:
            found = rows.find_card(self._reader(), card)
        except apsw.Error as error:
            raise translate(error, self.path) from error
        return None if found is None else require_intact(found)

    def has(self, card: CardHash) -> bool:
        """Tell whether the card is there."""
        with storage_errors(self.path):
            return rows.has_card(self._reader(), card)

    def open(self, card: CardHash) -> BinaryIO:
        """Return a card's bytes as a stream that checks the hash when it reaches the end."""
        with storage_errors(self.path):
            return streams.open_card(self._connect_reader, card)

    def info(self, card: CardHash) -> CardInfo:
        """Return size and time of a card."""
        with storage_errors(self.path):
            found = rows.find_card_row(self._reader(), card)
            if found is None:
                raise rows.missing_card(self._reader(), card)
            return found[1]

    def content_type(self, card: CardHash) -> str:
        """Return the media type detected from a card's first bytes."""
        with storage_errors(self.path):
            head = rows.first_bytes(self._reader(), card, HEAD_BYTES)
            if head is None:
                raise rows.missing_card(self._reader(), card)
        return detect_content_type(head)

    def cards(self, *, prefix: str = "", limit: int | None = None) -> Iterator[CardInfo]:
        """Walk the cards in the order they came, or those whose hash starts with `prefix`."""
        everything = -1
        with self.snapshot() as connection:
            yield from rows.walk_cards(
                connection, prefix=prefix, limit=everything if limit is None else limit
            )

    def find_tombstone(self, card: CardHash) -> Tombstone | None:
        """Return what stayed of a deleted card."""
        with storage_errors(self.path):
            return rows.find_tombstone(self._reader(), card)

    def needs(self, card: CardHash) -> Needs:
        """Tell who needs a card."""
        with storage_errors(self.path):
            return rows.read_needs(self._reader(), [card])

    # Handles

    def resolve(self, handle: str) -> Handle:
        """Return a handle or raise `HandleNotFound`."""
        with storage_errors(self.path):
            return get_handle(self._reader(), as_handle_name(handle))

    def find_handle(self, handle: str) -> Handle | None:
        """Return a handle or `None`."""
        with storage_errors(self.path):
            return rows.find_handle(self._reader(), as_handle_name(handle))

    def handles(self, *, prefix: str = "") -> Iterator[Handle]:
        """Walk the handles by name."""
        with self.snapshot() as connection:
            yield from rows.walk_handles(connection, prefix=prefix)

    def history(self, handle: str) -> list[HandleMove]:
        """Return every step of a handle, newest first."""
        with storage_errors(self.path):
            name = as_handle_name(handle)
            steps = rows.read_history(self._reader(), name)
            if not steps:  # a pruned handle has no past; an unknown one is an error
                get_handle(self._reader(), name)
            return steps

    # Documents

    def get_document(self, document: DocumentId) -> Document:
        """Return a document or raise `DocumentNotFound`."""
        with storage_errors(self.path):
            return rows.get_document(self._reader(), document)

    def find_document_by_source(self, source: CardHash) -> Document | None:
        """Return the document made from this source card, if there is one."""
        with storage_errors(self.path):
            return rows.find_document_by_source(self._reader(), source)

    def documents_of(self, text: CardHash) -> list[Document]:
        """Return the documents whose text this card is, in the order they came."""
        with storage_errors(self.path):
            return rows.documents_of(self._reader(), text)

    def documents_stamp(self) -> tuple[int, ...]:
        """Return what changes whenever a document comes, goes or is judged; cheap to ask for."""
        with storage_errors(self.path):
            return rows.documents_stamp(self._reader())

    def documents(self) -> Iterator[Document]:
        """Walk the documents in the order they came."""
        with self.snapshot() as connection:
            yield from rows.walk_documents(connection)

    def verifications(self, document: DocumentId) -> list[Verification]:
        """Return every judgement on a document, newest first."""
        with storage_errors(self.path):
            rows.get_document(self._reader(), document)
            return rows.read_verifications(self._reader(), document)

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
        with self.snapshot() as connection:
            yield from find_entries(
                connection, where, after=after, before=before, newest_first=newest_first
            )

    def count_audit_entries(self, where: EntryFilter = EVERY_ENTRY) -> int | None:
        """Count the entries that match, or return None where that takes more than a moment."""
        with storage_errors(self.path):
            return count_entries(self._reader(), where)

    def checkpoint(self) -> Checkpoint:
        """Return the head of the audit chain, signed where a key is at hand."""
        with storage_errors(self.path):
            return read_checkpoint(self._reader())

    def stats(self) -> ArchiveStats:
        """Count everything."""
        with storage_errors(self.path):
            return rows.read_stats(self._reader())

    def verify(
        self,
        *,
        witnesses: Iterable[Checkpoint] = (),
        is_signed: SealCheck | None = None,
        on_bytes: Callable[[int], None] = lambda _: None,
    ) -> VerificationReport:
        """Check the whole archive against its hashes, its log and the witnesses of the log."""
        with storage_errors(self.path), self.snapshot() as connection:
            return verify_archive(
                connection, witnesses=witnesses, is_signed=is_signed, on_bytes=on_bytes
            )

    @contextmanager
    def snapshot(self) -> Iterator[apsw.Connection]:
        """Open a connection that sees one moment of the archive, while writers go on."""
        with storage_errors(self.path):
            connection = self._connect_reader()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                connection.close()

    def read_sqlite(self) -> apsw.Connection:
        """Return this thread's reading connection; for this package only."""
        return self._reader()

    def _reader(self) -> apsw.Connection:
        try:
            connection: apsw.Connection = self._local.connection
        except AttributeError:
            connection = self._connect_reader()
            self._local.connection = connection
            with self._readers_lock:
                self._readers.add(connection)
        return connection

    def _connect_reader(self) -> apsw.Connection:
        if self._closed:
            raise RuntimeError("the archive is closed")
        return connect_for_reading(self.path, vfs=self._vfs)

    def _who(self, by: str | None) -> str:
        return self._actor if by is None else require_text(by, "the actor")

    def _connect_writer(self) -> apsw.Connection:
        if self._read_only:
            raise StorageReadOnly(f"{self.path} was opened for reading only")
        return connect_for_writing(self.path, vfs=self._vfs)

    def _adopt_what_is_there(
        self, connection: apsw.Connection, signer: ChainSigner | None, now: str
    ) -> None:
        audit = AuditWriter(connection, signer)
        adopt(connection, audit, by=self._actor, at=now)
        audit.seal()

    def _is_current(self) -> bool:
        try:
            return migrations.is_current(self._reader(), self.path)
        except apsw.ReadOnlyError:
            # A writer died in the middle of a file without a log. What it left half done can only
            # be undone by a connection that may write.
            return False

    def _prepare_schema(self, signer: Callable[[], ChainSigner | None]) -> None:
        if self._read_only and not self.path.exists():
            raise FileMissing(f"there is no archive at {self.path}", hint="check the path")
        exists = self.path.is_file() and self.path.stat().st_size > 0
        if exists and self._is_current():
            return
        connection = self._connect_writer()
        try:
            now = instant(self._clock.now())
            migrations.migrate(
                connection,
                self.path,
                now,
                adopt=lambda: self._adopt_what_is_there(connection, signer(), now),
            )
        finally:
            connection.close()
