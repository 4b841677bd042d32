"""Bad input and bad places: each one clear error, nothing lost, and it works again afterwards."""

import io
import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import apsw
import pytest

from salon.archive import card_writes, database, sqlite_archive, streams
from salon.archive.database import connect_for_writing
from salon.archive.migrations import MIGRATIONS
from salon.archive.sqlite_archive import SqliteArchive
from salon.core.archive import Archive
from salon.core.clock import SteppingClock
from salon.core.errors import (
    ArchiveCorrupt,
    ArchiveTooNew,
    CardNotFound,
    ContentTooLarge,
    EmptyContent,
    FileMissing,
    IntegrityFailed,
    InvalidHandle,
    SalonError,
    StorageBusy,
    StorageFull,
    StorageReadOnly,
)
from salon.core.hashing import CardHash, content_hash
from tests.archive.backends import START
from tests.archive.crowds import PATIENCE_S, held_by_another_process, let_go
from tests.archive.full_disk import FullDisk
from tests.archive.raw import raw, tamper
from tests.archive.samples import NOBODY, Trickle, delete

# Content


@pytest.mark.parametrize("stream", [io.BytesIO(b""), Trickle(b"")], ids=["seekable", "pipe"])
def test_a_card_without_a_byte_is_refused(archive: Archive, stream: BinaryIO) -> None:
    for attempt in (
        lambda: archive.add(b""),
        lambda: archive.add_many([b""]),
        lambda: archive.add_stream(stream),
        lambda: archive.put("notes", b""),
        lambda: archive.write(lambda tx: tx.add(b"")),
    ):
        with pytest.raises(EmptyContent) as caught:
            attempt()
        assert caught.value.hint
    assert archive.stats().cards == 0
    assert archive.find_handle("notes") is None


def test_a_stream_at_its_end_is_refused_like_an_empty_one(archive: Archive) -> None:
    stream = io.BytesIO(b"read already")
    stream.read()
    with pytest.raises(EmptyContent):
        archive.add_stream(stream)


def test_two_gigabytes_are_refused_without_reading_them(archive: Archive, tmp_path: Path) -> None:
    sparse = tmp_path / "sparse"
    with sparse.open("wb") as file:
        file.truncate(2 * 1024**3)

    class Watched(io.FileIO):
        given = 0

        def read(self, size: int | None = -1, /) -> bytes:
            piece = super().read(-1 if size is None else size) or b""
            self.given += len(piece)
            return piece

    with Watched(sparse) as stream:
        with pytest.raises(ContentTooLarge) as caught:
            archive.add_stream(cast("BinaryIO", stream))
        assert stream.given == 0
    assert caught.value.details["size"] == 2 * 1024**3
    assert caught.value.hint
    assert archive.stats().cards == 0


@pytest.fixture
def small_cards(monkeypatch: pytest.MonkeyPatch) -> int:
    """A limit small enough to be reached in a test."""
    limit = 3 * streams.PIECE
    monkeypatch.setattr(card_writes, "MAX_CARD_BYTES", limit)
    monkeypatch.setattr(streams, "MAX_CARD_BYTES", limit)
    return limit


def test_an_endless_pipe_is_refused_as_soon_as_it_is_too_long(
    archive: Archive, small_cards: int
) -> None:
    class Endless(io.RawIOBase):
        given = 0

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            self.given += size
            assert self.given < 2 * small_cards, "nobody stops this"
            return b"x" * size

    with pytest.raises(ContentTooLarge):
        archive.add_stream(cast("BinaryIO", Endless()))
    assert archive.stats().cards == 0


def test_the_limit_itself_is_fine_and_one_byte_more_is_not(
    archive: Archive, small_cards: int
) -> None:
    most = b"x" * small_cards
    assert archive.add(most).created
    assert not archive.add_stream(io.BytesIO(most)).created
    for attempt in (
        lambda: archive.add(most + b"x"),
        lambda: archive.add_many([b"fine", most + b"x"]),
        lambda: archive.add_stream(io.BytesIO(most + b"x")),
        lambda: archive.add_stream(cast("BinaryIO", Trickle(most + b"x", most=10**9))),
    ):
        with pytest.raises(ContentTooLarge):
            attempt()
    assert archive.stats().cards == 1


# Names


@pytest.mark.parametrize("handle", ["a" * 256, "a@b", "", "\udcff"])
def test_an_improper_handle_is_refused_and_its_content_is_not_kept(
    archive: Archive, handle: str
) -> None:
    with pytest.raises(InvalidHandle):
        archive.put(handle, b"content")
    assert archive.stats().cards == 0


