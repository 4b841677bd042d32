"""The passages of two rankings as one set, with what both rankings and the vectors say of each.

It neither weighs nor orders. Invariants: each passage is there once; what is not known of one is
NaN, never zero.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from salon.core.embedding import Vector, Vectors
from salon.core.indexes import PassageId, Ranking
from salon.retrieval.ranking.calibration import Floats

Ids: TypeAlias = "npt.NDArray[np.int64]"
Places: TypeAlias = "npt.NDArray[np.intp]"
"""Where passages stand among the candidates."""

VectorsOf: TypeAlias = Callable[[Sequence[PassageId]], tuple[list[PassageId], Vectors]]
"""Returns the vectors of those of these passages that have one, with their ids."""

HEAD = 200
"""How far down each ranking passages are compared by their vectors; deeper changes no top ten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Passages in no particular order. Ranks count from 1; 0 is not being in that ranking."""

    ids: Ids
    lexical_ranks: Ids
    lexical_scores: Floats
    dense_ranks: Ids
    cosines: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """The candidates at the head of either ranking, by their vectors.

    `asked` are all of them, `places` those that have a vector; `vectors` are theirs.
    """

    asked: Places
    places: Places
    vectors: Vectors


def unite(lexical: Ranking, dense: Ranking) -> Candidates:
    """Return the passages of both rankings."""
    words = len(lexical.ids)
    places = _places(lexical.ids, dense.ids)
    size = max(words, int(places.max(initial=-1)) + 1)
    ids = np.zeros(size, np.int64)
    ids[places] = dense.ids
    ids[:words] = lexical.ids
    lexical_ranks, dense_ranks = np.zeros(size, np.int64), np.zeros(size, np.int64)
    lexical_ranks[:words] = np.arange(1, words + 1)
    dense_ranks[places] = np.arange(1, len(places) + 1)
    lexical_scores, cosines = np.full(size, np.nan), np.full(size, np.nan)
    lexical_scores[:words] = lexical.scores
    cosines[places] = dense.scores
    return Candidates(
        ids=ids,
        lexical_ranks=lexical_ranks,
        lexical_scores=lexical_scores,
        dense_ranks=dense_ranks,
        cosines=cosines,
    )


def _places(known: Ids, others: Ids) -> Places:
    """Return where `others` go: where they stand in `known`, or one by one after it."""
    if not len(known):
        return np.arange(len(others))
    nearest = _nearest(known, others)
    is_new = known[nearest] != others
    return np.where(is_new, len(known) - 1 + np.cumsum(is_new), nearest)


def _nearest(known: Ids, others: Ids) -> Places:
    """Return where `others` stand in `known`; for those that do not, any place at all."""
    order = np.argsort(known)
    return order[np.minimum(np.searchsorted(known[order], others), len(known) - 1)]


def compare(candidates: Candidates, query: Vector, vectors_of: VectorsOf) -> Neighbours:
    """Fetch the vectors at the head of both rankings, and fill in cosines that are missing."""
    lexical, dense = candidates.lexical_ranks, candidates.dense_ranks
    is_asked = ((lexical > 0) & (lexical <= HEAD)) | ((dense > 0) & (dense <= HEAD))
    asked = np.flatnonzero(is_asked)
    ids = candidates.ids[asked]
    found, vectors = vectors_of([PassageId(one) for one in ids.tolist()])
    places = asked[_nearest(ids, np.array(found, np.int64))]
    is_missing = np.isnan(candidates.cosines[places])
    candidates.cosines[places[is_missing]] = vectors[is_missing] @ query
    return Neighbours(asked=asked, places=places, vectors=vectors)
