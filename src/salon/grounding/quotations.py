"""Words in quotation marks: found in a text, and held against what is cited for them.

Who puts words between such marks says that they stand there, so they do or the claim falls,
however near in meaning they may be. White space counts as one space, since lines break elsewhere;
nothing else is forgiven. An ellipsis joins parts of one citation in their order. What is left out
must not turn the meaning: a cut that drops a negation of the same sentence is no quotation of it.

A single mark is an apostrophe more often than not; it counts where it opens before a word, closes
after one and is no elision.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

Span = tuple[int, int]

_PAIRS = {
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u201f": "\u201d",
    "\u00ab": "\u00bb",
    "\u00bb": "\u00ab",
    "\u2039": "\u203a",
    "\u203a": "\u2039",
    "\u300c": "\u300d",
    "\u300e": "\u300f",
}
"""What opens a quotation, and the signs that close it."""
_STRAIGHT = '"\uff02\u2033\u201d'
"""Signs that open and close; the last is what opens in Swedish and Finnish."""
_SINGLE = {"\u2018": "\u2019", "\u201a": "\u2018\u2019", "'": "'", "\u201b": "\u2019"}
_SIGNS = frozenset("".join((*_PAIRS, *_PAIRS.values(), _STRAIGHT, *_SINGLE, *_SINGLE.values())))
_BLANK = "".join(_SIGNS) + " \n\t"
_ELISION = re.compile(r"(?i)(?:tis|twas|twere|twill|twould|em|til|till|cause|round|n|\d0s)\b")
_PARAGRAPH = re.compile(r"\n\s*\n")
_MARKS = re.compile(r"\s*\[\d{1,3}(?:\s*,\s*\d{1,3})*\]")
_ELLIPSIS = re.compile(r"\s*(?:[\[(]\s*)?(?:\u2026|\.\s?\.\s?\.(?:\s?\.)?)(?:\s*[\])])?\s*")
_STOP = re.compile(r"[.!?][\"\u201d\u2019\u00bb)]*(?=\s|$)")
_POSSESSIVE = re.compile(r"(?<=[sS])['\u2019] [^\W\d_]")
_NEGATION = re.compile(
    r"(?i)\b(?:not|no|never|cannot|neither|nor|none|nobody|nothing|nowhere|hardly|scarcely|without"
    r"|false|untrue|denied|denies|nicht|nie|niemals|kein\w{0,2}|ohne)\b|n['\u2019]t\b"
)
_EDGES = " .,;:!?\u2026"
_MOST_PARTS, _MOST_PLACES = 12, 60
_LONGEST_SINGLE = 2_000
"""In characters: how far the end of a quotation in single marks is looked for."""
_LONGEST_TERM = 3
"""In words: up to here it may be a term, which has signs of its own and comes from anybody."""


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words between quotation marks: their span with the marks, and the words alone."""

    start: int
    end: int
    words: str


def find_quotations(text: str) -> list[Quotation]:
    """Return the outermost quotations of a text, in order.

    One that is opened and not closed, or closed and not opened, reaches to the edge of its
    paragraph: who reads it takes all of that for quoted.
    """
    paragraphs = _Paragraphs(text)
    found: list[Quotation] = []
    place = after = 0
    while place < len(text):
        span = _at(text, place, paragraphs, after) if text[place] in _SIGNS else None
        if span is None:
            place += 1
            continue
        start, after = span
        if text[start:after].strip(_BLANK):
            found.append(Quotation(start, after, _inside(text[start:after])))
        place = max(after, place + 1)
    return found


def find_misquoted(
    quoted: Iterable[str],
    quotes: Sequence[str],
    *,
    names: Iterable[str] = (),
    said: Iterable[str] = (),
) -> str | None:
    """Return the first of the quoted words that stand in none of the quotes, `None` if all do.

    `names` may be given in marks too, such as titles of what is cited; `said` are texts of others,
    whose terms may be taken up, but whose sentences are no quotation of what is cited.
    """
    sources = [_spaced(one) for one in quotes]
    known = {_spaced(one) for one in names}
    terms = [_loose(one) for one in (*known, *said)]
    for one in quoted:
        words = _spaced(one)
        forms = dict.fromkeys((words, _spaced(_MARKS.sub("", one))))
        if not any(_is_right(form, sources, known, terms) for form in forms):
            return words
    return None


# Finding


class _Paragraphs:
    """Where the paragraphs of a text begin and end."""

    def __init__(self, text: str) -> None:
        gaps = [one.span() for one in _PARAGRAPH.finditer(text)]
        self._begins = [0, *(end for _, end in gaps)]
        self._ends = [*(start for start, _ in gaps), len(text)]

    def around(self, place: int) -> Span:
        number = bisect_right(self._begins, place) - 1
        return self._begins[number], max(place + 1, self._ends[number])


def _at(text: str, place: int, paragraphs: _Paragraphs, after: int) -> Span | None:
    """Return the quotation that a sign at a place makes; `after` is where the last one ended."""
    sign = text[place]
    begin, end = paragraphs.around(place)
    if sign in _STRAIGHT:
        return _straight(text, place, max(begin, after), end)
    if sign in _SINGLE:
        return _single(text, place, end)
    if sign not in _PAIRS or (sign in "\u00bb\u203a" and not _opens(text, place)):
        return None
    return place, _closing(text, place, _PAIRS[sign], end)


