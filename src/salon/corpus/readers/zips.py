"""ZIP containers (DOCX, EPUB), opened only after their sizes were checked.

The directory of a ZIP file states the unpacked size of every entry. `open_checked` refuses a
container whose directory promises too much, then unpacks every entry once in small pieces: an
entry that holds more than it states fails its checksum there, without ever being in memory.
"""

import io
import zipfile
import zlib
from dataclasses import dataclass

from salon.core.errors import UnreadableSource

_PIECE = 1 << 16
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1


@dataclass(frozen=True, slots=True, kw_only=True)
class ZipLimits:
    """What a document in a ZIP container may unpack to."""

    entries: int = 10_000
    entry_bytes: int = 100_000_000
    total_bytes: int = 400_000_000
    ratio: int = 250
    ratio_from_bytes: int = 5_000_000
    """Small entries may be as dense as they like: a page of blanks packs 1000 to 1."""


def entry_names(content: bytes) -> frozenset[str]:
    """Return the names in a ZIP file's directory; nothing is unpacked."""
    with _open(content) as container:
        return frozenset(container.namelist())


def open_checked(content: bytes, limits: ZipLimits | None = None) -> zipfile.ZipFile:
    """Return the container, or raise `UnreadableSource` if it is broken or a bomb."""
    limits = limits or ZipLimits()
    container = _open(content)
    entries = container.infolist()
    if len(entries) > limits.entries:
        raise _bomb(f"{len(entries)} entries, more than {limits.entries}")
    for entry in entries:
        _check_entry(entry, limits)
    total = sum(entry.file_size for entry in entries)
    if total > limits.total_bytes:
        raise _bomb(f"it unpacks to {total} bytes, more than {limits.total_bytes}")
    for entry in entries:
        _unpack_once(container, entry)
    return container


def read_entry(container: zipfile.ZipFile, name: str) -> bytes:
    """Return one entry of a checked container, or raise `UnreadableSource`."""
    try:
        return container.read(name)
    except KeyError as error:
        raise UnreadableSource(
            f"a part of it is missing: {name}", hint="the file is damaged; get a fresh copy"
        ) from error


def _open(content: bytes) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, ValueError) as error:
        raise _broken(error) from error


def _check_entry(entry: zipfile.ZipInfo, limits: ZipLimits) -> None:
    if entry.flag_bits & _ENCRYPTED:
        raise UnreadableSource(
            "it is protected by a password", hint="save a copy without the password"
        )
    if entry.compress_type not in _METHODS:
        raise UnreadableSource(f"{entry.filename!r} is packed in a way that documents never are")
    if entry.file_size > limits.entry_bytes:
        raise _bomb(f"{entry.filename!r} unpacks to {entry.file_size} bytes")
    dense = entry.file_size > limits.ratio * max(entry.compress_size, 1)
    if dense and entry.file_size > limits.ratio_from_bytes:
        raise _bomb(
            f"{entry.filename!r} unpacks from {entry.compress_size} to {entry.file_size} bytes"
        )


def _unpack_once(container: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    try:
        with container.open(entry) as stream:
            while stream.read(_PIECE):
                pass
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise _broken(error) from error


def _broken(error: Exception) -> UnreadableSource:
    return UnreadableSource(
        f"its ZIP container is damaged: {error}", hint="the file is damaged; get a fresh copy"
    )


def _bomb(what: str) -> UnreadableSource:
    return UnreadableSource(
        f"refused as a possible ZIP bomb: {what}",
        hint="if the file is honest, convert it to plain text or PDF and ingest that",
    )
