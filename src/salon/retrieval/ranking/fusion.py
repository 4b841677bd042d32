"""Making one list of what words found and what vectors found, most probably relevant first.

It works on rankings and vectors alone: it reads no text, asks for nothing but the vectors at the
head of the rankings, and applies no threshold. `scores` are the probabilities that passages are
relevant, as far as `weights` were fitted to tell; `fused` is what the list is ordered by.

The words of a passage count by its BM25 score as a share of the query's best one, its vector by
its cosine. Likeness to the passages that are best by both moves a passage up or down a little: it
tells which of them are better, not how good they are, so the list keeps its probabilities and
hands them out in the new order. A passage whose vector is not computed yet counts as close as
one with such words usually is: unknown is not dissimilar.

Invariants: scores never rise down the list; equal passages stand in the order of their ids;
`alpha` 0 gives the order of the words alone, 1 that of the vectors alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log1p
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from salon.core.embedding import Vector
from salon.core.indexes import Ranking
from salon.retrieval.ranking.calibration import Floats, as_probabilities
from salon.retrieval.ranking.candidates import (
    Candidates,
    Ids,
    Neighbours,
    VectorsOf,
    compare,
    unite,
)
from salon.retrieval.ranking.weights import Weights, weights_for

Fusion: TypeAlias = Literal["calibrated", "rrf"]
Singles: TypeAlias = "npt.NDArray[np.float32]"

RRF_K = 60
FEEDBACK_PASSAGES = 20
FEEDBACK_SHARPNESS = 20.0
"""How fast a passage's say in the feedback falls with its distance from the best one."""

