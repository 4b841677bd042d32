"""Folders that one process at a time may use, and that its parts share.

The lock is the operating system's: it ends with the process, however that ends.
"""

import fcntl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Generic, TypeVar

from salon.core.errors import StorageBusy

T = TypeVar("T")

LOCK_FILE = "salon.lock"


@dataclass(slots=True, kw_only=True)
class _Lease(Generic[T]):
    lock: FileIO
    engine: T
    users: int = 0


class OneProcess(Generic[T]):
    """Engines by their folders: opened for the first user in this process, closed after the last.

    Raises `StorageBusy` where another process has the folder.
    """

    def __init__(self, *, open_engine: Callable[[Path], T], close: Callable[[T], None]) -> None:
        self._open_engine = open_engine
        self._close = close
        self._lock = threading.Lock()
        self._leases: dict[Path, _Lease[T]] = {}

    def take(self, folder: Path) -> T:
        """Return the engine of a folder; each taking wants one giving back."""
        folder.mkdir(parents=True, exist_ok=True)
        place = folder.resolve()
        with self._lock:
            lease = self._leases.get(place)
            if lease is None:
                lease = self._leases[place] = self._open(place)
            lease.users += 1
            return lease.engine

    def give_back(self, folder: Path) -> None:
        """Say that one user needs the engine no more."""
        place = folder.resolve()
        with self._lock:
            lease = self._leases[place]
            lease.users -= 1
            if not lease.users:
                del self._leases[place]
                try:
                    self._close(lease.engine)
                finally:
                    lease.lock.close()

    def _open(self, place: Path) -> _Lease[T]:
        lock = FileIO(place / LOCK_FILE, "a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return _Lease(lock=lock, engine=self._open_engine(place))
        except BlockingIOError:
            lock.close()
            raise StorageBusy(
                f"another process is using {place}",
                hint="stop it, or use a store that many processes may share",
            ) from None
        except BaseException:
            lock.close()
            raise
