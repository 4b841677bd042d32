"""From bytes to characters, and from a parser's characters to clean ones.

Decoding is strict: a byte that does not fit is an error with its offset, never a replacement
character. Cleaning is for text that a reader makes (PDF, HTML, DOCX, EPUB); text and Markdown
files are never cleaned, because there the text is the file.
"""

import codecs
import io
import re

from salon.core.errors import UnreadableSource
from salon.corpus.readers import SourceHints

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_BYTE_ORDER_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Python knows these as text encodings, but no document is written in them and some take
# quadratic time on hostile input.
_NOT_FOR_DOCUMENTS = frozenset(
    {"idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined", "utf-7", "mbcs"}
)
# What the web calls these has long been Windows-1252, and browsers read them so.
_WEB_LABELS = {"iso8859-1": "cp1252", "ascii": "cp1252"}

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_NEWLINES = re.compile("\r\n?|\u2028|\u2029|\x85")
_TITLE_LENGTH = 300
# What programs write into a file when nobody gave a title or an author.
_PLACEHOLDERS = frozenset(
    {"", "untitled", "anonymous", "unknown", "unspecified", "word document", "python-docx"}
)


def byte_order_mark(content: bytes) -> str | None:
    """Return the encoding that a byte order mark announces."""
    return next((name for mark, name in _BYTE_ORDER_MARKS if content.startswith(mark)), None)


def decode(content: bytes, hints: SourceHints, *, declared: str | None = None) -> str:
    """Return `content` as text: by demand, byte order mark, declaration, else UTF-8."""
    if hints.encoding:
        encoding = known_encoding(hints.encoding)
        if encoding is None:
            raise UnreadableSource(
                f"there is no text encoding called {hints.encoding!r}",
                hint="try utf-8, cp1252, iso8859-1, utf-16 or shift_jis",
            )
    else:
        encoding = byte_order_mark(content) or _web_encoding(hints.charset or declared) or "utf-8"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableSource(
            f"not valid {error.encoding.upper()} at byte offset {error.start}"
            f" (byte 0x{content[error.start]:02x})",
            hint="if the text is in another encoding, name it: --encoding cp1252",
            offset=error.start,
        ) from error
    except UnicodeError as error:
        raise UnreadableSource(
            f"not valid {encoding.upper()}: {error}",
            hint="if the text is in another encoding, name it: --encoding cp1252",
        ) from error
    return _require_text(text)


def _require_text(text: str) -> str:
    found = re.search("[\x00\ud800-\udfff]", text)
    if found:
        raise UnreadableSource(
            f"not text: character {found.start()} is U+{ord(found.group()):04X}",
            hint="this is a binary file, or text in another encoding (see --encoding)",
        )
    return text


def known_encoding(name: str) -> str | None:
    """Return Python's name for a text encoding, or `None` if it is unknown or unfit."""
    try:
        codec = codecs.lookup(name.strip())
        io.TextIOWrapper(io.BytesIO(), encoding=codec.name)  # refuses zlib, hex and their like
    except (LookupError, ValueError):
        return None
    return None if codec.name.replace("_", "-") in _NOT_FOR_DOCUMENTS else codec.name


def _web_encoding(label: str | None) -> str | None:
    name = known_encoding(label) if label else None
    return _WEB_LABELS.get(name, name) if name else None


def clean(text: str) -> str:
    """Return a parser's text without control characters, with plain newlines."""
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", _NEWLINES.sub("\n", text)))


def clean_title(text: str | None) -> str | None:
    """Return a title or a name on one line, or `None` where a program only filled the field."""
    line = " ".join(clean(text or "").split())[:_TITLE_LENGTH].strip()
    return None if line.casefold() in _PLACEHOLDERS else line
