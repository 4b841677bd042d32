"""The entity graph: what the cards name, and what they name together.

An entity is a name or a term found by the rules of `entities`; two are linked when one passage
names both, and the weight of a link counts such passages. It claims no more than that: a link says
"together", never how. An entity is the sum of what each card says of it, so forgetting a card is
exact.

Invariant: the graph after adding and removing cards in any order is the graph of the cards left.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw

from salon.core.archive import Archive
from salon.core.clock import Clock, SystemClock
from salon.core.closing import Closable
from salon.core.errors import InvalidInput
from salon.core.hashing import CardHash
from salon.retrieval.chunking import DEFAULT_CHUNKS, ChunkSettings
from salon.retrieval.entities import EntityType, entity_key
from salon.retrieval.following import CaughtUp, Follower
from salon.retrieval.graph_rows import (
    GRAPH_VERSION,
    GraphRows,
    GraphStats,
    count_graph,
    has_card,
)
from salon.retrieval.index_file import IndexFile

# Links have no direction: each is followed from either end.
_NEIGHBOURS = """
WITH here AS (
    SELECT id, name_key FROM graph_entities WHERE name_key IN (SELECT value FROM json_each(?))
), link AS (
    SELECT here.name_key AS from_key, target_entity_id AS other, weight, source_hash
    FROM here JOIN graph_relationships ON source_entity_id = here.id
    UNION ALL
    SELECT here.name_key, source_entity_id, weight, source_hash
    FROM here JOIN graph_relationships ON target_entity_id = here.id
)
SELECT from_key, name_key, sum(weight) AS total, json_group_array(link.source_hash)
FROM link JOIN graph_entities ON graph_entities.id = other
GROUP BY from_key, name_key ORDER BY total DESC, from_key, name_key
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """An entity that another one leads to, over how many links, and the last of them."""

    entity: Entity
    hops: int
    link: Link


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """An entity and what it leads to, nearest and strongest first."""

    entity: Entity
    neighbours: tuple[Neighbour, ...]


class EntityGraph(Closable):
    """Entities and links from texts, given one by one or followed from an archive."""

    def __init__(
        self,
        path: Path | str,
        *,
        chunks: ChunkSettings = DEFAULT_CHUNKS,
        clock: Clock | None = None,
    ) -> None:
        self.path = Path(path)
        # Overlapping passages would count what stands in the overlap twice.
        apart = ChunkSettings(size=chunks.size, overlap=0)
        self._file = IndexFile(self.path)
        self._rows = GraphRows(self._file, apart, clock or SystemClock())
        self._follower = Follower(
            self._file, self._rows, name="graph", fingerprint=f"v{GRAPH_VERSION} size={chunks.size}"
        )

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def catch_up(self, archive: Archive) -> CaughtUp:
        """Take in what happened in an archive since the last time."""
        return self._follower.catch_up(archive)

    def rebuild(self, archive: Archive) -> CaughtUp:
        """Forget everything and build it again from an archive."""
        return self._follower.rebuild(archive)

    def behind(self, archive: Archive) -> int:
        """Return how many audit entries of an archive the graph has not seen."""
        return self._follower.behind(archive)

    def has(self, card: CardHash) -> bool:
        """Tell whether the entities of a card are in the graph."""
        with self._file.read() as connection:
            return has_card(connection, card)

    def add(self, card: CardHash, text: str) -> GraphStats:
        """Take in a card's text, in place of what was there of it; return what that gave."""
        with self._file.write() as connection:
            self._rows.remove(card)
            self._rows.insert(card, text)
            return count_graph(connection, card)

    def remove(self, card: CardHash) -> bool:
        """Forget all that came from a card, tell whether there was anything."""
        with self._file.write():
            removed = self._rows.remove(card)
        self._file.empty_log()
        return removed

    def stats(self) -> GraphStats:
        """Count what is there."""
        with self._file.read() as connection:
            return count_graph(connection)

    def find_entity(self, name: str) -> Entity | None:
        """Return an entity by any spelling of its name, or `None`."""
        with self._file.read() as connection:
            return _entities(connection, [entity_key(name)]).get(entity_key(name))

    def explore_entity(self, name: str, hops: int = 2, limit: int = 100) -> Neighbourhood | None:
        """Return what an entity leads to over at most `hops` links, or `None` if it is unknown."""
        _require_positive(hops=hops, limit=limit)
        key = entity_key(name)
        with self._file.read() as connection:
            if not (here := _entities(connection, [key])):
                return None
            seen = {key}
            frontier = [key]
            reached: list[tuple[int, _Step]] = []
            for hop in range(1, hops + 1):
                steps = _steps_out(connection, frontier, seen)
                frontier = [step.target for step in steps][: limit - len(reached)]
                reached += [(hop, step) for step in steps[: len(frontier)]]
            known = here | _entities(connection, [step.target for _, step in reached])
        neighbours = tuple(
            Neighbour(entity=known[step.target], hops=hop, link=step.named(known))
            for hop, step in reached
        )
        return Neighbourhood(entity=here[key], neighbours=neighbours)

    def find_connection(self, a: str, b: str, max_depth: int = 4) -> list[Link] | None:
        """Return the shortest chain of links from one entity to another, or `None`.

        Each entity on the way is entered by its strongest link. The chain from an entity to
        itself is empty.
        """
        _require_positive(max_depth=max_depth)
        first, last = entity_key(a), entity_key(b)
        with self._file.read() as connection:
            if not {first, last} <= _entities(connection, [first, last]).keys():
                return None
            came_by: dict[str, _Step] = {}
            seen = {first}
            frontier = [first]
            for _ in range(max_depth):
                if last in seen or not frontier:
                    break
                steps = _steps_out(connection, frontier, seen)
                came_by |= {step.target: step for step in steps}
                frontier = [step.target for step in steps]
            if last not in seen:
                return None
            chain: list[_Step] = []
            while last != first:
                chain.insert(0, came_by[last])
                last = came_by[last].source
            known = _entities(connection, [first, *(step.target for step in chain)])
        return [step.named(known) for step in chain]


@dataclass(frozen=True, slots=True)
class _Step:
    """A link by the keys of its ends."""

    source: str
    target: str
    weight: int
    sources: tuple[CardHash, ...]

    def named(self, known: dict[str, Entity]) -> Link:
        return Link(
            source=known[self.source].name,
            target=known[self.target].name,
            weight=self.weight,
            sources=self.sources,
        )


def _entities(connection: apsw.Connection, keys: Iterable[str]) -> dict[str, Entity]:
    """Return the known ones of these entities by key."""
    found: dict[str, list[tuple[str, str, int, CardHash]]] = {}
    rows = connection.execute(
        "SELECT name_key, name, type, mentions, source_hash FROM graph_entities"
        " WHERE name_key IN (SELECT value FROM json_each(?))"
        " ORDER BY mentions DESC, source_hash",
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


def _steps_out(connection: apsw.Connection, frontier: Sequence[str], seen: set[str]) -> list[_Step]:
    """Return the strongest link to each new entity beside the frontier, and mark them seen."""
    steps: list[_Step] = []
    for source, target, weight, cards in connection.execute(_NEIGHBOURS, (json.dumps(frontier),)):
        if target not in seen:
            seen.add(target)
            sources = tuple(CardHash(card) for card in sorted(set(json.loads(cards))))
            steps.append(_Step(source, target, weight, sources))
    return steps


def _require_positive(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise InvalidInput(f"{name} must be at least 1, not {number}")
