"""Markdown: the text is the file, byte for byte; the headings above a place name its section.

Only headings are looked for (with `markdown-it-py`, so that a `#` inside a code block is none).
Nothing is rendered: a citation quotes the Markdown source.
"""

import re
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from salon.corpus.layout import Layout, ReadText, Segment
from salon.corpus.readers import MARKDOWN, SourceHints
from salon.corpus.readers.characters import clean_title, decode
from salon.corpus.readers.outline import Outline
from salon.corpus.readers.plain import paragraphs

_LINE_END = re.compile(rb"\r\n?|\n")
_FRONT_MATTER = re.compile(
    r"---[ \t]*\r?\n(?=[\w-]+[ \t]*:)(?:.*\r?\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)"
)
_FRONT_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*\r?$", re.MULTILINE)


def read(content: bytes, hints: SourceHints) -> ReadText:
    """Read a Markdown file."""
    text = decode(content, hints)
    encoded = text.encode()
    front = _front_matter(text)
    headings = _headings(text[len(front) :])
    body_start = len(front.encode())
    line_starts = [body_start, *(end.end() for end in _LINE_END.finditer(encoded, body_start))]
    segments = _opening(encoded, body_start, line_starts[headings[0][0]] if headings else None)
    outline = Outline()
    ends = [*(line_starts[line] for line, _, _ in headings[1:]), len(encoded)]
    for (line, level, heading), end in zip(headings, ends, strict=False):
        outline.enter(level, heading)
        section = outline.section or f"line {line + 1}"
        segments.append(Segment(start=line_starts[line], end=end, section=section))
    return ReadText(
        text=text,
        layout=Layout(segments=tuple(segments)),
        media_type=MARKDOWN.media_type,
        title=_front_title(front) or _first_heading(headings),
    )


def _front_matter(text: str) -> str:
    found = _FRONT_MATTER.match(text)
    return found.group() if found else ""


def _front_title(front: str) -> str | None:
    found = _FRONT_TITLE.search(front)
    return clean_title(found.group(1).strip("\"'")) if found else None


def _first_heading(headings: list[tuple[int, int, str]]) -> str | None:
    return next((clean_title(heading) for _, level, heading in headings if level == 1), None)


def _headings(text: str) -> list[tuple[int, int, str]]:
    """Return line, level and text of every heading outside quotations and lists."""
    parser = MarkdownIt("commonmark").disable("inline")
    tokens = parser.parse(text)
    inline = MarkdownIt("commonmark")
    found: list[tuple[int, int, str]] = []
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            shown = _shown(inline.parseInline(content.content))
            found.append((opening.map[0], int(opening.tag[1:]), shown))
    return found


def _shown(tokens: list[Token]) -> str:
    children = [child for token in tokens for child in token.children or []]
    return "".join(
        " " if child.type in {"softbreak", "hardbreak"} else child.content
        for child in children
        if child.type != "html_inline"
    )


def _opening(encoded: bytes, body_start: int, first_heading: int | None) -> list[Segment]:
    """Return the segments before the first heading: front matter, then numbered paragraphs."""
    end = len(encoded) if first_heading is None else first_heading
    segments = [Segment(start=0, end=body_start, section="front matter")] if body_start > 0 else []
    opening = paragraphs(encoded[body_start:end])
    segments.extend(
        Segment(
            start=segment.start + body_start,
            end=segment.end + body_start,
            section=segment.section,
        )
        for segment in opening.segments
    )
    return segments
