"""Finding the names and terms in a text, by rules alone.

No model is asked and nothing is looked up, so the rules are careful rather than complete: a type
is given only where the words themselves show it (a title, "University"), everything else is
`OTHER` or `CONCEPT`. What counts: capitalised names, also of several words ("Bank of England");
short terms in quotation marks; pairs and triples of ordinary words that a text keeps repeating.

A model may be asked instead (`EntityExtractor`); what holds for the rules holds for it too.

Invariant: a mention's span holds its name, and spellings of one name share one key.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile
from typing import Protocol

from salon.retrieval.chunking import sentences
from salon.retrieval.graph.word_lists import (
    CALENDAR,
    CONNECTORS,
    FUNCTION_WORDS,
    NAME_PREFIXES,
    ORGANISATION_WORDS,
    RANKS,
    TITLES,
)

REPEATED = 3
"""How often a text must use a term of ordinary words before it counts as one."""
LONGEST_NAME = 7
"""Words in a name; a longer run of capitals is a heading."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019&-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['\u2019]s\Z")
_QUOTED = re.compile(r"[\"\u201c\u00ab]([^\"\u201c\u201d\u00ab\u00bb\n]{2,60})[\"\u201d\u00bb]")
_SPACE = re.compile(r"\s+")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)\Z")


