"""Opening SQLite the way the archive needs it, and saying its errors in Salon's words.

Every connection runs in WAL mode with `synchronous=FULL` (an acknowledged commit survives a power
cut), foreign keys on, and `secure_delete` on (deleted bytes are overwritten in the file).
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import apsw

from salon.core.errors import (
    ArchiveCorrupt,
    SalonError,
    StorageBusy,
    StorageFailed,
    StorageFull,
    StorageReadOnly,
)

BUSY_TIMEOUT_MS = 30_000
WAL_KEPT_BYTES = 64 * 1024 * 1024
WAL_PAGES = 4000
"""Pages in the log before they move into the file: hashes scatter, so a longer log saves writes."""

_URI = apsw.SQLITE_OPEN_URI
_READ_WRITE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | _URI
_READ_ONLY = apsw.SQLITE_OPEN_READONLY | _URI


def connect_for_writing(path: Path, *, vfs: str | None = None) -> apsw.Connection:
    """Open (and if need be create) the file for the one writer of this process."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageReadOnly(
            f"the folder of {path} cannot be made: {error.strerror}",
            hint="check the path and the permissions, or pick another place with SALON_HOME",
        ) from error
    if vfs is None:
        _make_private(path)
    connection = apsw.Connection(_name(path), flags=_READ_WRITE, vfs=vfs)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    _ensure_wal(connection)
    for pragma in (
        "synchronous=FULL",
        "foreign_keys=ON",
        "secure_delete=ON",
        "cache_size=-16000",
        f"journal_size_limit={WAL_KEPT_BYTES}",
        f"wal_autocheckpoint={WAL_PAGES}",
    ):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _ensure_wal(connection: apsw.Connection) -> None:
    # Asking is cheap and needs no lock; switching needs an exclusive one, so only when new. Unlike
    # everything else it does not wait for the lock by itself.
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while connection.execute("PRAGMA journal_mode").get != "wal":
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _make_private(path: Path) -> None:
    # Conversations are private: a new file is its owner's alone, and SQLite gives the files beside
    # it the same permissions. Whatever goes wrong here, opening says it better.
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _name(path: Path) -> str:
    # Absolute, so that nothing in a name (":memory:", "file:…") means anything to SQLite.
    return str(path.absolute())


def connect_for_reading(path: Path, *, vfs: str | None = None) -> apsw.Connection:
    """Open an existing file for one reader thread."""
    try:
        connection = apsw.Connection(_name(path), flags=_READ_ONLY, vfs=vfs)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
        # Any other read-only error means that a log has to be recovered first: never skip that.
        if isinstance(error, apsw.ReadOnlyError) and (
            getattr(error, "extendedresult", None) != apsw.SQLITE_READONLY_DIRECTORY
        ):
            raise
        if not path.exists() or Path(f"{path}-wal").exists():
            raise
        # A WAL file in a folder that we may not write to: nobody here can write it either, so
        # it may be read as immutable.
        connection = apsw.Connection(
            f"file:{quote(str(path.absolute()))}?immutable=1", flags=_READ_ONLY, vfs=vfs
        )
    return connection


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Translate what SQLite raises into the one error tree."""
    try:
        yield
    except apsw.Error as error:
        raise translate(error, path) from error
    except UnicodeDecodeError as error:
        raise ArchiveCorrupt(
            f"{path} holds text that is none: {error}",
            hint="restore it from a copy or an export",
        ) from error


def translate(error: apsw.Error, path: Path) -> SalonError:
    """Say one SQLite error in Salon's words."""
    reason = str(error)
    match error:
        case apsw.FullError():
            return StorageFull(
                f"no room left to write {path.name}: {reason}",
                hint="free some disk space and run the same command again; nothing was changed",
            )
        case apsw.ReadOnlyError():
            return StorageReadOnly(
                f"{path} cannot be written to: {reason}",
                hint="check the permissions of the file and of its folder, or pick another "
                "place with SALON_HOME",
            )
        case apsw.BusyError() | apsw.LockedError():
            return StorageBusy(
                f"another process is writing to {path}",
                hint="wait for it to finish, then run the same command again",
            )
        case apsw.NotADBError():
            return ArchiveCorrupt(
                f"{path} is not an archive", hint="give the path of a Salon or MCard database"
            )
        case apsw.CorruptError() | apsw.SQLError() | apsw.MismatchError():
            return ArchiveCorrupt(
                f"{path} is damaged: {reason}",
                hint="restore it from a copy or an export; `salon archive verify` lists the damage",
            )
        case apsw.CantOpenError():
            return StorageReadOnly(
                f"{path} cannot be opened: {reason}",
                hint="check that it is a file, and the permissions of it and of its folder",
            )
        case _:
            return StorageFailed(f"SQLite failed on {path}: {reason}")
