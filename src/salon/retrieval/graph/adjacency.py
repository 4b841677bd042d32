"""The graph in memory, and who matters from where one stands: Personalised PageRank.

Passages lead to the entities that they name, entities to the passages that name them. A walker
starts at the seeds, takes a step at random, and now and then goes back to the seeds; a passage's
rank is how often he is there. Steps are not equal: an entity that few passages name draws more
than one that everybody names, and from an entity he goes rather to the passages that are about it.
Two entities named together are two steps apart, so co-occurrence needs no links of its own.

Only the neighbourhood of the seeds is walked, so that a step costs the same in a large graph.

Invariant: what is in memory is one state of the file; ranks depend on it and the seeds alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from salon.core.indexes import PassageId
from salon.retrieval.graph.names import NameIndex

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]

DAMPING = 0.7
"""How often the walker goes on instead of back to the seeds."""
STEPS = 10
"""After so many steps little moves any more: 0.7 ** 10 is 3 %."""
TO_SUBJECT = 20.0
"""How much rather the walker goes from an entity to a passage about it than to another."""
FROM_SUBJECT = 0.1
"""How much less he goes from a passage to what it is itself about: he has just come from there."""
HUB = 300
"""An entity that more passages name than this leads everywhere, which is nowhere."""
NEIGHBOURHOOD = 5_000
"""Passages that are walked at most; those that are better connected to the seeds come first."""
REACH = 2
"""Steps from passage to passage in which the neighbourhood is collected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """Which passage names which entity, by their places, and whether it is about it."""

    passages: Ints
    entities: Ints
    about: Bools


@dataclass(frozen=True, slots=True)
class _Rows:
    """A sparse matrix by rows: the edges of row `r` stand at `starts[r]` up to `starts[r + 1]`."""

    starts: Ints
    order: Ints

    @classmethod
    def of(cls, rows: Ints, count: int) -> "_Rows":
        starts = np.zeros(count + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=count), out=starts[1:])
        return cls(starts, np.argsort(rows, kind="stable"))

    def edges_of(self, rows: Ints) -> Ints:
        """Return the edges of these rows, row by row."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        shift = np.repeat(self.starts[rows] - (np.cumsum(lengths) - lengths), lengths)
        edges: Ints = self.order[shift + np.arange(len(shift))]
        return edges


class Adjacency:
    """One state of the graph: passages, entities, and who leads to whom."""

    def __init__(self, passages: Ints, keys: Sequence[str], edges: Edges) -> None:
        self._passages = passages
        self._places = {id_: place for place, id_ in enumerate(passages.tolist())}
        self._entities = {key: place for place, key in enumerate(keys)}
        self._edges = edges
        self._named_by = np.bincount(edges.entities, minlength=len(keys))
        specificity = np.log1p(len(passages) / np.maximum(self._named_by, 1))
        out = specificity[edges.entities] * np.where(edges.about, FROM_SUBJECT, 1.0)
        self._out = _shares(out, edges.passages, len(passages))
        back = np.where(edges.about, TO_SUBJECT, 1.0)
        self._back = _shares(back, edges.entities, len(keys))
        self._of_passage = _Rows.of(edges.passages, len(passages))
        self._of_entity = _Rows.of(edges.entities, len(keys))
        subjects = np.unique(edges.entities[edges.about]).tolist()
        self.subjects = NameIndex((entity, keys[entity]) for entity in subjects)
        """The entities that passages are about, by name."""
        told = len(np.unique(edges.passages[edges.about]))
        self.told = told / len(passages) if len(passages) else 0.0
        """The share of passages that say what they are about."""

    def find_entity(self, key: str) -> int | None:
        """Return the place of an entity, `None` if no passage names it."""
        return self._entities.get(key)

    def passages_about(self, entity: int) -> list[PassageId]:
        """Return the passages that are about an entity."""
        edges = self._of_entity.edges_of(np.array([entity]))
        places = self._edges.passages[edges[self._edges.about[edges]]]
        return [PassageId(id_) for id_ in self._passages[places].tolist()]

    def passages_naming(self, entity: int) -> list[PassageId]:
        """Return the passages that name an entity, also those that are about it."""
        places = self._edges.passages[self._of_entity.edges_of(np.array([entity]))]
        return [PassageId(id_) for id_ in self._passages[places].tolist()]

    def ranks(
        self, passages: Mapping[PassageId, float], entities: Mapping[int, float], limit: int
    ) -> dict[PassageId, float]:
        """Return the passages where the walker is most often, with how often, best first."""
        starts = {self._places[id_]: seed for id_, seed in passages.items() if id_ in self._places}
        total = sum(starts.values()) + sum(entities.values())
        if total <= 0:
            return {}
        edges, near = self._neighbourhood(_places(starts), _places(entities))
        through, entity_of = np.unique(
            np.concatenate([_places(entities), self._edges.entities[edges]]), return_inverse=True
        )
        entity_of = entity_of[len(entities) :]
        passage_of = np.searchsorted(near, self._edges.passages[edges])
        out, back = self._out[edges], self._back[edges]
        seeds = _seeds(near, starts) / total
        entity_seeds = _seeds(through, entities) / total
        here, there = seeds, entity_seeds
        for _ in range(STEPS):
            arrived = np.bincount(entity_of, here[passage_of] * out, len(through))
            returned = np.bincount(passage_of, there[entity_of] * back, len(near))
            here = (1 - DAMPING) * seeds + DAMPING * returned
            there = (1 - DAMPING) * entity_seeds + DAMPING * arrived
        best = np.lexsort((self._passages[near], -here))[:limit]
        ids = map(PassageId, self._passages[near[best]].tolist())
        return dict(zip(ids, here[best].tolist(), strict=True))

    def _neighbourhood(self, passages: Ints, entities: Ints) -> tuple[Ints, Ints]:
        """Return the edges near the seeds, and the passages that they are of, in order."""
        near, through = passages, entities
        for _ in range(REACH):
            edges = self._of_passage.edges_of(near)
            through = np.union1d(through, self._edges.entities[edges])
            through = through[self._named_by[through] <= HUB]
            edges = self._of_entity.edges_of(through)
            reached, which = np.unique(self._edges.passages[edges], return_inverse=True)
            ties = np.bincount(which, self._back[edges], len(reached))
            ties[np.isin(reached, near)] = np.inf
            best = reached[np.argsort(-ties, kind="stable")[:NEIGHBOURHOOD]]
            near = np.union1d(passages, best)
        edges = self._of_passage.edges_of(near)
        return edges[self._named_by[self._edges.entities[edges]] <= HUB], near


def _shares(weights: Floats, rows: Ints, count: int) -> Floats:
    """Return weights as shares of their row."""
    shares: Floats = weights / np.bincount(rows, weights, minlength=count)[rows]
    return shares


def _places(weights: Mapping[int, float]) -> Ints:
    return np.array(sorted(weights), np.int64)


def _seeds(places: Ints, weights: Mapping[int, float]) -> Floats:
    """Return weights as a vector over sorted places, all of which are among them."""
    vector = np.zeros(len(places))
    vector[np.searchsorted(places, _places(weights))] = [weights[one] for one in sorted(weights)]
    return vector
