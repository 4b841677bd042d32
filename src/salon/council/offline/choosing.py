"""Choosing and ordering quotes: the best for a seat, each unlike those chosen before it."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from salon.council.offline.arranging import Chosen, arranged
from salon.council.offline.cues import ROLE_HEADINGS
from salon.council.offline.features import Matrix
from salon.council.offline.headings import headings, share_a_name
from salon.council.offline.outline import FEWEST, LIMITS_HEADING, Planned
from salon.council.offline.pool import ON_TOPIC, Pool
from salon.council.offline.strategies import Feature, Strategy
from salon.council.offline.words import is_shared, stems

ENOUGH = 8
"""Quotes that speak about the thing itself; with so many, none is needed that does not."""
FEWEST_CHOSEN = 4
"""Quotes that a seat keeps however few there are."""
WHOLE_CHAPTER = 12
"""Sentences on the topic that make a chapter."""
_UNEVEN = 1.5
"""How much more than its part one of a few sources may have, since some say more than others."""
_PER_PARAGRAPH = 3
_ROLES = tuple(ROLE_HEADINGS.values())


def scores_for(pool: Pool, weights: Mapping[Feature, float]) -> Matrix:
    """Return what each quote is worth to a seat."""
    total = pool.features[Feature.RELEVANCE] * 0
    for feature, weight in weights.items():
        total = total + weight * pool.features[feature]
    return total


def usable(pool: Pool, scores: Matrix, most: int) -> list[int]:
    """Return the places of the quotes that have to do with the topic, the best for a seat first.

    What another source contradicts is not among them: it is said with the other side or not at all.
    """
    relevant = pool.features[Feature.RELEVANCE]
    there = [
        at for at in range(len(pool.quotes)) if relevant[at] >= ON_TOPIC and at not in pool.torn
    ]
    return sorted(voiced(pool, there), key=lambda at: (-scores[at], pool.quotes[at].place))[:most]


def share_of(places: Sequence[int], share: float) -> list[int]:
    """Leave out the end of what a seat would use, so that it says what it values and not all."""
    return list(places[: max(FEWEST_CHOSEN, math.ceil(share * len(places)))])


def voiced(pool: Pool, places: Sequence[int]) -> list[int]:
    """Leave out what speaks of its own making, where enough is left."""
    kept = [at for at in places if pool.features[Feature.OWN_VOICE][at] > 0]
    return kept if len(kept) >= ENOUGH else list(places)


def choose(
    pool: Pool, planned: Sequence[Planned], scores: Matrix, strategy: Strategy
) -> list[Chosen]:
    """Fill the planned sections turn by turn, so that none takes what another needs more."""
    per_section, per_source = _room(pool, planned, strategy)
    taken: list[int] = []
    per_document: Counter[str] = Counter()
    filled: list[list[int]] = [[] for _ in planned]
    for _ in range(per_section):
        for section, places in zip(planned, filled, strict=True):
            free = [
                at
                for at in section.places
                if at not in taken and per_document[pool.quotes[at].document] < per_source
            ]
            best = _best(pool, free, taken, scores, strategy.variety)
            if best is not None:
                places.append(best)
                taken.append(best)
                per_document[pool.quotes[best].document] += 1
    chosen = [
        Chosen(heading=section.heading, places=tuple(places), question=section.question)
        for section, places in zip(planned, filled, strict=True)
        if len(places) >= min(FEWEST, len(taken))
    ]
    return arranged(pool, _well_named(pool, chosen), strategy.order)


def _well_named(pool: Pool, chosen: Sequence[Chosen]) -> list[Chosen]:
    """Name a section anew where what was chosen for it no longer has to do with its heading."""
    if pool.language is not None:
        return list(chosen)
    anew = headings(pool, [one.places for one in chosen])
    named = list(chosen)
    for at, (one, name) in enumerate(zip(chosen, anew, strict=True)):
        others = [other.heading for other in (*named[:at], *named[at + 1 :])]
        is_taken = any(share_a_name(name, other, pool) for other in others)
        if not is_taken and not _is_named_well(pool, one):
            named[at] = replace(one, heading=name)
    return named


def _is_named_well(pool: Pool, section: Chosen) -> bool:
    if section.heading == LIMITS_HEADING or section.heading.startswith(_ROLES):
        return True
    roots = stems(section.heading)
    fitting = sum(
        any(is_shared(root, pool.quotes[at].traits.stems) for root in roots)
        for at in section.places
    )
    return fitting >= FEWEST


def _room(pool: Pool, planned: Sequence[Planned], strategy: Strategy) -> tuple[int, int]:
    """Return how many quotes a section and a source may have: more, where there are few of them."""
    sources = {pool.quotes[at].document for section in planned for at in section.places}
    return (
        max(strategy.per_section, math.ceil(WHOLE_CHAPTER / max(1, len(planned)))),
        max(strategy.per_document, math.ceil(_UNEVEN * WHOLE_CHAPTER / max(1, len(sources)))),
    )


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


def paragraphs_of(places: Sequence[int]) -> list[tuple[int, ...]]:
    """Cut a section into paragraphs of a few sentences."""
    return [
        tuple(places[begin : begin + _PER_PARAGRAPH])
        for begin in range(0, len(places), _PER_PARAGRAPH)
    ]
