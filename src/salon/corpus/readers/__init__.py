"""The readers: bytes of a known format in, text with its layout out.

`FORMATS` is the table of what Salon reads. Each format names a module of this package with one
function `read(content, hints) -> ReadText`; the module, and with it the parser, is imported only
when a file of that format is read. Readers trust nothing in a file, but they are not the line of
defence: parsers have bugs, so all of this runs in the limited process of `salon.corpus.sandbox`
and is called directly only there and in tests.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeAlias, cast
from urllib.parse import urlsplit

from salon.core.errors import EmptyContent, UnreadableSource
from salon.corpus.layout import ReadText


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceHints:
    """What is said about some bytes by others than the bytes themselves.

    `media_type` and `charset` are what a web server declared; `encoding` is what a person
    demanded, which is stronger than anything declared.
    """

    name: str
    media_type: str | None = None
    charset: str | None = None
    encoding: str | None = None

    @property
    def suffix(self) -> str:
        """Return the extension of the file or of the URL's path, in lower case."""
        path = urlsplit(self.name).path if "://" in self.name else self.name
        return PurePosixPath(path).suffix.lower()


Reader: TypeAlias = Callable[[bytes, SourceHints], ReadText]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One thing that Salon reads: how it is called, recognised by name, and by whom it is read."""

    media_type: str
    name: str
    suffixes: tuple[str, ...]
    module: str
    aliases: tuple[str, ...] = ()


PLAIN = Format(
    media_type="text/plain",
    name="plain text",
    suffixes=(".txt", ".text"),
    module="salon.corpus.readers.plain",
)
MARKDOWN = Format(
    media_type="text/markdown",
    name="Markdown",
    suffixes=(".md", ".markdown"),
    module="salon.corpus.readers.markdown",
    aliases=("text/x-markdown",),
)
HTML = Format(
    media_type="text/html",
    name="an HTML page",
    suffixes=(".html", ".htm", ".xhtml"),
    module="salon.corpus.readers.html",
    aliases=("application/xhtml+xml",),
)
PDF = Format(
    media_type="application/pdf",
    name="a PDF",
    suffixes=(".pdf",),
    module="salon.corpus.readers.pdf",
    aliases=("application/x-pdf",),
)
DOCX = Format(
    media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    name="a Word document (DOCX)",
    suffixes=(".docx",),
    module="salon.corpus.readers.docx",
)
EPUB = Format(
    media_type="application/epub+zip",
    name="an EPUB book",
    suffixes=(".epub",),
    module="salon.corpus.readers.epub",
)

FORMATS: tuple[Format, ...] = (PLAIN, MARKDOWN, HTML, PDF, DOCX, EPUB)
BY_SUFFIX: dict[str, Format] = {suffix: form for form in FORMATS for suffix in form.suffixes}
BY_MEDIA_TYPE: dict[str, Format] = {
    media_type: form for form in FORMATS for media_type in (form.media_type, *form.aliases)
}
READABLE = "text, Markdown, HTML, PDF, DOCX and EPUB"


def claimed_format(hints: SourceHints) -> Format | None:
    """Return the format that the name or the web server claims, if it is one that Salon reads."""
    by_suffix = BY_SUFFIX.get(hints.suffix)
    declared = BY_MEDIA_TYPE.get(hints.media_type or "")
    if declared is PLAIN and by_suffix is MARKDOWN:
        return MARKDOWN  # most servers send Markdown as plain text
    return declared or by_suffix


def load_reader(form: Format) -> Reader:
    """Import the reader of a format, and with it the parser."""
    return cast("Reader", importlib.import_module(form.module).read)


def read_content(content: bytes, hints: SourceHints) -> ReadText:
    """Return the text of `content`, or raise one error that names the source and the reason."""
    from salon.corpus.readers.detection import recognise

    if not content:
        raise EmptyContent(f"{hints.name} is empty (0 bytes)", hint="there is nothing to read")
    try:
        found = load_reader(recognise(content, hints))(content, hints)
    except UnreadableSource as error:
        raise UnreadableSource(
            f"{hints.name}: {error.message}", hint=error.hint, **error.details
        ) from error
    if not found.text.strip():
        raise UnreadableSource(f"{hints.name} holds no text, only white space")
    return found
