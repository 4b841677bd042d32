"""What a file really is, told by its content and compared with what its name claims.

The content decides between the families (PDF, the ZIP formats, text, anything else); within the
text family the name decides, because Markdown and HTML are text too. A name that contradicts the
content is an error, so that nobody cites what a viewer would never show.
"""

import re
from dataclasses import dataclass

from salon.core.errors import UnreadableSource
from salon.corpus.readers import (
    DOCX,
    EPUB,
    HTML,
    MARKDOWN,
    PDF,
    PLAIN,
    READABLE,
    Format,
    SourceHints,
    claimed_format,
)
from salon.corpus.readers.characters import byte_order_mark

_TEXT_FAMILY = (PLAIN, MARKDOWN, HTML)
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_ANY_TAG = re.compile(rb"<[a-zA-Z!/]")
# puremagic is less sure than this only where two or three letters would do.
_SURE_ENOUGH = 0.3
_HEAD_BYTES = 1 << 16
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the content is: a format that Salon reads, or only a name for the error message."""

    name: str
    form: Format | None = None
    hint: str | None = None


def recognise(content: bytes, hints: SourceHints) -> Format:
    """Return the format to read `content` as, or raise `UnreadableSource`."""
    claimed = claimed_format(hints)
    if hints.encoding and (claimed is None or claimed in _TEXT_FAMILY):
        return claimed or PLAIN
    found = _sniff(content)
    if found.form is None:
        raise UnreadableSource(
            f"this is really {found.name}, not {claimed.name}"
            if claimed
            else f"this is {found.name}, which no reader understands",
            hint=found.hint or f"Salon reads {READABLE}",
        )
    if claimed is None or claimed is found.form or _is_told_by_name(claimed, found.form, content):
        return claimed or found.form
    raise UnreadableSource(
        f"this is really {found.form.name}, not {claimed.name}",
        hint=f"if that is what you meant, rename it to end in {found.form.suffixes[0]}",
    )


def _is_told_by_name(claimed: Format, found: Format, content: bytes) -> bool:
    if found is not PLAIN or claimed not in _TEXT_FAMILY:
        return False
    return claimed is not HTML or _ANY_TAG.search(_head(content)) is not None


def _sniff(content: bytes) -> Found:
    if b"%PDF-" in content[:1024]:
        return Found(name=PDF.name, form=PDF)
    if content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _sniff_zip(content)
    if content.startswith(_OLE):
        return Found(
            name="an old or password-protected Office file",
            hint="open it in an office program and save it as DOCX without a password",
        )
    if content.startswith(b"{\\rtf"):
        return Found(name="an RTF document", hint="save it as DOCX or plain text")
    if byte_order_mark(content) or not _is_binary(content):
        form = HTML if _HTML_START.match(_head(content)) else PLAIN
        return Found(name=form.name, form=form)
    return Found(name=_name_of_binary(content) or "a binary file of unknown kind")


def _head(content: bytes) -> bytes:
    """Return the beginning of a text as UTF-8, so that patterns fit whatever its encoding."""
    encoding = byte_order_mark(content)
    head = content[:_HEAD_BYTES]
    return head.decode(encoding, errors="ignore").encode() if encoding else head


def _sniff_zip(content: bytes) -> Found:
    from salon.corpus.readers.zips import entry_names

    names = entry_names(content)
    if "META-INF/container.xml" in names:
        return Found(name=EPUB.name, form=EPUB)
    if "word/document.xml" in names:
        return Found(name=DOCX.name, form=DOCX)
    for folder, name in (("xl/", "an Excel workbook"), ("ppt/", "a PowerPoint presentation")):
        if any(entry.startswith(folder) for entry in names):
            return Found(name=name)
    if "mimetype" in names and "content.xml" in names:
        return Found(name="an OpenDocument file", hint="save it as DOCX or PDF")
    return Found(name="a ZIP archive", hint="unpack it and ingest the folder")


def _is_binary(content: bytes) -> bool:
    if b"\0" in content:
        return True
    try:
        content.decode()
    except UnicodeDecodeError:
        # Perhaps only text in another encoding: its reader says at which byte it stops fitting.
        return _name_of_binary(content) is not None
    return False


def _name_of_binary(content: bytes) -> str | None:
    import puremagic

    try:
        best = puremagic.magic_string(content)[0]
    except (puremagic.PureError, ValueError, IndexError):
        return None
    if best.confidence < _SURE_ENOUGH or best.mime_type.startswith("text/"):
        return None
    return f"a {best.name}"
