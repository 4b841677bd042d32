"""A disk that loses power: an APSW VFS that knows what was synced and what was merely written.

SQLite works on real files, as always. Beside them `SimulatedDisk` keeps, per file, the image as of
its last sync and every later write and truncation, and per name which file a directory sync has
pinned to it. At the chosen operation the power goes: that operation and all after it fail, and
`write_survivors` writes what a real disk might show afterwards. The invariant is the disk's own
promise and no more: synced bytes are there; each unsynced sector, size and name is in its old or
any later state, independently of the others. Bytes beside a write are never harmed, which is what
SQLite's unix VFS assumes too. The WAL index is memory and vanishes.

Not simulated: disks that lie about syncs, and bit rot.
"""

import threading
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

SECTOR = 512
NEVER = 1_000_000_000
_NEW_JOURNALS = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_WAL
_INDEX_SUFFIX = "-shm"


@dataclass(frozen=True, slots=True)
class Written:
    """Bytes that were handed to the disk and not synced yet."""

    offset: int
    data: bytes

    def apply(self, image: bytearray) -> None:
        """Put all of it into `image`."""
        _grow(image, self.offset + len(self.data))
        image[self.offset : self.offset + len(self.data)] = self.data

    def apply_partly(self, image: bytearray, luck: "Luck") -> None:
        """Put into `image` what survived: all, nothing, or some of the sectors."""
        if luck.survives():
            self.apply(image)
        elif luck.tears():
            end = self.offset + len(self.data)
            if luck.tears():  # the new size was noted before the bytes were
                _grow(image, end)
            start = self.offset
            while start < end:
                stop = min(end, start - start % SECTOR + SECTOR)
                if luck.tears():
                    piece = self.data[start - self.offset : stop - self.offset]
                    Written(start, piece).apply(image)
                start = stop


@dataclass(frozen=True, slots=True)
class Truncated:
    """A new file size that was not synced yet."""

    size: int

    def apply(self, image: bytearray) -> None:
        """Give `image` this size."""
        _grow(image, self.size)
        del image[self.size :]

    def apply_partly(self, image: bytearray, luck: "Luck") -> None:
        """Give `image` this size, or leave it."""
        if luck.survives():
            self.apply(image)


@dataclass(frozen=True, slots=True)
class Luck:
    """How kind one power cut is to what was not synced."""

    random: Random
    chance: float

    @classmethod
    def draw(cls, random: Random) -> "Luck":
        """Return a luck: everything, nothing, or anything between, each often enough."""
        return cls(random, random.choice((0.0, 1.0, random.random(), random.random())))

    def survives(self) -> bool:
        """Tell whether one unsynced change is there after the cut."""
        return self.random.random() < self.chance

    def tears(self) -> bool:
        """Toss a coin."""
        return self.random.random() < 0.5


@dataclass(slots=True, eq=False)
class SimulatedFile:
    """One file: what a sync has made durable, and what came after it."""

    durable: bytearray
    role: str
    pending: list[Written | Truncated] = field(default_factory=list)
    pins_directory: bool = False

    def sync(self) -> None:
        """Make everything written so far durable."""
        for change in self.pending:
            change.apply(self.durable)
        self.pending.clear()

    def after_cut(self, luck: Luck) -> bytes:
        """Return the content that the disk shows after a power cut."""
        image = bytearray(self.durable)
        for change in self.pending:
            change.apply_partly(image, luck)
        if len(image) > len(self.durable) and not luck.survives() and luck.tears():
            del image[len(self.durable) :]  # the bytes were there, the new size was not
        return bytes(image)


