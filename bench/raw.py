"""The peer: SQLite without Salon, with the settings that Salon's own connections have.

The settings are read back from a connection that `salon.archive.database` opened, so the peer
follows when they change. The peer is given rows whose hashes are already computed.
"""

import sqlite3
from pathlib import Path

import apsw

from salon.archive.database import connect_for_writing
from salon.core.hashing import CardHash, content_hash

CardRow = tuple[CardHash, bytes, str]

INSERT = "INSERT INTO card (hash, content, g_time) VALUES (?, ?, ?)"
SELECT = "SELECT hash, content, g_time FROM card WHERE hash = ?"
_SETTINGS = (
    "synchronous",
    "foreign_keys",
    "secure_delete",
    "cache_size",
    "journal_size_limit",
    "wal_autocheckpoint",
)
_CARD_TABLE = "SELECT sql FROM sqlite_schema WHERE name = 'card'"


def salons_settings(salons_file: Path) -> tuple[str, ...]:
    """Return the pragmas of Salon's writing connection, and the table it writes cards to."""
    connection = connect_for_writing(salons_file)
    try:
        values = [(name, connection.execute(f"PRAGMA {name}").get) for name in _SETTINGS]
        table = str(connection.execute(_CARD_TABLE).get)
    finally:
        connection.close()
    return ("PRAGMA journal_mode=WAL", *(f"PRAGMA {name}={value}" for name, value in values), table)


def connect(path: Path, settings: tuple[str, ...]) -> sqlite3.Connection:
    """Make a file with the standard library's `sqlite3`; transactions are begun by hand."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in settings:
        connection.execute(statement)
    return connection


def connect_through(vfs: str, path: Path, settings: tuple[str, ...]) -> apsw.Connection:
    """Make a file through a VFS, which the standard library cannot."""
    connection = apsw.Connection(str(path), vfs=vfs)
    for statement in settings:
        connection.execute(statement)
    return connection


def as_rows(contents: list[bytes]) -> list[CardRow]:
    """Return contents as rows of the card table."""
    stamp = "sha256|2026-01-01T00:00:00.000000Z|UTC"
    return [(content_hash(content), content, stamp) for content in contents]
