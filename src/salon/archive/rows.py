"""Reading: from rows to values. Plain functions over a connection, no state of their own."""

import json
import unicodedata
from collections.abc import Iterator

import apsw

from salon.core.archive import ArchiveStats, Needs
from salon.core.cards import Card, CardInfo, Tombstone
from salon.core.documents import (
    Document,
    DocumentId,
    DocumentType,
    Provenance,
    Verification,
    VerificationStatus,
)
from salon.core.errors import (
    ArchiveCorrupt,
    CardDeleted,
    CardNotFound,
    DocumentNotFound,
    InvalidDocument,
    SalonError,
)
from salon.core.handles import Handle, HandleMove, HandleName
from salon.core.hashing import CardHash

# Cards

_CARD = "SELECT hash, content, g_time FROM card WHERE hash = ?"


def find_card(connection: apsw.Connection, card: CardHash) -> Card | None:
    """Return a card as stored, unchecked."""
    row = connection.execute(_CARD, (card,)).fetchone()
    return None if row is None else Card(*row)


def has_card(connection: apsw.Connection, card: CardHash) -> bool:
    """Tell whether a card is there."""
    return connection.execute("SELECT 1 FROM card WHERE hash = ?", (card,)).get is not None


def find_card_row(connection: apsw.Connection, card: CardHash) -> tuple[int, CardInfo] | None:
    """Return a card's row number (for streaming) and its description."""
    row = connection.execute(
        "SELECT rowid, length(content), g_time FROM card WHERE hash = ?", (card,)
    ).fetchone()
    if row is None:
        return None
    rowid, size, g_time = row
    return rowid, CardInfo(hash=card, size=size, g_time=g_time)


def walk_cards(connection: apsw.Connection, *, prefix: str, limit: int) -> Iterator[CardInfo]:
    """Walk cards by arrival, or by hash where a prefix is given."""
    if prefix:
        rows = connection.execute(
            "SELECT hash, length(content), g_time FROM card"
            " WHERE hash >= ? AND hash < ? ORDER BY hash LIMIT ?",
            (prefix, prefix + "g", limit),  # "g" sorts after every hex digit
        )
    else:
        rows = connection.execute(
            "SELECT hash, length(content), g_time FROM card ORDER BY rowid LIMIT ?", (limit,)
        )
    for card, size, g_time in rows:
        yield CardInfo(hash=card, size=size, g_time=g_time)


def first_bytes(connection: apsw.Connection, card: CardHash, count: int) -> bytes | None:
    """Return the beginning of a card without reading the rest."""
    found: bytes | None = connection.execute(
        "SELECT substr(content, 1, ?) FROM card WHERE hash = ?", (count, card)
    ).get
    return found


def find_tombstone(connection: apsw.Connection, card: CardHash) -> Tombstone | None:
    """Return what stayed of a deleted card."""
    row = connection.execute(
        "SELECT hash, deleted_at, deleted_by, reason FROM tombstone WHERE hash = ?", (card,)
    ).fetchone()
    if row is None:
        return None
    card_hash, at, by, reason = row
    return Tombstone(hash=card_hash, deleted_at=at, deleted_by=by, reason=reason)


def missing_card(connection: apsw.Connection, card: CardHash) -> SalonError:
    """Return the error that says why a card is not there."""
    tombstone = find_tombstone(connection, card)
    if tombstone is None:
        return CardNotFound(
            f"there is no card {card}",
            hint="`salon archive ls` lists the cards; a hash must be given in full",
            hash=card,
        )
    return CardDeleted(
        f"card {card} was deleted by {tombstone.deleted_by} at {tombstone.deleted_at}: "
        f"{tombstone.reason}",
        hash=card,
        deleted_at=tombstone.deleted_at,
        deleted_by=tombstone.deleted_by,
        reason=tombstone.reason,
    )


def read_needs(connection: apsw.Connection, cards: list[CardHash]) -> Needs:
    """Tell who needs any of these cards; needs among the cards themselves do not count."""
    among = json.dumps(cards)

    def column(sql: str) -> tuple[str, ...]:
        marked = sql.replace("AMONG", "(SELECT value FROM json_each(:among))")
        return tuple(row[0] for row in connection.execute(marked, {"among": among}))

    return Needs(
        handles=tuple(
            HandleName(name)
            for name in column(
                "SELECT handle FROM handle_registry WHERE current_hash IN AMONG ORDER BY handle"
            )
        ),
        past_of_handles=tuple(
            HandleName(name)
            for name in column(
                "SELECT DISTINCT handle FROM handle_history"
                " WHERE previous_hash IN AMONG ORDER BY handle"
            )
        ),
        citing_cards=tuple(
            CardHash(card)
            for card in column(
                "SELECT DISTINCT citing_hash FROM citation WHERE cited_hash IN AMONG"
                " AND citing_hash NOT IN AMONG ORDER BY citing_hash"
            )
        ),
        documents=tuple(
            DocumentId(document)
            for document in column(
                "SELECT id FROM document WHERE source_hash IN AMONG OR text_hash IN AMONG"
                " OR layout_hash IN AMONG ORDER BY id"
            )
        ),
    )


# Handles


