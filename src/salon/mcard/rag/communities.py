"""Groups of entities that cards name together more than with others.

Every entity begins in a group of its own and moves to the neighbouring group that its links favour
most (modularity), until none moves; then groups move as wholes, until none does. The same graph
gives the same groups.
"""

from collections import defaultdict
from collections.abc import Mapping

Links = Mapping[tuple[str, str], float]


def find_communities(links: Links) -> list[frozenset[str]]:
    """Return the groups of linked entities, the largest first."""
    groups: dict[str, frozenset[str]] = {
        one: frozenset([one]) for pair in links for one in pair if pair[0] != pair[1]
    }
    while True:
        home = _moved(links, groups)
        merged: defaultdict[str, set[str]] = defaultdict(set)
        for name, members in groups.items():
            merged[home[name]] |= members
        if len(merged) == len(groups):
            return sorted(groups.values(), key=lambda one: (-len(one), sorted(one)))
        groups = {min(members): frozenset(members) for members in merged.values()}


def _moved(links: Links, groups: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """Return where each group goes when groups are what moves."""
    of = {one: name for name, members in groups.items() for one in members}
    weights: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    strength: defaultdict[str, float] = defaultdict(float)
    for (one, other), weight in links.items():
        if one == other:
            continue
        strength[of[one]] += weight
        strength[of[other]] += weight
        if of[one] != of[other]:
            weights[of[one]][of[other]] += weight
            weights[of[other]][of[one]] += weight
    total = sum(strength.values())
    home = {name: name for name in groups}
    size = dict(strength)
    is_moving = bool(total)
    while is_moving:
        is_moving = False
        for name in sorted(groups):
            best = _best_home(name, home, weights[name], size, strength=strength[name], total=total)
            if best != home[name]:
                size[home[name]] -= strength[name]
                size[best] += strength[name]
                home[name] = best
                is_moving = True
    return home


def _best_home(
    name: str,
    home: Mapping[str, str],
    weights: Mapping[str, float],
    size: Mapping[str, float],
    *,
    strength: float,
    total: float,
) -> str:
    """Return the group where a member gains most; it stays unless another gains more."""
    towards: defaultdict[str, float] = defaultdict(float)
    for other, weight in weights.items():
        towards[home[other]] += weight
    here, share = home[name], strength / total
    own = towards[here] - share * (size[here] - strength)
    gains = [
        (weight - share * size[group], group) for group, weight in towards.items() if group != here
    ]
    gain, best = max(gains, default=(own, here))
    return best if gain > own + 1e-9 else here
