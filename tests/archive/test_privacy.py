"""An archive is its owner's alone, and forgets the threads that read it."""

import gc
import stat
import threading
from pathlib import Path

from salon.archive.sqlite_archive import SqliteArchive


def test_a_new_archive_and_the_files_beside_it_can_be_read_by_their_owner_only(
    tmp_path: Path,
) -> None:
    with SqliteArchive(tmp_path / "home" / "salon.db") as archive:
        archive.put("n", b"private")
        archive.resolve("n")
        files = sorted((tmp_path / "home").iterdir())
        assert {file.name for file in files} >= {"salon.db", "salon.db-wal"}
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


def test_a_thread_that_ends_takes_its_connection_with_it(sqlite: SqliteArchive) -> None:
    card = sqlite.add(b"x").hash
    for _ in range(20):
        thread = threading.Thread(target=sqlite.get, args=(card,))
        thread.start()
        thread.join()
    gc.collect()
    assert len(sqlite._readers) <= 2