def find_handle(connection: apsw.Connection, name: HandleName) -> Handle | None:
    """Return a handle by its exact name."""
    row = connection.execute(
        "SELECT handle, current_hash, created_at, updated_at FROM handle_registry WHERE handle = ?",
        (name,),
    ).fetchone()
    return None if row is None else _handle(*row)


def walk_handles(connection: apsw.Connection, *, prefix: str) -> Iterator[Handle]:
    """Walk handles by name."""
    rows = connection.execute(
        "SELECT handle, current_hash, created_at, updated_at FROM handle_registry"
        " WHERE substr(handle, 1, length(?1)) = ?1 ORDER BY handle",
        (unicodedata.normalize("NFC", prefix),),
    )
    return (_handle(*row) for row in rows)


def read_history(connection: apsw.Connection, name: HandleName) -> list[HandleMove]:
    """Return every step of a handle, newest first."""
    rows = connection.execute(
        "SELECT handle, previous_hash, current_hash, moved_at FROM handle_move"
        " WHERE handle = ? ORDER BY id DESC",
        (name,),
    )
    return [
        HandleMove(handle=handle, previous=previous, current=current, moved_at=moved_at)
        for handle, previous, current, moved_at in rows
    ]


def _handle(name: str, current: str, created_at: str, updated_at: str) -> Handle:
    return Handle(
        name=HandleName(name),
        current=CardHash(current),
        created_at=created_at,
        updated_at=updated_at,
    )


# Documents

_DOCUMENT = (
    "SELECT id, title, type, authors, year, url, archive_url, licence, doi, derived,"
    " source_hash, text_hash, layout_hash, added_at FROM document"
)


def get_document(connection: apsw.Connection, document: DocumentId) -> Document:
    """Return a document with its latest verification."""
    for found in _documents(connection, f"{_DOCUMENT} WHERE id = ?", (document,)):
        return found
    raise DocumentNotFound(
        f"there is no document {document}", hint="`salon corpus ls` lists the documents"
    )


def find_document_by_source(connection: apsw.Connection, source: CardHash) -> Document | None:
    """Return the first document made from this source card."""
    sql = f"{_DOCUMENT} WHERE source_hash = ? ORDER BY rowid LIMIT 1"
    return next(_documents(connection, sql, (source,)), None)


def documents_of(connection: apsw.Connection, text: CardHash) -> list[Document]:
    """Return the documents with this text, in the order they came."""
    return list(_documents(connection, f"{_DOCUMENT} WHERE text_hash = ? ORDER BY rowid", (text,)))


def documents_stamp(connection: apsw.Connection) -> tuple[int, ...]:
    """Return what changes with every document: each one comes with a judgement of its own."""
    count, last = connection.execute(
        "SELECT (SELECT count(*) FROM document), (SELECT max(id) FROM document_verification)"
    ).get
    return count, last or 0


def walk_documents(connection: apsw.Connection) -> Iterator[Document]:
    """Walk documents in the order they came."""
    return _documents(connection, f"{_DOCUMENT} ORDER BY rowid", ())


def read_verifications(connection: apsw.Connection, document: DocumentId) -> list[Verification]:
    """Return every judgement on a document, newest first."""
    rows = connection.execute(
        "SELECT status, judged_by, judged_at, notes FROM document_verification"
        " WHERE document_id = ? ORDER BY id DESC",
        (document,),
    )
    return [
        Verification(status=VerificationStatus(status), by=by, at=at, notes=notes)
        for status, by, at, notes in rows
    ]


def _documents(
    connection: apsw.Connection, sql: str, bindings: tuple[str, ...]
) -> Iterator[Document]:
    for row in connection.execute(sql, bindings):
        id_, title, kind, authors, year, url, archive_url, licence, doi, derived, *rest = row
        source, text, layout, added_at = rest
        try:
            yield Document(
                id=id_,
                provenance=Provenance(
                    title=title,
                    type=DocumentType(kind),
                    authors=tuple(json.loads(authors)),
                    year=year,
                    url=url,
                    archive_url=archive_url,
                    licence=licence,
                    doi=doi,
                    derived=bool(derived),
                ),
                source=source,
                text=text,
                layout=layout,
                added_at=added_at,
                verification=read_verifications(connection, id_)[0],
            )
        except (ValueError, TypeError, AttributeError, IndexError, InvalidDocument) as error:
            raise ArchiveCorrupt(
                f"document {id_} cannot be read: {error}",
                hint="`salon archive verify` lists the damage",
            ) from error


def read_stats(connection: apsw.Connection) -> ArchiveStats:
    """Count everything."""
    row = connection.execute(
        "SELECT (SELECT count(*) FROM card), (SELECT coalesce(sum(length(content)), 0) FROM card),"
        " (SELECT count(*) FROM handle_registry), (SELECT count(*) FROM document),"
        " (SELECT count(*) FROM citation), (SELECT count(*) FROM tombstone),"
        " (SELECT count(*) FROM audit),"
        " (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size)"
    ).fetchone()
    assert row is not None
    cards, size, handles, documents, citations, tombstones, entries, file_bytes = row
    return ArchiveStats(
        cards=cards,
        bytes=size,
        handles=handles,
        documents=documents,
        citations=citations,
        tombstones=tombstones,
        audit_entries=entries,
        file_bytes=file_bytes,
    )
