"""Plain text: the text is the file, byte for byte, and its paragraphs are its sections.

Only a byte order mark or another encoding makes the text differ from the file.
"""

import re

from salon.corpus.layout import Layout, ReadText, Segment
from salon.corpus.readers import PLAIN, SourceHints
from salon.corpus.readers.characters import decode

# Atomic, or the two halves of one "\r\n" would pass for a blank line.
_BLANK_LINES = re.compile(rb"(?>\r\n|\r|\n)(?:[ \t]*+(?>\r\n|\r|\n))++")


def read(content: bytes, hints: SourceHints) -> ReadText:
    """Read a text file."""
    text = decode(content, hints)
    return ReadText(text=text, layout=paragraphs(text.encode()), media_type=PLAIN.media_type)


def paragraphs(text: bytes) -> Layout:
    """Return the layout of UTF-8 text by its paragraphs; blank lines end one, and belong to it."""
    segments: list[Segment] = []
    start = 0
    for blank in _BLANK_LINES.finditer(text):
        # Blank lines at the very top belong to the first paragraph, there is none before it.
        if text[start : blank.start()].strip():
            segments.append(_paragraph(start, blank.end(), len(segments) + 1))
            start = blank.end()
    if start < len(text):
        segments.append(_paragraph(start, len(text), len(segments) + 1))
    return Layout(segments=tuple(segments))


def _paragraph(start: int, end: int, number: int) -> Segment:
    return Segment(start=start, end=end, section=f"paragraph {number}")
