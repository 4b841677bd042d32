"""Reading labelled data from files: whole texts, JSON, JSON lines, and tables.

Every file may be compressed with gzip, told by its first bytes, and may start with a byte order
mark. What the rows mean is the business of whoever reads them. Nothing is written here.

Invariant: whatever is wrong with a file is one `InvalidInput` that names the file and the line; a
file that is not there is `FileMissing`.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from salon.core.errors import FileMissing, InvalidInput

Row = TypeVar("Row", bound=BaseModel)

_GZIP_MAGIC = b"\x1f\x8b"
_TYPES = frozenset({"str", "int", "float", "bool"})
"""What a place in a row ends in where several types are possible there."""
_NO_OBJECT = "this is not a JSON object"


def open_text(path: Path) -> TextIO:
    """Open the text of a file, compressed or not; it is read whole, so nothing breaks later."""
    return io.StringIO(read_text(path), newline="")


def read_text(path: Path) -> str:
    """Return the whole text of a file, compressed or not."""
    return "".join(line for _, line in _all_lines(path))


def read_json(path: Path) -> Any:
    """Return the one JSON value that a file holds."""
    try:
        return from_json(read_text(path))
    except ValueError as error:
        raise InvalidInput(f"{path} does not hold JSON: {error}", file=str(path)) from error


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Walk the lines that hold something, without their ends, numbered from one."""
    for number, line in _all_lines(path):
        if line.strip():
            yield number, line.rstrip("\r\n")


def read_json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Walk the JSON objects of a file that has one on each line."""
    for number, line in read_lines(path):
        try:
            found = from_json(line)
        except ValueError as error:
            raise bad_line(path, number, _NO_OBJECT) from error
        if not isinstance(found, dict):
            raise bad_line(path, number, _NO_OBJECT)
        yield found


def read_rows(path: Path, kind: type[Row], *, hint: str | None = None) -> Iterator[tuple[int, Row]]:
    """Walk JSON lines as objects of one kind, each with the number of its line."""
    for number, line in read_lines(path):
        yield number, as_row(path, number, line, kind, hint=hint)


def as_row(path: Path, number: int, line: str, kind: type[Row], *, hint: str | None = None) -> Row:
    """Return one line as an object of a kind, or raise what is wrong with it."""
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        raise bad_line(path, number, _reason(error), hint=hint) from error


def read_table(
    path: Path, *, delimiter: str = "\t", columns: Sequence[str] | None = None
) -> Iterator[dict[str, str]]:
    """Walk the rows of a table by column; its first row names them unless `columns` does.

    Fields of a table whose delimiter is the tab are taken as they stand; in all others a field may
    be quoted, and may then hold delimiters and line ends.
    """
    names, number = list(columns or ()), 0
    lines = (line for _, line in _all_lines(path))
    is_plain = delimiter == "\t"
    rows = csv.reader(
        lines,
        delimiter=delimiter,
        quoting=csv.QUOTE_NONE if is_plain else csv.QUOTE_MINIMAL,
        strict=True,
    )
    try:
        for cells in rows:
            number = rows.line_num
            if not cells:
                continue
            if not names:
                names = cells
                continue
            if len(cells) != len(names):
                raise bad_line(path, number, f"{len(cells)} columns instead of {len(names)}")
            yield dict(zip(names, cells, strict=True))
    except csv.Error as error:
        raise bad_line(path, number + 1, f"this is not a row of the table: {error}") from error


def bad_line(path: Path, number: int, reason: str, *, hint: str | None = None) -> InvalidInput:
    """Return the error that says what is wrong in which line of which file."""
    return InvalidInput(f"{path}, line {number}: {reason}", hint=hint, file=str(path), line=number)


def _all_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Walk all lines with their ends, numbered from one."""
    number = 0
    try:
        with _open(path) as stream:
            for number, raw in enumerate(stream, start=1):
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except FileNotFoundError as error:
        raise FileMissing(f"there is no file {path}") from error
    except IsADirectoryError as error:
        raise InvalidInput(f"{path} is a folder", hint="name a file") from error
    except UnicodeDecodeError as error:
        raise bad_line(path, number, "this is not UTF-8 text") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        reason = "the compressed file is damaged or cut short"
        raise bad_line(path, number + 1, reason, hint="fetch it again") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from error


@contextmanager
def _open(path: Path) -> Iterator[BinaryIO]:
    # Opened once, so that what a shell hands over as a pipe can be read too.
    with path.open("rb") as stream:
        if stream.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC):
            with gzip.GzipFile(fileobj=stream) as unpacked:
                yield cast("BinaryIO", unpacked)
        else:
            yield stream


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    if first["type"] in {"json_invalid", "model_type"} and not first["loc"]:
        return _NO_OBJECT
    where = ".".join(str(part) for part in first["loc"] if part not in _TYPES)
    return f"{where}: {first['msg'].lower()}"
