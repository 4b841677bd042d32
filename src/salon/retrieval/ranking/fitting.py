"""Fitting weights to labelled queries: what is relevant tells what words and vectors are worth.

It takes rankings as they came from the indexes; it searches and embeds nothing. Documents are
judged and passages are ranked: a document stands where its best passage stands, and has that
passage's probability.

Invariants: the same queries give the same weights; each collection counts as much as it is told
to, however many queries it has, so that weights suit collections of other kinds too.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2
from typing import TypeAlias

import numpy as np

from salon.core.embedding import EmbeddingModel, Vector
from salon.core.indexes import Ranking
from salon.retrieval.ranking.calibration import Curve, Floats, fit_curve
from salon.retrieval.ranking.candidates import HEAD, VectorsOf
from salon.retrieval.ranking.fusion import Evidence, share_of_ideal, weigh
from salon.retrieval.ranking.weights import Weights

DEPTH = 10
"""How many documents of a query count: as many as people look at."""
ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
WORDS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
FEEDBACK = 0.3
EVENLY = 0.5

PiecesOf: TypeAlias = Callable[["LabelledQuery", Evidence], Floats]
"""Returns the pieces of evidence of each candidate, in columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledQuery:
    """A query with what the indexes found, and the documents that are relevant to it.

    `documents` tells which document a passage is of. Nothing may be relevant: that is a query
    which the collection cannot answer.
    """

    collection: str
    lexical: Ranking
    dense: Ranking
    ideal: float | None
    vector: Vector
    vectors_of: VectorsOf
    documents: Mapping[int, str]
    relevant: frozenset[str]

    def weigh(self, weights: Weights, alpha: float) -> Evidence:
        """Return what speaks for the passages that were found."""
        return weigh(
            self.lexical,
            self.dense,
            alpha=alpha,
            weights=weights,
            query_vector=self.vector,
            vectors_of=self.vectors_of,
        )

    def first_documents(self, evidence: Evidence) -> "dict[str, int]":
        """Return the best documents, each with the place of its best passage in the list."""
        ids = evidence.candidates.ids
        order = np.lexsort((ids, -(evidence.own + evidence.feedback)))
        found: dict[str, int] = {}
        for place, id_ in enumerate(ids[order].tolist()):
            found.setdefault(self.documents[id_], place)
            if len(found) == DEPTH:
                break
        return found

    def quality(self, evidence: Evidence) -> float:
        """Return nDCG@10 of the documents."""
        found = enumerate(self.first_documents(evidence), start=2)
        gain = sum(1 / log2(rank) for rank, document in found if document in self.relevant)
        return gain / sum(1 / log2(rank + 2) for rank in range(min(DEPTH, len(self.relevant))))


def fit_weights(
    queries: Sequence[LabelledQuery],
    *,
    model: EmbeddingModel | None,
    importance: Mapping[str, float] | None = None,
) -> Weights:
    """Return the weights that suit these queries best.

    Without a model they are generic: cosines count by their place among the others only.
    `importance` says how much a collection counts where that is not 1.
    """
    fitting = _Fitting(queries, importance or {})
    weights = _unfitted(model)
    weights = replace(weights, expected=fitting.expected(weights))
    weights = max((replace(weights, words=one) for one in WORDS), key=fitting.quality)
    return replace(
        weights,
        curves=tuple(fitting.curve(weights, alpha) for alpha in ALPHAS),
        ideal_curves=tuple(fitting.ideal_curve(weights, alpha) for alpha in ALPHAS),
    )


def _unfitted(model: EmbeddingModel | None) -> Weights:
    return Weights(
        model="any other" if model is None else model.address,
        fingerprint=None if model is None else model.fingerprint,
        closeness="stretched" if model is None else "cosine",
        words=1.0,
        feedback=0.0 if model is None else FEEDBACK,
        expected=(0.0, 0.0),
        alphas=ALPHAS,
        curves=(Curve(start=0.0, slopes=(1.0,)),) * len(ALPHAS),
        ideal_curves=(Curve(start=0.0, slopes=(1.0, 0.0)),) * len(ALPHAS),
    )


class _Fitting:
    """Labelled queries, and how much each counts."""

    def __init__(self, queries: Sequence[LabelledQuery], importance: Mapping[str, float]) -> None:
        self._queries = queries
        counts = Counter(query.collection for query in queries)
        self._counts_for = {
            name: importance.get(name, 1.0) / count for name, count in counts.items()
        }

    def expected(self, weights: Weights) -> tuple[float, float]:
        """Return how close passages are by their words: start and slope of a line."""
        shares: list[Floats] = []
        closes: list[Floats] = []
        for query in self._queries:
            evidence = query.weigh(weights, EVENLY)
            candidates = evidence.candidates
            is_head = (candidates.lexical_ranks > 0) & (candidates.lexical_ranks <= HEAD)
            is_known = is_head & ~np.isnan(candidates.cosines)
            if evidence.alpha == EVENLY:
                shares.append(evidence.words[is_known] / weights.words)
                closes.append(evidence.vectors[is_known])
        slope, start = np.polyfit(np.concatenate(shares), np.concatenate(closes), 1)
        return float(start), float(slope)

    def quality(self, weights: Weights) -> float:
        """Return nDCG@10, over the queries of each collection and then over the collections."""
        return sum(
            self._counts_for[query.collection] * query.quality(query.weigh(weights, EVENLY))
            for query in self._queries
            if query.relevant
        )

    def curve(self, weights: Weights, alpha: float) -> Curve:
        """Return the curve for the documents that people would look at."""
        return self._fitted_curve(weights, alpha, _own)

    def ideal_curve(self, weights: Weights, alpha: float) -> Curve:
        """Return the curve that also takes the share of the ideal.

        A cosine says by itself how much was found, and says it better on collections that nothing
        was fitted to; so with vectors the ideal counts only where cosines are not understood.
        """
        if alpha == 0 or weights.closeness == "stretched":
            return self._fitted_curve(weights, alpha, _own_and_ideal)
        plain = self.curve(weights, alpha)
        return replace(plain, slopes=(*plain.slopes, 0.0))

    def _fitted_curve(self, weights: Weights, alpha: float, pieces_of: PiecesOf) -> Curve:
        pieces: list[Floats] = []
        outcomes: list[bool] = []
        counts: list[float] = []
        for query in self._queries:
            evidence = query.weigh(weights, alpha)
            first = query.first_documents(evidence)
            # The best evidence goes to whoever stands first: so are probabilities handed out.
            handed_out = -np.sort(-pieces_of(query, evidence), axis=0)
            pieces.append(handed_out[list(first.values())])
            outcomes += [document in query.relevant for document in first]
            counts += [self._counts_for[query.collection]] * len(first)
        return fit_curve(np.concatenate(pieces), np.array(outcomes, float), np.array(counts))


def _own(_: LabelledQuery, evidence: Evidence) -> Floats:
    return evidence.own[:, None]


def _own_and_ideal(query: LabelledQuery, evidence: Evidence) -> Floats:
    return np.column_stack([evidence.own, share_of_ideal(evidence, query.ideal)])