@pytest.mark.parametrize("card", [NOBODY, "xyz", "A" * 64, "a\0b"])
def test_an_unknown_or_malformed_hash_is_a_card_that_is_not_there(
    archive: Archive, card: str
) -> None:
    with pytest.raises(CardNotFound):
        archive.get(CardHash(card))
    with pytest.raises(CardNotFound):
        delete(archive, CardHash(card))
    assert archive.stats().audit_entries == 0


@pytest.mark.parametrize("text", ["\ud800", "tail \udcff"])
def test_words_that_are_not_text_are_refused_in_our_words(archive: Archive, text: str) -> None:
    """A file name with broken bytes becomes such a string in Python."""
    card = archive.add(b"x").hash
    before = archive.stats()
    with pytest.raises(SalonError):
        delete(archive, card, reason=text)
    with pytest.raises(SalonError):
        archive.add(b"y", by=text)
    assert archive.stats() == before


# Full disks. SQLite ignores that it cannot tidy up on a full disk, and APSW says so by a warning.

FULL = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@contextmanager
def on(path: Path, disk: FullDisk) -> Iterator[SqliteArchive]:
    with SqliteArchive(path, actor="tester", clock=SteppingClock(START), vfs=disk.name) as archive:
        yield archive


@FULL
def test_a_full_disk_is_named_and_nothing_is_lost(tmp_path: Path, disk: FullDisk) -> None:
    with on(tmp_path / "salon.db", disk) as archive:
        kept = archive.put("notes", b"kept")
        before, head = archive.stats(), archive.checkpoint()
        disk.free = 20_000
        for attempt in (
            lambda: archive.add(b"x" * 100_000),
            lambda: archive.add_many([b"%d" % n * 1000 for n in range(100)]),
            lambda: archive.add_stream(io.BytesIO(b"y" * 100_000)),
            lambda: archive.put("notes", b"z" * 100_000),
        ):
            with pytest.raises(StorageFull, match="no room") as caught:
                attempt()
            assert "nothing was changed" in (caught.value.hint or "")
        assert archive.resolve("notes") == kept
        assert archive.stats() == before
        assert archive.checkpoint() == head
        assert archive.verify().problems == ()
        disk.free = None
        assert archive.put("notes", b"z" * 100_000).current == content_hash(b"z" * 100_000)
        assert archive.verify().problems == ()


@FULL
def test_whatever_room_is_left_a_write_is_whole_or_not_there(
    tmp_path: Path, disk: FullDisk
) -> None:
    path = tmp_path / "salon.db"
    with on(path, disk) as archive:
        archive.add(b"first")
        done = 0
        for room in range(0, 60_000, 3_000):
            disk.free = room
            try:
                archive.put("counter", b"%d " % room * 500)
                done += 1
            except StorageFull:
                pass
        disk.free = None
        moves = archive.history("counter")
        assert len(moves) == done
        assert archive.stats().cards == 1 + done
        assert archive.verify().problems == ()
    assert 0 < done < 20


@FULL
def test_a_disk_that_is_full_from_the_start_leaves_no_ruin(tmp_path: Path, disk: FullDisk) -> None:
    path = tmp_path / "salon.db"
    for room in (0, 1_000, 5_000, 20_000, 60_000):
        disk.free = room
        with pytest.raises(StorageFull), on(path, disk):
            pass
    disk.free = None
    with on(path, disk) as archive:
        assert archive.add(b"x").created
        assert archive.verify().problems == ()


# Places that cannot be written to


def test_an_archive_opened_for_reading_can_be_read_and_not_written(sqlite: SqliteArchive) -> None:
    card = sqlite.put("notes", b"v1").current
    with SqliteArchive(sqlite.path, read_only=True) as reader:
        assert reader.get(card).content == b"v1"
        assert reader.resolve("notes").current == card
        assert reader.verify().problems == ()
        for attempt in (
            lambda: reader.add(b"v2"),
            lambda: reader.put("notes", b"v2"),
            lambda: delete(reader, card, force=True),
            reader.adopt,
        ):
            with pytest.raises(StorageReadOnly):
                attempt()
        sqlite.put("notes", b"v2")
        assert reader.resolve("notes").current == content_hash(b"v2")


