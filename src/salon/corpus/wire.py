"""The messages between the sandbox and its readers.

A job is one line of JSON. A reply is eight bytes of length, that much JSON, then the text; where
the text is the source itself, it is not sent back. Whatever a reader sends is untrusted: it is
parsed as data, checked as strictly as a file from outside, and never unpickled or evaluated.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import cast

from salon.core.errors import (
    Detail,
    EmptyContent,
    ReaderFailed,
    SalonError,
    UnreadableSource,
)
from salon.corpus.layout import Layout, ReadText
from salon.corpus.limits import Limits
from salon.corpus.readers import SourceHints

MEMORY_EXIT = 77
"""The exit status of a reader that ran out of memory and could not even say so."""

ENDING = struct.Struct("!iq")
"""How a child ended, as its parent reports it: wait status, most bytes of memory in use."""

_LENGTH_BYTES = 8
_MESSAGE_LENGTH = 2000
_ERRORS: dict[str, type[SalonError]] = {
    kind.code: kind for kind in (EmptyContent, ReaderFailed, UnreadableSource)
}


class BadReply(ValueError):
    """A reply that no honest reader sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What one reader process has to do. The content comes beside it, as an open file."""

    hints: SourceHints
    limits: Limits

    def to_line(self) -> bytes:
        """Return the job as one line."""
        fields = {"hints": asdict(self.hints), "limits": asdict(self.limits)}
        return json.dumps(fields).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> "Job":
        """Read a job; it comes from the sandbox itself and is trusted."""
        found = json.loads(line)
        return cls(hints=SourceHints(**found["hints"]), limits=Limits(**found["limits"]))


def pack_text(read: ReadText, content: bytes) -> bytes:
    """Return the reply that carries what was read from `content`."""
    text = read.text.encode()
    same = text == content
    header = {
        "media_type": read.media_type,
        "title": read.title,
        "authors": list(read.authors),
        "layout": read.layout.pack(),
        "same_as_source": same,
    }
    return _framed(header, b"" if same else text)


def pack_error(error: SalonError) -> bytes:
    """Return the reply that carries an error."""
    return _framed(error.as_json(), b"")


def _framed(header: Mapping[str, object], text: bytes) -> bytes:
    encoded = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode(
        errors="backslashreplace"
    )
    return len(encoded).to_bytes(_LENGTH_BYTES) + encoded + text


def unpack(reply: bytes, content: bytes) -> ReadText:
    """Return what was read from `content`, raise the error that came, or raise `BadReply`."""
    header, text = _split(reply)
    if "error" in header:
        raise _error(header["error"])
    try:
        decoded = (content if header.get("same_as_source") is True else text).decode()
        return ReadText(
            text=decoded,
            layout=Layout.unpack(header.get("layout")),
            media_type=_string(header.get("media_type")),
            title=_string_or_none(header.get("title")),
            authors=_strings(header.get("authors")),
        )
    except ValueError as error:
        raise BadReply(str(error)) from error


def _split(reply: bytes) -> tuple[dict[str, object], bytes]:
    length = int.from_bytes(reply[:_LENGTH_BYTES])
    body = memoryview(reply)[_LENGTH_BYTES:]
    if len(reply) < _LENGTH_BYTES or length > len(body):
        raise BadReply(f"only {len(reply)} bytes came")
    try:
        header = json.loads(bytes(body[:length]))
    except (ValueError, RecursionError) as error:
        raise BadReply("the header is not JSON") from error
    if not isinstance(header, dict):
        raise BadReply("the header is no object")
    return header, bytes(body[length:])


def _error(found: object) -> SalonError:
    fields = found if isinstance(found, dict) else {}
    kind = _ERRORS.get(str(fields.get("code")))
    message, details = fields.get("message"), fields.get("details")
    if kind is None or not isinstance(message, str) or not isinstance(details, dict):
        raise BadReply("an error of no known kind")
    return kind(
        message[:_MESSAGE_LENGTH],
        hint=_string_or_none(fields.get("hint")),
        **{str(key): cast("Detail", value) for key, value in details.items() if _is_plain(value)},
    )


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _string(value: object) -> str:
    if isinstance(value, str):
        return value
    raise BadReply("a string is missing")


def _string_or_none(value: object) -> str | None:
    return None if value is None else _string(value)


def _strings(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(_string(item) for item in value)
    raise BadReply("a list of strings is missing")
