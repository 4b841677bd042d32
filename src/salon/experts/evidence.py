"""Evidence: the sentences of a corpus that answer a question best, each an exact span of a card.

Retrieve, rank, filter: passages come from search, sentences are judged one by one, lines that speak
to the machine are left out. Nothing here writes a word of its own.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from salon.core.documents import DocumentId
from salon.core.hashing import CardHash
from salon.corpus.search import FoundPassage
from salon.experts.questions import content_words, is_question
from salon.guard.instructions import is_instruction
from salon.retrieval.chunking import sentences

PASSAGES = 10
"""Passages whose sentences are looked at."""
WEAK = 0.05
"""A passage that is less probably relevant than this is not looked at."""
READ = 3
"""Passages that are looked at twice, those with the most promising sentences."""
SHORTEST, LONGEST = 25, 700
"""Characters of a sentence that can be quoted by itself."""
_STOPS = frozenset(".!?:;\u2026\u3002\uff01\uff1f\u061f\u0964")
_CLOSING = " \"')]\u201d\u2019\u00bb"


class SecondLook(Protocol):
    """What a closer look at one passage says."""

    @property
    def answers(self) -> tuple[float, ...]:
        """For each sentence, how probably it answers."""

    @property
    def passage(self) -> float | None:
        """The odds (logit) that the passage answers at all; `None` where nothing was read."""


class Selector(Protocol):
    """Says how probably each of several sentences answers a question."""

    def first_look(self, question: str, sentences: Sequence[str]) -> list[float]:
        """Return a probability per sentence, quickly."""

    def look_again(
        self,
        question: str,
        passages: Sequence[Sequence[str]],
        first_looks: Sequence[Sequence[float]],
    ) -> Sequence[SecondLook]:
        """Return a better probability per sentence of a few passages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A sentence of the corpus with how well it answers, and where it stands."""

    text: str
    hash: CardHash
    start: int
    end: int
    source: str
    document: DocumentId
    derived: bool
    passage_score: float
    answers: float
    """The probability that this sentence answers the question, as the selector says."""
    is_read: bool = False
    """Whether its passage was looked at twice; such quotes come first."""

    @property
    def score(self) -> float:
        """Return what quotes are ordered by: both probabilities count, on the scale of odds."""
        return _logit(self.answers) + 0.5 * _logit(self.passage_score)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was found for a question: quotes, best first, and the passages they are from."""

    quotes: tuple[Quote, ...]
    passages: tuple[FoundPassage, ...]
    covered: float = 0.0
    is_question: bool = True
    read: float | None = None
    """The odds (logit) that the best passage answers, where passages were read."""

    @property
    def signs(self) -> "Signs":
        """Return what says whether the corpus answers at all."""
        answers = sorted((one.answers for one in self.quotes), reverse=True)[:2]
        scores = [one.score for one in self.passages[:2]]
        best, second = (*answers, 0.0, 0.0)[:2]
        top, next_ = (*scores, 0.0, 0.0)[:2]
        return Signs(
            best=best,
            second=second,
            passage=top,
            next_passage=next_,
            covered=self.covered,
            is_question=self.is_question,
            read=self.read,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """The best two sentences and passages, as probabilities."""

    best: float
    second: float
    passage: float
    next_passage: float
    covered: float
    """The share of the question's own words that the passage of the best quote has."""
    is_question: bool = True
    read: float | None = None


@dataclass(slots=True)
class _Looked:
    """A passage, its sentences, and how probably each answers."""

    passage: FoundPassage
    starts: list[int]
    texts: list[str]
    answers: Sequence[float]
    read: float | None = None

    def quotes(self) -> list[Quote]:
        """Return the sentences that can be quoted by themselves."""
        return [
            _quote(self.passage, text, start, probability, is_read=self.read is not None)
            for start, text, probability in zip(self.starts, self.texts, self.answers, strict=True)
            if _can_be_quoted(text)
        ]


def gather_evidence(
    question: str,
    passages: Sequence[FoundPassage],
    selector: Selector,
    *,
    weakest: float = WEAK,
) -> Evidence:
    """Judge the sentences of the best passages; those below `weakest` are not looked at."""
    looked = [
        _first_look(question, one, selector) for one in passages[:PASSAGES] if one.score >= weakest
    ]
    _look_again(question, looked, selector)
    quotes: dict[tuple[CardHash, int], Quote] = {}
    # Passages overlap; what stands in two of them counts where it was read, else in the better one.
    for one in sorted(looked, key=lambda one: one.read is None):
        for quote in one.quotes():
            quotes.setdefault((quote.hash, quote.start), quote)
    judged = sorted(
        quotes.values(), key=lambda one: (not one.is_read, -one.score, one.hash, one.start)
    )
    covered = _covered(question, judged[0], passages) if judged else 0.0
    return Evidence(
        quotes=tuple(judged),
        passages=tuple(passages),
        covered=covered,
        is_question=is_question(question),
        read=max((one.read for one in looked if one.read is not None), default=None),
    )


def _first_look(question: str, passage: FoundPassage, selector: Selector) -> _Looked:
    spans = list(sentences(passage.content))
    texts = [passage.content[begin:stop] for begin, stop in spans]
    starts = [passage.start + len(passage.content[:begin].encode()) for begin, _ in spans]
    return _Looked(passage, starts, texts, selector.first_look(question, texts))


def _look_again(question: str, looked: Sequence[_Looked], selector: Selector) -> None:
    """Have the passages whose sentences promise most looked at again."""
    promising = {
        at: max(quote.score for quote in quotes)
        for at, one in enumerate(looked)
        if (quotes := one.quotes())
    }
    best = [looked[at] for at in sorted(promising, key=lambda at: (-promising[at], at))[:READ]]
    again = selector.look_again(
        question, [one.texts for one in best], [one.answers for one in best]
    )
    for one, second in zip(best, again, strict=True):
        one.answers, one.read = second.answers, second.passage


def _covered(question: str, quote: Quote, passages: Sequence[FoundPassage]) -> float:
    """Return the share of a question's content words that stand around a quote, endings aside."""
    words = [word.casefold() for word in content_words(question)]
    around = next(
        one.content
        for one in passages
        if one.hash == quote.hash and one.start <= quote.start and quote.end <= one.end
    ).casefold()
    there = [word[: max(4, len(word) - 3)] in around for word in words]
    return sum(there) / len(there) if there else 0.0


def _quote(passage: FoundPassage, text: str, start: int, answers: float, *, is_read: bool) -> Quote:
    return Quote(
        text=text,
        hash=passage.hash,
        start=start,
        end=start + len(text.encode()),
        source=passage.source,
        document=passage.document_id,
        derived=passage.derived,
        passage_score=passage.score,
        answers=answers,
        is_read=is_read,
    )


def _can_be_quoted(text: str) -> bool:
    # A passage may begin or end inside of a sentence that is longer than passages are.
    return (
        SHORTEST <= len(text) <= LONGEST
        and not text[0].islower()
        and text.rstrip(_CLOSING)[-1:] in _STOPS
        and not is_instruction(text)
        and sum(character.isalpha() for character in text) > len(text) / 2
    )


def _logit(probability: float) -> float:
    held = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(held / (1 - held))
