"""Names: words with a capital letter where none is due, and whether another text has them.

There is no list of people and places, only one of words that are mostly written with a capital
letter. The first word of a sentence counts where it is one of these, or a part of a longer name. A
name is known to a text that holds its words, in another form (`Canada`, `Canadian`) or by its
initials (`UN`, `United Nations`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from salon.grounding.support.words import Tellingness, read_words
from salon.retrieval.lexical.folding import fold
from salon.retrieval.lexical.query import STOPWORDS

_PIECE = re.compile(r"[^\W\d_](?:[\w\u2019'&-]*\w)?|[^\w\s]|\d+")
_LETTERS = re.compile(r"[^\W\d_]+")
_OWNER = re.compile(r"['\u2019]s?\Z")
_JOINING = frozenset({"of", "the", "and", "for", "de", "von", "van", "la", "le", "du", "der"})
# fmt: off
_TITLES = frozenset(
    {
        "january", "february", "march", "april", "may", "june", "july", "august", "september",
        "october", "november", "december", "monday", "tuesday", "wednesday", "thursday", "friday",
        "saturday", "sunday", "mr", "mrs", "ms", "dr", "prof", "sir", "lady", "lord", "st", "jr",
        "sr", "north", "south", "east", "west", "northern", "southern", "eastern", "western",
        "internet", "i", "i'm", "i've", "i'd", "i'll", "god", "christmas", "bc", "ad", "am", "pm",
    }
)
_SAME: tuple[frozenset[str], ...] = tuple(
    frozenset(words.split())
    for words in (
        "us usa america american americans states", "uk britain british kingdom england english",
        "france french frenchman", "germany german germans", "netherlands dutch holland",
        "spain spanish", "greece greek greeks", "wales welsh", "switzerland swiss",
        "denmark danish danes", "ireland irish", "scotland scottish scots", "turkey turkish turks",
        "poland polish poles", "sweden swedish swedes", "finland finnish finns",
        "norway norwegian norwegians", "china chinese", "europe european europeans eu",
        "peru peruvian", "cyprus cypriot", "portugal portuguese", "un nations",
        "philippines filipino philippine", "thailand thai", "iraq iraqi", "israel israeli",
    )
)
# fmt: on
_ROOT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A name as it stands and its words in lower case."""

    text: str
    words: tuple[str, ...]


def read_names(text: str, telling: Tellingness) -> list[Name]:
    """Return the names of a text, in order."""
    found = [name for run, is_first in _runs(text) for name in _named(run, is_first, telling)]
    written = _LETTERS.findall(text)
    small = sum(word[0].islower() for word in written)
    # A heading with capital letters everywhere says nothing about names.
    return found if small * 5 >= len(written) else []


def _runs(text: str) -> Iterator[tuple[list[str], bool]]:
    """Walk words with capital letters that follow each other; the flag says what one is due."""
    run: list[str] = []
    run_is_first = True
    is_first = True
    for found in _PIECE.finditer(text):
        word = found[0]
        if word[0].isupper():
            if not run:
                run_is_first = is_first
            run.append(word)
            is_first = False
            continue
        if run:
            yield run, run_is_first
            run = []
        is_first = not word[0].isalnum() and word not in ",-&%$"
    if run:
        yield run, run_is_first


def _named(run: Sequence[str], is_first: bool, telling: Tellingness) -> Iterator[Name]:  # noqa: FBT001
    kept = [word for place, word in enumerate(run) if _is_kept(word, due=is_first and place == 0)]
    lowered = [_lowered(word) for word in kept]
    named = [
        telling.is_name(word, _stem(word), is_first=is_first and len(run) == 1) for word in lowered
    ]
    if any(named):
        yield Name(text=" ".join(kept), words=tuple(lowered))


def _is_kept(word: str, *, due: bool) -> bool:
    lowered = _lowered(word)
    if len(lowered) < 2 or lowered in _TITLES:
        return False
    return not (lowered in STOPWORDS and (due or not word.isupper()))


def _lowered(word: str) -> str:
    # Of `Norse-built` only what has a capital letter is a name.
    parts = [part for part in word.split("-") if part[:1].isupper()]
    return _OWNER.sub("", fold("-".join(parts)).lower())


def _stem(lowered: str) -> str:
    return "".join(word.stem for word in read_words(lowered))


@dataclass(frozen=True, slots=True)
class NameBook:
    """The words and initials of a text, for looking names up."""

    words: frozenset[str]
    roots: frozenset[str]
    initials: str

    @classmethod
    def of(cls, text: str) -> "NameBook":
        """Read the words of a text."""
        words = [word.lower() for word in _LETTERS.findall(fold(text))]
        return cls(
            frozenset(words),
            frozenset(word[:_ROOT] for word in words if len(word) >= _ROOT),
            "".join(word[0] for word in words if word not in _JOINING),
        )

    def knows(self, word: str) -> bool:
        """Tell whether the text holds a word of a name, in some form."""
        return all(self._knows_part(part) for part in _LETTERS.findall(word))

    def _knows_part(self, part: str) -> bool:
        if len(part) == 1 or part in self.words:
            return True
        if part.removesuffix("s") in self.words or f"{part}s" in self.words:
            return True
        if any(part in same and same & self.words for same in _SAME):
            return True
        if len(part) > _ROOT and part[:_ROOT] in self.roots:
            return True
        return 2 <= len(part) <= 6 and part.removesuffix("s") in self.initials


def unknown_names(names: Sequence[Name], book: NameBook) -> list[Name]:
    """Return the names of which the text does not hold the telling words."""
    return [name for name in names if not _is_known(name, book)]


def _is_known(name: Name, book: NameBook) -> bool:
    if len(name.words) > 1 and "".join(word[0] for word in name.words) in book.words:
        return True
    known = [book.knows(word) for word in name.words]
    # Of a person the family name has to be there, of anything longer most of the words.
    return (known[-1] and sum(known) * 2 >= len(known)) or sum(known) * 3 >= 2 * len(known)
