"""The export file: one record per line, a card's bytes after its line.

    {"salon_export":1}
    {"g_time":"…","hash":"…","kind":"card","size":5}
    <exactly 5 bytes>
    {"current":"…",…,"kind":"handle","moves":[…],"name":"…"}
    …
    {"kind":"end","records":42,"sha256":"…"}

Every line is canonical JSON and ends with a newline; so do a card's bytes. `sha256` in the last
line covers all lines before it; the bytes of cards are covered by their own hashes, which stand
in those lines. Cards come first, in the order of their arrival. The format is described for
users in docs/reference/export-format.md.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, TypeAlias

from salon.core.canonical import canonical_json
from salon.core.cards import MAX_CARD_BYTES
from salon.core.errors import InvalidExport
from salon.core.hashing import Digest, new_digest

VERSION = 1
MAX_LINE = 1024 * 1024 * 1024
"""A handle with millions of moves is one line; without a limit, noise would fill the memory."""
Record: TypeAlias = dict[str, object]


class ExportWriter:
    """Writes records to a stream that need not be seekable."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lines = new_digest()
        self._records = 0
        self._line({"salon_export": VERSION})

    def record(self, record: Record) -> None:
        """Write one record; a card's bytes must follow through `content`."""
        self._line(record)
        self._records += 1

    def content(self, piece: bytes) -> None:
        """Write bytes of a card."""
        self._stream.write(piece)

    def end(self) -> str:
        """Close the list of records and return the digest over its lines."""
        digest = self._lines.hexdigest()
        self._line({"kind": "end", "records": self._records, "sha256": digest})
        return digest

    def _line(self, record: Record) -> None:
        line = canonical_json(record) + b"\n"
        self._lines.update(line)
        self._stream.write(line)


@dataclass(slots=True)
class ExportReader:
    """Reads records from a stream and refuses what the writer would not have written."""

    stream: BinaryIO
    digest: str = ""
    _lines: Digest = field(default_factory=new_digest)
    _number: int = 0

    def records(self) -> Iterator[Record]:
        """Yield each record; after a card's record, `content` must be read before the next."""
        version = self._next().get("salon_export")
        if version != VERSION:
            raise InvalidExport(
                f"this export has version {version}, and this Salon reads version {VERSION}",
                hint="upgrade Salon" if isinstance(version, int) else "is it an export of Salon?",
            )
        count = 0
        while True:
            covered = self._lines.hexdigest()
            record = self._next()
            if record.get("kind") == "end":
                break
            count += 1
            yield record
        if record.get("sha256") != covered or record.get("records") != count:
            raise InvalidExport(
                "the export was changed after it was written: its last line does not cover it",
                hint="make the export again",
            )
        if self.stream.read(1):
            raise InvalidExport("the export goes on after its end")
        self.digest = covered

    def content(self, size: int) -> Iterator[bytes]:
        """Yield the bytes of a card in pieces."""
        left = size
        while left:
            piece = self.stream.read(min(left, 1024 * 1024))
            if not piece:
                raise self._cut()
            left -= len(piece)
            yield piece
        if self.stream.read(1) != b"\n":
            raise self._bad("a card is longer than its record says")

    def _next(self) -> Record:
        line = self.stream.readline(MAX_LINE)
        self._number += 1
        if not line:
            raise self._cut()
        if not line.endswith(b"\n"):
            raise self._cut() if len(line) < MAX_LINE else self._bad("it is too long")
        self._lines.update(line)
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._bad("it is not JSON") from error
        if not isinstance(record, dict):
            raise self._bad("it is not a record")
        return record

    def _bad(self, why: str) -> InvalidExport:
        return InvalidExport(
            f"record {self._number} of the export cannot be read: {why}",
            hint="is it an export of Salon, and was it copied whole?",
        )

    def _cut(self) -> InvalidExport:
        return InvalidExport(
            f"the export ends in the middle, at record {self._number}",
            hint="copy or make it again; cards read so far are kept, so a second import is quick",
        )


def read_size(record: Record) -> int:
    """Return the size in a card's record, if a card can be that large."""
    size = record.get("size")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 < size <= MAX_CARD_BYTES:
        raise InvalidExport(f"a card cannot have {size!r} bytes")
    return size
