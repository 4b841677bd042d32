"""Deleted means gone: not a byte of it stays in the files."""

from pathlib import Path

import pytest

from salon.archive import database
from salon.archive.sqlite_archive import SqliteArchive
from salon.core.errors import InvalidHandle
from tests.archive.samples import delete


def bytes_on_disk(path: Path) -> bytes:
    """Return everything that anybody could find beside the archive."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.iterdir()) if file.is_file())


SECRET = b"a secret that must not stay, not even in a log "


@pytest.mark.parametrize("size", [1, 400], ids=["within a page", "many pages"])
@pytest.mark.parametrize("force", [False, True])
def test_deleted_content_is_gone_from_the_files(
    sqlite: SqliteArchive, size: int, force: bool
) -> None:
    content = SECRET * size
    card = sqlite.add(content).hash
    sqlite.add(b"another card")
    if force:
        sqlite.put("notes", content)
    assert SECRET in bytes_on_disk(sqlite.path)
    delete(sqlite, card, force=force)
    assert SECRET not in bytes_on_disk(sqlite.path)
    sqlite.add(b"something afterwards")
    sqlite.close()
    assert SECRET not in bytes_on_disk(sqlite.path)


def test_a_card_derived_from_a_deleted_one_is_gone_from_the_files_too(
    sqlite: SqliteArchive,
) -> None:
    source, derived = (card.hash for card in sqlite.add_many([b"source", SECRET]))
    sqlite.write(lambda tx: tx.mark_derived(derived, from_card=source))
    delete(sqlite, source)
    assert SECRET not in bytes_on_disk(sqlite.path)


def test_a_write_that_was_undone_leaves_no_content_after_closing(sqlite: SqliteArchive) -> None:
    with pytest.raises(InvalidHandle):
        sqlite.put("@", SECRET)
    sqlite.close()
    assert SECRET not in bytes_on_disk(sqlite.path)


def test_content_deleted_under_a_reader_is_gone_when_the_reader_is(
    sqlite: SqliteArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 20)
    card = sqlite.add(SECRET).hash
    with sqlite.snapshot() as reader:
        reader.execute("SELECT count(*) FROM card").fetchall()
        delete(sqlite, card)
    sqlite.add(b"the next write")
    assert SECRET not in bytes_on_disk(sqlite.path)
