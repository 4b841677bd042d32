"""Text with a map: which page or section every byte of it belongs to.

Offsets are byte offsets into the UTF-8 form of the text, half open, as in citations. This module
is not a reader and knows no file format. Its invariant: the segments of a layout follow each
other without a gap from 0 to the last byte, none is empty, and each has a page or a section.
"""

import json
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from salon.core.canonical import canonical_json
from salon.core.errors import InvalidDocument
from salon.core.hashing import CardHash

Packed: TypeAlias = dict[str, list[str] | list[tuple[int, int | None, int | None]]]

KIND = "salon.layout"
VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The bytes from `start` up to `end`, all on one page and in one section."""

    start: int
    end: int
    page: int | None = None
    section: str | None = None

    def __post_init__(self) -> None:
        if self.start < 0 or self.end <= self.start:
            raise ValueError(f"a segment cannot reach from {self.start} to {self.end}")
        if self.page is None and not self.section:
            raise ValueError("a segment needs a page or a section")
        if self.page is not None and self.page < 1:
            raise ValueError(f"pages count from 1, so {self.page} is none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The pages and sections of one text."""

    segments: tuple[Segment, ...]

    def __post_init__(self) -> None:
        expected = 0
        for segment in self.segments:
            if segment.start != expected:
                raise ValueError(f"a segment starts at {segment.start} instead of {expected}")
            expected = segment.end

    @property
    def size(self) -> int:
        """Return how many bytes the layout describes."""
        return self.segments[-1].end if self.segments else 0

    def segment_at(self, offset: int) -> Segment:
        """Return the segment that holds the byte at `offset`, or raise `IndexError`."""
        if not 0 <= offset < self.size:
            raise IndexError(f"offset {offset} is outside a text of {self.size} bytes")
        following = bisect_right(self.segments, offset, key=lambda segment: segment.start)
        return self.segments[following - 1]

    def pack(self) -> Packed:
        """Return the layout as plain data: each section title once, each segment by its end."""
        sections: dict[str, int] = {}
        segments = [
            (
                segment.end,
                segment.page,
                None
                if segment.section is None
                else sections.setdefault(segment.section, len(sections)),
            )
            for segment in self.segments
        ]
        return {"sections": list(sections), "segments": segments}

    @classmethod
    def unpack(cls, packed: object) -> "Layout":
        """Read what `pack` gave, or raise `ValueError`; the data may come from anywhere."""
        fields = packed if isinstance(packed, Mapping) else {}
        sections, rows = fields.get("sections"), fields.get("segments")
        if not (isinstance(sections, list) and isinstance(rows, list) and _all_text(sections)):
            raise ValueError("a layout has sections, which are strings, and segments")
        segments: list[Segment] = []
        start = 0
        for row in rows:
            end, page, section = _checked_row(row, len(sections))
            title = None if section is None else sections[section]
            segments.append(Segment(start=start, end=end, page=page, section=title))
            start = end
        return cls(segments=tuple(segments))

    def to_json(self, text: CardHash) -> bytes:
        """Return the layout card of the text card `text`.

        The card names its text, so that two texts of equal shape do not share one layout card,
        which would then go when either of them goes.
        """
        return canonical_json({"kind": KIND, "version": VERSION, "text": text} | self.pack())

    @classmethod
    def from_json(cls, content: bytes, *, text: CardHash | None = None) -> "Layout":
        """Read a layout card (that of `text`, where given), or raise `InvalidDocument`."""
        try:
            return cls.unpack(_card_body(content, text))
        except (ValueError, RecursionError) as error:
            raise InvalidDocument(
                f"this card is not the layout that was asked for: {error}",
                hint="ingest the source again to have its layout made anew",
            ) from error


def _card_body(content: bytes, text: CardHash | None) -> object:
    found = json.loads(content)
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise ValueError("it is something else")
    if found.get("version") != VERSION:
        raise ValueError(f"its version is {found.get('version')!r}")
    if text is not None and found.get("text") != text:
        raise ValueError("it describes another text")
    return found


def _all_text(values: list[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _checked_row(row: object, sections: int) -> tuple[int, int | None, int | None]:
    if not isinstance(row, list | tuple) or len(row) != 3:
        raise ValueError("a segment is three values")
    end, page, section = row
    for value in (page, section):
        if value is not None and type(value) is not int:
            raise ValueError("page and section are whole numbers or null")
    if type(end) is not int or not (section is None or 0 <= section < sections):
        raise ValueError("a segment points outside its layout")
    return end, page, section


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadText:
    """What a reader made of a source: its text, the layout of that text, what the file claims.

    `title` and `authors` are the file's own words about itself, not checked by anybody.
    """

    text: str
    layout: Layout
    media_type: str
    title: str | None = None
    authors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if "\0" in self.text:
            raise ValueError("text cannot contain NUL")
        try:
            size = len(self.text.encode())
        except UnicodeEncodeError as error:
            raise ValueError("text cannot contain lone surrogates") from error
        if self.layout.size != size:
            raise ValueError(f"the layout covers {self.layout.size} of {size} bytes")

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Return the segments of the layout."""
        return self.layout.segments

    def segment_at(self, offset: int) -> Segment:
        """Return the segment that holds the byte at `offset`, or raise `IndexError`."""
        return self.layout.segment_at(offset)


class LayoutBuilder:
    """Collects text piece by piece and keeps account of the bytes."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._segments: list[Segment] = []
        self._size = 0

    @property
    def size(self) -> int:
        """Return how many bytes were added so far."""
        return self._size

    def add(self, text: str, *, page: int | None = None, section: str | None = None) -> None:
        """Append `text`; neighbours on the same page and in the same section become one segment."""
        if not text:
            return
        start, end = self._size, self._size + len(text.encode())
        if self._segments:
            last = self._segments[-1]
            if (last.page, last.section) == (page, section):
                self._segments.pop()
                start = last.start
        self._segments.append(Segment(start=start, end=end, page=page, section=section))
        self._pieces.append(text)
        self._size = end

    def build(
        self, *, media_type: str, title: str | None = None, authors: tuple[str, ...] = ()
    ) -> ReadText:
        """Return the text collected so far with its layout."""
        return ReadText(
            text="".join(self._pieces),
            layout=Layout(segments=tuple(self._segments)),
            media_type=media_type,
            title=title,
            authors=authors,
        )
