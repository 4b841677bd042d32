"""Cutting text into passages: whole sentences where they fit, exact spans always.

It knows neither cards nor indexes, and it never changes text: no trimming inside a passage, no
normalisation. Sizes and overlaps are counted in characters, spans in bytes of the UTF-8 text,
because a citation points into bytes.

Invariants: `text.encode()[start:end].decode() == passage.text`; every character that is not white
space is in some passage; no passage is longer than `size`; two neighbours share at most `overlap`
characters; a sentence of at most `size` characters is whole in at least one passage.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from salon.core.errors import InvalidSettings

CharSpan: TypeAlias = tuple[int, int]

# One set of characters comes first, so that the search can skip to them; what kind of break it is
# is looked at afterwards. A run of stops is taken whole even where no sentence ends (`3.14`): a
# page of dots stays cheap.
_BREAK = re.compile(
    r"""[.!?\u2026\u3002\uff01\uff1f\n](?:"""
    r"""(?<=[.!?\u2026])[.!?\u2026]*+["'\u201d\u2019\u00bb)\]]*+(?=(?P<gap>\s?))"""
    r"""|(?<=[\u3002\uff01\uff1f])[\u3002\uff01\uff1f]*+["\u201d\u2019\u300d\u300f\uff09]*+"""
    r"""|(?<=\n)[^\S\n]*\n)"""  # an empty line
)
_NEXT_CHARACTER = re.compile(r"\S")
_WORD = re.compile(r"\S+")
_WORD_START = re.compile(r"(?<=\s)\S")
_LONGEST_ABBREVIATION = 12

# fmt: off
ABBREVIATIONS = frozenset(
    {
        "al", "approx", "apr", "aug", "ca", "capt", "cf", "ch", "co", "corp", "dec", "dept", "dr",
        "ed", "eds", "eq", "esp", "est", "etc", "feb", "fig", "figs", "gen", "gov", "hon", "inc",
        "jan", "jr", "jul", "jun", "lt", "ltd", "messrs", "mr", "mrs", "ms", "mt", "nos", "nov",
        "oct", "p", "pp", "prof", "rep", "rev", "sen", "sep", "sept", "sr", "st", "vol", "vols",
        "vs",
    }
)
# fmt: on
"""Words whose full stop does not end a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSettings:
    """How long a passage may be and how much neighbours may share, in characters."""

    size: int = 1000
    overlap: int = 200

    def __post_init__(self) -> None:
        if self.size < 1:
            raise InvalidSettings(f"a passage of {self.size} characters holds nothing")
        if not 0 <= self.overlap <= self.size // 2:
            raise InvalidSettings(
                f"an overlap of {self.overlap} does not suit passages of {self.size} characters",
                hint="take 0 up to half the size",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of text and where its bytes stand, from `start` up to `end`."""

    start: int
    end: int
    text: str


DEFAULT_CHUNKS = ChunkSettings()


def cut_passages(text: str, settings: ChunkSettings = DEFAULT_CHUNKS) -> list[Passage]:
    """Cut a text into passages, in order."""
    spans = cut_spans(text, settings)
    byte_at = _byte_offsets(text, spans)
    return [
        Passage(start=byte_at[start], end=byte_at[end], text=text[start:end])
        for start, end in spans
    ]


def cut_spans(text: str, settings: ChunkSettings = DEFAULT_CHUNKS) -> list[CharSpan]:
    """Return the passages of a text as spans of characters."""
    units: list[CharSpan] = []
    for start, end in sentences(text):
        if end - start <= settings.size:
            units.append((start, end))
        else:
            units.extend(_pieces(text, start, end, settings))
    return list(_packed(text, units, settings))


def sentences(text: str) -> Iterator[CharSpan]:
    """Walk the sentences of a text as spans of characters, without the white space between."""
    begin = 0
    for found in _BREAK.finditer(text):
        gap = found["gap"]
        if gap is not None:
            stop = found.start()
            if not gap or (found.end() == stop + 1 and not _ends_sentence(text, stop)):
                continue
        yield from _trimmed(text, begin, found.end())
        begin = found.end()
    yield from _trimmed(text, begin, len(text))


def _ends_sentence(text: str, stop: int) -> bool:
    """Tell whether the single stop at `stop`, with white space after it, ends a sentence."""
    if text[stop] != ".":
        return True
    following = _NEXT_CHARACTER.search(text, stop + 1)
    if following and following[0].islower():
        return False
    before = text[max(0, stop - _LONGEST_ABBREVIATION) : stop].split()
    if not before or text[stop - 1].isspace():
        return True
    word = before[-1].lstrip("(['\"\u201c\u2018")
    is_initial = len(word) == 1 and word.isupper() and word != "I"
    return not (is_initial or "." in word or word.lower() in ABBREVIATIONS)


def _trimmed(text: str, begin: int, end: int) -> Iterator[CharSpan]:
    while begin < end and text[begin].isspace():
        begin += 1
    while begin < end and text[end - 1].isspace():
        end -= 1
    if begin < end:
        yield begin, end


def _pieces(text: str, start: int, end: int, settings: ChunkSettings) -> Iterator[CharSpan]:
    """Split a sentence that is too long at words, leaving room for the overlap."""
    room = settings.size - settings.overlap
    begin, stop = start, start
    for word in _WORD.finditer(text, start, end):
        if stop > begin and word.end() - begin > room:
            yield begin, stop
            begin = word.start()
        while word.end() - begin > settings.size:  # no boundary to cut at inside one word
            yield begin, begin + settings.size
            begin += settings.size
        stop = word.end()
    yield begin, stop


def _packed(text: str, units: Sequence[CharSpan], settings: ChunkSettings) -> Iterator[CharSpan]:
    starts = [start for start, _ in units]
    first, begin = 0, starts[0] if starts else 0
    while first < len(units):
        last = first
        while last + 1 < len(units) and units[last + 1][1] - begin <= settings.size:
            last += 1
        end = units[last][1]
        yield begin, end
        first = last + 1
        if first < len(units):
            # The next passage must reach the end of its first new unit.
            earliest = max(end - settings.overlap, units[first][1] - settings.size, begin + 1)
            begin = _overlapping_start(text, starts, earliest, end)


def _overlapping_start(text: str, starts: Sequence[int], earliest: int, end: int) -> int:
    """Return where the next passage begins: at a sentence, else at a word, else without overlap."""
    at = starts[bisect_left(starts, earliest)]
    if at < end:
        return at
    word = _WORD_START.search(text, earliest, end) if earliest < end else None
    return word.start() if word else at


def _byte_offsets(text: str, spans: Iterable[CharSpan]) -> dict[int, int]:
    """Map every border of `spans` to its place in the UTF-8 bytes, in one walk over the text."""
    borders = sorted({border for span in spans for border in span})
    if text.isascii():
        return dict(zip(borders, borders, strict=True))
    places: dict[int, int] = {}
    here, place = 0, 0
    for border in borders:
        place += len(text[here:border].encode())
        places[border] = place
        here = border
    return places
