"""Looking through all cards of an archive for a string, and listing them by time.

A plain scan, as MCard does it: exact and complete, and as slow as the archive is large. For
finding passages by their words there is `salon.retrieval`.
"""

from collections.abc import Callable
from typing import TypeAlias

from salon.archive.database import storage_errors
from salon.archive.sqlite_archive import SqliteArchive
from salon.core.hashing import CardHash

Matches: TypeAlias = Callable[[str, str, bytes], bool]
"""Decides by hash, g_time and content."""

# MCard sorts by the whole g_time, and so by algorithm first; the moment stands after the first bar.
_NEWEST_FIRST = (
    "SELECT hash FROM card ORDER BY substr(g_time, instr(g_time, '|') + 1) DESC, rowid DESC"
    " LIMIT ? OFFSET ?"
)
_EVERYTHING = "SELECT hash, g_time, content, rowid FROM card"


def count_cards(archive: SqliteArchive) -> int:
    """Return how many cards there are."""
    with storage_errors(archive.path):
        counted: int = archive.read_sqlite().execute("SELECT count(*) FROM card").get
        return counted


def newest_first(archive: SqliteArchive, *, limit: int = -1, skip: int = 0) -> list[CardHash]:
    """Return the hashes of all cards or of some, newest first."""
    with storage_errors(archive.path):
        rows = archive.read_sqlite().execute(_NEWEST_FIRST, (limit, skip))
        return [CardHash(row[0]) for row in rows]


def find_cards(archive: SqliteArchive, matches: Matches) -> list[CardHash]:
    """Return the hashes of the cards that match, newest first."""
    with storage_errors(archive.path):
        found = [
            (g_time.partition("|")[2], rowid, CardHash(card))
            for card, g_time, content, rowid in archive.read_sqlite().execute(_EVERYTHING)
            if matches(card, g_time, content)
        ]
    return [card for _, _, card in sorted(found, reverse=True)]


def has_text(wanted: str) -> Callable[[bytes | str], bool]:
    """Return a test for text, upper and lower case alike, in any script."""
    folded = wanted.casefold()

    def test(field: bytes | str) -> bool:
        text = field if isinstance(field, str) else field.decode(errors="replace")
        return folded in text.casefold()

    return test


def read_left_hashes(archive: SqliteArchive, handle: str) -> list[dict[str, str]]:
    """Return MCard's own history of a handle: what it pointed at before, newest first."""
    with storage_errors(archive.path):
        rows = archive.read_sqlite().execute(
            "SELECT previous_hash, changed_at FROM handle_history WHERE handle = ?"
            " ORDER BY id DESC",
            (handle,),
        )
        return [{"previous_hash": left, "changed_at": at} for left, at in rows]
