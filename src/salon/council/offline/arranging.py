"""The order of a draft: each seat reads the same sentences in another order, by its own principle.

Every section opens with what its subject is. What comes next depends on the seat; where its
principle leaves a choice, the sentence goes on that is closest to the last one. Where a section is
history, what has a year comes in the order of years.

Invariant: from the same sections no two principles make the same order, as long as a section has
three sentences, or two sections two. A text that a peer also came to would count as the peer's own
(`roles.is_own`), and nobody could judge it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, permutations

from salon.council.offline.cues import ROLE_HEADINGS, YEAR, Role
from salon.council.offline.pool import Pool
from salon.council.offline.strategies import Feature, Order

_ORDERS: tuple[Order | None, ...] = (*Order, None)
"""Who comes first has its wish; the order without a principle, of fusions, gives way to all."""
_SAME_SOURCE = 0.15
_OPENS = 0.5
_MOST_VARIED = 24
"""Orders of one section that are tried; there are fewer principles."""
_STEPS = 4
"""Into how many steps ease is divided; within a step sentences are equally plain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A section with the places of its quotes, in the order in which they are read."""

    heading: str
    places: tuple[int, ...]
    question: str | None = None


def arranged(pool: Pool, sections: Sequence[Chosen], order: Order | None) -> list[Chosen]:
    """Return the sections with their quotes in order; without a principle, each near the last."""
    seen: set[tuple[tuple[int, ...], ...]] = set()
    for each in _ORDERS[: _ORDERS.index(order) + 1]:
        wished = [_in_order(pool, section, each) for section in sections]
        ways = _variations(pool, wished)
        found = next((way for way in ways if _places(way) not in seen), wished)
        seen.add(_places(found))
    return found


def in_order(pool: Pool, places: Sequence[int], order: Order | None = None) -> list[int]:
    """Order quotes so that the first opens the subject and the others follow by a principle."""
    if not places:
        return []
    left = list(places)
    opening = min(left, key=lambda at: (-_opens(pool, at), pool.quotes[at].place))
    ordered = [opening]
    left.remove(opening)
    late = _LATE[order] if order is not None else _never_late
    while left:
        last = ordered[-1]
        following = min(
            left,
            key=lambda at: (
                late(pool, last, at),
                -_follows(pool, last, at),
                pool.quotes[at].place,
            ),
        )
        ordered.append(following)
        left.remove(following)
    return ordered


def _in_order(pool: Pool, section: Chosen, order: Order | None) -> Chosen:
    places = in_order(pool, section.places, order)
    return replace(
        section, places=tuple(_by_year(pool, places) if _is_history(pool, section) else places)
    )


def _is_history(pool: Pool, section: Chosen) -> bool:
    """Tell whether a section is called history, or half of it and more has a year."""
    dated = sum(_year_of(pool, at) is not None for at in section.places)
    return section.heading.startswith(ROLE_HEADINGS[Role.HISTORY]) or (
        2 * dated >= len(section.places) > 1
    )


def _by_year(pool: Pool, places: Sequence[int]) -> list[int]:
    """Put what has a year in the order of years; what has none keeps its place."""
    years = {at: year for at in places if (year := _year_of(pool, at)) is not None}
    dated = iter(sorted(years, key=lambda at: (years[at], places.index(at))))
    return [next(dated) if at in years else at for at in places]


def _year_of(pool: Pool, at: int) -> int | None:
    found = YEAR.search(pool.quotes[at].text)
    return int(found[1]) if found else None


def _variations(pool: Pool, sections: Sequence[Chosen]) -> Iterator[list[Chosen]]:
    """Walk the sections as they are, then with the end of one of them in other orders.

    The longest goes first, and history, which has an order, last.
    """
    varied = sorted(
        range(len(sections)),
        key=lambda at: (_is_history(pool, sections[at]), -len(sections[at].places), at),
    )
    for one in varied:
        for places in islice(permutations(sections[one].places), _MOST_VARIED):
            changed = list(sections)
            changed[one] = replace(sections[one], places=places)
            yield changed


def _places(sections: Sequence[Chosen]) -> tuple[tuple[int, ...], ...]:
    return tuple(section.places for section in sections)


# What comes late by each principle


def _never_late(_pool: Pool, _last: int, _at: int) -> float:
    return 0.0


def _by_stage(pool: Pool, _last: int, at: int) -> float:
    role = pool.quotes[at].traits.role
    stages = list(Role)
    return float(stages.index(role)) if role is not None else (len(stages) - 1) / 2


def _by_figures(pool: Pool, _last: int, at: int) -> float:
    return -round(2 * float(pool.features[Feature.FIGURES][at])) / 2


def _by_strength(pool: Pool, _last: int, at: int) -> float:
    features = pool.features
    return -float(features[Feature.VERIFIED][at]) - float(features[Feature.AGREED][at])


def _by_ease(pool: Pool, _last: int, at: int) -> float:
    features = pool.features
    plain = round(_STEPS * float(features[Feature.EASE][at])) / _STEPS
    return float(features[Feature.CONTRAST][at]) - plain


def _by_turns(pool: Pool, last: int, at: int) -> float:
    return float(pool.quotes[at].document == pool.quotes[last].document)


_LATE: dict[Order, Callable[[Pool, int, int], float]] = {
    Order.STAGES: _by_stage,
    Order.FIGURES: _by_figures,
    Order.STRENGTH: _by_strength,
    Order.PLAIN: _by_ease,
    Order.TURNS: _by_turns,
}


# What opens, and what goes on


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
