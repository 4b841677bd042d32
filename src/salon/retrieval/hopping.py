"""Search over hops: an ordinary search, followed to what its passages name.

The order is that of `graph.multihop`; this module gives it probabilities and keeps the reasons. A
passage that ordinary search found has the probability it had there; one that only a hop leads to
has that of the passage it was reached from, times how surely the hop leads there. Where the order
says otherwise than these, neighbours share their mean, so that scores never rise down the list.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from salon.core.indexes import Cards, PassageId
from salon.retrieval.graph.multihop import HopPassage, Scored, rank_over_hops

if TYPE_CHECKING:
    import numpy.typing as npt

    from salon.retrieval.graph.entity_graph import EntityGraph
    from salon.retrieval.ranking.fusion import Fused

Number = TypeVar("Number", np.float32, np.int64)

FOLLOWED = 100
"""Passages of ordinary search that take part."""


def follow_hops(
    query: str,
    fused: "Fused",
    graph: "EntityGraph",
    *,
    read: Callable[[PassageId], str | None],
    search: Callable[[str, int], Scored],
    cards: Cards,
) -> "tuple[Fused, dict[PassageId, str]]":
    """Return the passages found and those that they lead to, and over which name each came."""
    found = [
        (PassageId(id_), score)
        for id_, score in zip(
            fused.ids[:FOLLOWED].tolist(), fused.fused[:FOLLOWED].tolist(), strict=True
        )
    ]
    hops = rank_over_hops(query, found, graph=graph, read=read, search=search, cards=cards)
    over = {one.id: one.hop.name for one in hops if one.hop is not None}
    return _in_order(fused, hops), over


def _in_order(fused: "Fused", hops: list[HopPassage]) -> "Fused":
    place = {int(id_): number for number, id_ in enumerate(fused.ids.tolist())}
    known = np.array([place.get(int(one.id), -1) for one in hops], np.int64)
    probable = np.array([_probability(one, fused, place) for one in hops], np.float64)

    def column(values: "npt.NDArray[Number]", missing: float) -> "npt.NDArray[Number]":
        padded = np.append(values, np.array([missing], values.dtype))
        taken: npt.NDArray[Number] = padded[known]
        return taken

    return replace(
        fused,
        ids=np.array([int(one.id) for one in hops], np.int64),
        scores=falling(probable).astype(np.float32),
        fused=np.array([one.score for one in hops], np.float32),
        lexical_ranks=column(fused.lexical_ranks, 0),
        lexical_scores=column(fused.lexical_scores, np.nan),
        dense_ranks=column(fused.dense_ranks, 0),
        dense_scores=column(fused.dense_scores, np.nan),
        parts={name: column(values, 0) for name, values in fused.parts.items()},
    )


def _probability(one: HopPassage, fused: "Fused", place: dict[int, int]) -> float:
    own = float(fused.scores[place[int(one.id)]]) if int(one.id) in place else 0.0
    if one.hop is None or int(one.hop.source) not in place:
        return own
    source = float(fused.scores[place[int(one.hop.source)]])
    return max(own, source * min(1.0, max(0.0, one.hop.strength)))


def falling(values: "npt.NDArray[np.float64]") -> "npt.NDArray[np.float64]":
    """Return the values that never rise and are nearest to these, by pooling neighbours."""
    pools: list[tuple[float, int]] = []
    for value in values.tolist():
        mean, size = value, 1
        while pools and pools[-1][0] < mean:
            other, others = pools.pop()
            mean = (mean * size + other * others) / (size + others)
            size += others
        pools.append((mean, size))
    return np.repeat([mean for mean, _ in pools], [size for _, size in pools])
