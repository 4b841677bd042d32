"""Following links between entities by their names, in the graph's file."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import apsw

from salon.core.hashing import CardHash
from salon.retrieval.graph.entities import EntityType

# Links have no direction: each is followed from either end.
_NEIGHBOURS = """
WITH here AS (
    SELECT id, key FROM graph_name WHERE key IN (SELECT value FROM json_each(?))
), link AS (
    SELECT here.key AS from_key, other AS there, weight FROM here JOIN graph_link ON one = here.id
    UNION ALL
    SELECT here.key, one, weight FROM here JOIN graph_link ON other = here.id
)
SELECT from_key, key, sum(weight) AS total, json_group_array(hash)
FROM link JOIN graph_name ON graph_name.id = there JOIN graph_card ON graph_card.id = card
GROUP BY from_key, key ORDER BY total DESC, from_key, key
"""

_ALL = """
SELECT first.key, second.key, sum(weight), json_group_array(hash)
FROM graph_link
JOIN graph_name AS first ON first.id = one JOIN graph_name AS second ON second.id = other
JOIN graph_card ON graph_card.id = first.card
GROUP BY 1, 2
"""
_AMONG = """
WITH here AS (
    SELECT id, key, card FROM graph_name WHERE key IN (SELECT value FROM json_each(?))
)
SELECT first.key, second.key, sum(weight), json_group_array(hash)
FROM here AS first JOIN graph_link ON one = first.id JOIN here AS second ON second.id = other
JOIN graph_card ON graph_card.id = first.card
GROUP BY 1, 2
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """Something that cards name: how often, and which cards."""

    name: str
    type: EntityType
    mentions: int
    sources: tuple[CardHash, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Two entities that are named together, in how many passages, and of which cards."""

    source: str
    target: str
    weight: int
    sources: tuple[CardHash, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A link by the keys of its ends."""

    source: str
    target: str
    weight: int
    sources: tuple[CardHash, ...]

    def named(self, known: dict[str, Entity]) -> Link:
        """Return the link by the names of its ends."""
        return Link(
            source=known[self.source].name,
            target=known[self.target].name,
            weight=self.weight,
            sources=self.sources,
        )


def read_entities(connection: apsw.Connection, keys: Iterable[str]) -> dict[str, Entity]:
    """Return the known ones of these entities by key."""
    found: dict[str, list[tuple[str, str, int, CardHash]]] = {}
    rows = connection.execute(
        "SELECT key, name, type, mentions, hash FROM graph_name"
        " JOIN graph_card ON graph_card.id = card WHERE key IN (SELECT value FROM json_each(?))"
        " ORDER BY mentions DESC, hash",
        (json.dumps(list(keys)),),
    )
    for key, name, kind, mentions, source in rows:
        found.setdefault(key, []).append((name, kind, mentions, source))
    return {
        key: Entity(
            name=same[0][0],
            type=EntityType(same[0][1]),
            mentions=sum(row[2] for row in same),
            sources=tuple(sorted(row[3] for row in same)),
        )
        for key, same in found.items()
    }


def steps_out(connection: apsw.Connection, frontier: Sequence[str], seen: set[str]) -> list[Step]:
    """Return the strongest link to each new entity beside the frontier, and mark them seen."""
    steps: list[Step] = []
    for source, target, weight, cards in connection.execute(_NEIGHBOURS, (json.dumps(frontier),)):
        if target not in seen:
            seen.add(target)
            sources = tuple(CardHash(card) for card in sorted(set(json.loads(cards))))
            steps.append(Step(source, target, weight, sources))
    return steps


def read_links(connection: apsw.Connection, among: Iterable[str] | None = None) -> list[Step]:
    """Return every link once, or those among some entities, the ends in order of their keys."""
    found: dict[tuple[str, str], tuple[int, set[str]]] = {}
    rows = (
        connection.execute(_ALL)
        if among is None
        else connection.execute(_AMONG, (json.dumps(list(among)),))
    )
    for one, other, weight, cards in rows:
        pair = (min(one, other), max(one, other))
        total, sources = found.get(pair, (0, set()))
        found[pair] = (total + weight, sources | set(json.loads(cards)))
    return [
        Step(*pair, weight, tuple(CardHash(card) for card in sorted(sources)))
        for pair, (weight, sources) in sorted(found.items())
    ]
