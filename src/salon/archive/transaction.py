"""Writing: one transaction of the SQLite archive, seen as Salon's verbs.

Every method either does nothing at all or changes the tables and appends one audit event. The
transaction itself (begin, savepoint, commit) belongs to `group_commit`.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime

import apsw

from salon.archive import card_writes, deletion, rows
from salon.archive.adoption import Adopted, adopt
from salon.archive.audit.digests import provenance_sha256, text_sha256
from salon.archive.audit.log import AuditWriter
from salon.archive.card_writes import CardRow
from salon.core.archive import Deletion
from salon.core.cards import AddedCard
from salon.core.clock import Clock, instant, mcard_instant, parse_instant
from salon.core.documents import (
    Document,
    DocumentId,
    Provenance,
    Span,
    Verification,
    VerificationStatus,
)
from salon.core.errors import HandleExists, HandleMoved, HandleNotFound, InvalidInput
from salon.core.events import (
    CardsAdded,
    CardsDeleted,
    DerivationMarked,
    DocumentAdded,
    DocumentRemoved,
    DocumentVerified,
    Event,
    HandleHistoryPruned,
    HandleRemoved,
    HandleRenamed,
    HandleSet,
    Note,
    SpansCited,
)
from salon.core.handles import ANYTHING, Anything, Handle, HandleName, as_handle_name
from salon.core.hashing import DEFAULT_ALGORITHM, Algorithm, CardHash
from salon.core.ids import IdMaker
from salon.core.text import require_text


class SqliteTransaction:
    """The verbs of `ArchiveTransaction`, on behalf of one actor."""

    def __init__(
        self,
        connection: apsw.Connection,
        audit: AuditWriter,
        *,
        clock: Clock,
        ids: IdMaker,
        by: str,
    ) -> None:
        self._connection: apsw.Connection | None = connection
        self.by = by
        self.deleted_content = False
        self._audit = audit
        self._clock = clock
        self._ids = ids

    @property
    def connection(self) -> apsw.Connection:
        """The connection that this transaction runs on, while it runs."""
        if self._connection is None:
            raise RuntimeError("this transaction is over")
        return self._connection

    def end(self) -> None:
        """Let go: a transaction that somebody kept must not write into a later one."""
        self._connection = None

    # Cards

    def add(self, content: bytes, *, algorithm: Algorithm = DEFAULT_ALGORITHM) -> AddedCard:
        """Store one card; known content is recognised and nothing is written."""
        return self.add_many([content], algorithm=algorithm)[0]

    def add_many(
        self, contents: Sequence[bytes], *, algorithm: Algorithm = DEFAULT_ALGORITHM
    ) -> list[AddedCard]:
        """Store many cards as one audit event."""
        return self.add_rows(card_writes.prepare(contents, algorithm, self._clock))

    def add_rows(self, prepared: Sequence[CardRow]) -> list[AddedCard]:
        """Store cards that were hashed and stamped before the transaction began."""
        added = card_writes.insert(self.connection, prepared)
        self.record_added(added)
        return added

    def record_added(self, added: Sequence[AddedCard]) -> None:
        """Append the event for the cards among `added` that are new."""
        created = tuple(card.hash for card in added if card.created)
        if created:
            self.record(CardsAdded(hashes=created))

    def delete(self, card: CardHash, *, reason: str, force: bool = False) -> Deletion:
        """Delete a card, leaving a tombstone; refused while something needs it."""
        if not require_text(reason, "the reason").strip():
            raise InvalidInput("a deletion needs a reason", hint="say why in a few words")
        at = self._now()
        deleted = deletion.delete(
            self.connection, card, by=self.by, at=at, reason=reason, force=force
        )
        self.deleted_content = True
        self.record(
            CardsDeleted(
                hash=card,
                also_deleted=deleted.also_deleted,
                handles_removed=deleted.handles_removed,
                documents_removed=deleted.documents_removed,
                forced=force,
                reason_sha256=text_sha256(reason),
            ),
            at=at,
        )
        return deleted

    def is_derived(self, card: CardHash) -> bool:
        """Tell whether a card is only there because of others."""
        known = "SELECT 1 FROM derivation WHERE derived_hash = ? LIMIT 1"
        return self.connection.execute(known, (card,)).get is not None

    def mark_derived(self, card: CardHash, *, from_card: CardHash) -> None:
        """Record that a card was made from another and goes when that one goes."""
        self._require_card(card)
        self._require_card(from_card)
        before = self.connection.total_changes()
        if card != from_card:
            self.connection.execute(
                "INSERT OR IGNORE INTO derivation (derived_hash, source_hash) VALUES (?, ?)",
                (card, from_card),
            )
        if self.connection.total_changes() != before:
            self.record(DerivationMarked(card=card, from_card=from_card))

    def cite(self, citing: CardHash, spans: Iterable[Span]) -> None:
        """Record that one card cites spans of others, so that these are kept."""
        self._require_card(citing)
        wanted = [(citing, span.hash, span.start, span.end) for span in spans]
        for _, cited, start, end in wanted:
            found = rows.find_card_row(self.connection, cited)
            if found is None:
                raise rows.missing_card(self.connection, cited)
            size = found[1].size
            if not 0 <= start < end <= size:
                raise InvalidInput(
                    f"card {cited} has {size} bytes, so {start} to {end} is not a span of it"
                )
        new = [span for span in dict.fromkeys(wanted) if not self._is_cited(span)]
        if new:
            self.connection.executemany("INSERT INTO citation VALUES (?, ?, ?, ?)", new)
            self.record(SpansCited(citing=citing, spans=tuple(span[1:] for span in new)))

    def note(self, event: Note) -> None:
        """Record in the audit log alone that something happened."""
        if event.turn is not None:
            self._require_card(event.turn)
        self.record(event)

    def _is_cited(self, span: tuple[CardHash, CardHash, int, int]) -> bool:
        same = "citing_hash = ? AND cited_hash = ? AND start = ? AND stop = ?"
        return self.connection.execute(f"SELECT 1 FROM citation WHERE {same}", span).get is not None

    # Handles

    def set_handle(
        self,
        handle: str,
        card: CardHash,
        *,
        expected_current: CardHash | Anything | None = ANYTHING,
    ) -> Handle:
        """Make or move a handle, if it points where `expected_current` says (`None`: nowhere)."""
        name = as_handle_name(handle)
        before = rows.find_handle(self.connection, name)
        current = before.current if before else None
        if expected_current not in (ANYTHING, current):
            raise _handle_moved(name, expected=str(expected_current), actual=current)
        self._require_card(card)
        if before and current == card:
            return before
        now = mcard_instant(self._clock.now())
        if before is None:
            self.connection.execute(
                "INSERT INTO handle_registry VALUES (?, ?, ?, ?)", (name, card, now, now)
            )
        else:
            # MCard may have left a handle on a card that is gone; its table cannot name that one.
            self.connection.execute(
                "INSERT INTO handle_history (handle, previous_hash, changed_at)"
                " SELECT ?, hash, ? FROM card WHERE hash = ?",
                (name, now, current),
            )
            self.connection.execute(
                "UPDATE handle_registry SET current_hash = ?, updated_at = ? WHERE handle = ?",
                (card, now, name),
            )
        self.record(HandleSet(handle=name, previous=current, current=card))
        return self._get_handle(name)

    def rename_handle(self, handle: str, new_name: str) -> Handle:
        """Give a handle another name; its history goes along."""
        old, new = self._get_handle(as_handle_name(handle)).name, as_handle_name(new_name)
        if old == new:
            return self._get_handle(old)
        if rows.find_handle(self.connection, new):
            raise HandleExists(
                f"there is a handle {new!r} already", hint="remove it first, or pick another name"
            )
        before = rows.read_history(self.connection, old)
        # MCard declares no ON UPDATE, so for a moment the history names a handle that is gone.
        self.connection.execute("PRAGMA defer_foreign_keys = ON")
        for table in ("handle_registry", "handle_history"):
            self.connection.execute(f"UPDATE {table} SET handle = ? WHERE handle = ?", (new, old))
        # Written again rather than renamed: a handle of the new name may have lived and gone
        # before, and its steps come first.
        self.connection.execute(
            "INSERT INTO handle_move (handle, previous_hash, current_hash, moved_at)"
            " SELECT ?, previous_hash, current_hash, moved_at FROM handle_move"
            " WHERE handle = ? ORDER BY id",
            (new, old),
        )
        self.connection.execute("DELETE FROM handle_move WHERE handle = ?", (old,))
        if not before:
            # Its own past was pruned, so what is left under the new name belongs to another life.
            self.connection.execute("DELETE FROM handle_move WHERE handle = ?", (new,))
        self.record(HandleRenamed(handle=old, renamed_to=new))
        return self._get_handle(new)

    def remove_handle(self, handle: str) -> None:
        """Forget a name; its card and its history stay."""
        found = self._get_handle(as_handle_name(handle))
        deletion.drop_handle(self.connection, found, at=self._now())
        self.record(HandleRemoved(handle=found.name, previous=found.current))

    def prune_history(self, handle: str, *, older_than: datetime | None = None) -> int:
        """Drop the past of a handle (all of it, or what is older), return how many moves."""
        name = self._get_handle(as_handle_name(handle)).name
        moves = self._past("handle_move", "moved_at", name, older_than)
        if not moves:
            return 0
        # What lies before a dropped move (the making of the handle, say) goes with it.
        self.connection.execute(
            "DELETE FROM handle_move WHERE handle = ? AND id <= ?", (name, max(moves))
        )
        for number in self._past("handle_history", "changed_at", name, older_than):
            self.connection.execute("DELETE FROM handle_history WHERE id = ?", (number,))
        self.record(HandleHistoryPruned(handle=name, removed=len(moves)))
        return len(moves)

    def _past(
        self, table: str, column: str, name: HandleName, older_than: datetime | None
    ) -> list[int]:
        """Return the numbers of the moves of a handle, those before `older_than` if given."""
        past = self.connection.execute(
            f"SELECT id, {column} FROM {table} WHERE handle = ? AND previous_hash IS NOT NULL",
            (name,),
        ).fetchall()
        return [
            int(str(number))
            for number, at in past
            if older_than is None or parse_instant(str(at)) < older_than
        ]

    # Documents

    def add_document(
        self,
        provenance: Provenance,
        *,
        source: CardHash,
        text: CardHash | None = None,
        layout: CardHash | None = None,
    ) -> Document:
        """Register a source whose cards are already stored."""
        text = text or source
        for card in (source, text, layout):
            if card is not None:
                self._require_card(card)
        document = Document(
            id=DocumentId(self._ids.new("doc")),
            provenance=provenance,
            source=source,
            text=text,
            layout=layout,
            added_at=self._now(),
        )
        insert_document(self.connection, document)
        self._judge(document.id, VerificationStatus.PENDING, notes="", at=document.added_at)
        self.record(
            DocumentAdded(
                document=document.id,
                source=source,
                text=text,
                layout=layout,
                derived=provenance.derived,
                provenance_sha256=provenance_sha256(provenance),
            ),
            at=document.added_at,
        )
        return rows.get_document(self.connection, document.id)

    def find_document_by_source(self, source: CardHash) -> Document | None:
        """Return the document made from this source card, as this transaction sees it."""
        return rows.find_document_by_source(self.connection, source)

    def set_verification(
        self, document: DocumentId, status: VerificationStatus, *, notes: str = ""
    ) -> Document:
        """Judge a source; earlier judgements are kept."""
        before = rows.get_document(self.connection, document)
        at = self._now()
        self._judge(document, status, notes=require_text(notes, "the note"), at=at)
        self.record(
            DocumentVerified(
                document=document,
                previous=before.verification.status,
                status=status,
                notes_sha256=text_sha256(notes),
            ),
            at=at,
        )
        return rows.get_document(self.connection, document)

    def remove_document(self, document: DocumentId) -> None:
        """Take a source out of the corpus; its cards stay."""
        rows.get_document(self.connection, document)
        self.connection.execute("DELETE FROM document WHERE id = ?", (document,))
        self.record(DocumentRemoved(document=document))

    def adopt(self) -> Adopted:
        """Record what another program wrote into the file."""
        return adopt(self.connection, self._audit, by=self.by, at=self._now())

    def record(self, event: Event, *, at: str | None = None) -> None:
        """Append one audit event."""
        self._audit.append(event, by=self.by, at=at or self._now())

    def _now(self) -> str:
        return instant(self._clock.now())

    def _require_card(self, card: CardHash) -> None:
        if not rows.has_card(self.connection, card):
            raise rows.missing_card(self.connection, card)

    def _get_handle(self, name: HandleName) -> Handle:
        return get_handle(self.connection, name)

    def _judge(
        self, document: DocumentId, status: VerificationStatus, *, notes: str, at: str
    ) -> None:
        judged = Verification(status=status, by=self.by, at=at, notes=notes)
        insert_verification(self.connection, document, judged)


def insert_document(connection: apsw.Connection, document: Document) -> None:
    """Write the row of a document."""
    about = document.provenance
    connection.execute(
        "INSERT INTO document VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            document.id,
            about.title,
            about.type.value,
            json.dumps(about.authors, ensure_ascii=False),
            about.year,
            about.url,
            about.archive_url,
            about.licence,
            about.doi,
            int(about.derived),
            document.source,
            document.text,
            document.layout,
            document.added_at,
        ),
    )


def insert_verification(
    connection: apsw.Connection, document: DocumentId, judged: Verification
) -> None:
    """Write one judgement on a document."""
    connection.execute(
        "INSERT INTO document_verification (document_id, status, judged_by, judged_at, notes)"
        " VALUES (?, ?, ?, ?, ?)",
        (document, judged.status.value, judged.by, judged.at, judged.notes),
    )


def get_handle(connection: apsw.Connection, name: HandleName) -> Handle:
    """Return a handle or raise `HandleNotFound`."""
    found = rows.find_handle(connection, name)
    if found is None:
        raise HandleNotFound(
            f"there is no handle {name!r}",
            hint="`salon archive handle ls` lists the handles",
            handle=name,
        )
    return found


def _handle_moved(name: HandleName, *, expected: str, actual: CardHash | None) -> HandleMoved:
    where = f"points at {actual}" if actual else "does not exist"
    return HandleMoved(
        f"handle {name!r} {where}, not at {expected}"
        if expected != "None"
        else f"handle {name!r} exists already and {where}",
        hint="read it again and decide with what you see now",
        handle=name,
        expected=None if expected == "None" else expected,
        actual=actual,
    )
