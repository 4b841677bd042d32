"""Planning a draft: which sections it has, what each is about, which quotes belong to it.

A plan is a list of sections with places in the pool; choosing among them comes afterwards.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from salon.council.offline.cues import ROLE_HEADINGS, Role
from salon.council.offline.features import Matrix, links_of
from salon.council.offline.headings import heading_of, headings, share_a_name, spelled
from salon.council.offline.pool import Pool
from salon.council.offline.strategies import Feature, Plan
from salon.council.offline.words import is_shared

FEWEST = 2
"""Quotes without which there is no section."""
LIMITS_HEADING = "Conditions and limits"
_SHARED_NAMES = 0.2
"""What names in common are worth beside meaning, when quotes are put together."""
_TURNS = 12
_COMPANY = 6
"""Quotes like it that one needs, itself among them, to stand for a theme."""
_ROOM = 1.6
"""How much larger than the mean a theme may become."""
_LATEST = len(Role) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A section to be: its heading, and the places of the quotes that fit it."""

    heading: str
    places: tuple[int, ...]
    question: str | None = None
    """A question that opens it, of those that a draft may ask."""


def plan_sections(pool: Pool, places: Sequence[int], plan: Plan, most: int) -> list[Planned]:
    """Return at most `most` sections over the quotes at these places.

    What is not English goes by its sources: headings and roles are known by English words alone.
    """
    if pool.language is not None:
        return _by_sources(pool, places, most)
    return _PLANS[plan](pool, places, most)


# Plans


def _by_themes(
    pool: Pool, places: Sequence[int], most: int, taken: Sequence[str] = ()
) -> list[Planned]:
    groups = themes(pool, places, most)
    groups.sort(key=lambda group: (progress(pool, group), -_worth(pool, group), group))
    named = headings(pool, groups, taken=taken)
    return [
        Planned(heading=heading, places=tuple(group))
        for heading, group in zip(named, groups, strict=True)
    ]


def _by_roles(pool: Pool, places: Sequence[int], most: int) -> list[Planned]:
    by_role: defaultdict[Role, list[int]] = defaultdict(list)
    for at in places:
        role = pool.quotes[at].traits.role
        if role is not None:
            by_role[role].append(at)
    kept = [role for role in Role if len(by_role[role]) >= FEWEST][:most]
    if len(kept) < FEWEST:
        return _by_themes(pool, places, most)
    groups = _with_rest(pool, [by_role[role] for role in kept], places)
    return [
        Planned(heading=f"{ROLE_HEADINGS[role]}: {heading}", places=tuple(group))
        for role, heading, group in zip(
            kept, headings(pool, groups, is_whole=False), groups, strict=True
        )
    ]


def _with_limits(pool: Pool, places: Sequence[int], most: int) -> list[Planned]:
    contrast = pool.features[Feature.CONTRAST]
    doubtful = [at for at in places if contrast[at] >= 1]
    if len(doubtful) < FEWEST or len(places) - len(doubtful) < 2 * FEWEST:
        return _by_themes(pool, places, most)
    sure = [at for at in places if contrast[at] < 1]
    first = _by_themes(pool, sure, max(FEWEST, most - 1))
    last = Planned(heading=LIMITS_HEADING, places=tuple(doubtful), question="What is not settled?")
    return [*first, last]


def _by_bridges(pool: Pool, places: Sequence[int], most: int) -> list[Planned]:
    """Make a section of each name that joins documents far apart; the rest goes by themes."""
    quotes = [pool.quotes[at] for at in places]
    bridge = pool.features[Feature.BRIDGE]
    links = links_of(quotes)
    worth = {
        key: sum(bridge[places[at]] for at in found) / (1 + len(found))
        for key, found in links.items()
        if not all(is_shared(root, pool.topic_stems) for root in key.split())
    }
    used: set[int] = set()
    sections: list[Planned] = []
    for key in sorted(worth, key=lambda one: (-worth[one], one)):
        free = [places[at] for at in links[key] if places[at] not in used]
        is_new = not any(share_a_name(key, one.heading, pool) for one in sections)
        is_linking = len({pool.quotes[at].document for at in free}) >= FEWEST
        if is_linking and is_new and len(sections) < most // 2:
            used |= set(free)
            sections.append(Planned(heading=spelled(key, pool, free), places=tuple(free)))
    rest = [at for at in places if at not in used]
    if len(rest) < FEWEST:
        return sections
    taken = [one.heading for one in sections]
    return [*_by_themes(pool, rest, most - len(sections), taken), *sections]


