"""The file of an index: one transaction at a time, and errors that say what to do."""

from pathlib import Path

import apsw
import pytest

from salon.core.errors import StorageBusy, StorageFailed, StorageFull, StorageReadOnly
from salon.retrieval import index_file
from salon.retrieval.index_file import IndexFile


def test_a_block_that_fails_leaves_nothing_and_a_nested_one_is_part_of_its_outer(
    tmp_path: Path,
) -> None:
    file = IndexFile(tmp_path / "index.db")
    with file.write() as connection:
        connection.execute("CREATE TABLE word (text TEXT)")

    def fail() -> None:
        with file.write() as outer:
            outer.execute("INSERT INTO word VALUES ('outer')")
            with file.write() as inner:
                inner.execute("INSERT INTO word VALUES ('inner')")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with file.read() as connection:
        assert connection.execute("SELECT count(*) FROM word").get == 0
    file.close()


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    file = IndexFile(tmp_path / "index.db")
    with pytest.raises(StorageReadOnly), file.read() as connection:
        connection.execute("CREATE TABLE word (text TEXT)")
    file.close()


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    file = IndexFile(tmp_path / "index.db")
    with file.write() as connection:
        connection.execute("CREATE TABLE word (text TEXT)")
        connection.execute("PRAGMA max_page_count = 3")
    with pytest.raises(StorageFull), file.write() as connection:
        connection.execute("INSERT INTO word VALUES (?)", ("x" * 100_000,))
    with file.read() as connection:
        assert connection.execute("SELECT count(*) FROM word").get == 0
    file.close()


def test_another_writer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_file, "BUSY_TIMEOUT_MS", 1)
    file = IndexFile(tmp_path / "index.db")
    other = apsw.Connection(str(tmp_path / "index.db"))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageBusy), file.write():
        pass
    other.execute("ROLLBACK")
    with file.write():
        pass
    other.close()
    file.close()


def test_a_folder_is_no_index_and_bad_sql_is_not_hidden(tmp_path: Path) -> None:
    with pytest.raises(StorageReadOnly):
        IndexFile(tmp_path)
    file = IndexFile(tmp_path / "index.db")
    with pytest.raises(StorageFailed, match="no such table"), file.read() as connection:
        connection.execute("SELECT * FROM nowhere")
    file.close()
