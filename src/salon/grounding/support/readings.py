"""A claim and a piece of evidence, read once: their words, sentences, numbers and names.

Only what is in the text: nothing here judges.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from salon.grounding.support.names import Name, read_names
from salon.grounding.support.quantities import read_quantities, values_of, without_marks
from salon.grounding.support.words import Word, read_words, shipped_tellingness
from salon.retrieval import chunking

LONGEST_EVIDENCE = 200_000
"""Characters of evidence that are looked at; a claim that needs more should cite more closely."""
MOST_SENTENCES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of the evidence, or the claim: where it stands and its words."""

    start: int
    text: str
    words: tuple[Word, ...]
    stems: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A text that may bear a claim out."""

    text: str
    plain: str
    """The words of each sentence on a line, for finding a claim in it word by word."""
    sentences: tuple[Sentence, ...]
    stems: frozenset[str]
    values: frozenset[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence that says something, without marks that point to sources."""

    sentence: Sentence
    plain: str
    stems: tuple[str, ...]
    """The stems of its content words, each once, in order."""
    names: tuple[Name, ...]
    numbers: dict[str, float]
    """What the numbers among the stems are worth, however they are spelled."""


def sentences(text: str) -> list[tuple[int, int]]:
    """Return where the sentences of a text stand, in characters; a new line ends one too."""
    spans: list[tuple[int, int]] = []
    begin = 0
    for line in text.split("\n"):
        spans.extend((begin + start, begin + end) for start, end in chunking.sentences(line))
        begin += len(line) + 1
    return spans


@lru_cache(maxsize=256)
def read_evidence(text: str) -> Evidence:
    """Read a piece of evidence."""
    text = text[:LONGEST_EVIDENCE]
    found = tuple(
        _sentence(text[start:end], start) for start, end in sentences(text)[:MOST_SENTENCES]
    )
    return Evidence(
        text=text,
        plain="\n".join(plain(one.words) for one in found),
        sentences=found,
        stems=frozenset().union(*(one.stems for one in found)),
        values=frozenset(values_of(text)),
    )


@lru_cache(maxsize=256)
def read_claim(text: str) -> Claim:
    """Read a claim."""
    bare = without_marks(text[:LONGEST_EVIDENCE])
    sentence = _sentence(bare, 0)
    content = (word.stem for word in sentence.words if word.is_content)
    # A claim of nothing but words such as `it is` still has to be compared by something.
    stems = dict.fromkeys(content) or dict.fromkeys(word.stem for word in sentence.words)
    return Claim(
        sentence=sentence,
        plain="\n".join(plain(read_words(bare[start:end])) for start, end in sentences(bare)),
        stems=tuple(stems),
        names=tuple(read_names(bare, shipped_tellingness())),
        numbers={
            word.stem: one.value
            for one in read_quantities(bare)
            if one.is_strict
            for word in read_words(one.text)
        },
    )


def plain(words: Iterable[Word]) -> str:
    """Return words with single spaces, in lower case, without the signs around them."""
    return " ".join(word.text.lower().replace("\u2019", "'") for word in words)


def _sentence(text: str, start: int) -> Sentence:
    words = tuple(read_words(text))
    return Sentence(start=start, text=text, words=words, stems=_stems(words))


def _stems(words: Iterable[Word]) -> frozenset[str]:
    return frozenset(word.stem for word in words)
