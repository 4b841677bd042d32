"""Words as these seats compare them: stems without endings, terms of one or two words.

A stem is for comparing only; what a reader sees is always a spelling that a source has.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from salon.council.offline.cues import GENERAL_WORDS
from salon.council.offline.languages import FUNCTION_WORDS_OF
from salon.retrieval.graph.word_lists import FUNCTION_WORDS

_WORD = re.compile(r"[^\W_]+(?:[-'\u2019][^\W_]+)*")
_SHORTEST = 3
_LONG_ENOUGH = 4
"""Letters from which on a word may be the beginning of another one: `the` is none of `thereof`."""
_HISSING = ("sses", "xes", "zes", "ches", "shes")
_MANY = 60_000
_HTML = re.compile(r"<[^<>]{0,200}>")
_LINK = re.compile(r"!?\[([^\]\[]*)\]\([^)]{0,2000}\)")
_MARK = re.compile(r"\[\^[^\]\s]{0,40}\]")
_SIGNS = re.compile(r"[\[\]<>#*_`|\\~]+")


def words(text: str) -> list[str]:
    """Return the words of a text as they are written."""
    return _WORD.findall(text)


@lru_cache(maxsize=_MANY)
def stem(word: str) -> str:
    """Return what the singular and the plural of a word have in common."""
    low = word.casefold().replace("\u2019", "'").removesuffix("'s")
    if len(low) > 4 and low.endswith("ies"):
        return low[:-3] + "y"
    if len(low) > 4 and low.endswith(_HISSING):
        return low[:-2]
    if len(low) > 3 and low.endswith("s") and not low.endswith(("ss", "us", "is")):
        return low[:-1]
    return low


@lru_cache(maxsize=_MANY)
def is_telling(word: str) -> bool:
    """Tell whether a word says what a text is about."""
    root = stem(word)
    return (
        (len(root) >= _SHORTEST or _is_short_name(word))
        and not root.isdecimal()
        and word.casefold() not in FUNCTION_WORDS
        and root not in GENERAL_WORDS
        and root not in FUNCTION_WORDS
    )


def _is_short_name(word: str) -> bool:
    """Tell whether two signs name something: capitals as in `EU`, or a script without capitals."""
    return len(word) == 2 and word.isalpha() and (word.isupper() or word.upper() == word.lower())


@lru_cache(maxsize=8_000)
def stems(text: str) -> frozenset[str]:
    """Return the stems of the telling words of a text."""
    return frozenset(stem(word) for word in words(text) if is_telling(word))


def telling_words(text: str) -> tuple[str, ...]:
    """Return the stems of a text's telling words in order, each once."""
    return tuple(dict.fromkeys(stem(word) for word in words(text) if is_telling(word)))


def topic_words(topic: str, language: str | None = None) -> tuple[str, ...]:
    """Return the stems of what a topic names; none where it names nothing.

    In another language its articles and the like are left out too, as far as they are known; where
    they are not, the shortest words.
    """
    found = telling_words(topic)
    if language is None:
        return found
    known = FUNCTION_WORDS_OF.get(language)
    left = tuple(
        root for root in found if (root not in known if known else len(root) >= _LONG_ENOUGH)
    )
    return left or found


def title_of(topic: str, longest: int) -> str:
    """Return a topic as a title: no signs of Markdown or HTML, cut after a word that names."""
    plain = _MARK.sub(" ", _LINK.sub(r"\1", _HTML.sub(" ", topic)))
    title = " ".join(_SIGNS.sub(" ", plain).split())
    if len(title) > longest:
        whole = title[: longest + 1].rpartition(" ")[0].split(" ")
        while len(whole) > 1 and whole[-1].casefold() in FUNCTION_WORDS:
            whole.pop()
        title = " ".join(whole) or title[:longest]
    return title.rstrip(".!,;: ")


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
    """Tell whether one of `others` is the same word with another ending; short ones are equal."""
    if len(root) < _LONG_ENOUGH:
        return root in others
    begin = root[: max(4, len(root) - 3)]
    return any(other.startswith(begin) and len(other) <= len(root) + 4 for other in others)


def overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the share of all words of two sentences that both have."""
    together = first | second
    return len(first & second) / len(together) if together else 0.0
