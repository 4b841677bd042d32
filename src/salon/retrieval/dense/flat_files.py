"""The files of the flat index, and the one small file that says how much of them counts.

A generation is a set of files that only grow; `manifest.json` names it and says how many rows of
each file are committed. It is replaced in one step, after the rows it speaks of are on the disk:
whatever else a killed writer leaves behind, in longer files or in files of another generation, is
outside of what the manifest names. Names of generations never come back.
"""

import errno
import fcntl
import json
import os
import secrets
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal, Self, TypeAlias

from salon.core.embedding import EmbeddingModel
from salon.core.errors import StorageBusy, StorageFailed, StorageFull, StorageReadOnly

Kind: TypeAlias = Literal["vectors", "passages", "cards", "dead", "sketches"]
KINDS: Final[tuple[Kind, ...]] = ("vectors", "passages", "cards", "dead", "sketches")
FORMAT: Final = 1
_MANIFEST: Final = "manifest.json"
_DRAFT: Final = "manifest.draft"
_LOCK: Final = "lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What is committed."""

    model: EmbeddingModel
    generation: str
    rows: int = 0
    """Vectors, and passages with their cards."""
    cards: int = 0
    card_bytes: int = 0
    dead: int = 0
    """Rows that were removed or replaced, by their numbers."""
    sketched: int = 0
    """Rows that have a sketch: the first ones."""

    @classmethod
    def of_nothing(cls, model: EmbeddingModel) -> Self:
        """Return the manifest of a new generation."""
        return cls(model=model, generation=secrets.token_hex(8))


class ManifestFile:
    """A manifest as read; kept open, so that no later one can be mistaken for it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _MANIFEST
        descriptor = os.open(self._path, os.O_RDONLY)
        weakref.finalize(self, os.close, descriptor)  # readers may still look when a new one comes
        self._stat = os.fstat(descriptor)
        self.manifest = _parsed(self._path, os.read(descriptor, 1 << 16))

    def is_current(self) -> bool:
        """Tell whether no other manifest has taken its place."""
        try:
            return os.path.samestat(self._path.stat(), self._stat)
        except FileNotFoundError:
            return False


def find_manifest(folder: Path) -> ManifestFile | None:
    """Return what is committed in a folder, if anything is."""
    try:
        return ManifestFile(folder)
    except FileNotFoundError:
        return None


def replace_manifest(folder: Path, manifest: Manifest) -> None:
    """Commit: from here on this is what counts, also after a power cut."""
    content = json.dumps({"format": FORMAT, **asdict(manifest)}, indent=1).encode()
    descriptor = os.open(folder / _DRAFT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    (folder / _DRAFT).replace(folder / _MANIFEST)
    _sync_folder(folder)


def path_of(folder: Path, generation: str, kind: Kind) -> Path:
    """Return where a file of a generation is."""
    return folder / f"{generation}.{kind}"


def remove_other_generations(folder: Path, generation: str | None) -> None:
    """Delete the files that the manifest does not name: only for who holds the lock."""
    for path in folder.iterdir():
        if path.suffix.removeprefix(".") in KINDS and path.stem != generation:
            path.unlink(missing_ok=True)


class WriterLock:
    """Lets one writer at a time into a folder, whatever the process; freed when that one dies."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._descriptor)
            raise StorageBusy(
                f"another writer is changing the index {folder}",
                hint="wait for it to finish, then run the same command again",
            ) from error

    def release(self) -> None:
        """Let the next one in."""
        os.close(self._descriptor)


@contextmanager
def file_errors(folder: Path) -> Iterator[None]:
    """Say what the system reports about the files of an index in the words of the error tree."""
    try:
        yield
    except OSError as error:
        match error.errno:
            case errno.ENOSPC | errno.EDQUOT:
                raise StorageFull(
                    f"no room left to write the index {folder}", hint="free some space"
                ) from error
            case errno.EACCES | errno.EPERM | errno.EROFS | errno.ENOTDIR | errno.EEXIST:
                raise StorageReadOnly(
                    f"the index {folder} cannot be used: {error.strerror}",
                    hint="check the permissions of the folder",
                ) from error
            case _:
                raise StorageFailed(f"the index {folder} failed: {error}") from error


def damaged(what: object) -> StorageFailed:
    """Return the error for files that contradict their manifest."""
    return StorageFailed(
        f"the vector index is damaged: {what}",
        hint="delete it: it holds nothing but what can be built again",
    )


def _parsed(path: Path, content: bytes) -> Manifest:
    try:
        fields = json.loads(content)
        if fields.pop("format") != FORMAT:
            raise damaged(f"{path} has a format of another version")
        return Manifest(**{**fields, "model": EmbeddingModel(**fields["model"])})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(f"{path} does not read as a manifest") from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # not every file system can; the name is in place all the same
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
