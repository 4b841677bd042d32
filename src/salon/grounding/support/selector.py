"""The selector: how probably each of some sentences answers a question.

The sentences come in the order of their text, so that each has its neighbours beside it. A
statement instead of a question asks for the sentences that decide it. Only how the question and a
sentence fit is weighed: whether the sentence is true is not asked.
"""

from collections.abc import Sequence

import numpy as np

from salon.core.embedding import TokenEmbedder
from salon.grounding.support.answering import ASKING, Asked, word_features
from salon.grounding.support.meaning import Remembering, answer_features, likeness
from salon.grounding.support.weighing import SELECTOR, Weighing, WeighingFile, shipped
from salon.grounding.support.words import Tellingness, shipped_tellingness

KINDS = ("question", "statement")
MOST_COMPARED = 32
"""How many sentences are compared by meaning: those that share most words with the question."""


class Selector:
    """Picks sentences that answer a question. May be used by many threads at once."""

    def __init__(
        self, weights: WeighingFile, telling: Tellingness, encoder: TokenEmbedder | None
    ) -> None:
        self._by_words = {kind: weights.by_words(kind) for kind in KINDS}
        by_meaning = {kind: weights.by_meaning(kind, encoder) for kind in KINDS}
        self._by_meaning = {kind: one for kind, one in by_meaning.items() if one}
        self._telling = telling
        self._encoder = Remembering(encoder) if encoder and self._by_meaning else None

    @property
    def threshold(self) -> float:
        """The probability from which on a sentence counts as an answer to a question."""
        return self._by_meaning.get("question", self._by_words["question"]).threshold

    def scores(self, question: str, sentences: Sequence[str]) -> list[float]:
        """Return, for each sentence, how probably it answers the question."""
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


def load_selector(encoder: TokenEmbedder | None) -> Selector:
    """Return the selector that Salon ships; without an encoder it goes by words alone."""
    return Selector(shipped(SELECTOR), shipped_tellingness(), encoder)