class SimulatedDisk:
    """What the files in one folder look like to a disk that may lose power any moment.

    The power goes at the operation number `cut_after`. Most operations are writes; if they do not
    count, it goes at a sync, a truncation or a deletion.
    """

    def __init__(self, folder: Path, *, cut_after: int = NEVER, counts_writes: bool = True) -> None:
        self.is_cut = False
        self.cut_during = "nothing"
        self._operations = 0
        self._cut_after = cut_after
        self._counts_writes = counts_writes
        self._lock = threading.Lock()
        self._files = {
            str(path): SimulatedFile(bytearray(path.read_bytes()), _role(path.name))
            for path in folder.iterdir()
            if not path.name.endswith(_INDEX_SUFFIX)
        }
        self._pinned: dict[str, SimulatedFile | None] = dict(self._files)

    def cut(self) -> None:
        """Cut the power now."""
        with self._lock:
            self.is_cut = True

    def require_power(self) -> None:
        """Raise if there is none."""
        if self.is_cut:
            raise apsw.IOError("the power is out")

    def open(self, name: str, *, is_new_journal: bool) -> SimulatedFile:
        """Return the file with this name, which may be new."""
        with self._lock:
            self.require_power()
            if name not in self._files:
                # SQLite's unix VFS syncs the folder with the first sync of a new journal.
                self._files[name] = SimulatedFile(
                    bytearray(), _role(name), pins_directory=is_new_journal
                )
            return self._files[name]

    def change(self, file: SimulatedFile, change: Written | Truncated) -> None:
        """Take note of an unsynced change. If the power goes here, it may be half done."""
        with self._lock:
            self.require_power()
            file.pending.append(change)
            if isinstance(change, Truncated):
                self._operate(f"truncate {file.role}")
            elif self._counts_writes:
                self._operate(f"write {file.role}")

    def sync(self, file: SimulatedFile) -> None:
        """Make a file durable. If the power goes here, it is not."""
        with self._lock:
            self.require_power()
            self._operate(f"sync {file.role}")
            file.sync()
            for name, current in list(self._files.items()):
                if file.pins_directory or current is file:
                    self._pinned[name] = current
            if file.pins_directory:
                for name in self._pinned.keys() - self._files.keys():
                    self._pinned[name] = None
                file.pins_directory = False

    def delete(self, name: str, *, sync_folder: bool) -> None:
        """Forget a name; until the folder is synced it may come back."""
        with self._lock:
            self.require_power()
            self._files.pop(name, None)
            self._operate(f"delete {_role(name)}")
            if sync_folder:
                self._pinned[name] = None

    def write_survivors(self, folder: Path, random: Random) -> None:
        """Write the files as the disk shows them once the power is back."""
        luck = Luck.draw(random)
        for name in sorted(self._files.keys() | self._pinned.keys()):
            now, pinned = self._files.get(name), self._pinned.get(name)
            shown = now if now is pinned or luck.survives() else pinned
            if shown is not None:
                (folder / Path(name).name).write_bytes(shown.after_cut(luck))

    def _operate(self, what: str) -> None:
        self._operations += 1
        if self._operations >= self._cut_after:
            self.is_cut, self.cut_during = True, what
            raise apsw.IOError("the power went out")


class PowerCutVfs(apsw.VFS):
    """The system's own VFS, with everything that changes a file noted on a `SimulatedDisk`."""

    def __init__(self, name: str, disk: SimulatedDisk) -> None:
        self.disk = disk
        super().__init__(name, "")

    def xOpen(  # noqa: N802 - the names of the VFS interface
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        if name is None:  # a temporary file, whose end is nobody's loss
            return apsw.VFSFile("", name, flags)
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        file = self.disk.open(path, is_new_journal=bool(flags[0] & _NEW_JOURNALS))
        return _PowerCutFile(self.disk, file, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self.disk.delete(filename, sync_folder=syncdir)
        super().xDelete(filename, syncdir)


class _PowerCutFile(apsw.VFSFile):
    def __init__(
        self,
        disk: SimulatedDisk,
        file: SimulatedFile,
        name: str | apsw.URIFilename,
        flags: list[int],
    ) -> None:
        self._disk = disk
        self._file = file
        super().__init__("", name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self._disk.require_power()
        return super().xRead(amount, offset)

    def xWrite(self, data: "ReadableBuffer", offset: int) -> None:  # noqa: N802
        self._disk.change(self._file, Written(offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._disk.change(self._file, Truncated(newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.sync(self._file)

    def xLock(self, level: int) -> None:  # noqa: N802
        # A connection for reading that closes last asks for this lock and cannot have it. SQLite
        # does not mind, but APSW would raise any other error than "busy" from `close`.
        try:
            super().xLock(level)
        except apsw.IOError as error:
            raise apsw.BusyError("locked") from error


def _role(name: str) -> str:
    """Tell what a file is to SQLite: `database`, `wal` or `journal`."""
    _, dash, suffix = Path(name).suffix.partition("-")
    return suffix if dash else "database"


def _grow(image: bytearray, size: int) -> None:
    if len(image) < size:
        image.extend(bytes(size - len(image)))
