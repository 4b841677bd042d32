"""Writing a file exactly once: whole, durable, and never over one that is there."""

import os
import tempfile
from pathlib import Path

_HAS_FOLDER_SYNC = os.name == "posix"


def write_once(path: Path, content: bytes) -> bool:
    """Write a file unless there is one of this name, and tell whether it was written.

    It appears under its name whole or not at all, also when the machine stops in between.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, fresh = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(fresh, path)
        except FileExistsError:
            return False
        _sync_folder(path.parent)
        return True
    finally:
        Path(fresh).unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    if not _HAS_FOLDER_SYNC:
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
