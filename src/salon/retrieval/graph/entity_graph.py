"""The entity graph: what the cards name, and what they name together.

An entity is a name or a term found by the rules of `entities`; two are linked when one passage
names both, and the weight of a link counts such passages. It claims no more than that: a link says
"together", never how. An entity is the sum of what each card says of it, so forgetting a card is
exact.

Invariant: the graph after adding and removing cards in any order is the graph of the cards left.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from salon.core.archive import Archive
from salon.core.clock import Clock, SystemClock
from salon.core.closing import Closable
from salon.core.errors import InvalidInput
from salon.core.hashing import CardHash
from salon.core.indexes import PassageId
from salon.retrieval.chunking import DEFAULT_CHUNKS, ChunkSettings
from salon.retrieval.following import CaughtUp, Follower, Scope
from salon.retrieval.graph.entities import (
    EntityExtractor,
    RuleExtractor,
    entity_key,
)
from salon.retrieval.graph.links import (
    Entity,
    Link,
    Step,
    read_entities,
    read_links,
    steps_out,
)
from salon.retrieval.graph.names import name_words
from salon.retrieval.graph.rows import (
    GRAPH_VERSION,
    GraphRows,
    GraphStats,
    count_graph,
    has_card,
)
from salon.retrieval.index_file import IndexFile

if TYPE_CHECKING:
    from salon.retrieval.graph.adjacency import Adjacency
    from salon.retrieval.graph.mentions import PassageMention


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
        extractor: EntityExtractor | None = None,
        scope: Scope = Scope.CARDS,
    ) -> None:
        self.path = Path(path)
        self._file = IndexFile(self.path)
        finder = extractor or RuleExtractor()
        self._rows = GraphRows(self._file, chunks, clock or SystemClock(), finder)
        self._follower = Follower(
            self._file,
            self._rows,
            name="graph",
            fingerprint=f"v{GRAPH_VERSION} size={chunks.size} overlap={chunks.overlap}"
            f" by={finder.fingerprint}",
            scope=scope,
        )
        self._loaded: tuple[int, Adjacency] | None = None
        self._loading = threading.Lock()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def catch_up(self, archive: Archive) -> CaughtUp:
        """Take in what happened in an archive since the last time."""
        return self._follower.catch_up(archive)

    def rebuild(self, archive: Archive) -> CaughtUp:
        """Forget everything and build it again from an archive."""
        return self._follower.rebuild(archive)

    def compact(self) -> bool:
        """Leave nothing of removed cards in the file; tell whether there was anything to do."""
        return self._follower.compact()

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

    # Passages

    def adjacency(self) -> "Adjacency":
        """Return the graph in memory, read again only when it has changed."""
        from salon.retrieval.graph.mentions import read_adjacency, read_state

        with self._file.read() as connection, self._loading:
            # The rows may be newer than the state that was read before them; then the next look
            # at the state reads them once more, and nothing stale is ever kept.
            state = read_state(connection)
            if self._loaded is None or self._loaded[0] != state:
                self._loaded = (state, read_adjacency(connection))
            return self._loaded[1]

    def passage_ranks(
        self,
        passages: Mapping[PassageId, float],
        names: Mapping[str, float] | None = None,
        *,
        limit: int = 100,
    ) -> dict[PassageId, float]:
        """Return the passages that are nearest to these passages and names, best first.

        Seeds weigh as much as they are told to; a name also stands for subjects with a name like
        it. Passages out of reach are left out. See `adjacency` for what the ranks mean.
        """
        graph = self.adjacency()
        entities: dict[int, float] = {}
        for name, weight in (names or {}).items():
            meant = graph.subjects.find(name_words(name))
            if (exact := graph.find_entity(entity_key(name))) is not None:
                meant = meant | {exact: 1.0}
            for entity, likeness in meant.items():
                entities[entity] = max(weight * likeness, entities.get(entity, 0.0))
        return graph.ranks(passages, entities, limit)

    def mentions_in(self, passages: Iterable[PassageId]) -> "dict[PassageId, list[PassageMention]]":
        """Return what these passages name, in order; those that name nothing are left out."""
        from salon.retrieval.graph.mentions import read_mentions

        with self._file.read() as connection:
            return read_mentions(connection, passages)

    def cards_of(self, passages: Iterable[PassageId]) -> dict[PassageId, CardHash]:
        """Return the cards of those of these passages that are in the graph."""
        from salon.retrieval.graph.mentions import read_cards

        with self._file.read() as connection:
            return read_cards(connection, passages)

    # Entities

    def find_entity(self, name: str) -> Entity | None:
        """Return an entity by any spelling of its name, or `None`."""
        with self._file.read() as connection:
            return read_entities(connection, [entity_key(name)]).get(entity_key(name))

    def links(self, among: Iterable[str] | None = None) -> list[Link]:
        """Return every link of the graph once, or those among the entities of these names."""
        keys = None if among is None else {entity_key(name) for name in among}
        with self._file.read() as connection:
            steps = read_links(connection, keys)
            ends = {end for step in steps for end in (step.source, step.target)}
            known = read_entities(connection, sorted(ends))
        return [step.named(known) for step in steps]

    def explore_entity(self, name: str, hops: int = 2, limit: int = 100) -> Neighbourhood | None:
        """Return what an entity leads to over at most `hops` links, or `None` if it is unknown."""
        _require_positive(hops=hops, limit=limit)
        key = entity_key(name)
        with self._file.read() as connection:
            if not (here := read_entities(connection, [key])):
                return None
            seen = {key}
            frontier = [key]
            reached: list[tuple[int, Step]] = []
            for hop in range(1, hops + 1):
                steps = steps_out(connection, frontier, seen)
                frontier = [step.target for step in steps][: limit - len(reached)]
                reached += [(hop, step) for step in steps[: len(frontier)]]
            known = here | read_entities(connection, [step.target for _, step in reached])
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
            if not {first, last} <= read_entities(connection, [first, last]).keys():
                return None
            came_by: dict[str, Step] = {}
            seen = {first}
            frontier = [first]
            for _ in range(max_depth):
                if last in seen or not frontier:
                    break
                steps = steps_out(connection, frontier, seen)
                came_by |= {step.target: step for step in steps}
                frontier = [step.target for step in steps]
            if last not in seen:
                return None
            chain: list[Step] = []
            while last != first:
                chain.insert(0, came_by[last])
                last = came_by[last].source
            known = read_entities(connection, [first, *(step.target for step in chain)])
        return [step.named(known) for step in chain]


def _require_positive(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise InvalidInput(f"{name} must be at least 1, not {number}")
