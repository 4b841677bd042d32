"""Choosing and ordering quotes: the best for a seat, each unlike those chosen before it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from salon.council.offline.cues import Role
from salon.council.offline.features import Matrix
from salon.council.offline.outline import FEWEST, Planned
from salon.council.offline.pool import Pool
from salon.council.offline.strategies import Feature, Strategy

ON_TOPIC = 0.5
"""Relevance from which a sentence has to do with the topic."""
ENOUGH = 8
"""Quotes that speak about the thing itself; with so many, none is needed that does not."""
_SAME_SOURCE = 0.15
_OPENS = 0.5
_PER_PARAGRAPH = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A section with the places of its quotes, in the order in which they are read."""

    heading: str
    places: tuple[int, ...]
    question: str | None = None


def scores_for(pool: Pool, weights: Mapping[Feature, float]) -> Matrix:
    """Return what each quote is worth to a seat."""
    total = pool.features[Feature.RELEVANCE] * 0
    for feature, weight in weights.items():
        total = total + weight * pool.features[feature]
    return total


def usable(pool: Pool, scores: Matrix, most: int) -> list[int]:
    """Return the places of the quotes that have to do with the topic, the best for a seat first."""
    relevant = pool.features[Feature.RELEVANCE]
    there = [at for at in range(len(pool.quotes)) if relevant[at] >= ON_TOPIC]
    return sorted(voiced(pool, there), key=lambda at: (-scores[at], pool.quotes[at].place))[:most]


def voiced(pool: Pool, places: Sequence[int]) -> list[int]:
    """Leave out what speaks of its own making, where enough is left."""
    kept = [at for at in places if pool.features[Feature.OWN_VOICE][at] > 0]
    return kept if len(kept) >= ENOUGH else list(places)


def choose(
    pool: Pool, planned: Sequence[Planned], scores: Matrix, strategy: Strategy
) -> list[Chosen]:
    """Fill the planned sections turn by turn, so that none takes what another needs more."""
    taken: list[int] = []
    per_document: Counter[str] = Counter()
    filled: list[list[int]] = [[] for _ in planned]
    for _ in range(strategy.per_section):
        for section, places in zip(planned, filled, strict=True):
            free = [
                at
                for at in section.places
                if at not in taken
                and per_document[pool.quotes[at].document] < strategy.per_document
            ]
            best = _best(pool, free, taken, scores, strategy.variety)
            if best is not None:
                places.append(best)
                taken.append(best)
                per_document[pool.quotes[best].document] += 1
    return [
        Chosen(
            heading=section.heading,
            places=tuple(in_order(pool, places)),
            question=section.question,
        )
        for section, places in zip(planned, filled, strict=True)
        if len(places) >= min(FEWEST, len(taken))
    ]


def _best(
    pool: Pool, free: Sequence[int], taken: Sequence[int], scores: Matrix, variety: float
) -> int | None:
    if not free:
        return None
    alike = (
        (pool.vectors[list(free)] @ pool.vectors[list(taken)].T).max(axis=1)
        if taken
        else [0.0] * len(free)
    )
    worth = {
        at: float(scores[at]) - variety * float(near) for at, near in zip(free, alike, strict=True)
    }
    return min(free, key=lambda at: (-worth[at], pool.quotes[at].place))


def in_order(pool: Pool, places: Sequence[int]) -> list[int]:
    """Order quotes so that the first opens the subject and each next one is close to the last."""
    if not places:
        return []
    left = list(places)
    opening = min(left, key=lambda at: (-_opens(pool, at), pool.quotes[at].place))
    ordered = [opening]
    left.remove(opening)
    while left:
        last = ordered[-1]
        following = min(left, key=lambda at: (-_follows(pool, last, at), pool.quotes[at].place))
        ordered.append(following)
        left.remove(following)
    return ordered


def _opens(pool: Pool, at: int) -> float:
    is_definition = pool.quotes[at].traits.role is Role.DEFINITION
    features = pool.features
    return (
        float(features[Feature.SUBJECT][at])
        + float(features[Feature.RELEVANCE][at])
        + (_OPENS if is_definition else 0.0)
    )


def _follows(pool: Pool, last: int, at: int) -> float:
    """Return how well a quote goes on from another one."""
    before, after = pool.quotes[last], pool.quotes[at]
    goes_on = before.document == after.document and before.place < after.place
    return float(pool.vectors[last] @ pool.vectors[at]) + (_SAME_SOURCE if goes_on else 0.0)


def paragraphs_of(places: Sequence[int]) -> list[tuple[int, ...]]:
    """Cut a section into paragraphs of a few sentences."""
    return [
        tuple(places[begin : begin + _PER_PARAGRAPH])
        for begin in range(0, len(places), _PER_PARAGRAPH)
    ]
