"""The selector: how probably each of some sentences answers a question.

The sentences come in the order of their text, so that each has its neighbours beside it. A
statement instead of a question asks for the sentences that decide it. Only how the question and a
sentence fit is weighed: whether the sentence is true is not asked.

There are two looks. The first compares words and vectors and takes a millisecond or two a passage.
The second has a model read question and passage together, which takes ten times as long and sees
ten times as much; it is for the few passages that the first look liked best.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from salon.core.embedding import PassageReader, PassageReading, TokenEmbedder
from salon.grounding.support.answering import ASKING, Asked, word_features
from salon.grounding.support.meaning import Remembering, answer_features, likeness
from salon.grounding.support.weighing import SELECTOR, Weighing, WeighingFile, shipped
from salon.grounding.support.words import Tellingness, shipped_tellingness

KINDS = ("question", "statement")
READ = {"question": "question, read", "statement": "statement, read"}
"""The weights for what both looks say together."""
LOUDEST_NO = -2.0
"""The odds below which a reader's no is taken as no louder: far from the texts it was taught, it
denies what plainly stands there with odds that no first look could make up for."""
MOST_COMPARED = 32
"""How many sentences are compared by meaning: those that share most words with the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondLook:
    """What both looks say about one passage."""

    answers: tuple[float, ...]
    """For each sentence, how probably it answers."""
    passage: float | None
    """The odds (logit) that the passage answers at all; `None` where nothing was read."""


class Selector:
    """Picks sentences that answer a question. May be used by many threads at once."""

    def __init__(
        self,
        weights: WeighingFile,
        telling: Tellingness,
        encoder: TokenEmbedder | None,
        reader: PassageReader | None = None,
    ) -> None:
        self._by_words = {kind: weights.by_words(kind) for kind in KINDS}
        by_meaning = {kind: weights.by_meaning(kind, encoder) for kind in KINDS}
        self._by_meaning = {kind: one for kind, one in by_meaning.items() if one}
        self._telling = telling
        self._encoder = Remembering(encoder) if encoder and self._by_meaning else None
        self._reader = reader
        self._read = {} if reader is None else _reading_weights(weights, reader)

    @property
    def threshold(self) -> float:
        """The probability from which on a sentence counts as an answer to a question."""
        return self._by_meaning.get("question", self._by_words["question"]).threshold

    def scores(self, question: str, sentences: Sequence[str]) -> list[float]:
        """Return, for each sentence of a passage, how probably it answers the question."""
        first = self.first_look(question, sentences)
        return list(self.look_again(question, [sentences], [first])[0].answers)

    def look_again(
        self,
        question: str,
        passages: Sequence[Sequence[str]],
        first_looks: Sequence[Sequence[float]],
    ) -> list[SecondLook]:
        """Return, for each passage, what the first look said joined with what reading it says."""
        form = Asked.read(question).form
        if self._reader is None or form not in self._read:
            return [SecondLook(answers=tuple(one), passage=None) for one in first_looks]
        read = self._reader.read(question, passages, is_claim=form == "statement")
        readings = [softened(one) for one in read]
        weighing = self._read[form]
        return [
            SecondLook(answers=_joined(weighing, first, reading), passage=reading.passage)
            for first, reading in zip(first_looks, readings, strict=True)
        ]

    def first_look(self, question: str, sentences: Sequence[str]) -> list[float]:
        """Return, for each sentence, how probably it answers, by words and vectors alone."""
        if not sentences:
            return []
        asked = Asked.read(question)
        values = word_features(asked, sentences, self._telling)
        by_words = _probabilities(self._by_words[asked.form], values)
        if self._encoder is None or asked.form not in self._by_meaning:
            return by_words
        chosen = sorted(np.argsort(-np.array(values["shared"]), kind="stable")[:MOST_COMPARED])
        vectors = self._encoder.read([question, *(sentences[place] for place in chosen)])
        found = likeness(asked.words, vectors[0], vectors[1:], self._telling, little=ASKING)
        if found is None:
            return by_words
        closer = {
            **{name: [column[place] for place in chosen] for name, column in values.items()},
            **{name: list(column) for name, column in answer_features(found).items()},
        }
        scores = _probabilities(self._by_meaning[asked.form], closer)
        # Whatever shares fewer words than all that were compared cannot be better than they are.
        lowest = min(scores)
        result = [min(score, lowest) for score in by_words]
        for place, score in zip(chosen, scores, strict=True):
            result[place] = score
        return result


def _probabilities(weighing: Weighing, columns: dict[str, list[float]]) -> list[float]:
    count = len(next(iter(columns.values())))
    return [
        weighing.probability({name: column[place] for name, column in columns.items()})
        for place in range(count)
    ]


def softened(reading: PassageReading) -> PassageReading:
    """Return what was read with no denial louder than is believed."""
    return PassageReading(
        sentences=tuple(max(LOUDEST_NO - 1, one) for one in reading.sentences),
        passage=max(LOUDEST_NO, reading.passage),
        support=reading.support,
    )


def _joined(
    weighing: Weighing, first: Sequence[float], reading: PassageReading
) -> tuple[float, ...]:
    return tuple(
        weighing.probability(
            {"first_look": _odds(one), "sentence": sentence, "passage": reading.passage}
        )
        for one, sentence in zip(first, reading.sentences, strict=True)
    )


def _odds(probability: float) -> float:
    held = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(held / (1 - held))


def _reading_weights(weights: WeighingFile, reader: PassageReader) -> dict[str, Weighing]:
    found = {form: weights.find(kind, reader.fingerprint) for form, kind in READ.items()}
    return {form: one for form, one in found.items() if one is not None}


def load_selector(encoder: TokenEmbedder | None, reader: PassageReader | None = None) -> Selector:
    """Return the selector that Salon ships; without an encoder it goes by words alone."""
    return Selector(shipped(SELECTOR), shipped_tellingness(), encoder, reader)
