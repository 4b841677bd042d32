"""Words as these seats compare them: stems without endings, terms of one or two words.

A stem is for comparing only; what a reader sees is always a spelling that a source has.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from salon.council.offline.cues import GENERAL_WORDS
from salon.retrieval.graph.word_lists import FUNCTION_WORDS

_WORD = re.compile(r"[^\W_]+(?:[-'\u2019][^\W_]+)*")
_SHORTEST = 3
_MANY = 60_000


def words(text: str) -> list[str]:
    """Return the words of a text as they are written."""
    return _WORD.findall(text)


@lru_cache(maxsize=_MANY)
def stem(word: str) -> str:
    """Return what the singular and the plural of a word have in common."""
    low = word.casefold().replace("\u2019", "'").removesuffix("'s")
    if len(low) > 4 and low.endswith("ies"):
        return low[:-3] + "y"
    if len(low) > 3 and low.endswith("s") and not low.endswith(("ss", "us", "is")):
        return low[:-1]
    return low


@lru_cache(maxsize=_MANY)
def is_telling(word: str) -> bool:
    """Tell whether a word says what a text is about."""
    root = stem(word)
    return (
        len(root) >= _SHORTEST
        and not root.isdecimal()
        and word.casefold() not in FUNCTION_WORDS
        and root not in GENERAL_WORDS
        and root not in FUNCTION_WORDS
    )


@lru_cache(maxsize=8_000)
def stems(text: str) -> frozenset[str]:
    """Return the stems of the telling words of a text."""
    return frozenset(stem(word) for word in words(text) if is_telling(word))


def telling_words(text: str) -> tuple[str, ...]:
    """Return the stems of a text's telling words in order, each once."""
    return tuple(dict.fromkeys(stem(word) for word in words(text) if is_telling(word)))


def terms(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Walk the telling words and pairs of such words, each as stems and as it is written."""
    before: re.Match[str] | None = None
    for found in _WORD.finditer(text):
        if not is_telling(found[0]):
            before = None
            continue
        yield (stem(found[0]),), found[0]
        if before is not None and text[before.end() : found.start()] == " ":
            yield (stem(before[0]), stem(found[0])), text[before.start() : found.end()]
        before = found


def is_shared(root: str, others: Iterable[str]) -> bool:
    """Tell whether one of `others` is the same word with another ending."""
    begin = root[: max(4, len(root) - 3)]
    return any(other.startswith(begin) and len(other) <= len(root) + 4 for other in others)


def overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the share of all words of two sentences that both have."""
    together = first | second
    return len(first & second) / len(together) if together else 0.0
