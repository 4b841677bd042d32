"""Turning what a store found into a ranking: best first, equals by id."""

from collections.abc import Callable, Sequence

import numpy as np

from salon.core.indexes import Ranking

MOST_EQUALS = 4096
"""How many passages beyond the limit are looked at to find the lowest ids among equal scores."""


def as_ranking(found: Sequence[tuple[int, float]], limit: int) -> Ranking:
    """Return the best `limit` of these ids and scores."""
    ids = np.array([number for number, _ in found], dtype=np.int64)
    scores = np.array([score for _, score in found], dtype=np.float32)
    order = np.lexsort((ids, -scores))[:limit]
    return Ranking(ids[order], scores[order])


def rank_with_equals(find: Callable[[int], list[tuple[int, float]]], limit: int) -> Ranking:
    """Return the best `limit` of what `find(count)` finds, where it orders equals as it likes.

    It is asked for more as long as there are equal scores on both sides of the limit.
    """
    count = limit + 1
    while True:
        found = find(count)
        ranking = as_ranking(found, len(found))
        scores = ranking.scores
        complete = len(found) < count or scores[-1] < scores[limit - 1]
        if complete or count - limit > MOST_EQUALS:
            return Ranking(ranking.ids[:limit], scores[:limit])
        count = limit + 4 * (count - limit)
