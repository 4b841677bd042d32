"""One file, two programs: what MCard wrote Salon opens and extends, and the other way round.

The databases here are made with nothing but the standard library, exactly as MCard makes them: no
write-ahead log, no enforced foreign keys, and with the traces of its defects. While Salon has the
file open, MCard works on it in a process of its own, as it would: two copies of SQLite in one
process drop each other's locks.
"""

import hashlib
import json
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.handles import HandleMove
from salon.core.hashing import CardHash
from salon.mcard import CardCollection, MCard

MCARD_SCHEMA = """
CREATE TABLE card (hash TEXT PRIMARY KEY, content BLOB NOT NULL, g_time TEXT NOT NULL);
CREATE TABLE handle_registry (
    handle TEXT PRIMARY KEY, current_hash TEXT NOT NULL, created_at TEXT, updated_at TEXT,
    FOREIGN KEY (current_hash) REFERENCES card(hash)
);
CREATE INDEX idx_handle_current_hash ON handle_registry(current_hash);
CREATE TABLE handle_history (
    id INTEGER PRIMARY KEY AUTOINCREMENT, handle TEXT NOT NULL, previous_hash TEXT NOT NULL,
    changed_at TEXT,
    FOREIGN KEY (handle) REFERENCES handle_registry(handle),
    FOREIGN KEY (previous_hash) REFERENCES card(hash)
);
CREATE TABLE schema_version (version TEXT, applied_at TEXT, description TEXT);
INSERT INTO schema_version VALUES ('3.0.3', '2026-11-15T00:00:00', 'as MCard has it');
"""

CONTENTS = (b"v1", b"v2", "v3: Größe".encode(), b"\0\xff binary", b"x" * 100_000)
GONE = hashlib.sha256(b"deleted by MCard while a handle pointed at it").hexdigest()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _at(second: int) -> str:
    return f"2026-11-15T00:23:{second:02}.179440+00:00"


class PlainMCard:
    """What MCard does to its file, in plain SQL."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path)
        self._connection.execute("PRAGMA busy_timeout = 5000")
        self._connection.execute("PRAGMA foreign_keys = OFF")

    def make(self) -> None:
        self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.executescript(MCARD_SCHEMA)

    def add(self, content: bytes, *, second: int = 0) -> str:
        stamp = f"sha256|2026-11-15T00:23:{second:02}.229924Z|UTC"
        self._write("INSERT INTO card VALUES (?, ?, ?)", _sha256(content), content, stamp)
        return _sha256(content)

    def make_handle(self, handle: str, card: str, at: str) -> None:
        self._write("INSERT INTO handle_registry VALUES (?, ?, ?, ?)", handle, card, at, at)

    def move_handle(self, handle: str, card: str, at: str) -> None:
        """Write the history first, then the registry, each in a transaction of its own."""
        (current,) = self.rows("SELECT current_hash FROM handle_registry WHERE handle = ?", handle)
        self._write(
            "INSERT INTO handle_history (handle, previous_hash, changed_at) VALUES (?, ?, ?)",
            handle,
            current[0],
            at,
        )
        self._write(
            "UPDATE handle_registry SET current_hash = ?, updated_at = ? WHERE handle = ?",
            card,
            at,
            handle,
        )

    def rows(self, query: str, *bindings: object) -> list[tuple[object, ...]]:
        return self._connection.execute(query, bindings).fetchall()

    def _write(self, statement: str, *bindings: object) -> None:
        with self._connection:
            self._connection.execute(statement, bindings)

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def mcard_file(tmp_path: Path) -> Path:
    """Give an MCard database: cards, handles with a past, one that dangles, a duplicate's event."""
    path = tmp_path / "mcard.db"
    with closing(PlainMCard(path)) as mcard:
        mcard.make()
        for second, content in enumerate(CONTENTS):
            mcard.add(content, second=second)
        event = {"type": "duplicate", "hash": _sha256(b"v1"), "duplicate_time": "…"}
        mcard.add(json.dumps(event).encode(), second=9)
        mcard.make_handle("doc", _sha256(b"v1"), _at(10))
        mcard.move_handle("doc", _sha256(b"v2"), _at(11))
        mcard.move_handle("doc", _sha256(b"v2"), _at(12))  # its defect: a move to the same card
        mcard.move_handle("doc", _sha256(b"v1"), _at(13))
        mcard.make_handle("still", _sha256(b"v2"), _at(14))
        mcard.make_handle("dangling", _sha256(b"v1"), _at(15))
        mcard.move_handle("dangling", GONE, _at(16))
    return path


