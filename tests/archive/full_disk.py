"""A disk that is full when a test says so: an APSW VFS that refuses to let files grow."""

import itertools
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self

import apsw

if TYPE_CHECKING:
    from typing_extensions import Buffer

_numbers = itertools.count(1)


@dataclass(slots=True)
class FullDisk:
    """`free` is how many bytes files may still grow by; `None` is as much as they like."""

    name: str = field(default_factory=lambda: f"full-disk-{next(_numbers)}")
    free: int | None = None
    refuses_main_file: bool = False
    _vfs: "_Vfs | None" = None

    def __enter__(self) -> Self:
        self._vfs = _Vfs(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._vfs is not None:
            self._vfs.unregister()

    def grow(self, by: int) -> None:
        """Take `by` bytes of room, or raise what SQLite knows as a full disk."""
        if self.free is None:
            return
        if by > self.free:
            raise apsw.FullError("simulated: no room")
        self.free -= by


class _Vfs(apsw.VFS):
    def __init__(self, disk: FullDisk) -> None:
        self._disk = disk
        super().__init__(disk.name, "")

    def xOpen(  # noqa: N802 - APSW's name
        self, name: "str | apsw.URIFilename | None", flags: list[int]
    ) -> "_File":
        return _File(self._disk, name, flags)


class _File(apsw.VFSFile):
    def __init__(
        self, disk: FullDisk, name: "str | apsw.URIFilename | None", flags: list[int]
    ) -> None:
        self._disk = disk
        self._is_main = bool(flags[0] & apsw.SQLITE_OPEN_MAIN_DB)
        super().__init__("", name, flags)

    def xWrite(self, data: "Buffer", offset: int) -> None:  # noqa: N802 - APSW's name
        if self._is_main and self._disk.refuses_main_file:
            raise apsw.FullError("simulated: no room in the file itself")
        grows_by = offset + len(bytes(data)) - self.xFileSize()
        if grows_by > 0:
            self._disk.grow(grows_by)
        super().xWrite(data, offset)
