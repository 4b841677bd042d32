"""Whose words a note quotes: title, authors, year and page of its document, on one plain line.

The system writes it, never a seat, and only from the provenance of the document; what is not known
is left out. Provenance is text of strangers, so nothing of it that a reader of Markdown or HTML
would obey, and nothing that cannot be seen, gets onto the line.
"""

import html
import re

from salon.core.citations import Citation
from salon.core.documents import Document
from salon.council.hidden import visible

LONGEST_SOURCE = 300
"""A line has at most so many characters."""
_LONGEST = {"title": 160, "author": 60}
_MOST_AUTHORS = 3
_TAG = re.compile(r"<[A-Za-z/!?][^<>]{0,2000}>")
_SCHEME = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]{0,20}://|www\.|card:|mailto:|javascript:)", re.IGNORECASE
)
_ENTITY = re.compile(r"&(?=#?\w{1,40};)")
_SIGNS = str.maketrans(
    {"_": " ", "\u201c": "'", "\u201d": "'", '"': "'"} | dict.fromkeys("<>[]{}`|\\*~^$")
)
"""What Markdown reads, and the signs that end a quote: nothing may look like a second note."""


def source_line(document: Document, citation: Citation) -> str:
    """Return the source of a citation on one line; empty where nothing of it can be said."""
    about = document.provenance
    authors = [named for one in about.authors if (named := _plain(one, _LONGEST["author"]))]
    if len(authors) > _MOST_AUTHORS:
        authors = [authors[0], "others"]
    written = " and ".join(filter(None, (", ".join(authors[:-1]), *authors[-1:])))
    parts = (
        _plain(about.title, _LONGEST["title"]),
        written,
        "" if about.year is None else str(about.year),
        "" if citation.page is None else f"page {citation.page}",
    )
    line = ", ".join(one for one in parts if one)
    return line if len(line) <= LONGEST_SOURCE else line[: LONGEST_SOURCE - 1].rstrip() + "\u2026"


def _plain(text: str, longest: int) -> str:
    """Return words of a stranger as words and nothing else."""
    bare = _TAG.sub("", html.unescape(text))
    before = None
    while before != bare:  # what is left when a scheme goes may be another one
        before = bare
        bare = _SCHEME.sub("", visible(bare).translate(_SIGNS))
    bare = " ".join(_ENTITY.sub("", bare).split()).strip(" ,;")
    return bare if len(bare) <= longest else bare[: longest - 1].rstrip() + "\u2026"
