"""Group commit: writers share a transaction without sharing each other's fate."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from salon.archive import group_commit, sqlite_archive
from salon.archive.database import connect_for_writing
from salon.archive.migrations import MCARD_TABLES
from salon.archive.sqlite_archive import SqliteArchive
from salon.core.archive import ArchiveTransaction
from salon.core.clock import SteppingClock
from salon.core.errors import (
    EmptyContent,
    HandleMoved,
    HashMismatch,
    InvalidHandle,
    InvalidSettings,
    StorageFailed,
    StorageFull,
)
from salon.core.hashing import content_hash
from tests.archive.backends import START
from tests.archive.crowds import (
    PATIENCE_S,
    crowd,
    finishes,
    held_by_another_process,
    in_time,
    let_go,
    run_processes,
)
from tests.archive.full_disk import FullDisk
from tests.archive.raw import foreign, raw, tamper
from tests.archive.samples import delete, kinds, log
from tests.collisions import COLLIDING

V1 = content_hash(b"v1")


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count what the writing connection commits."""
    seen: list[str] = []

    def note() -> bool:
        seen.append("commit")
        return False

    def connect(path: Path, *, vfs: str | None = None) -> apsw.Connection:
        connection = connect_for_writing(path, vfs=vfs)
        connection.set_commit_hook(note)
        return connection

    monkeypatch.setattr(sqlite_archive, "connect_for_writing", connect)
    return seen


@pytest.fixture
def small_disk(tmp_path: Path, disk: FullDisk) -> Iterator[SqliteArchive]:
    """An archive on a disk that can be made full."""
    with SqliteArchive(
        tmp_path / "salon.db", actor="tester", clock=SteppingClock(START), vfs=disk.name
    ) as archive:
        yield archive


# Sharing


def test_writers_that_wait_together_share_one_commit_and_one_event(
    commits: list[str], tmp_path: Path
) -> None:
    with SqliteArchive(tmp_path / "salon.db", actor="tester") as archive:
        commits.clear()
        with crowd(archive) as waiting:
            futures = [waiting.ask(archive.add, b"%d" % number) for number in range(60)]
        added = [in_time(future) for future in futures]
        assert len(commits) <= 2  # one of them only held the door
        assert [card.hash for card in added] == [content_hash(b"%d" % n) for n in range(60)]
        assert all(card.created for card in added)
        assert kinds(archive) == ["cards_added"]
        assert archive.verify().is_sound


def test_concurrent_writers_need_fewer_commits_than_writes(
    commits: list[str], tmp_path: Path
) -> None:
    with SqliteArchive(tmp_path / "salon.db") as archive, ThreadPoolExecutor(16) as pool:
        commits.clear()
        list(pool.map(lambda number: archive.add(b"%d" % number), range(400)))
        assert archive.stats().cards == 400
        assert len(commits) < 400
        assert archive.stats().audit_entries <= len(commits)


