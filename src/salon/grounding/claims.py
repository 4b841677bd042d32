"""Taking a response apart: each sentence with the quotes and marks in it.

A quote may run over several sentences; it stays in one piece, because it is looked for before
sentences are cut. So do other words in quotation marks, whatever they are. A mark like `[2]` names
the second citation.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from salon.core.citations import Citation
from salon.grounding.quotations import Quotation, find_quotations
from salon.retrieval.chunking import sentences

_MARKS = re.compile(r"\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")
_FILLER = "\ue000"
"""A private character: those after it stand for quotes while sentences are cut."""
_TITLE = "\uf000"
"""Those after this one stand for titles, which have stops in them too."""
_SHORTEST_QUOTE = 4
"""In words."""
_QUOTES = re.compile("[\ue001-\uefff]")
_TITLES = re.compile("[\uf001-\uf8ff]")
_QUOTE_WITH_SIGNS = re.compile(
    "[\u201c\u2018\u00ab\u201e\u201a\u00bb\u2039\"']?"
    "\\s*[\ue001-\uefff](?:\\s*(?:\u2026|\\.\\.\\.))?\\s*"
    "[\u201d\u2019\u00bb\u201c\u2018\u00ab\u203a\"']?[.,;]?"
)
_LOOSE_STOP = re.compile(r"\s+([.,;:!?])")
_CLOSED = re.compile(
    "[\ue001-\uefff.!?][\u201d\u2019\u00bb\u201c\u2018\u00ab\u203a\"']?"
    "\\s*(?:\\[[\\d, ]+\\]\\s*)+(?=\\S)"
)
_LEADING = re.compile(r"\s*(?:\[[\d, ]+\]\s*)+")
_PRIVATE = re.compile("[\ue000-\uf8ff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a response.

    `own` is what is left without quotes and marks: the words that the speaker answers for. `quoted`
    and `marked` are places in the list of citations; `unknown` are marks that name none. `in_marks`
    are the words between quotation marks; `around_quotes` those of them that hold a whole quote.
    """

    text: str
    own: str
    quoted: tuple[int, ...]
    marked: tuple[int, ...]
    unknown: tuple[int, ...]
    in_marks: tuple[str, ...] = ()
    around_quotes: tuple[str, ...] = ()


def take_apart(response: str, citations: Sequence[Citation]) -> list[Sentence]:
    """Return the sentences of a response."""
    masked, quotes = _mask(response, citations)
    masked, titles = _mask_titles(masked, citations)
    quotations = find_quotations(masked)

    def plain(text: str) -> str:
        return _with_titles(_unmask(text, quotes, citations), titles)

    found = []
    for start, end in _undivided(_joined(masked, _cut(masked)), quotations):
        piece = masked[start:end]
        in_marks = [one.words for one in quotations if start <= one.start < end]
        places = (quotes[ord(one) - ord(_FILLER) - 1] for one in _QUOTES.findall(piece))
        quoted = tuple(dict.fromkeys(places))
        numbers = [int(one) - 1 for marks in _MARKS.findall(piece) for one in marks.split(",")]
        known = range(len(citations))
        found.append(
            Sentence(
                text=plain(piece),
                own=_with_titles(_own(piece), titles),
                quoted=quoted,
                marked=tuple(dict.fromkeys(one for one in numbers if one in known)),
                unknown=tuple(dict.fromkeys(one + 1 for one in numbers if one not in known)),
                in_marks=tuple(map(plain, in_marks)),
                around_quotes=tuple(plain(one) for one in in_marks if _QUOTES.search(one)),
            )
        )
    return [one for one in found if one.own or one.quoted or one.marked or one.unknown]


def is_quote(text: str) -> bool:
    """Tell whether a text is long enough to say something by itself."""
    return len(text.split()) >= _SHORTEST_QUOTE


def without_marks(text: str) -> str:
    """Return a text without its marks."""
    return _LOOSE_STOP.sub(r"\1", " ".join(_MARKS.sub(" ", text).split()))


def _mask(response: str, citations: Sequence[Citation]) -> tuple[str, list[int]]:
    """Put one private character in the place of each quote, the longest quotes first."""
    masked = _PRIVATE.sub(" ", response)
    quotes: list[int] = []
    order = sorted(range(len(citations)), key=lambda one: -len(citations[one].quote))
    for place in order:
        quote = citations[place].quote.strip()
        # A word or two could be cut out of a sentence to turn its meaning; a quote is longer.
        if not is_quote(quote):
            continue
        if quote in masked and len(quotes) < ord(_TITLE) - ord(_FILLER) - 1:
            quotes.append(place)
            masked = masked.replace(quote, chr(ord(_FILLER) + len(quotes)))
    return masked, quotes


def _unmask(piece: str, quotes: Sequence[int], citations: Sequence[Citation]) -> str:
    def quote(found: re.Match[str]) -> str:
        return citations[quotes[ord(found[0]) - ord(_FILLER) - 1]].quote.strip()

    return _QUOTES.sub(quote, piece)


def _mask_titles(masked: str, citations: Sequence[Citation]) -> tuple[str, list[str]]:
    titles = sorted({one.source for one in citations if one.source.strip()}, key=len, reverse=True)
    titles = titles[: ord("\uf8ff") - ord(_TITLE)]
    for number, title in enumerate(titles, start=1):
        masked = masked.replace(f"“{title}”", f"“{chr(ord(_TITLE) + number)}”")
    return masked, titles


def _with_titles(piece: str, titles: Sequence[str]) -> str:
    return _TITLES.sub(lambda found: titles[ord(found[0]) - ord(_TITLE) - 1], piece)


def _cut(masked: str) -> list[tuple[int, int]]:
    """Return sentences; one that closes with a quote and its mark ends there, stop or no stop."""
    spans = []
    for start, end in sentences(masked):
        begin = start
        for found in _CLOSED.finditer(masked, start, end):
            spans.append((begin, found.end()))
            begin = found.end()
        spans.append((begin, end))
    return [(start, end) for start, end in spans if masked[start:end].strip()]


def _joined(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Put marks that follow a stop, and signs alone, to the sentence before them."""
    joined: list[tuple[int, int]] = []
    for first, end in spans:
        start = first
        if joined and (leading := _LEADING.match(text, first, end)):
            start = leading.end()
            joined[-1] = (joined[-1][0], start)
        rest = _MARKS.sub("", text[start:end])
        is_tail = not re.search(r"[^\W_]|[\ue001-\uf8ff]", rest)
        if joined and is_tail:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _undivided(
    spans: list[tuple[int, int]], quotations: Sequence[Quotation]
) -> list[tuple[int, int]]:
    """Make one of the sentences that a quotation runs through."""
    merged: list[tuple[int, int]] = []
    ahead = iter(quotations)
    quotation = next(ahead, None)
    for start, end in spans:
        while quotation is not None and quotation.end <= start:
            quotation = next(ahead, None)
        if merged and quotation is not None and quotation.start < merged[-1][1]:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def _own(piece: str) -> str:
    """Return the words without quotes, the signs around them, and marks."""
    bare = _MARKS.sub(" ", piece)
    bare = _QUOTE_WITH_SIGNS.sub(" ", bare)
    bare = _LOOSE_STOP.sub(r"\1", " ".join(bare.split()))
    return bare if re.search(r"[^\W_]", bare) else ""
