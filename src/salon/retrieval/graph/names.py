"""Telling which names may mean the same thing: "William Berke" and "William A. Berke".

It compares words of names and nothing else. An affinity is a degree between 0 and 1, never a claim
that two names are one entity: the graph keeps every name apart and only walks from one to another.

Invariant: affinity is symmetric; it is 1 for equal words and 0 for names without a word in common.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

NameWords: TypeAlias = tuple[str, ...]

LEAST_AFFINITY = 0.5
"""Below this two names have too little in common to be worth a step."""
NEARLY_AS_GOOD = 0.8
"""Names with less than this share of the best affinity are others, not spellings of the same."""
ONE_WORD = 0.7
"""The affinity of "Oswiu" and "Oswiu of Northumbria", where few names have the word."""
FEW_NAMES = 3
REMEMBERED = 50_000
"""Names whose likes are remembered."""
SPELLING = 0.9
INITIAL = 0.7
"""What counts a word that goes on where the other ends: "Beyzai", "Beyzaie"; "B.", "Ben"."""
MANY_NAMES = 50
"""A word of so many names does not choose among them; a second one has to help."""

_POSSESSIVE = re.compile(r"['\u2019]s\b", re.IGNORECASE)
_APOSTROPHE = re.compile(r"['\u2019\u02bb\u02bc\u02be\u02bf`]")
_WORD = re.compile(r"[^\W_]+")


def name_words(name: str) -> NameWords:
    """Return the words of a name without accents, capitals, possessives and punctuation."""
    plain = "".join(
        character
        for character in unicodedata.normalize("NFKD", name)
        if not unicodedata.combining(character)
    ).casefold()
    return tuple(_WORD.findall(_APOSTROPHE.sub("", _POSSESSIVE.sub("", plain))))


def affinity(one: NameWords, other: NameWords, weight: Callable[[str], float]) -> float:
    """Return how far two names of several words may be one.

    `weight` says how much a word tells names apart. What the shorter name has and the longer one
    lacks speaks against; what the longer one has in addition hardly does.
    """
    if one == other:
        return 1.0
    short, long = sorted((one, other), key=lambda words: (len(words), words))
    if len(short) < 2:
        return 0.0
    if len(short) == len(long) and sorted(short) == sorted(long):
        return 0.95  # family name first
    shared, is_sure, place = 0.0, False, 0
    for word in short:
        for further in range(place, len(long)):
            likeness = _likeness(word, long[further])
            if likeness:
                shared += likeness * weight(word)
                is_sure = is_sure or likeness > INITIAL
                place = further + 1
                break
    if not is_sure:
        return 0.0
    ends = bool(_likeness(short[0], long[0])) + bool(_likeness(short[-1], long[-1]))
    extra = len(long) - len(short)
    return (shared / sum(map(weight, short))) ** 2 * 0.97**extra * (0.8, 0.9, 1.0)[ends]


def _likeness(one: str, other: str) -> float:
    """Return whether two words of names are the same, an initial or a short form of each other."""
    if one == other:
        return 1.0
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    if not long.startswith(short):
        return 0.0
    if len(short) >= 5:
        return SPELLING
    return INITIAL if len(short) >= 3 or len(short) == 1 else 0.0


class NameIndex:
    """Names under numbers, found by names that are like them."""

    def __init__(self, names: Iterable[tuple[int, str]]) -> None:
        self._names: dict[int, list[NameWords]] = {}
        self._exact: dict[NameWords, set[int]] = {}
        self._by_word: dict[str, set[int]] = {}
        self._known: dict[NameWords, dict[int, float]] = {}
        for number, name in names:
            words = name_words(name)
            if not words:
                continue
            self._names.setdefault(number, []).append(words)
            self._exact.setdefault(words, set()).add(number)
            for word in words:
                self._by_word.setdefault(word, set()).add(number)

    def exact(self, words: NameWords) -> set[int]:
        """Return the numbers of exactly this name."""
        return self._exact.get(words, set())

    def find(self, words: NameWords) -> dict[int, float]:
        """Return the numbers of names like this one, each with its affinity."""
        known = self._known.get(words)
        if known is None:
            if len(self._known) >= REMEMBERED:
                self._known = {}
            known = self._known[words] = self._find(words)
        return known

    def weight(self, word: str) -> float:
        """Return how much a word tells names apart: the rarer, the more."""
        return math.log1p(len(self._names) / (len(self._by_word.get(word, ())) + 0.5))

    def _find(self, words: NameWords) -> dict[int, float]:
        found = dict.fromkeys(self.exact(words), 1.0)
        for number in self._candidates(words):
            best = max(affinity(words, name, self.weight) for name in self._names[number])
            if best >= LEAST_AFFINITY:
                found[number] = max(best, found.get(number, 0.0))
        found |= {number: ONE_WORD for number in self._one_word(words) if number not in found}
        least = NEARLY_AS_GOOD * max(found.values(), default=0.0)
        return {number: best for number, best in found.items() if best >= least}

    def _candidates(self, words: Sequence[str]) -> set[int]:
        """Return names worth comparing: those that share a rare word, or the two rarest."""
        if len(words) < 2:
            return set()
        lists = sorted(
            (self._by_word[word] for word in dict.fromkeys(words) if word in self._by_word),
            key=len,
        )
        few = [numbers for numbers in lists[:3] if len(numbers) <= MANY_NAMES]
        if few:
            return set().union(*few)
        return lists[0] & lists[1] if len(lists) > 1 else set()

    def _one_word(self, words: NameWords) -> Iterator[int]:
        """Walk names of which one is the first word of the other, a word that few names have."""
        numbers = self._by_word.get(words[0], set()) if words else set()
        if len(numbers) > FEW_NAMES:
            return
        for number in numbers:
            for name in self._names[number]:
                if name[0] == words[0] and min(len(name), len(words)) == 1:
                    yield number