def test_when_a_write_returns_another_connection_sees_it(sqlite: SqliteArchive) -> None:
    def add_and_look(number: int) -> bool:
        card = sqlite.add(b"%d" % number).hash
        other = apsw.Connection(str(sqlite.path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return other.execute("SELECT 1 FROM card WHERE hash = ?", (card,)).get is not None
        finally:
            other.close()

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(add_and_look, range(80)))


def test_each_actor_keeps_the_credit_for_what_it_added(sqlite: SqliteArchive) -> None:
    with crowd(sqlite) as waiting:
        for number, actor in enumerate(["ann", "ann", "ben", "ann", "ben", "ben"]):
            waiting.ask(sqlite.add, b"%d" % number, by=actor)
    credited = {
        card: entry.by
        for entry in log(sqlite)
        for card in entry.body["hashes"] or ()  # type: ignore[union-attr]
    }
    assert [credited[content_hash(b"%d" % n)] for n in range(6)] == [
        "ann",
        "ann",
        "ben",
        "ann",
        "ben",
        "ben",
    ]


def test_a_group_is_done_in_the_order_in_which_it_came(sqlite: SqliteArchive) -> None:
    with crowd(sqlite) as waiting:
        for number in range(10):
            waiting.ask(sqlite.add, b"%d" % number)
            waiting.ask(sqlite.put, "counter", b"version %d" % number)
    contents = [sqlite.get(info.hash).content for info in sqlite.cards()]
    assert contents == [content for n in range(10) for content in (b"%d" % n, b"version %d" % n)]
    assert len(sqlite.history("counter")) == 10


def test_the_same_content_from_many_callers_is_created_once(sqlite: SqliteArchive) -> None:
    with crowd(sqlite) as waiting:
        futures = [waiting.ask(sqlite.add, b"same") for _ in range(20)]
    assert [in_time(future).created for future in futures] == [True] + [False] * 19
    assert kinds(sqlite) == ["cards_added"]


def test_contents_that_collide_in_one_group_are_both_kept(sqlite: SqliteArchive) -> None:
    with crowd(sqlite) as waiting:
        futures = [
            waiting.ask(sqlite.add, content, algorithm="md5")
            for content in (*COLLIDING, *COLLIDING)
        ]
    added = [in_time(future) for future in futures]
    assert [sqlite.get(card.hash).content for card in added] == [*COLLIDING, *COLLIDING]
    assert [card.created for card in added] == [True, True, False, False]
    assert sqlite.verify().is_sound


def test_a_crowd_larger_than_a_group_is_served_in_several(
    sqlite: SqliteArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "MAX_GROUP", 4)
    with crowd(sqlite) as waiting:
        futures = [waiting.ask(sqlite.add, b"%d" % n) for n in range(11)]
    assert all(in_time(future).created for future in futures)
    assert kinds(sqlite) == ["cards_added"] * 3


# Failing alone


def test_a_job_that_fails_takes_nobody_with_it(sqlite: SqliteArchive) -> None:
    def fail(tx: ArchiveTransaction) -> None:
        tx.add(b"half")
        tx.set_handle("half", content_hash(b"half"))
        raise ZeroDivisionError

    with crowd(sqlite) as waiting:
        before = waiting.ask(sqlite.add, b"before")
        failing = waiting.ask(sqlite.write, fail)
        named = waiting.ask(sqlite.put, "good", b"named")
        conflict = waiting.ask(sqlite.put, "good", b"late", expected_current=None)
        improper = waiting.ask(sqlite.put, "@", b"improper")
        after = waiting.ask(sqlite.add, b"after")
    with pytest.raises(ZeroDivisionError):
        in_time(failing)
    with pytest.raises(HandleMoved):
        in_time(conflict)
    with pytest.raises(InvalidHandle):
        in_time(improper)
    assert in_time(before).created
    assert in_time(after).created
    assert in_time(named).name == "good"
    assert {sqlite.get(info.hash).content for info in sqlite.cards()} == {
        b"before",
        b"named",
        b"after",
    }
    assert [handle.name for handle in sqlite.handles()] == ["good"]
    assert kinds(sqlite) == ["cards_added", "cards_added", "handle_set", "cards_added"]
    assert sqlite.verify().is_sound


def test_an_empty_content_never_reaches_the_queue(sqlite: SqliteArchive) -> None:
    with crowd(sqlite) as waiting:
        good = waiting.ask(sqlite.add, b"good")
        with pytest.raises(EmptyContent):
            sqlite.add(b"")
    assert in_time(good).created


def test_a_card_that_is_damaged_in_the_file_fails_only_whoever_adds_it(
    sqlite: SqliteArchive,
) -> None:
    sqlite.add(b"damaged")
    tamper(sqlite.path, "UPDATE card SET content = x'00'")
    with crowd(sqlite) as waiting:
        good = [waiting.ask(sqlite.add, b"%d" % n) for n in range(3)]
        bad = waiting.ask(sqlite.add, b"damaged")
        good += [waiting.ask(sqlite.add, b"%d" % n) for n in range(3, 6)]
    assert all(in_time(future).created for future in good)
    with pytest.raises(HashMismatch):
        in_time(bad)


def test_an_error_of_sqlite_is_said_in_our_words_alone_and_in_company(
    sqlite: SqliteArchive,
) -> None:
    with raw(sqlite.path) as connection:
        connection.execute(
            "CREATE TRIGGER odd BEFORE INSERT ON card WHEN NEW.content = x'6f6464'"
            " BEGIN SELECT raise(ABORT, 'no odd cards'); END"
        )
    with pytest.raises(StorageFailed, match="no odd cards"):
        sqlite.add(b"odd")
    with crowd(sqlite) as waiting:
        one = waiting.ask(sqlite.add, b"one")
        odd = waiting.ask(sqlite.put, "odd", b"odd")
        two = waiting.ask(sqlite.put, "two", b"two")
    assert in_time(one).created
    assert in_time(two).name == "two"
    with pytest.raises(StorageFailed, match="no odd cards"):
        in_time(odd)


def test_a_job_that_fills_the_disk_fails_alone(small_disk: SqliteArchive, disk: FullDisk) -> None:
    small_disk.add(b"first")
    disk.free = 150_000
    with crowd(small_disk) as waiting:
        one = waiting.ask(small_disk.add, b"small one")
        big = waiting.ask(small_disk.put, "big", b"x" * 2_000_000)
        two = waiting.ask(small_disk.put, "small", b"small two")
    with pytest.raises(StorageFull):
        in_time(big)
    assert in_time(one).created
    assert in_time(two).name == "small"
    assert not small_disk.has(content_hash(b"x" * 2_000_000))
    assert small_disk.verify().is_sound
    disk.free = None
    assert small_disk.put("big", b"x" * 2_000_000).name == "big"
    assert small_disk.verify().is_sound


def test_a_job_that_hits_the_limit_of_the_file_fails_alone_and_in_our_words(
    sqlite: SqliteArchive,
) -> None:
    sqlite.add(b"first")
    pages = sqlite.stats().file_bytes // 4096
    sqlite.write_sqlite(
        lambda tx: tx.connection.execute(f"PRAGMA max_page_count={pages + 20}").fetchall()
    )
    with crowd(sqlite) as waiting:
        one = waiting.ask(sqlite.add, b"small one")
        big = waiting.ask(sqlite.put, "big", b"x" * 2_000_000)
        two = waiting.ask(sqlite.put, "small", b"small two")
    with pytest.raises(StorageFull):
        in_time(big)
    assert in_time(one).created
    assert in_time(two).name == "small"
    assert sqlite.verify().is_sound


def test_who_succeeds_at_the_second_attempt_is_not_told_of_the_first(
    small_disk: SqliteArchive, disk: FullDisk
) -> None:
    """The first attempt at a group fails at its commit; alone, the second job has no rival."""
    small_disk.add(b"first")
    disk.free = 150_000
    with crowd(small_disk) as waiting:
        rival = waiting.ask(small_disk.put, "name", b"x" * 2_000_000)
        second = waiting.ask(small_disk.put, "name", b"small", expected_current=None)
    with pytest.raises(StorageFull):
        in_time(rival)
    handle = small_disk.find_handle("name")
    if handle is None:
        with pytest.raises(HandleMoved):
            in_time(second)
    else:
        assert in_time(second) == handle


def test_a_deletion_that_is_done_is_not_reported_as_failed(
    small_disk: SqliteArchive, disk: FullDisk
) -> None:
    """Wiping the log afterwards may fail on a full disk, but the deletion is durable by then."""
    card = small_disk.add(b"secret").hash
    disk.refuses_main_file = True
    try:
        deletion = delete(small_disk, card)
    finally:
        disk.refuses_main_file = False
    assert deletion.hash == card
    assert not small_disk.has(card)


# Closing


def test_closing_finishes_what_is_waiting(sqlite: SqliteArchive) -> None:
    closing = threading.Thread(target=sqlite.close, daemon=True)
    with crowd(sqlite) as waiting:
        futures = [waiting.ask(sqlite.add, b"%d" % n) for n in range(10)]
        closing.start()
    closing.join(PATIENCE_S)
    assert not closing.is_alive()
    assert all(in_time(future).created for future in futures)
    with SqliteArchive(sqlite.path) as again:
        assert again.stats().cards == 10


def test_a_closed_archive_says_so(sqlite: SqliteArchive) -> None:
    sqlite.close()
    with pytest.raises(RuntimeError, match="closed"):
        sqlite.add(b"too late")


@pytest.mark.parametrize("attempt", range(20))
def test_a_write_that_arrives_while_the_archive_closes_never_hangs(
    sqlite: SqliteArchive, attempt: int
) -> None:
    """Each of a crowd is either on disk or told that it came too late."""
    sqlite.add(b"the writer runs")
    told: list[bool] = []

    def write(number: int) -> None:
        try:
            told.append(sqlite.add(b"%d" % number).created)
        except RuntimeError:
            told.append(False)

    def crowd_and_close() -> None:
        with ThreadPoolExecutor(9) as pool:
            for number in range(8):
                pool.submit(write, number)
            pool.submit(sqlite.close)

    assert finishes(crowd_and_close, within_s=20)
    with SqliteArchive(sqlite.path) as again:
        assert again.stats().cards == 1 + told.count(True)


def test_what_broke_the_first_write_does_not_break_the_next(tmp_path: Path) -> None:
    broken = [True]

    def signer() -> None:
        if broken[0]:
            raise InvalidSettings("the key is damaged")

    SqliteArchive(tmp_path / "salon.db").close()
    with SqliteArchive(tmp_path / "salon.db", signer=signer) as archive:
        with pytest.raises(InvalidSettings):
            archive.add(b"v1")
        broken[0] = False
        assert archive.add(b"v1").created


# Readers and writers


def test_readers_are_never_blocked_by_an_open_write(sqlite: SqliteArchive) -> None:
    sqlite.put("notes", b"v1")
    inside, may_end = threading.Event(), threading.Event()

    def work(tx: ArchiveTransaction) -> None:
        tx.set_handle("notes", tx.add(b"v2").hash)
        inside.set()
        may_end.wait(PATIENCE_S)

    with ThreadPoolExecutor(2) as pool:
        writing = pool.submit(sqlite.write, work)
        assert inside.wait(PATIENCE_S)
        try:
            assert sqlite.resolve("notes").current == V1
            assert sqlite.get(V1).content == b"v1"
            assert in_time(pool.submit(sqlite.resolve, "notes")).current == V1
            assert not sqlite.has(content_hash(b"v2"))
            assert sqlite.verify().is_sound
            with sqlite.open(V1) as stream:
                assert stream.read() == b"v1"
        finally:
            may_end.set()
        in_time(writing)
    assert sqlite.resolve("notes").current == content_hash(b"v2")


def test_writers_are_not_blocked_by_a_reader_in_the_middle_of_something(
    sqlite: SqliteArchive,
) -> None:
    sqlite.add_many([b"one", b"two"])
    walk = sqlite.cards()
    next(walk)
    assert finishes(lambda: sqlite.add(b"three"))
    assert finishes(lambda: sqlite.put("notes", b"four"))
    assert len(list(walk)) == 1


def test_a_deletion_does_not_wait_for_a_reader_in_the_middle_of_something(
    sqlite: SqliteArchive,
) -> None:
    card = sqlite.add_many([b"one", b"two"])[0].hash
    with sqlite.snapshot() as reader:
        reader.execute("SELECT count(*) FROM card").fetchall()
        prompt = finishes(lambda: delete(sqlite, card), within_s=5)
    assert prompt
    assert not sqlite.has(card)


# Several processes

ADD_CARDS = """
    import sys
    from salon.archive.sqlite_archive import SqliteArchive
    from salon.core.errors import HandleMoved
    path, me, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    done = 0
    with SqliteArchive(path, actor=me) as archive:
        for number in range(count):
            archive.add(f"{me} {number}".encode())
            while True:  # everybody counts on the same handle; nobody's step may be lost
                handle = archive.find_handle("counter")
                current = handle.current if handle else None
                value = int(archive.get(current).content.split()[0]) if current else 0
                step = f"{value + 1} by {me}".encode()
                try:
                    archive.put("counter", step, expected_current=current)
                except HandleMoved:
                    continue
                break
            done += 1
    print(done)
"""


def test_several_processes_write_one_file_and_nothing_is_lost(sqlite: SqliteArchive) -> None:
    arguments = [[str(sqlite.path), name, "25"] for name in ("one", "two", "three")]
    assert run_processes(ADD_CARDS, arguments) == ["25"] * 3
    final = sqlite.get(sqlite.resolve("counter").current).content
    assert final.startswith(b"75 ")
    assert len(sqlite.history("counter")) == 75
    for name in ("one", "two", "three"):
        assert all(sqlite.has(content_hash(f"{name} {n}".encode())) for n in range(25))
    report = sqlite.verify()
    assert report.problems == ()
    assert report.cards == 150


def test_a_file_that_another_program_is_writing_to_is_waited_for_when_it_is_opened_first(
    tmp_path: Path,
) -> None:
    """The switch to a write-ahead log does not wait by itself, unlike everything else."""
    path = tmp_path / "mcard.db"
    foreign(path, (MCARD_TABLES.split(";")[0], []))
    with held_by_another_process(path) as holder, ThreadPoolExecutor(1) as pool:
        opening = pool.submit(SqliteArchive, path)
        time.sleep(0.05)
        let_go(holder)
        in_time(opening).close()


OPEN_ONLY = """
    import sys, time
    from salon.archive.sqlite_archive import SqliteArchive
    while time.time() < float(sys.argv[3]):
        pass
    with SqliteArchive(sys.argv[1], actor=sys.argv[2]) as archive:
        print(archive.add(sys.argv[2].encode()).created)
"""


def test_several_processes_can_make_the_same_new_archive_at_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "salon.db"
    start = str(time.time() + 1.0)
    arguments = [[str(path), f"process {number}", start] for number in range(6)]
    assert run_processes(OPEN_ONLY, arguments) == ["True"] * 6
    with SqliteArchive(path) as archive:
        assert archive.stats().cards == 6
        assert archive.verify().problems == ()