def _closing(text: str, start: int, closers: str, end: int) -> int:
    """Return where what opens at `start` ends, with others of its kind inside it."""
    depth, last = 0, None
    for place in range(start, len(text)):
        sign = text[place]
        # What closes in German opens in English, and may stand inside.
        is_inner = sign == "\u201c" and text[start] == "\u201e" and _opens(text, place)
        if sign in closers and depth and not is_inner:
            depth, last = depth - 1, place + 1
            if depth == 0:
                return place + 1
        elif sign == text[start] or is_inner:
            depth += 1
    if last is not None:
        return last
    straight = text.find('"', start + 1, end)
    return end if straight < 0 else straight + 1


def _straight(text: str, place: int, begin: int, end: int) -> Span | None:
    before = text[place - 1 : place] if place else ""
    if text[place] != "\u201d" and before.isdigit():
        return None  # inches, or seconds of arc
    if before and not before.isspace() and not _opens(text, place):
        return begin, place + 1
    depth = 0
    for other in range(place, end):
        if text[place] == "\u201d" and text[other] == "\u201c":
            depth += 1
        elif text[other] == text[place]:
            depth += 1 if other == place or _opens(text, other) else -1
            if depth == 0:
                return place, other + 1
    return place, end


def _single(text: str, place: int, end: int) -> Span | None:
    if not _opens(text, place) or _ELISION.match(text, place + 1):
        return None
    closers, last = _SINGLE[text[place]], None
    for other in range(place + 1, min(end, place + _LONGEST_SINGLE)):
        if text[other] in _SINGLE and _opens(text, other):
            break
        if text[other] not in closers or text[other + 1 : other + 2].isalnum():
            continue
        last = other
        if not _POSSESSIVE.match(text, other):
            break
    return None if last is None else (place, last + 1)


def _opens(text: str, place: int) -> bool:
    """Tell whether a sign stands where one opens: after no word, and before one."""
    before = text[place - 1 : place] if place else ""
    following = text[place + 1 : place + 2]
    is_free = not before or before.isspace() or before in "([{\u2014\u2013-:/" or before in _SIGNS
    return is_free and bool(following) and not following.isspace()


def _inside(quotation: str) -> str:
    """Return what stands between the marks of a quotation."""
    opens = quotation[0] in _SIGNS
    closes = len(quotation) > 1 and quotation[-1] in _SIGNS
    return quotation[1 if opens else 0 : -1 if closes else None]


# Comparing


def _is_right(words: str, quotes: Sequence[str], names: set[str], terms: Sequence[str]) -> bool:
    if words.strip(_EDGES) in names or any(_stands(words, one) for one in quotes):
        return True
    term = words.strip(_EDGES)
    if len(term.split()) > _LONGEST_TERM:
        return False
    return any(_has(one, term) for one in quotes) or any(_has(one, _loose(term)) for one in terms)


def _stands(words: str, quote: str) -> bool:
    """Tell whether words, or their parts between ellipses, stand in a quote."""
    parts = [one for one in _ELLIPSIS.split(words) if one]
    return _in_order([words], quote) or (len(parts) <= _MOST_PARTS and _in_order(parts, quote))


def _in_order(parts: Sequence[str], quote: str) -> bool:
    """Tell whether parts follow each other in a quote, with nothing left out that turns them."""
    reached = {0}
    for number, part in enumerate(parts):
        reached = {
            end
            for begin in reached
            for start, end in islice(_occurrences(part, quote, begin), _MOST_PLACES)
            if not _turns(quote[begin:start], is_first=number == 0)
        }
    return bool(parts) and bool(reached)


def _occurrences(part: str, quote: str, begin: int) -> Iterator[Span]:
    """Walk the places where whole words stand.

    A comma or stop that the writer's own sentence needs may follow where the source has no sign.
    """
    is_signed = part[-1:] in {".", ","}
    for words, is_added in ((part, False), *([(part[:-1], True)] if is_signed else ())):
        start = quote.find(words, begin) if words else -1
        while start >= 0:
            end = start + len(words)
            is_cut = _is_inside_word(quote, start) or _is_inside_word(quote, end)
            if not is_cut and (not is_added or quote[end : end + 1].isspace()):
                yield start, end
            start = quote.find(words, start + 1)


def _turns(left_out: str, *, is_first: bool) -> bool:
    """Tell whether what was left out denies what stands beside it, in the same sentence."""
    clauses = _STOP.split(left_out)
    beside = clauses[-1:] if is_first else (clauses[0], clauses[-1])
    return any(_NEGATION.search(one) for one in beside)


def _is_inside_word(text: str, place: int) -> bool:
    around = text[max(0, place - 1) : place + 1]
    return 0 < place < len(text) and all(one.isalnum() for one in around)


def _has(text: str, term: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(term)}(?!\w)", text) is not None


def _loose(text: str) -> str:
    return _spaced(text).replace("\u2019", "'").casefold()


def _spaced(text: str) -> str:
    return " ".join(text.split())
