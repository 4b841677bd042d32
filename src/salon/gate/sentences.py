"""Sentences of a message: where each begins and ends, and whether it asks.

Robust rather than learned: abbreviations, initials, decimals, addresses, quotations, lists and
missing spaces are looked at; a dash or a semicolon does not end a sentence. Every character that is
not white space belongs to exactly one sentence.
"""

import re
from typing import NamedTuple

_ENDS = re.compile(r"[.!?…]+[\"')\]”\u2019*_]*|\n")
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|mx|dr|prof|st|jr|sr|vs|etc|approx|dept|inc|ltd|no|fig|sec|ext|tel|min"
    r"|hr|e\.g|i\.e|a\.m|p\.m|cf|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mon|tue|wed|thu"
    r"|fri|sat|sun)|\b[a-z]|^\s*\d{1,2})\.$",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|(?<!\w)'[^'\n]{2,400}'(?!\w)|«[^»\n]+»")


class Sentence(NamedTuple):
    """A sentence's characters, and whether it carries a question mark of its own."""

    start: int
    end: int
    is_question: bool


def split_sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a text in order."""
    found: list[Sentence] = []
    start, length = 0, len(text)
    quoted = quotations(text)
    asks = False
    for ending in _ENDS.finditer(text):
        at, after = ending.span()
        mark = ending.group()
        asks = asks or ("?" in mark and not _is_inside(at, quoted))
        if after < length and not _breaks(text, mark, at, after, start):
            continue
        if _add(found, text, start, after, is_question=asks):
            asks = False
        start = after
    _add(found, text, start, length, is_question=asks)
    return tuple(found)


def quotations(text: str) -> tuple[tuple[int, int], ...]:
    """Return the characters that stand between quotation marks."""
    if not _has_quotes(text):
        return ()
    return tuple(one.span() for one in _QUOTED.finditer(text))


def _has_quotes(text: str) -> bool:
    return '"' in text or "'" in text or not text.isascii()


def _is_inside(at: int, spans: tuple[tuple[int, int], ...]) -> bool:
    return any(start < at < end for start, end in spans)


def _add(found: list[Sentence], text: str, start: int, end: int, *, is_question: bool) -> bool:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        found.append(Sentence(start, end, is_question))
    return start < end


def _breaks(text: str, mark: str, at: int, after: int, start: int) -> bool:
    """Tell whether the marks at a place end a sentence."""
    if mark == "\n":
        return True
    follower = text[after]
    if not follower.isspace():
        # A missing space: "…clear.Have you" or "…called?I'll", not "3.5", "x.com" or "e.g.".
        return follower.isupper() and (mark[0] != "." or text[at - 1 : at].islower())
    rest = text[after : after + 12].lstrip(" \t\r\"'(“\u2018*-")
    if mark[0] in ".…" and rest[:1].islower():
        return False
    if mark[-1] in "\"'”\u2019" and rest[:1].islower():
        return False
    return mark != "." or not _ABBREVIATION.search(text[max(start, at - 8) : after])
