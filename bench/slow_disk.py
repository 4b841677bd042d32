"""A disk whose syncs take as long as we say, and how long this disk's take.

Group commit pays where a sync is slow. `SlowSyncs` makes every sync take at least a given time,
for Salon and for its peer alike; everything else is the system's own VFS.
"""

import os
import statistics
import time
from pathlib import Path

import apsw

COMMON_DISK_SYNC_S = 0.0045
"""About 220 syncs a second: a disk that really waits for its platters or its flash."""


class SlowSyncs(apsw.VFS):
    """The system's own VFS, with slower syncs."""

    def __init__(self, name: str, sync_s: float) -> None:
        self.name = name
        self.sync_s = sync_s
        super().__init__(name, "")

    def xOpen(  # noqa: N802 - the names of the VFS interface
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        """Open a file whose syncs are slow."""
        return _SlowFile(self.sync_s, name, flags)


class _SlowFile(apsw.VFSFile):
    def __init__(
        self, sync_s: float, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        self._sync_s = sync_s
        super().__init__("", name, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802
        began = time.perf_counter()
        super().xSync(flags)
        time.sleep(max(0.0, self._sync_s - (time.perf_counter() - began)))

    def xLock(self, level: int) -> None:  # noqa: N802
        # A connection for reading that closes last asks for a lock it cannot have; SQLite does
        # not mind, but APSW would raise any other error than "busy" from `close`.
        try:
            super().xLock(level)
        except apsw.IOError as error:
            raise apsw.BusyError("locked") from error


def measure_sync_s(folder: Path, syncs: int = 200) -> float:
    """Return the median time that this disk takes to sync one written page."""
    path = folder / "sync-probe"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    page = bytes(4096)
    times = []
    try:
        for number in range(syncs):
            os.pwrite(descriptor, page, number * len(page))
            began = time.perf_counter()
            os.fdatasync(descriptor)
            times.append(time.perf_counter() - began)
    finally:
        os.close(descriptor)
        path.unlink()
    return statistics.median(times)
