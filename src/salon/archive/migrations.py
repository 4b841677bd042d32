"""The schema, as numbered steps that are each applied once and recorded.

Steps are never edited after release; a change is a new step. The first step makes (or finds) the
three tables of MCard, with MCard's names and columns, and nothing is ever added to them: what
Salon knows beyond MCard stands in tables of its own beside them. A table that holds something
made from a card refers to it with `ON DELETE CASCADE`, so deletion reaches it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import apsw

from salon.core.errors import ArchiveTooNew

MCARD_TABLES = """
CREATE TABLE IF NOT EXISTS card (
    hash TEXT PRIMARY KEY,
    content BLOB NOT NULL,
    g_time TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS handle_registry (
    handle TEXT PRIMARY KEY,
    current_hash TEXT NOT NULL REFERENCES card(hash),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_handle_current_hash ON handle_registry(current_hash);
CREATE TABLE IF NOT EXISTS handle_history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    handle TEXT NOT NULL REFERENCES handle_registry(handle),
    previous_hash TEXT NOT NULL REFERENCES card(hash),
    changed_at TEXT NOT NULL
);
"""

# MCard's history names only the card that was left. `handle_move` has both ends, and survives the
# removal of the handle; triggers fill it so that moves made by MCard itself are in it too.
HANDLE_MOVES = """
CREATE INDEX idx_salon_history_handle ON handle_history(handle);
CREATE INDEX idx_salon_history_previous ON handle_history(previous_hash);
CREATE TABLE handle_move (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    handle TEXT NOT NULL,
    previous_hash TEXT,
    current_hash TEXT,
    moved_at TEXT NOT NULL
);
CREATE INDEX idx_handle_move_handle ON handle_move(handle, id);
INSERT INTO handle_move (handle, previous_hash, current_hash, moved_at)
SELECT handle, previous_hash, current_hash, moved_at FROM (
    SELECT registry.handle AS handle, NULL AS previous_hash,
           coalesce((SELECT past.previous_hash FROM handle_history AS past
                     WHERE past.handle = registry.handle ORDER BY past.id LIMIT 1),
                    registry.current_hash) AS current_hash,
           registry.created_at AS moved_at, 0 AS place
    FROM handle_registry AS registry
    UNION ALL
    SELECT past.handle, past.previous_hash,
           lead(past.previous_hash, 1, registry.current_hash)
               OVER (PARTITION BY past.handle ORDER BY past.id),
           past.changed_at, past.id
    FROM handle_history AS past JOIN handle_registry AS registry USING (handle)
) ORDER BY handle, place;
CREATE TRIGGER salon_handle_made AFTER INSERT ON handle_registry
WHEN NEW.current_hash IS NOT (SELECT current_hash FROM handle_move
                              WHERE handle = NEW.handle ORDER BY id DESC LIMIT 1) BEGIN
    INSERT INTO handle_move (handle, previous_hash, current_hash, moved_at)
    VALUES (NEW.handle,
            (SELECT current_hash FROM handle_move
             WHERE handle = NEW.handle ORDER BY id DESC LIMIT 1),
            NEW.current_hash, NEW.updated_at);
END;
CREATE TRIGGER salon_handle_moved AFTER UPDATE OF current_hash ON handle_registry
WHEN OLD.current_hash <> NEW.current_hash BEGIN
    INSERT INTO handle_move (handle, previous_hash, current_hash, moved_at)
    VALUES (NEW.handle, OLD.current_hash, NEW.current_hash, NEW.updated_at);
END;
"""

DOCUMENTS = """
CREATE TABLE document (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    type TEXT NOT NULL,
    authors TEXT NOT NULL,
    year INTEGER,
    url TEXT,
    archive_url TEXT,
    licence TEXT,
    doi TEXT,
    derived INTEGER NOT NULL,
    source_hash TEXT NOT NULL REFERENCES card(hash),
    text_hash TEXT NOT NULL REFERENCES card(hash),
    layout_hash TEXT REFERENCES card(hash),
    added_at TEXT NOT NULL
);
CREATE INDEX idx_document_source ON document(source_hash);
CREATE INDEX idx_document_text ON document(text_hash);
CREATE INDEX idx_document_layout ON document(layout_hash);
CREATE TABLE document_verification (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id TEXT NOT NULL REFERENCES document(id) ON DELETE CASCADE,
    status TEXT NOT NULL CHECK (status IN ('verified', 'pending', 'disputed')),
    judged_by TEXT NOT NULL,
    judged_at TEXT NOT NULL,
    notes TEXT NOT NULL
);
CREATE INDEX idx_verification_document ON document_verification(document_id, id);
CREATE TABLE citation (
    citing_hash TEXT NOT NULL REFERENCES card(hash) ON DELETE CASCADE,
    cited_hash TEXT NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    PRIMARY KEY (citing_hash, cited_hash, start, stop)
) WITHOUT ROWID;
CREATE INDEX idx_citation_cited ON citation(cited_hash);
CREATE TABLE derivation (
    derived_hash TEXT NOT NULL REFERENCES card(hash) ON DELETE CASCADE,
    source_hash TEXT NOT NULL,
    PRIMARY KEY (derived_hash, source_hash)
) WITHOUT ROWID;
CREATE INDEX idx_derivation_source ON derivation(source_hash);
CREATE TABLE tombstone (
    hash TEXT PRIMARY KEY,
    deleted_at TEXT NOT NULL,
    deleted_by TEXT NOT NULL,
    reason TEXT NOT NULL
) WITHOUT ROWID;
"""

# The triggers guard against accidents. Against intent stands the hash chain.
AUDIT = """
CREATE TABLE audit (
    seq INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    by TEXT NOT NULL,
    body TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE TRIGGER salon_audit_no_update BEFORE UPDATE ON audit BEGIN
    SELECT raise(ABORT, 'the audit log is append-only');
END;
CREATE TRIGGER salon_audit_no_delete BEFORE DELETE ON audit BEGIN
    SELECT raise(ABORT, 'the audit log is append-only');
END;
CREATE TABLE audit_head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    key TEXT,
    signature TEXT
);
"""

# Computed values, not state: they can be made again from the cards, so no audit event speaks of
# them and no export carries them. The key leads with the card, so that deleting one finds its rows.
VECTORS = """
CREATE TABLE embedding_model (
    id INTEGER PRIMARY KEY,
    address TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    UNIQUE (address, fingerprint, dimensions)
);
CREATE TABLE passage_vector (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    model INTEGER NOT NULL REFERENCES embedding_model(id) ON DELETE CASCADE,
    card_hash TEXT NOT NULL REFERENCES card(hash) ON DELETE CASCADE,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (card_hash, model, start, stop)
);
"""

# What somebody may look for in the log, each with its index; nothing of it is stored twice, for the
# columns are read out of the body. A body that somebody broke is about nothing, and `verify` names
# it. Most entries have no session, no round and so on: those take no room in their index.
_ABOUT = ("session", "round", "handle", "document", "avatar")
AUDIT_INDEXES = "".join(
    f"""
ALTER TABLE audit ADD COLUMN {name} TEXT GENERATED ALWAYS AS (
    CASE WHEN typeof(body) = 'text' AND json_valid(body) THEN json_extract(body, '$.{name}') END
) VIRTUAL;
"""
    for name in ("kind", *_ABOUT)
) + "".join(
    f"CREATE INDEX idx_audit_{name} ON audit({name}){condition};\n"
    for name, condition in (
        *((one, "") for one in ("kind", "by", "at")),
        *((one, f" WHERE {one} IS NOT NULL") for one in _ABOUT),
    )
)


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step."""

    number: int
    name: str
    sql: str


MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, "the three tables of MCard", MCARD_TABLES),
    Migration(2, "handle moves with both ends", HANDLE_MOVES),
    Migration(3, "documents, citations, derivations, tombstones", DOCUMENTS),
    Migration(4, "the audit chain", AUDIT),
    Migration(5, "vectors of passages, as computed", VECTORS),
    Migration(6, "indexes of the audit log", AUDIT_INDEXES),
)

