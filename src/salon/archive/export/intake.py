"""The last transaction of an import: handles, documents, citations, derivations, tombstones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from salon.archive import rows
from salon.archive.audit.digests import document_digest, text_sha256
from salon.archive.export.records import (
    AnyRecord,
    CitationRecord,
    DerivationRecord,
    DocumentRecord,
    HandleRecord,
    TombstoneRecord,
)
from salon.archive.transaction import SqliteTransaction, insert_document, insert_verification
from salon.core.documents import (
    Document,
    DocumentId,
    DocumentType,
    Provenance,
    Verification,
    VerificationStatus,
)
from salon.core.errors import Conflict, DocumentNotFound, HandleMoved, InvalidExport
from salon.core.events import ExportImported
from salon.core.handles import HandleName
from salon.core.hashing import CardHash


@dataclass(slots=True)
class _Taken:
    """What of an export was new here."""

    handles: list[tuple[str, str]] = field(default_factory=list)
    documents: list[tuple[str, str]] = field(default_factory=list)
    citations: list[tuple[str, str, int, int]] = field(default_factory=list)
    derivations: list[tuple[str, str]] = field(default_factory=list)
    tombstones: list[tuple[str, str, str, str]] = field(default_factory=list)

    def event(self, digest: str) -> ExportImported | None:
        """Return the audit event, if there was anything new."""
        lists = {name: tuple(getattr(self, name)) for name in self.__slots__}
        return ExportImported(export_sha256=digest, **lists) if any(lists.values()) else None


def write_records(
    transaction: SqliteTransaction, records: Sequence[AnyRecord], digest: str, on_conflict: str
) -> tuple[int, int]:
    """Write all records and one audit event; return how many handles and documents are new."""
    taken = _Taken()
    for record in records:
        match record:
            case HandleRecord():
                if _write_handle(transaction, record, on_conflict) and record.current:
                    taken.handles.append((record.name, record.current))
            case DocumentRecord():
                taken.documents += _write_document(transaction, record)
            case CitationRecord():
                _require_citation(transaction, record)
                cited = (record.citing, record.cited, record.start, record.end)
                taken.citations += _insert_new(transaction, "citation", cited)
            case DerivationRecord():
                _require_cards(transaction, [record.card, record.from_card])
                pair = (record.card, record.from_card)
                taken.derivations += _insert_new(transaction, "derivation", pair)
            case TombstoneRecord():
                stone = (record.hash, record.deleted_at, record.deleted_by, record.reason)
                if _insert_new(transaction, "tombstone", stone):
                    reason = text_sha256(record.reason)
                    taken.tombstones.append(
                        (record.hash, record.deleted_by, record.deleted_at, reason)
                    )
            case _:
                raise InvalidExport("a card comes after the handles and documents of the export")
    event = taken.event(digest)
    if event:
        transaction.record(event)
    return len(taken.handles), len(taken.documents)


RowT = TypeVar("RowT", bound=tuple[str | int, ...])


def _insert_new(transaction: SqliteTransaction, table: str, row: RowT) -> list[RowT]:
    """Insert a row unless it is there, and return it if it was not."""
    before = transaction.connection.total_changes()
    marks = ", ".join("?" * len(row))
    transaction.connection.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)
    return [row] if transaction.connection.total_changes() != before else []


def _write_handle(transaction: SqliteTransaction, record: HandleRecord, on_conflict: str) -> bool:
    """Write a handle that is new here; return False if it is known or is to be kept."""
    connection = transaction.connection
    known = rows.find_handle(connection, HandleName(record.name))
    past = connection.execute("SELECT 1 FROM handle_move WHERE handle = ?", (record.name,)).get
    if known is None and past is None:
        _write_new_handle(transaction, record)
        return True
    current = known.current if known else None
    if record.current is None or current == record.current or on_conflict == "keep":
        return False
    if on_conflict == "refuse" and known is not None:
        raise HandleMoved(
            f"handle {record.name!r} points at {current} here and at {record.current} "
            "in the export",
            hint="import again with --on-conflict keep or --on-conflict move",
            handle=record.name,
        )
    transaction.set_handle(record.name, CardHash(record.current))
    return False  # set_handle has logged the move


def _write_new_handle(transaction: SqliteTransaction, record: HandleRecord) -> None:
    connection = transaction.connection
    if record.current is not None:
        if record.created_at is None or record.updated_at is None:
            raise InvalidExport(f"handle {record.name!r} lacks its times")
        _require_cards(transaction, [record.current])
        connection.execute(
            "INSERT INTO handle_registry VALUES (?, ?, ?, ?)",
            (record.name, record.current, record.created_at, record.updated_at),
        )
    # The trigger has noted one move; the export knows them all.
    connection.execute("DELETE FROM handle_move WHERE handle = ?", (record.name,))
    for move in record.moves:
        connection.execute(
            "INSERT INTO handle_move (handle, previous_hash, current_hash, moved_at)"
            " VALUES (?, ?, ?, ?)",
            (record.name, move.previous, move.current, move.moved_at),
        )
    _require_cards(transaction, [step.previous for step in record.past])
    connection.executemany(
        "INSERT INTO handle_history (handle, previous_hash, changed_at) VALUES (?, ?, ?)",
        [(record.name, step.previous, step.changed_at) for step in record.past],
    )


def _write_document(
    transaction: SqliteTransaction, record: DocumentRecord
) -> list[tuple[str, str]]:
    """Write a document that is new here; return its id and digest, or nothing if it is known."""
    document = _as_document(record)
    judged = [
        Verification(status=VerificationStatus(one.status), by=one.by, at=one.at, notes=one.notes)
        for one in record.judgements
    ]
    try:
        known = rows.get_document(transaction.connection, document.id)
    except DocumentNotFound:
        _require_cards(
            transaction,
            [card for card in (document.source, document.text, document.layout) if card],
        )
        insert_document(transaction.connection, document)
        for one in judged:
            insert_verification(transaction.connection, document.id, one)
        return [(document.id, document_digest(document, judged))]
    if known.source != document.source or known.provenance != document.provenance:
        raise Conflict(
            f"document {document.id} is another one here",
            hint="remove one of the two with `salon corpus rm`",
        )
    return []


def _as_document(record: DocumentRecord) -> Document:
    return Document(
        id=DocumentId(record.id),
        provenance=Provenance(
            title=record.title,
            type=DocumentType(record.type),
            authors=tuple(record.authors),
            year=record.year,
            url=record.url,
            archive_url=record.archive_url,
            licence=record.licence,
            doi=record.doi,
            derived=record.derived,
        ),
        source=CardHash(record.source),
        text=CardHash(record.text),
        layout=None if record.layout is None else CardHash(record.layout),
        added_at=record.added_at,
    )


def _require_citation(transaction: SqliteTransaction, record: CitationRecord) -> None:
    connection = transaction.connection
    _require_cards(transaction, [record.citing])
    found = rows.find_card_row(connection, CardHash(record.cited))
    deleted = rows.find_tombstone(connection, CardHash(record.cited))
    if record.start >= record.end or (found and record.end > found[1].size):
        raise InvalidExport(f"card {record.citing} cites a span that {record.cited} does not have")
    if found is None and deleted is None:
        raise InvalidExport(f"card {record.citing} cites {record.cited}, which is not there")


def _require_cards(transaction: SqliteTransaction, cards: Iterable[str]) -> None:
    for card in cards:
        if not rows.has_card(transaction.connection, CardHash(card)):
            raise InvalidExport(
                f"the export needs card {card} and does not hold it",
                hint="make the export again; handles and documents were left as they are here",
            )
