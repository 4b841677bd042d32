"""Exports taken apart and put together again, honestly or not."""

import hashlib
import io
import json
from dataclasses import dataclass

from salon.archive.export.transfer import Imported, OnConflict, export_archive, import_archive
from salon.archive.sqlite_archive import SqliteArchive

Fields = dict[str, object]


@dataclass(slots=True)
class Part:
    """One record of an export and, for a card, its bytes."""

    fields: Fields
    content: bytes | None = None


def exported(archive: SqliteArchive) -> bytes:
    """Return a whole archive as bytes."""
    stream = io.BytesIO()
    export_archive(archive, stream)
    return stream.getvalue()


def imported(
    archive: SqliteArchive, data: bytes, *, on_conflict: OnConflict = "refuse"
) -> Imported:
    """Take in an export from bytes."""
    return import_archive(archive, io.BytesIO(data), on_conflict=on_conflict)


def take_apart(data: bytes) -> list[Part]:
    """Return the records of an export, without its first and last line."""
    stream = io.BytesIO(data)
    parts: list[Part] = []
    assert json.loads(stream.readline()) == {"salon_export": 1}
    while True:
        fields = json.loads(stream.readline())
        if fields["kind"] == "end":
            return parts
        content = None
        if fields["kind"] == "card":
            content = stream.read(fields["size"])
            assert stream.read(1) == b"\n"
        parts.append(Part(fields, content))


def put_together(parts: list[Part]) -> bytes:
    """Return an export with a last line that covers these records, whatever they say."""
    lines, data = hashlib.sha256(), b""
    line = b'{"salon_export":1}\n'
    lines.update(line)
    data += line
    for part in parts:
        line = json.dumps(part.fields).encode() + b"\n"
        lines.update(line)
        data += line
        if part.content is not None:
            data += part.content + b"\n"
    end = {"kind": "end", "records": len(parts), "sha256": lines.hexdigest()}
    return data + json.dumps(end).encode() + b"\n"