_NOTHING = Ranking(np.empty(0, np.int64), np.empty(0, np.float32))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused:
    """Passages, most probably relevant first, and why each stands where it stands.

    Ranks count from 1; 0 is not being in that ranking. A score that nobody knows is NaN. `parts`
    add up to the log-odds of `scores`, and by `rrf` to `fused`; among them, `order` is what a
    passage gains or loses where the list hands out its probabilities in another order.
    """

    ids: Ids
    scores: Singles
    fused: Singles
    lexical_ranks: Ids
    lexical_scores: Singles
    dense_ranks: Ids
    dense_scores: Singles
    parts: Mapping[str, Singles]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for each candidate, in units of closeness.

    `alpha` is the mixture that was possible: 0 where no vector was found, 1 where no word was.
    """

    candidates: Candidates
    alpha: float
    words: Floats
    vectors: Floats
    feedback: Floats

    @property
    def own(self) -> Floats:
        """What a passage has to say for itself: this is what probabilities rest on."""
        return self.words + self.vectors


def fuse(
    lexical: Ranking | None,
    dense: Ranking | None,
    *,
    alpha: float = 0.5,
    fusion: Fusion = "calibrated",
    weights: Weights | None = None,
    ideal: float | None = None,
    query_vector: "Vector | None" = None,
    vectors_of: VectorsOf | None = None,
) -> Fused:
    """Fuse the rankings of one query; either may be absent, and some passages without vector.

    `weights` are those for the model behind `dense`. `ideal` is the BM25 score of a passage of
    average length that has each word of the query once: without vectors, it alone tells how much
    was found. `query_vector` and `vectors_of` (that is `VectorIndex.vectors`) let the passages at
    the head of the rankings be compared by their vectors.
    """
    weights = weights or weights_for(None)
    evidence = weigh(
        lexical,
        dense,
        alpha=alpha,
        weights=weights,
        query_vector=query_vector,
        vectors_of=vectors_of,
    )
    parts = log_odds(evidence, weights, ideal)
    odds = _sum(parts)
    fused = evidence.own + evidence.feedback
    if fusion == "rrf":
        parts = _reciprocal_ranks(evidence)
        fused = _sum(parts)
    candidates = evidence.candidates
    order = np.lexsort((candidates.ids, -fused))
    handed_out = np.sort(odds)[::-1]
    if fusion == "calibrated":
        parts["order"] = np.empty(len(odds))
        parts["order"][order] = handed_out - odds[order]
    return Fused(
        ids=candidates.ids[order],
        scores=as_probabilities(handed_out).astype(np.float32),
        fused=fused[order].astype(np.float32),
        lexical_ranks=candidates.lexical_ranks[order],
        lexical_scores=candidates.lexical_scores[order].astype(np.float32),
        dense_ranks=candidates.dense_ranks[order],
        dense_scores=candidates.cosines[order].astype(np.float32),
        parts={name: part[order].astype(np.float32) for name, part in parts.items()},
    )


def weigh(
    lexical: Ranking | None,
    dense: Ranking | None,
    *,
    alpha: float,
    weights: Weights,
    query_vector: "Vector | None" = None,
    vectors_of: VectorsOf | None = None,
) -> Evidence:
    """Return what speaks for each passage of the rankings; see `fuse`."""
    words = _NOTHING if lexical is None or alpha == 1 else lexical
    vectors = _NOTHING if dense is None or alpha == 0 else dense
    # A ranking that is empty says nothing, for or against.
    if not len(vectors.ids):
        alpha = 0.0
    elif not len(words.ids):
        alpha = 1.0
    candidates = unite(words, vectors)
    neighbours = None
    if 0 < alpha < 1 and query_vector is not None and vectors_of is not None:
        neighbours = compare(candidates, query_vector, vectors_of)
    share = _share_of_best(candidates, words)
    close = _closeness(candidates, vectors, _expected(share, vectors, weights, neighbours), weights)
    by_words, by_vectors = 2 * (1 - alpha) * weights.words * share, 2 * alpha * close
    likeness = _likeness_to_best(by_words + by_vectors, neighbours)
    return Evidence(
        candidates=candidates,
        alpha=alpha,
        words=by_words,
        vectors=by_vectors,
        feedback=2 * alpha * weights.feedback * likeness,
    )


def log_odds(evidence: Evidence, weights: Weights, ideal: float | None) -> dict[str, Floats]:
    """Return what makes up the log-odds of relevance of each candidate."""
    with_ideal = ideal is not None and ideal > 0 and evidence.alpha < 1
    curve = weights.curve_at(evidence.alpha, with_ideal=with_ideal)
    parts = {
        "words": curve.slopes[0] * evidence.words,
        "vectors": curve.slopes[0] * evidence.vectors,
        "start": np.full(len(evidence.words), curve.start),
    }
    if with_ideal:
        parts["share of ideal"] = curve.slopes[1] * share_of_ideal(evidence, ideal)
    return parts


def share_of_ideal(evidence: Evidence, ideal: float | None) -> Floats:
    """Return each BM25 score as a share of what a passage with every word would have."""
    return np.nan_to_num(evidence.candidates.lexical_scores) / (ideal or np.inf)


def _share_of_best(candidates: Candidates, words: Ranking) -> Floats:
    """Return each BM25 score as a share of the best one."""
    best = float(words.scores[0]) if len(words.scores) else 0.0
    if best <= 0:
        return np.zeros(len(candidates.ids))
    return np.nan_to_num(candidates.lexical_scores) / best


def _expected(
    share: Floats, vectors: Ranking, weights: Weights, neighbours: Neighbours | None
) -> Floats:
    """Return how close passages may be whose vector nobody compared."""
    start, slope = weights.expected
    expected = start + slope * share
    if len(vectors.ids):
        # A vector that is there and was not found is farther away than all that were.
        floor = float(vectors.scores[-1]) if weights.closeness == "cosine" else 0.0
        may_be_there = np.ones(len(share), bool)
        if neighbours is not None:
            may_be_there[neighbours.asked] = False
        expected[may_be_there] = np.minimum(expected[may_be_there], floor)
    return expected


def _closeness(
    candidates: Candidates, vectors: Ranking, expected: Floats, weights: Weights
) -> Floats:
    """Return how close each passage is to the query."""
    known = candidates.cosines
    if weights.closeness == "stretched" and len(vectors.ids):
        low, high = float(vectors.scores[-1]), float(vectors.scores[0])
        known = (known - low) / (high - low) if high > low else 0 * known + 1
    return np.where(np.isnan(known), expected, known)


def _likeness_to_best(evidence: Floats, neighbours: Neighbours | None) -> Floats:
    """Return how much more a passage is like the best ones than these are on average."""
    likeness = np.zeros(len(evidence))
    if neighbours is None or not len(neighbours.places):
        return likeness
    head = evidence[neighbours.places]
    best = np.argsort(-head, kind="stable")[:FEEDBACK_PASSAGES]
    say = np.exp((head[best] - head[best[0]]) * FEEDBACK_SHARPNESS).astype(np.float32)
    found = neighbours.vectors @ (say @ neighbours.vectors[best] / say.sum())
    likeness[neighbours.places] = found - found[best].mean()
    return likeness


def _reciprocal_ranks(evidence: Evidence) -> dict[str, Floats]:
    """Return what each ranking adds by reciprocal rank fusion."""
    candidates = evidence.candidates
    both = (
        ("words", candidates.lexical_ranks, 2 * (1 - evidence.alpha)),
        ("vectors", candidates.dense_ranks, 2 * evidence.alpha),
    )
    return {
        name: np.where(ranks > 0, weight / (RRF_K + ranks), 0.0) for name, ranks, weight in both
    }


def _sum(parts: Mapping[str, Floats]) -> Floats:
    total: Floats = np.sum(list(parts.values()), axis=0)
    return total


def ideal_score(passages: int, frequencies: Iterable[int]) -> float:
    """Return the BM25 score of a passage of average length that has each word once.

    `frequencies` are how many of the `passages` have each word of the query; 0 counts too.
    """
    return sum(log1p((passages - one + 0.5) / (one + 0.5)) for one in frequencies)