_LEDGER = """
CREATE TABLE IF NOT EXISTS salon_migration (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at TEXT NOT NULL
)
"""


def schema_number(connection: apsw.Connection) -> int:
    """Return the number of the last step applied; 0 for an empty or a pure MCard file."""
    ledger = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'salon_migration'"
    if connection.execute(ledger).get is None:
        return 0
    number = connection.execute("SELECT max(number) FROM salon_migration").get
    return number if isinstance(number, int) else 0


def is_current(connection: apsw.Connection, path: Path) -> bool:
    """Tell whether nothing is left to apply; raise `ArchiveTooNew` for a later schema."""
    number, newest = schema_number(connection), MIGRATIONS[-1].number
    if number > newest:
        raise ArchiveTooNew(
            f"{path} has schema {number}, and this Salon knows only up to {newest}",
            hint="upgrade Salon; the file was not touched",
        )
    return number == newest


def migrate(connection: apsw.Connection, path: Path, now: str, adopt: Callable[[], object]) -> None:
    """Apply what is missing in one transaction, then let `adopt` record what was there before."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not is_current(connection, path):  # another process may have been faster
            connection.execute(_LEDGER)
            done = schema_number(connection)
            for migration in MIGRATIONS[done:]:
                connection.execute(migration.sql)
                connection.execute(
                    "INSERT INTO salon_migration VALUES (?, ?, ?)",
                    (migration.number, migration.name, now),
                )
            if done == 0:
                adopt()
    except BaseException:
        if connection.in_transaction:  # a full disk has undone it already
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
