"""Where text comes from: files, pages, and the files in a folder.

`expand` turns what a person names into a list of sources without opening any of them; `load_file`
reads one. A folder is walked without following links out of it; hidden files and files of kinds
that Salon does not read are passed over and counted.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from salon.core.errors import EmptyContent, FileMissing, UnreadableSource
from salon.corpus.limits import Limits
from salon.corpus.readers import BY_SUFFIX
from salon.corpus.sandbox import too_large


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSource:
    """A file on this machine."""

    path: Path

    @property
    def name(self) -> str:
        """Return how the source is called in messages."""
        # A file name need not be text; what a person reads and what is stored has to be.
        return os.fsencode(self.path).decode(errors="backslashreplace")


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlSource:
    """A page on the web."""

    url: str

    @property
    def name(self) -> str:
        """Return how the source is called in messages."""
        return self.url


Source: TypeAlias = FileSource | UrlSource


@dataclass(slots=True, kw_only=True)
class Skipped:
    """How many files of a folder were passed over, and why."""

    hidden: int = 0
    unknown_kind: int = 0
    outside: int = 0

    def __bool__(self) -> bool:
        return bool(self.hidden or self.unknown_kind or self.outside)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """The sources that were meant, and what was passed over."""

    sources: tuple[Source, ...]
    skipped: Skipped = field(default_factory=Skipped)


def expand(places: Iterable[str | Path]) -> Expansion:
    """Return the sources behind paths, folders and URLs, or raise `FileMissing`.

    A file named outright is taken whatever its extension; in a folder only known ones are.
    """
    skipped = Skipped()
    found: dict[Source, None] = {}
    for place in places:
        if isinstance(place, str) and "://" in place:
            found[UrlSource(url=place)] = None
            continue
        path = Path(place)
        if path.is_dir():
            found.update((FileSource(path=file), None) for file in _walk(path, skipped))
        elif path.exists():
            found[FileSource(path=path)] = None
        else:
            raise FileMissing(f"there is no file or folder {place}", hint="check the path")
    return Expansion(sources=tuple(found), skipped=skipped)


def _walk(folder: Path, skipped: Skipped) -> Iterator[Path]:
    root = folder.resolve()
    for place, folders, names in os.walk(folder):
        shown = sorted(name for name in folders if not name.startswith("."))
        linked = {name for name in shown if (Path(place) / name).is_symlink()}
        skipped.outside += len(linked)
        folders[:] = [name for name in shown if name not in linked]
        for name in sorted(names):
            path = Path(place) / name
            if name.startswith("."):
                skipped.hidden += 1
            elif path.suffix.lower() not in BY_SUFFIX:
                skipped.unknown_kind += 1
            elif path.is_symlink() and not path.resolve().is_relative_to(root):
                skipped.outside += 1
            else:
                yield path


def load_file(path: Path, limits: Limits) -> bytes:
    """Return the bytes of a regular file within the limits, or raise."""
    try:
        # Not blocking, or the open of a pipe would wait for its other end.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise FileMissing(f"there is no file {path}", hint="check the path") from error
    except OSError as error:
        raise _cannot_open(path, error) from error
    try:
        content = _read_regular(descriptor, path, limits)
    except OSError as error:
        raise _cannot_open(path, error) from error
    finally:
        os.close(descriptor)
    if len(content) > limits.input_bytes:  # it grew since
        raise too_large(str(path), len(content), limits)
    if not content:
        raise EmptyContent(f"{path} is empty (0 bytes)", hint="there is nothing to read")
    return content


def _read_regular(descriptor: int, path: Path, limits: Limits) -> bytes:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise UnreadableSource(
            f"{path} is not a regular file", hint="name a file, or a folder of files"
        )
    if found.st_size > limits.input_bytes:
        raise too_large(str(path), found.st_size, limits)
    with os.fdopen(descriptor, "rb", closefd=False) as stream:
        return stream.read(limits.input_bytes + 1)


def _cannot_open(path: Path, error: OSError) -> UnreadableSource:
    return UnreadableSource(
        f"{path} cannot be opened: {error.strerror}", hint="check who may read it"
    )
