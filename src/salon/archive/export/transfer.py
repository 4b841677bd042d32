"""Export and import: a whole archive as one stream of content-addressed records.

An export holds cards, handles with their moves, documents with their judgements, citations,
derivations and tombstones; not the audit log, which is the diary of one archive and stays with
it. Importing into an empty archive and exporting again gives the same bytes.

On import every card is hashed again before it is stored, in batches that are durable one by one,
so a second run skips what the first one did. Handles, documents and the rest are written in one
last transaction, after the end of the export has vouched for all its records.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO, Literal, TypeAlias

import apsw

from salon.archive.card_writes import CardRow
from salon.archive.export.format import ExportReader, ExportWriter, read_size
from salon.archive.export.intake import write_records
from salon.archive.export.records import (
    CardRecord,
    CitationRecord,
    DerivationRecord,
    DocumentRecord,
    HandleRecord,
    TombstoneRecord,
    parse_record,
    read_records,
)
from salon.archive.sqlite_archive import SqliteArchive
from salon.archive.streams import PIECE, measured
from salon.core.cards import AddedCard
from salon.core.errors import Conflict, HashMismatch, InvalidExport
from salon.core.hashing import CardHash, names

BATCH_BYTES = 8 * 1024 * 1024
BATCH_CARDS = 2_000

Progress: TypeAlias = Callable[[int], None]
OnConflict: TypeAlias = Literal["refuse", "keep", "move"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What an export holds."""

    cards: int
    records: int
    sha256: str


@dataclass(slots=True)
class Imported:
    """What an import did."""

    cards_added: int = 0
    cards_known: int = 0
    handles: int = 0
    documents: int = 0
    sha256: str = ""


def export_archive(
    archive: SqliteArchive, stream: BinaryIO, *, on_bytes: Progress = lambda _: None
) -> Exported:
    """Write the whole archive, as it is at this moment, to `stream`."""
    with archive.snapshot() as connection:
        writer = ExportWriter(stream)
        cards = _export_cards(connection, writer, on_bytes)
        records = cards
        for record in read_records(connection):
            writer.record(record)
            records += 1
        return Exported(cards=cards, records=records, sha256=writer.end())


def _export_cards(connection: apsw.Connection, writer: ExportWriter, on_bytes: Progress) -> int:
    cards = 0
    rows = connection.execute(
        "SELECT rowid, hash, length(content), g_time, iif(length(content) <= ?1, content, NULL)"
        " FROM card ORDER BY rowid",
        (PIECE,),
    )
    for rowid, card, size, g_time, content in rows:
        writer.record({"kind": "card", "hash": card, "size": size, "g_time": g_time})
        if content is not None:
            writer.content(content)
        else:
            with connection.blob_open("main", "card", "content", rowid, False) as blob:
                while piece := blob.read(PIECE):
                    writer.content(piece)
        writer.content(b"\n")
        cards += 1
        on_bytes(size)
    return cards


def import_archive(
    archive: SqliteArchive,
    stream: BinaryIO,
    *,
    on_conflict: OnConflict = "refuse",
    by: str | None = None,
    on_bytes: Progress = lambda _: None,
) -> Imported:
    """Take in an export; `on_conflict` says what happens to handles that point elsewhere here."""
    reader = ExportReader(stream)
    intake = _Intake(archive, by)
    for raw in reader.records():
        record = parse_record(raw)
        if isinstance(record, CardRecord):
            intake.take_card(record, reader, read_size(raw))
            on_bytes(record.size)
        else:
            intake.others.append(record)
    intake.flush()
    intake.done.sha256 = reader.digest
    if intake.others:
        written = archive.write_sqlite(
            lambda transaction: write_records(
                transaction, intake.others, reader.digest, on_conflict
            ),
            by=by,
        )
        intake.done.handles, intake.done.documents = written
    return intake.done


Other: TypeAlias = (
    HandleRecord | DocumentRecord | CitationRecord | DerivationRecord | TombstoneRecord
)


@dataclass(slots=True)
class _Intake:
    """Collects small cards into batches; lets large ones through in pieces."""

    archive: SqliteArchive
    by: str | None
    done: Imported = field(default_factory=Imported)
    others: list[Other] = field(default_factory=list)
    _batch: list[CardRow] = field(default_factory=list)
    _bytes: int = 0

    def take_card(self, record: CardRecord, reader: ExportReader, size: int) -> None:
        """Read one card's bytes, check them against the hash, and store them."""
        if self.others:
            raise InvalidExport("a card comes after the handles and documents of the export")
        if size > BATCH_BYTES:
            self.flush()
            self._take_large(record, reader, size)
            return
        content = b"".join(reader.content(size))
        if not names(record.hash, content):
            raise _other_bytes(record.hash)
        self._batch.append((record.hash, content, record.g_time))
        self._bytes += size
        if self._bytes >= BATCH_BYTES or len(self._batch) >= BATCH_CARDS:
            self.flush()

    def flush(self) -> None:
        """Store the batch durably."""
        if self._batch:
            added = self.archive.add_rows(self._batch, by=self.by)
            self._count([card for card, _, _ in self._batch], added)
            self._batch, self._bytes = [], 0

    def _take_large(self, record: CardRecord, reader: ExportReader, size: int) -> None:
        with tempfile.TemporaryFile() as spool:
            for piece in reader.content(size):
                spool.write(piece)
            spool.seek(0)
            with measured(spool, record.algorithm) as content:
                if content.hash != record.hash:
                    raise _other_bytes(record.hash)
                added = self.archive.add_measured(content, g_time=record.g_time, by=self.by)
            self._count([record.hash], [added])

    def _count(self, wanted: list[CardHash], added: list[AddedCard]) -> None:
        for card, stored in zip(wanted, added, strict=True):
            if stored.hash != card:
                raise Conflict(
                    f"{card} is the name of another content here (a collision)",
                    hint="what refers to it in the export cannot be taken in",
                    hash=card,
                )
        created = sum(1 for card in added if card.created)
        self.done.cards_added += created
        self.done.cards_known += len(added) - created


def _other_bytes(card: CardHash) -> HashMismatch:
    return HashMismatch(
        f"the export's card {card} holds other bytes than its hash says",
        hint="the export was changed or damaged; make it again",
        hash=card,
    )