class EntityType(StrEnum):
    """MCard's types of entity."""

    PERSON = "PERSON"
    ORGANIZATION = "ORGANIZATION"
    CONCEPT = "CONCEPT"
    TECHNOLOGY = "TECHNOLOGY"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One place where a text names something, in characters.

    `is_subject` says that the text around is about it, as far as its opening words show.
    """

    name: str
    type: EntityType
    start: int
    end: int
    is_subject: bool = False


class EntityExtractor(Protocol):
    """Finds what a text names: by rules, by a model, by whatever is configured."""

    @property
    def fingerprint(self) -> str:
        """What must be equal for the same text to give the same mentions."""

    def extract(self, text: str) -> list[Mention]:
        """Return what a text names, in order; mentions do not overlap."""


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int
    opens_sentence: bool

    @property
    def lower(self) -> str:
        return self.text.lower()

    @property
    def is_capitalised(self) -> bool:
        if self.text[0].isupper():
            return True
        prefix, hyphen, rest = self.text.partition("-")  # al-Rashid
        return bool(hyphen) and prefix in NAME_PREFIXES and rest[:1].isupper()

    @property
    def is_acronym(self) -> bool:
        return sum(character.isupper() for character in self.text) > 1

    @property
    def is_plain(self) -> bool:
        """Tell whether this can be a part of a term of ordinary words."""
        return self.text.islower() and len(self.text) > 2 and self.text not in FUNCTION_WORDS


class RuleExtractor:
    """The rules of this module."""

    fingerprint = "rules-2"

    def extract(self, text: str) -> list[Mention]:
        """Return every name and term in a text, in order. Mentions do not overlap."""
        return find_mentions(text)


def entity_key(name: str) -> str:
    """Return what the spellings of one name have in common."""
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", name)).strip().casefold()


def find_mentions(text: str) -> list[Mention]:
    """Return every name and term in a text, in order. Mentions do not overlap."""
    words = list(_words(text))
    found: list[Mention] = []
    for more in (_names(text, words), _quoted_terms(text), _repeated_terms(text, words)):
        found = sorted([*found, *_apart_from(found, more)], key=lambda mention: mention.start)
    return found


def _apart_from(known: Sequence[Mention], more: Iterable[Mention]) -> Iterator[Mention]:
    starts = [mention.start for mention in known]
    for mention in more:
        place = bisect_right(starts, mention.start)
        before_ends = known[place - 1].end if place else 0
        next_starts = starts[place] if place < len(starts) else mention.end
        if before_ends <= mention.start and mention.end <= next_starts:
            yield mention


def _words(text: str) -> Iterator[_Word]:
    openings = [start for start, _ in sentences(text)]
    seen = 0
    for found in _WORD.finditer(text):
        # The first word at or after an opening: a sentence may open with a quotation mark.
        reached = bisect_right(openings, found.start(), lo=seen)
        word = _POSSESSIVE.sub("", found[0])
        yield _Word(word, found.start(), found.start() + len(word), reached > seen)
        seen = reached


# Names


def _names(text: str, words: Sequence[_Word]) -> Iterator[Mention]:
    ordinary = {word.text for word in words if word.text.islower()}
    known = {word.text for word in words if word.is_capitalised and not word.opens_sentence}
    for run in _capitalised_runs(text, words):
        for part, is_person in _parts(run):
            name = _without_opener(part, ordinary)
            if _is_name(name, known):
                start, end = name[0].start, name[-1].end
                yield Mention(
                    name=_SPACE.sub(" ", text[start:end]),
                    type=EntityType.PERSON if is_person else _type_of(name),
                    start=start,
                    end=end,
                )


def _parts(run: list[_Word]) -> Iterator[tuple[list[_Word], bool]]:
    """Part a titled person from what they belong to: "Dr. Smith of the Bank of England"."""
    title = run[0].lower
    if title not in TITLES or len(run) == 1 or run[1].lower in CONNECTORS:
        yield run, False
    elif title in RANKS:  # "Princess Maria of Greece": the country is a part of the name
        yield run[1:], True
    else:
        person = list(takewhile(lambda word: word.lower not in ("of", "the", "for"), run))
        yield person[1:], True
        yield run[len(person) :], False


def _capitalised_runs(text: str, words: Sequence[_Word]) -> Iterator[list[_Word]]:
    """Walk runs of capitalised words, with the small words inside a name but not around it."""
    run: list[_Word] = []
    small: list[_Word] = []
    for place, word in enumerate(words):
        last = small[-1] if small else run[-1] if run else None
        rank = _rank_length(text, words, place) if last and not small else 0
        joined = last is not None and (bool(rank) or _is_joined(text, last, word))
        if rank > 1 or (joined and not word.is_capitalised and _may_connect(word, run, small)):
            small.append(word)
        elif joined and word.is_capitalised:
            run += [*small, word]
            small = []
        else:
            if run:
                yield run
            run, small = ([word] if word.is_capitalised else []), []
    if run:
        yield run


def _may_connect(word: _Word, run: Sequence[_Word], small: Sequence[_Word]) -> bool:
    if len(small) >= 2 or word.lower not in CONNECTORS:
        return False
    # "Society for X" is one name, "played by Smith for Jones" is two.
    return word.lower != "for" or any(part.lower in ORGANISATION_WORDS for part in run)


def _rank_length(text: str, words: Sequence[_Word], place: int) -> int:
    """Return how many words of rank follow a comma here: "John II, 1st Duke of Cleves" has two."""
    if place + 2 >= len(words) or text[words[place - 1].end : words[place].start].strip() != ",":
        return 0
    has_number = bool(_ORDINAL.match(words[place].text))
    rank = words[place + has_number]
    if rank.text.istitle() and rank.lower in RANKS:
        return 1 + has_number if words[place + 1 + has_number].lower == "of" else 0
    return 0


def _is_joined(text: str, before: _Word, word: _Word) -> bool:
    if word.opens_sentence:
        return False
    between = text[before.end : word.start]
    if between.startswith("."):  # an initial or a title: "J. Smith", "Dr. Ostrom"
        between = between[1:] if len(before.text) == 1 or before.lower in TITLES else "."
    return between.isspace()


def _without_opener(run: list[_Word], ordinary: set[str]) -> list[_Word]:
    """Drop words that are capitalised only because they open a sentence or hold it together."""
    while run and (
        run[0].lower in FUNCTION_WORDS
        or run[0].lower in CONNECTORS
        or (run[0].opens_sentence and run[0].lower in ordinary)
    ):
        run = run[1:]
    return run


def _is_name(name: list[_Word], known: set[str]) -> bool:
    if not name or len(name) > LONGEST_NAME or all(word.lower in CALENDAR for word in name):
        return False
    if len(name) > 1:
        return len(name) < 4 or not all(word.text.isupper() for word in name)
    word = name[0]
    if len(word.text) < 2:
        return False
    return word.is_acronym or not word.opens_sentence or word.text in known


def _type_of(name: list[_Word]) -> EntityType:
    if any(word.lower in ORGANISATION_WORDS for word in name):
        return EntityType.ORGANIZATION
    if any(word.lower in RANKS for word in name[1:]):
        return EntityType.PERSON
    return EntityType.OTHER


# Terms


def _quoted_terms(text: str) -> Iterator[Mention]:
    for found in _QUOTED.finditer(text):
        term = found[1]
        is_short = len(term.split()) <= 4 and term == term.strip()
        if is_short and any(map(str.isalpha, term)) and term[-1] not in ".!?,;:":
            yield Mention(
                name=term, type=EntityType.CONCEPT, start=found.start(1), end=found.end(1)
            )


def _repeated_terms(text: str, words: Sequence[_Word]) -> Iterator[Mention]:
    reach = _plain_reach(text, words)
    counts = Counter(
        _term(words, place, length)
        for place, longest in enumerate(reach)
        for length in (2, 3)
        if length <= longest
    )
    place = 0
    while place < len(words):
        for length in (3, 2):
            if length <= reach[place] and counts[_term(words, place, length)] >= REPEATED:
                yield Mention(
                    name=" ".join(_term(words, place, length)),
                    type=EntityType.CONCEPT,
                    start=words[place].start,
                    end=words[place + length - 1].end,
                )
                place += length
                break
        else:
            place += 1


def _plain_reach(text: str, words: Sequence[_Word]) -> list[int]:
    """Return for each word how many plain words stand side by side from there on."""
    reach = [0] * len(words)
    for place in range(len(words) - 1, -1, -1):
        word = words[place]
        if not word.is_plain:
            continue
        reach[place] = 1
        if place + 1 < len(words) and text[word.end : words[place + 1].start].isspace():
            reach[place] += reach[place + 1]
    return reach


def _term(words: Sequence[_Word], place: int, length: int) -> tuple[str, ...]:
    return tuple(word.text for word in words[place : place + length])
