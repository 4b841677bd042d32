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
SHORTEST, LONGEST = 25, 700
"""Characters of a sentence that can be quoted by itself."""
_STOPS = frozenset(".!?:;\u2026\u3002\uff01\uff1f\u061f\u0964")
_CLOSING = " \"')]\u201d\u2019\u00bb"


class Selector(Protocol):
    """Says how probably each of several sentences answers a question."""

    def scores(self, question: str, sentences: Sequence[str]) -> list[float]:
        """Return a probability per sentence."""
        ...


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


def gather_evidence(
    question: str,
    passages: Sequence[FoundPassage],
    selector: Selector,
    *,
    weakest: float = WEAK,
) -> Evidence:
    """Judge the sentences of the best passages; those below `weakest` are not looked at."""
    quotes: dict[tuple[CardHash, int], Quote] = {}
    for passage in passages[:PASSAGES]:
        if passage.score < weakest:
            continue
        spans = list(sentences(passage.content))
        texts = [passage.content[begin:stop] for begin, stop in spans]
        answers = selector.scores(question, texts)
        for (begin, _), text, probability in zip(spans, texts, answers, strict=True):
            start = passage.start + len(passage.content[:begin].encode())
            # Passages overlap; what stands in two of them counts in the better one.
            if (passage.hash, start) not in quotes and _can_be_quoted(text):
                quotes[passage.hash, start] = _quote(passage, text, start, probability)
    judged = sorted(quotes.values(), key=lambda one: (-one.score, one.hash, one.start))
    covered = _covered(question, judged[0], passages) if judged else 0.0
    return Evidence(
        quotes=tuple(judged),
        passages=tuple(passages),
        covered=covered,
        is_question=is_question(question),
    )


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


def _quote(passage: FoundPassage, text: str, start: int, answers: float) -> Quote:
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
