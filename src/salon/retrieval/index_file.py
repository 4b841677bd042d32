"""The SQLite file of a derived index: how it is opened, written to, and what its errors mean.

It is not the archive's file and holds no truth: `synchronous=NORMAL` may lose the last commits in
a power cut, but rows and progress are committed together, so what is left is an index that is a
little further behind. Deleted rows are overwritten (`secure_delete`), because they came from text
that somebody wanted gone.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from salon.core.errors import (
    SalonError,
    StorageBusy,
    StorageFailed,
    StorageFull,
    StorageReadOnly,
)

BUSY_TIMEOUT_MS = 30_000


class IndexFile:
    """One writing connection, and a reading one per thread that never waits for it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._local = threading.local()
        self._connections: list[apsw.Connection] = []
        path.parent.mkdir(parents=True, exist_ok=True)
        with index_errors(path):
            self._writer = self._open()
            if self._writer.execute("PRAGMA journal_mode").get != "wal":
                self._writer.execute("PRAGMA journal_mode=WAL")
            for pragma in ("synchronous=NORMAL", "foreign_keys=ON", "secure_delete=ON"):
                self._writer.execute(f"PRAGMA {pragma}")

    @contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """Run a block in one transaction; inside another one it is a part of that."""
        with self._lock, index_errors(self.path):
            if self._writer.in_transaction:
                yield self._writer
                return
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
            except BaseException:
                if self._writer.in_transaction:  # SQLite itself undoes it when the disk is full
                    self._writer.execute("ROLLBACK")
                raise
            self._writer.execute("COMMIT")

    @contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """Give this thread's reading connection to a block."""
        with index_errors(self.path):
            try:
                connection: apsw.Connection = self._local.connection
            except AttributeError:
                connection = self._local.connection = self._open()
                connection.execute("PRAGMA query_only=ON")
            yield connection

    def empty_log(self) -> None:
        """Move everything from the log into the file, so that no deleted text lingers there."""
        with self._lock, index_errors(self.path):
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            connections, self._connections = self._connections, []
        for connection in connections:
            connection.close()
        self._local = threading.local()

    def _open(self) -> apsw.Connection:
        connection = apsw.Connection(str(self.path))
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        with self._lock:
            self._connections.append(connection)
        return connection


@contextmanager
def index_errors(path: Path) -> Iterator[None]:
    """Translate what SQLite raises about an index into the one error tree."""
    try:
        yield
    except apsw.Error as error:
        raise _translate(error, path) from error


def _translate(error: apsw.Error, path: Path) -> SalonError:
    match error:
        case apsw.FullError():
            return StorageFull(f"no room left to write the index {path}", hint="free some space")
        case apsw.ReadOnlyError() | apsw.CantOpenError():
            return StorageReadOnly(
                f"the index {path} cannot be written to: {error}",
                hint="check the permissions of the file and of its folder",
            )
        case apsw.BusyError() | apsw.LockedError():
            return StorageBusy(f"another process is writing to the index {path}")
        case apsw.NotADBError() | apsw.CorruptError():
            return StorageFailed(
                f"{path} is damaged or is not an index: {error}",
                hint="if it is an index, delete it: it holds nothing but what can be built again",
            )
        case _:
            return StorageFailed(f"SQLite failed on the index {path}: {error}")
