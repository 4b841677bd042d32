"""What is special to the index in one SQLite file: transactions it shares, and erasure."""

from pathlib import Path

import pytest

from salon.core.errors import StorageFailed
from salon.retrieval.index_file import IndexFile
from salon.retrieval.lexical.fts5_index import Fts5Index
from tests.retrieval.lexical.engines import card, fill, find, passage

GRAVITY = "Gravity bends light."


def test_a_commit_is_a_part_of_the_transaction_around_it(tmp_path: Path) -> None:
    file = IndexFile(tmp_path / "all.db")
    index = Fts5Index(file)

    def fail() -> None:
        with file.write() as connection:
            connection.execute("CREATE TABLE progress (place INTEGER)")
            index.add([passage(1, GRAVITY)])
            index.commit()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert index.count() == 0
    with file.write() as connection:
        connection.execute("CREATE TABLE progress (place INTEGER)")
        index.add([passage(1, GRAVITY)])
        index.commit()
    assert find(index, "gravity") == {1}
    index.close()
    with file.read() as connection:  # the file was lent
        assert connection.execute("SELECT count(*) FROM progress").get == 0
    file.close()


def test_all_tables_carry_the_prefix(tmp_path: Path) -> None:
    file = IndexFile(tmp_path / "all.db")
    with Fts5Index(file) as index:
        fill(index, [GRAVITY])
    with file.read() as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
    file.close()
    assert len(names) > 5
    assert all(name.startswith(("lexical_", "idx_lexical_", "sqlite_")) for name in names)


def test_an_index_opens_while_another_connection_writes(tmp_path: Path) -> None:
    with Fts5Index(tmp_path / "words.db") as index:
        fill(index, [GRAVITY])
    file = IndexFile(tmp_path / "words.db")
    with file.write(), Fts5Index(tmp_path / "words.db") as index:
        assert find(index, "gravity") == {0}
    file.close()


@pytest.mark.parametrize("others", [0, 1, 300])
def test_compaction_leaves_no_word_of_what_was_removed(tmp_path: Path, others: int) -> None:
    with Fts5Index(tmp_path / "words.db") as index:
        fill(index, ["zyzzyva lives here", *(f"text {number}" for number in range(others))])
        assert _holds(tmp_path, b"zyzzyva")
        index.remove([card(0)])
        index.compact()
        assert not _holds(tmp_path, b"zyzzyva")
        assert index.count() == others
        assert not index.needs_rebuild_to_compact


def test_compaction_leaves_no_word_of_what_was_replaced_or_cleared(tmp_path: Path) -> None:
    with Fts5Index(tmp_path / "words.db") as index:
        fill(index, ["zyzzyva lives here", GRAVITY])
        index.add([passage(0, "something else", of=0)])
        index.compact()
        assert not _holds(tmp_path, b"zyzzyva")
        assert _holds(tmp_path, b"graviti")
        index.clear()
        index.compact()
        assert not _holds(tmp_path, b"graviti")
        fill(index, [GRAVITY])
        assert find(index, "gravity") == {0}


def test_the_file_holds_no_text(tmp_path: Path) -> None:
    with Fts5Index(tmp_path / "words.db") as index:
        fill(index, [GRAVITY])
    assert not _holds(tmp_path, b"bends light")


def test_a_file_that_is_no_index_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Elinor, " * 100)
    with pytest.raises(StorageFailed, match="not an index"):
        Fts5Index(tmp_path / "letter.txt")
    assert (tmp_path / "letter.txt").read_text().startswith("Dear Elinor")


def test_what_fails_halfway_is_not_tried_again(tmp_path: Path) -> None:
    with Fts5Index(tmp_path / "words.db") as index:
        index.add([passage(1, GRAVITY), passage(2**64, "no such number")])
        with pytest.raises(OverflowError):
            index.commit()
        index.commit()
        assert index.count() == 0


def _holds(folder: Path, word: bytes) -> bool:
    return any(word in file.read_bytes() for file in folder.iterdir())