def _by_sources(pool: Pool, places: Sequence[int], most: int) -> list[Planned]:
    """Make a section of each source, under its own title; the rest stands under the topic."""
    by_source: defaultdict[str, list[int]] = defaultdict(list)
    for at in places:
        by_source[pool.quotes[at].document].append(at)
    sections: dict[str, list[int]] = {}
    rest: list[int] = []
    for found in by_source.values():
        title = next((heading_of(pool.quotes[at].citations[0].source) for at in found), "")
        if title and title not in sections and len(found) >= FEWEST and len(sections) < most - 1:
            sections[title] = found
        else:
            rest += found
    if rest:
        sections[heading_of(pool.topic)] = [*sections.pop(heading_of(pool.topic), ()), *rest]
    return [Planned(heading=title, places=tuple(found)) for title, found in sections.items()]


_PLANS: dict[Plan, Callable[[Pool, Sequence[int], int], list[Planned]]] = {
    Plan.ROLES: _by_roles,
    Plan.THEMES: _by_themes,
    Plan.LIMITS: _with_limits,
    Plan.BRIDGES: _by_bridges,
}


# Themes


def themes(pool: Pool, places: Sequence[int], most: int) -> list[list[int]]:
    """Put quotes together that mean and name the same things, in groups of about one size."""
    if not places:
        return []
    alike = likeness(pool, places)
    count = max(1, min(most, len(places) // (2 * FEWEST)))
    middles = _first_middles(alike, count)
    groups: list[list[int]] = []
    for _ in range(_TURNS):
        groups = _assigned(alike, middles)
        moved = [_middle(alike, group) for group in groups]
        if moved == middles:
            break
        middles = moved
    return [[places[at] for at in group] for group in groups]


def _first_middles(alike: Matrix, count: int) -> list[int]:
    """Return quotes to begin with: each has company, and is far from the others."""
    company = np.sort(alike, axis=1)[:, -_COMPANY:].mean(axis=1)
    middles = [int(company.argmax())]
    while len(middles) < count:
        apart = company * (1 - alike[:, middles].max(axis=1))
        apart[middles] = -1
        middles.append(int(apart.argmax()))
    return middles


def _assigned(alike: Matrix, middles: Sequence[int]) -> list[list[int]]:
    """Give each quote to its nearest middle that has room, the surest first."""
    room = max(FEWEST, math.ceil(_ROOM * len(alike) / len(middles)))
    groups: list[list[int]] = [[middle] for middle in middles]
    free = set(range(len(alike))) - set(middles)
    pairs = sorted(
        (-alike[at, middle], at, group) for at in free for group, middle in enumerate(middles)
    )
    for _, at, group in pairs:
        if at in free and len(groups[group]) < room:
            groups[group].append(at)
            free.remove(at)
    return [sorted(group) for group in groups]


def likeness(pool: Pool, places: Sequence[int]) -> Matrix:
    """Return how much each two quotes belong together: by meaning, and by names in common."""
    rows = list(places)
    alike = (pool.vectors[rows] @ pool.vectors[rows].T).astype(float)
    named = [pool.quotes[at].traits.entities for at in rows]
    for one, first in enumerate(named):
        for other, second in enumerate(named):
            if first and second and one != other:
                alike[one, other] += _SHARED_NAMES * len(first & second) / len(first | second)
    return alike


def _middle(alike: Matrix, members: Sequence[int]) -> int:
    return members[int(alike[np.ix_(members, members)].sum(axis=1).argmax())]


def _with_rest(
    pool: Pool, groups: Sequence[Sequence[int]], places: Sequence[int]
) -> list[list[int]]:
    """Give each quote that is in no group to the one it is nearest to."""
    grown = [list(group) for group in groups]
    known = {at for group in groups for at in group}
    centres = [pool.vectors[list(group)].mean(axis=0) for group in groups]
    for at in places:
        if at not in known:
            grown[int(np.argmax([float(pool.vectors[at] @ one) for one in centres]))].append(at)
    return grown


def progress(pool: Pool, group: Sequence[int]) -> float:
    """Return how late in a chapter a theme belongs: what defines comes first, what follows last."""
    order = list(Role)
    roles = [pool.quotes[at].traits.role for at in group]
    late = [order.index(role) if role else _LATEST for role in roles]
    return round(sum(late) / len(late), 1)


def _worth(pool: Pool, group: Sequence[int]) -> float:
    return float(pool.features[Feature.RELEVANCE][list(group)].mean())