def test_what_is_not_there_cannot_be_opened_for_reading(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        SqliteArchive(tmp_path / "nothing.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


AS_NOBODY = """
    import json, os, sys
    from salon.archive.sqlite_archive import SqliteArchive
    from salon.core.errors import SalonError
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
    result = {}
    try:
        with SqliteArchive(sys.argv[1]) as archive:
            result["read"] = [archive.get(info.hash).content.decode() for info in archive.cards()]
            result["sound"] = archive.verify().is_sound
            archive.add(b"by nobody")
            result["written"] = True
    except SalonError as error:
        result["code"], result["hint"] = error.code, error.hint
    print(json.dumps(result))
"""


def as_nobody(path: Path) -> dict[str, object]:
    """Open the archive as a user who owns nothing; return what happened."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(AS_NOBODY), str(path)],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    result: dict[str, object] = json.loads(done.stdout)
    return result


@pytest.fixture
def foreign_folder(tmp_path: Path) -> Path:
    """A folder with an archive that somebody else owns, readable and not writable."""
    folder = tmp_path / "theirs"
    with SqliteArchive(folder / "salon.db") as archive:
        archive.add(b"v1")
    tmp_path.chmod(0o755)
    folder.chmod(0o555)
    (folder / "salon.db").chmod(0o444)
    return folder


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
class TestSomebodyElse:
    def test_a_file_that_may_only_be_read_is_read_and_not_written(
        self, foreign_folder: Path
    ) -> None:
        result = as_nobody(foreign_folder / "salon.db")
        assert result["read"] == ["v1"]
        assert result["sound"] is True
        assert result["code"] == "storage_read_only"
        assert result["hint"]

    def test_a_file_in_a_folder_that_may_be_written_is_read_and_not_written(
        self, foreign_folder: Path
    ) -> None:
        foreign_folder.chmod(0o777)
        result = as_nobody(foreign_folder / "salon.db")
        assert result["read"] == ["v1"]
        assert result["code"] == "storage_read_only"

    def test_a_file_that_is_in_use_by_its_owner_is_read_and_not_written(
        self, foreign_folder: Path
    ) -> None:
        (foreign_folder / "salon.db").chmod(0o644)
        with SqliteArchive(foreign_folder / "salon.db") as owner:
            owner.add(b"v2")
            result = as_nobody(foreign_folder / "salon.db")
        assert result["read"] == ["v1", "v2"]
        assert result["code"] == "storage_read_only"

    def test_a_file_that_may_not_even_be_read_is_a_clear_error(self, foreign_folder: Path) -> None:
        (foreign_folder / "salon.db").chmod(0o600)
        assert as_nobody(foreign_folder / "salon.db")["code"] == "storage_read_only"

    @pytest.mark.parametrize("name", ["new.db", "deeper/new.db"])
    def test_a_folder_where_nothing_can_be_made_is_a_clear_error(
        self, foreign_folder: Path, name: str
    ) -> None:
        assert as_nobody(foreign_folder / name)["code"] == "storage_read_only"


# Places that are no archive


def test_missing_folders_are_made(tmp_path: Path) -> None:
    with SqliteArchive(tmp_path / "one" / "two" / "salon.db") as archive:
        assert archive.add(b"x").created


def test_a_folder_is_no_archive(tmp_path: Path) -> None:
    with pytest.raises(SalonError) as caught:
        SqliteArchive(tmp_path)
    assert "check that it is a file" in (caught.value.hint or "")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(SalonError):
        SqliteArchive(tmp_path / "file" / "salon.db")


@pytest.mark.parametrize(
    "content", [b"xy", b"not a database at all" * 100, b"%PDF-1.7\n", b"\0" * 5000], ids=len
)
def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.txt"
    path.write_bytes(content)
    with pytest.raises(ArchiveCorrupt, match=r"other\.txt"):
        SqliteArchive(path).close()
    assert path.read_bytes() == content


def test_an_empty_file_becomes_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "salon.db"
    path.touch()
    with SqliteArchive(path) as archive:
        assert archive.add(b"x").created


@pytest.mark.parametrize("read_only", [False, True])
def test_an_archive_from_a_later_version_is_refused_and_left_alone(
    tmp_path: Path, read_only: bool
) -> None:
    path = tmp_path / "salon.db"
    with SqliteArchive(path) as archive:
        archive.add(b"x")
    with raw(path) as connection:
        connection.execute("INSERT INTO salon_migration VALUES (999, 'the future', 'then')")
    before = path.read_bytes()
    with pytest.raises(ArchiveTooNew, match="999") as caught:
        SqliteArchive(path, read_only=read_only)
    assert "upgrade" in (caught.value.hint or "")
    assert path.read_bytes() == before


def test_every_step_of_the_schema_is_recorded_once(tmp_path: Path) -> None:
    path = tmp_path / "salon.db"
    for _ in range(3):
        SqliteArchive(path).close()
    with raw(path) as connection:
        steps = connection.execute("SELECT number FROM salon_migration").fetchall()
    assert steps == [(migration.number,) for migration in MIGRATIONS]
    assert [migration.number for migration in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


@pytest.mark.parametrize("name", ["with space.db", "é日.db", "a?b#c%20.db", "file:x.db", "x.db;"])
def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with SqliteArchive(path) as archive:
        card = archive.add(b"x").hash
    assert path.is_file()
    with SqliteArchive(str(path), read_only=True) as reader:
        assert reader.has(card)


@pytest.mark.parametrize("name", [":memory:", "file:x.db", "file::memory:", "file:x?mode=memory"])
def test_a_relative_name_is_a_file_name_whatever_it_looks_like_or_is_refused(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        archive = SqliteArchive(name)
    except SalonError:
        return
    with archive:
        assert archive.has(archive.add(b"x").hash)
    assert [file.name for file in tmp_path.iterdir()] == [name]


# Damage


@pytest.fixture
def damaged(tmp_path: Path) -> tuple[SqliteArchive, CardHash]:
    """An archive in which the pages of a large card were overwritten."""
    path = tmp_path / "salon.db"
    content = b"findable content " * 20_000
    with SqliteArchive(path) as archive:
        card = archive.add(content).hash
        archive.add(b"beside it")
    data = bytearray(path.read_bytes())
    place = data.find(b"findable content " * 100) + 40_000
    data[place - place % 4096 : place - place % 4096 + 4096] = b"\xa5" * 4096
    path.write_bytes(data)
    return SqliteArchive(path), card


def test_a_damaged_page_is_an_error_and_never_wrong_bytes(
    damaged: tuple[SqliteArchive, CardHash],
) -> None:
    archive, card = damaged
    with archive:
        for read in (
            lambda: archive.get(card),
            lambda: archive.find(card),
            lambda: archive.open(card).read(),
            lambda: archive.add(b"findable content " * 20_000),
            lambda: archive.add_stream(io.BytesIO(b"findable content " * 20_000)),
        ):
            with pytest.raises(IntegrityFailed):
                read()
        assert archive.get(content_hash(b"beside it")).content == b"beside it"
        assert archive.add(b"and it goes on").created


def test_a_stream_of_changed_bytes_raises_at_its_end(sqlite: SqliteArchive) -> None:
    card = sqlite.add(b"a" * 3_000_000).hash
    tamper(sqlite.path, "UPDATE card SET content = ?", (b"a" * 2_999_999 + b"b",))
    with sqlite.open(card) as stream:
        assert stream.read(2_000_000) == b"a" * 2_000_000
        with pytest.raises(IntegrityFailed):
            stream.read()


# Other processes


def test_an_archive_that_another_process_holds_is_busy_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 20)
    path = tmp_path / "salon.db"
    with SqliteArchive(path) as archive:
        archive.put("notes", b"v1")
        with held_by_another_process(path) as holder:
            for attempt in (lambda: archive.add(b"v2"), lambda: archive.put("notes", b"v2")):
                with pytest.raises(StorageBusy) as caught:
                    attempt()
                assert caught.value.hint
            assert archive.resolve("notes").current == content_hash(b"v1")
            let_go(holder)
            archive.put("notes", b"v2")
        assert archive.verify().problems == ()


def test_a_crowd_does_not_wait_for_a_busy_archive_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thirty seconds for all are bearable; thirty seconds for each of five hundred are not."""
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 20)
    begins: list[str] = []
    may_connect = threading.Event()

    def connect(path: Path, *, vfs: str | None = None) -> apsw.Connection:
        if threading.current_thread().name == "salon-archive-writer":
            may_connect.wait(PATIENCE_S)
        connection = connect_for_writing(path, vfs=vfs)

        def trace(_: apsw.Cursor, sql: str, __: object) -> bool:
            begins.extend(["begin"] if sql.startswith("BEGIN IMMEDIATE") else [])
            return True

        connection.exec_trace = trace
        return connection

    monkeypatch.setattr(sqlite_archive, "connect_for_writing", connect)
    path = tmp_path / "salon.db"
    with SqliteArchive(path) as archive, ThreadPoolExecutor(10) as pool:
        with held_by_another_process(path):
            futures = [pool.submit(archive.add, b"%d" % number) for number in range(10)]
            while not all(future.running() for future in futures):
                time.sleep(0.001)
            time.sleep(0.05)  # those that run now take their places in line
            begins.clear()
            may_connect.set()
            errors = [future.exception(PATIENCE_S) for future in futures]
        assert all(isinstance(error, StorageBusy) for error in errors)
        assert len(begins) <= 4
        assert archive.add(b"0").created
