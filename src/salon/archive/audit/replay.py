"""Replaying the audit log: which cards, handles, documents and citations should there be?

The log accounts for everything, so what it says must agree with what the tables hold. What there
may be millions of goes into temporary tables, not into memory.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, cast

import apsw

from salon.archive.audit.digests import judged_digest, new_document_digest, text_sha256
from salon.archive.audit.log import read_entries
from salon.core.documents import VerificationStatus
from salon.core.errors import AuditBroken
from salon.core.events import AuditEntry, EventField

_TABLES = """
DROP TABLE IF EXISTS temp.logged;
DROP TABLE IF EXISTS temp.logged_citation;
DROP TABLE IF EXISTS temp.logged_derivation;
CREATE TEMP TABLE logged (hash TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TEMP TABLE logged_citation (
    citing_hash TEXT, cited_hash TEXT, start INTEGER, stop INTEGER,
    PRIMARY KEY (citing_hash, cited_hash, start, stop)
) WITHOUT ROWID;
CREATE TEMP TABLE logged_derivation (
    derived_hash TEXT, source_hash TEXT, PRIMARY KEY (derived_hash, source_hash)
) WITHOUT ROWID;
"""


class LoggedTombstone(NamedTuple):
    """What the log says of a deletion; `made_from` is set for cards that went along."""

    by: str
    at: str
    reason_sha256: str
    made_from: str | None


@dataclass(slots=True)
class ReplayedState:
    """What the log says there is."""

    connection: apsw.Connection
    handles: dict[str, str] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)
    tombstones: dict[str, LoggedTombstone] = field(default_factory=dict)

    def cards_never_logged(self) -> Iterator[str]:
        """Walk the cards that are there although no entry speaks of them."""
        rows = self.connection.execute(
            "SELECT hash FROM card WHERE NOT EXISTS"
            " (SELECT 1 FROM temp.logged WHERE logged.hash = card.hash) ORDER BY rowid"
        )
        return (str(row[0]) for row in rows)

    def cards_missing(self) -> Iterator[str]:
        """Walk the cards that should be there and are not."""
        rows = self.connection.execute(
            "SELECT hash FROM temp.logged WHERE NOT EXISTS"
            " (SELECT 1 FROM main.card WHERE card.hash = logged.hash)"
        )
        return (str(row[0]) for row in rows)

    def differences(self, table: str) -> Iterator[tuple[object, ...]]:
        """Walk the rows of `citation` or `derivation` that only the log or only the table has."""
        for first, second in ((table, f"logged_{table}"), (f"logged_{table}", table)):
            yield from self.connection.execute(
                f"SELECT * FROM {first} EXCEPT SELECT * FROM {second}"
            )

    def insert(self, table: str, rows: list[tuple[str | int, ...]]) -> None:
        """Take note of rows that came."""
        marks = ", ".join("?" * len(rows[0])) if rows else ""
        self.connection.executemany(f"INSERT OR IGNORE INTO temp.{table} VALUES ({marks})", rows)

    def remove_card(self, card: str) -> None:
        """Take note of a card that went, and of what went with it."""
        for sql in (
            "DELETE FROM temp.logged WHERE hash = ?1",
            "DELETE FROM temp.logged_citation WHERE citing_hash = ?1",
            "DELETE FROM temp.logged_derivation WHERE derived_hash = ?1 OR source_hash = ?1",
        ):
            self.connection.execute(sql, (card,))


def replay(
    connection: apsw.Connection, on_entry: Callable[[], None] = lambda: None
) -> ReplayedState:
    """Run through the whole log and return what it amounts to, or raise `AuditBroken`."""
    connection.execute(_TABLES)
    state = ReplayedState(connection)
    for entry in read_entries(connection):
        try:
            apply = _APPLY.get(str(entry.body["kind"]))
            if apply:
                apply(state, entry)
        except (KeyError, TypeError, ValueError, AttributeError, apsw.Error) as error:
            raise AuditBroken(f"entry {entry.seq} cannot be understood", entry=entry.seq) from error
        on_entry()
    return state


def is_same_tombstone(
    logged: LoggedTombstone, *, deleted_at: str, deleted_by: str, reason: str
) -> bool:
    """Tell whether a tombstone is the one that the log speaks of."""
    prefix = tombstone_reason(logged.made_from, "")
    return (
        (deleted_by, deleted_at) == (logged.by, logged.at)
        and reason.startswith(prefix)
        and text_sha256(reason.removeprefix(prefix)) == logged.reason_sha256
    )


def tombstone_reason(made_from: str | None, reason: str) -> str:
    """Return what a tombstone says: a card that went along also says with which one."""
    return reason if made_from is None else f"made from {made_from}: {reason}"


def _cards_added(state: ReplayedState, entry: AuditEntry) -> None:
    state.insert("logged", [(card,) for card in _strings(entry.body["hashes"])])


def _cards_deleted(state: ReplayedState, entry: AuditEntry) -> None:
    card, reason = str(entry.body["hash"]), str(entry.body["reason_sha256"])
    for one in (card, *_strings(entry.body["also_deleted"])):
        state.remove_card(one)
        made_from = None if one == card else card
        state.tombstones[one] = LoggedTombstone(entry.by, entry.at, reason, made_from)
    for handle in _strings(entry.body["handles_removed"]):
        state.handles.pop(handle, None)
    for document in _strings(entry.body["documents_removed"]):
        state.documents.pop(document, None)


def _handle_set(state: ReplayedState, entry: AuditEntry) -> None:
    state.handles[str(entry.body["handle"])] = str(entry.body["current"])


def _handles_given(state: ReplayedState, entry: AuditEntry) -> None:
    state.handles.update((str(name), str(card)) for name, card in _tuples(entry.body["handles"]))


def _handle_renamed(state: ReplayedState, entry: AuditEntry) -> None:
    state.handles[str(entry.body["renamed_to"])] = state.handles.pop(str(entry.body["handle"]))


def _handle_removed(state: ReplayedState, entry: AuditEntry) -> None:
    state.handles.pop(str(entry.body["handle"]), None)


def _document_added(state: ReplayedState, entry: AuditEntry) -> None:
    body = entry.body
    layout = body["layout"]
    fresh = new_document_digest(
        source=str(body["source"]),
        text=str(body["text"]),
        layout=None if layout is None else str(layout),
        provenance=str(body["provenance_sha256"]),
        added_at=entry.at,
    )
    state.documents[str(body["document"])] = judged_digest(
        fresh, status=VerificationStatus.PENDING, by=entry.by, at=entry.at, notes=text_sha256("")
    )


def _document_verified(state: ReplayedState, entry: AuditEntry) -> None:
    document = str(entry.body["document"])
    state.documents[document] = judged_digest(
        state.documents[document],
        status=str(entry.body["status"]),
        by=entry.by,
        at=entry.at,
        notes=str(entry.body["notes_sha256"]),
    )


def _document_removed(state: ReplayedState, entry: AuditEntry) -> None:
    state.documents.pop(str(entry.body["document"]), None)


def _spans_cited(state: ReplayedState, entry: AuditEntry) -> None:
    citing = str(entry.body["citing"])
    state.insert("logged_citation", [(citing, *span) for span in _tuples(entry.body["spans"])])


def _derivation_marked(state: ReplayedState, entry: AuditEntry) -> None:
    pair = (str(entry.body["card"]), str(entry.body["from_card"]))
    state.insert("logged_derivation", [pair])


def _export_imported(state: ReplayedState, entry: AuditEntry) -> None:
    _handles_given(state, entry)
    state.documents.update((str(one), str(two)) for one, two in _tuples(entry.body["documents"]))
    state.insert("logged_citation", _tuples(entry.body["citations"]))
    state.insert("logged_derivation", _tuples(entry.body["derivations"]))
    for card, by, at, reason in _tuples(entry.body["tombstones"]):
        state.tombstones[str(card)] = LoggedTombstone(str(by), str(at), str(reason), None)


# Events that are not here change nothing that a replay rebuilds.
_APPLY: dict[str, Callable[[ReplayedState, AuditEntry], None]] = {
    "cards_added": _cards_added,
    "cards_adopted": _cards_added,
    "cards_deleted": _cards_deleted,
    "handle_set": _handle_set,
    "handles_adopted": _handles_given,
    "handle_renamed": _handle_renamed,
    "handle_removed": _handle_removed,
    "document_added": _document_added,
    "document_verified": _document_verified,
    "document_removed": _document_removed,
    "spans_cited": _spans_cited,
    "derivation_marked": _derivation_marked,
    "export_imported": _export_imported,
}

_Rows: TypeAlias = list[tuple[str | int, ...]]


def _strings(value: EventField) -> list[str]:
    return cast("list[str]", value)


def _tuples(value: EventField) -> _Rows:
    return [tuple(row) for row in cast("list[list[str | int]]", value)]
