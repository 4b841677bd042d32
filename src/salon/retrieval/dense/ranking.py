"""Ranking the rows of a flat index: all of them exactly, or the likely ones found by sketches.

Both give the scores of whole vectors as stored. The second may miss a passage whose sketch is
unlucky; how seldom is set in `sketches`. Neither ever filters afterwards: with a filter, only the
rows it allows take part from the start.
"""

import numpy as np

from salon.core.embedding import Vector
from salon.core.indexes import Ranking
from salon.retrieval.dense.flat_snapshot import Snapshot
from salon.retrieval.dense.halves import Rows, dots
from salon.retrieval.dense.sketches import Distances

FIRST_LOOK = 4
"""How many times as many rows as wanted are scored to learn what score the last one has."""
FEWEST_SCORED = 1024
OUT_OF_REACH = 2**16 - 1
DIRECT_SHARE = 20
"""Scoring one row takes as long as counting the bits of so many sketches."""


def rank_all(snapshot: Snapshot, query: Vector, limit: int, rows: Rows | None) -> Ranking:
    """Score every row that may be found."""
    if rows is None:
        scores = np.vecdot(snapshot.wide(), query)
        scores[snapshot.dead] = -np.inf
        return _best(snapshot, min(limit, snapshot.count), None, scores)
    few = len(rows) * 4 < snapshot.rows  # gathering a row costs as much as scoring a few
    scores = dots(snapshot.vectors, query, rows) if few else np.vecdot(snapshot.wide(), query)[rows]
    return _best(snapshot, limit, rows, scores)


def rank_likely(snapshot: Snapshot, query: Vector, limit: int, rows: Rows | None) -> Ranking:
    """Score the rows whose sketches are as near as those of the best may be."""
    total = snapshot.count if rows is None else len(rows)
    look = max(FIRST_LOOK * limit, FEWEST_SCORED)
    if not snapshot.manifest.sketched or total <= max(2 * look, snapshot.rows // DIRECT_SHARE):
        rows = np.flatnonzero(snapshot.alive) if rows is None else rows
        return _best(snapshot, limit, rows, dots(snapshot.vectors, query, rows))
    likely, scores = _likely(snapshot, query, limit, look, rows)
    return _best(snapshot, limit, likely, scores)


def _likely(
    snapshot: Snapshot, query: Vector, limit: int, look: int, rows: Rows | None
) -> tuple[Rows, Vector]:
    """Return the rows worth scoring, with their scores."""
    distances = _distances(snapshot, query)
    if rows is not None:
        distances = distances[rows]
    near = int(np.partition(distances, look)[look])
    first = np.flatnonzero(distances <= near)
    scores = dots(snapshot.vectors, query, first if rows is None else rows[first])
    worst = float(np.partition(scores, len(scores) - limit)[len(scores) - limit])
    reach = min(snapshot.generation.sketcher.reach(worst), OUT_OF_REACH - 1)
    more = np.flatnonzero((distances > near) & (distances <= reach))
    more_scores = dots(snapshot.vectors, query, more if rows is None else rows[more])
    likely, scores = np.concatenate([first, more]), np.concatenate([scores, more_scores])
    return (likely if rows is None else rows[likely]), scores


def _distances(snapshot: Snapshot, query: Vector) -> Distances:
    """Return how far every row's sketch is; a row without a sketch is near, a dead one far."""
    sketched = snapshot.manifest.sketched
    distances = snapshot.generation.sketcher.distances(query, snapshot.sketches, sketched)
    if sketched < snapshot.rows:
        rest = np.zeros(snapshot.rows - sketched, dtype=np.uint16)
        distances = np.concatenate([distances, rest])
    distances[snapshot.dead] = OUT_OF_REACH
    return distances


def _best(snapshot: Snapshot, limit: int, rows: Rows | None, scores: Vector) -> Ranking:
    """Return the best of these rows (all of the index where none are named), ties by id."""
    limit = min(limit, len(scores))
    if not limit:
        return Ranking(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))
    best = np.flatnonzero(scores >= np.partition(scores, len(scores) - limit)[len(scores) - limit])
    scores = scores[best]
    ids = snapshot.ids[best if rows is None else rows[best]]
    order = np.lexsort((ids, -scores))[:limit]
    return Ranking(ids[order], scores[order])