def _everything(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(PlainMCard(path)) as mcard:
        return {
            "card": mcard.rows("SELECT hash, content, g_time FROM card ORDER BY rowid"),
            "handle_registry": mcard.rows("SELECT * FROM handle_registry ORDER BY handle"),
            "handle_history": mcard.rows("SELECT * FROM handle_history ORDER BY id"),
            "schema_version": mcard.rows("SELECT * FROM schema_version"),
        }


@pytest.mark.requirement("council/mcard/opens-mcard-files")
def test_opening_an_mcard_file_loses_and_changes_nothing(mcard_file: Path) -> None:
    before = _everything(mcard_file)
    with CardCollection(db_path=mcard_file) as collection:
        for content in CONTENTS:
            found = collection.get(_sha256(content))
            assert found is not None
            assert found.content == content
        assert collection.count() == len(CONTENTS) + 1
        assert collection.get_by_handle("doc") == MCard("v1")
        assert len(collection.get_handle_history("doc")) == 3
    assert _everything(mcard_file) == before


@pytest.mark.requirement("council/mcard/opens-mcard-files")
def test_an_mcard_file_is_extended_by_both_interfaces(mcard_file: Path) -> None:
    before = _everything(mcard_file)
    with CardCollection(db_path=mcard_file) as collection:
        assert collection.add(MCard("v1")) == _sha256(b"v1")
        collection.add(MCard("from salon"))
        collection.update_handle("doc", MCard("v4"))
        collection.add_with_handle(MCard("v5"), "new")
    with SqliteArchive(mcard_file) as archive:
        archive.put("still", b"v6")
        report = archive.verify()
    after = _everything(mcard_file)
    for table in ("card", "handle_history", "schema_version"):
        assert after[table][: len(before[table])] == before[table]
    added = [row[1] for row in after["card"][len(before["card"]) :]]
    assert added == [b"from salon", b"v4", b"v5", b"v6"]
    heads = {row[0]: row[1] for row in after["handle_registry"]}
    assert heads == {
        "dangling": GONE,
        "doc": _sha256(b"v4"),
        "new": _sha256(b"v5"),
        "still": _sha256(b"v6"),
    }
    # The one fault is MCard's own, and it is reported instead of hidden.
    assert [problem.kind for problem in report.problems] == ["dangling_reference"]


@pytest.mark.requirement("council/mcard/handle-history")
def test_an_adopted_history_has_both_ends_of_every_move(mcard_file: Path) -> None:
    one, two = (CardHash(_sha256(content)) for content in (b"v1", b"v2"))
    with SqliteArchive(mcard_file) as archive:
        moves = [(move.previous, move.current, move.moved_at) for move in archive.history("doc")]
        assert moves == [
            (two, one, _at(13)),
            (two, two, _at(12)),
            (one, two, _at(11)),
            (None, one, _at(10)),
        ]
        assert archive.history("still") == [
            HandleMove(
                handle=archive.resolve("still").name, previous=None, current=two, moved_at=_at(14)
            )
        ]


@pytest.mark.requirement("council/mcard/opens-mcard-files")
def test_a_handle_that_mcard_left_dangling_is_kept_as_it_was_and_can_be_removed(
    mcard_file: Path,
) -> None:
    with CardCollection(db_path=mcard_file) as collection:
        assert collection.resolve_handle("dangling") == GONE
        assert collection.get_by_handle("dangling") is None
        assert not collection.get_by_handle_m("dangling")
        left = collection.get_handle_history("dangling")
        assert [step["previous_hash"] for step in left] == [_sha256(b"v1")]
        assert "dangling" not in dict(collection.engine.get_handle_dump())
        collection.engine.rename_handle("dangling", "lost")
        collection.engine.remove_handle("lost")
        assert collection.resolve_handle("lost") is None
        assert collection.archive.verify().problems == ()


def test_clearing_an_mcard_file_leaves_nothing_of_it(mcard_file: Path) -> None:
    with CardCollection(db_path=mcard_file) as collection:
        collection.clear()
        assert collection.archive.verify().problems == ()
    after = _everything(mcard_file)
    assert (after["card"], after["handle_registry"], after["handle_history"]) == ([], [], [])


def _write_as_mcard(path: Path) -> str:
    with closing(PlainMCard(path)) as mcard:
        second = mcard.add(b"v2")
        mcard.move_handle("doc", second, _at(30))
        mcard.make_handle("theirs", second, _at(31))
    return second


@pytest.mark.requirement("council/mcard/handle-history")
def test_moves_that_mcard_writes_into_salons_file_are_in_the_history(tmp_path: Path) -> None:
    path = tmp_path / "salon.db"
    with CardCollection(db_path=path) as collection:
        first = collection.add_with_handle(MCard("v1"), "doc")
        with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as process:
            second = process.submit(_write_as_mcard, path).result()
        third = collection.update_handle("doc", MCard("v3"))
        moves = [(move.previous, move.current) for move in collection.archive.history("doc")]
        assert moves == [(second, third), (first, second), (None, first)]
        assert collection.archive.history("doc")[1].moved_at == _at(30)
        assert [(move.previous, move.current) for move in collection.archive.history("theirs")] == [
            (None, second)
        ]
        assert [step["previous_hash"] for step in collection.get_handle_history("doc")] == [
            second,
            first,
        ]


@pytest.mark.requirement("council/mcard/mcard-tables")
def test_plain_sql_reads_salons_file_under_mcards_names(tmp_path: Path) -> None:
    path = tmp_path / "salon.db"
    with SqliteArchive(path) as archive:
        archive.put("chapter/one", b"v1")
        archive.put("chapter/one", b"v2")
        card = archive.get(CardHash(_sha256(b"v1")))
        moved = archive.history("chapter/one")[0]
    with closing(PlainMCard(path)) as mcard:
        columns = {
            table: [row[1] for row in mcard.rows(f"PRAGMA table_info({table})")]
            for table in ("card", "handle_registry", "handle_history")
        }
        assert columns == {
            "card": ["hash", "content", "g_time"],
            "handle_registry": ["handle", "current_hash", "created_at", "updated_at"],
            "handle_history": ["id", "handle", "previous_hash", "changed_at"],
        }
        assert mcard.rows("SELECT content, g_time FROM card WHERE hash = ?", _sha256(b"v1")) == [
            (b"v1", card.g_time)
        ]
        assert mcard.rows(
            "SELECT content FROM handle_registry JOIN card ON hash = current_hash"
            " WHERE handle = 'chapter/one'"
        ) == [(b"v2",)]
        assert mcard.rows("SELECT handle, previous_hash, changed_at FROM handle_history") == [
            ("chapter/one", _sha256(b"v1"), moved.moved_at)
        ]
        assert mcard.rows("SELECT typeof(content) FROM card") == [("blob",), ("blob",)]


@pytest.mark.requirement("council/mcard/hash", "council/mcard/g-time")
def test_salon_writes_hashes_and_times_as_mcard_does(tmp_path: Path) -> None:
    path = tmp_path / "salon.db"
    with CardCollection(db_path=path) as collection:
        collection.add(MCard("v1"))
    with closing(PlainMCard(path)) as mcard:
        ((card, stamp),) = mcard.rows("SELECT hash, g_time FROM card")
    assert card == "3bfc269594ef649228e9a74bab00f042efc91d5acc6fbee31a382e80d42388fe"
    algorithm, moment, zone = str(stamp).split("|")
    assert (algorithm, zone) == ("sha256", "UTC")
    assert len(moment) == len("2026-11-15T00:23:23.229924Z")
    assert moment[-1] == "Z"


def test_the_oldest_files_open_too(tmp_path: Path) -> None:
    # MCard 0.1.22: content declared as text but stored as bytes, local time without a Z, no
    # handles, and a duplicate stored as a card of its own.
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TABLE card (hash TEXT PRIMARY KEY, content TEXT NOT NULL, g_time TEXT)"
        )
        connection.execute(
            "INSERT INTO card VALUES (?, ?, 'sha256|2026-11-15T03:08:31.280576|CET')",
            (_sha256(b"v1"), b"v1"),
        )
    with CardCollection(db_path=path) as collection:
        assert collection.get(_sha256(b"v1")) == MCard("v1")
        assert collection.add(MCard("v1")) == _sha256(b"v1")
        collection.add_with_handle(MCard("v2"), "doc")
        assert [card.content for card in collection.get_all_mcards_raw()] == [b"v2", b"v1"]
        assert collection.archive.verify().problems == ()
