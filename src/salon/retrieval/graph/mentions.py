"""Reading from the graph's file which passages name what, one by one or all of it at once."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

import apsw
import numpy as np

from salon.core.hashing import CardHash
from salon.core.indexes import PassageId
from salon.retrieval.graph.adjacency import Adjacency, Edges

_MENTIONS = """
SELECT passage, graph_name.name, key, start, stop, is_subject
FROM graph_mention JOIN graph_name ON graph_name.id = graph_mention.name
WHERE passage IN (SELECT value FROM json_each(?)) ORDER BY passage, start
"""
_EDGES = """
SELECT passage, key, max(is_subject)
FROM graph_mention JOIN graph_name ON graph_name.id = graph_mention.name
GROUP BY passage, key ORDER BY passage, key
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageMention:
    """Where a passage names an entity, in characters of the passage."""

    name: str
    key: str
    start: int
    end: int
    is_subject: bool


def read_state(connection: apsw.Connection) -> int:
    """Return a number that every change of the graph makes another."""
    state: int = connection.execute("SELECT state FROM graph_state").get
    return state


def read_mentions(
    connection: apsw.Connection, passages: Iterable[PassageId]
) -> dict[PassageId, list[PassageMention]]:
    """Return what these passages name, in order; those that name nothing are left out."""
    found: dict[PassageId, list[PassageMention]] = {}
    for passage, name, key, start, stop, is_subject in connection.execute(
        _MENTIONS, (json.dumps(list(passages)),)
    ):
        found.setdefault(PassageId(passage), []).append(
            PassageMention(name=name, key=key, start=start, end=stop, is_subject=bool(is_subject))
        )
    return found


def read_cards(
    connection: apsw.Connection, passages: Iterable[PassageId]
) -> dict[PassageId, CardHash]:
    """Return the cards of those of these passages that are in the graph."""
    return {
        PassageId(id_): CardHash(card)
        for id_, card in connection.execute(
            "SELECT graph_passage.id, hash FROM graph_passage"
            " JOIN graph_card ON graph_card.id = card"
            " WHERE graph_passage.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(passages)),),
        )
    }


def read_adjacency(connection: apsw.Connection) -> Adjacency:
    """Return the whole graph in memory."""
    passages: dict[int, int] = {}
    entities: dict[str, int] = {}
    of_passage: list[int] = []
    of_entity: list[int] = []
    about: list[int] = []
    for passage, key, is_subject in connection.execute(_EDGES):
        of_passage.append(passages.setdefault(passage, len(passages)))
        of_entity.append(entities.setdefault(key, len(entities)))
        about.append(is_subject)
    return Adjacency(
        np.array(list(passages), np.int64),
        list(entities),
        Edges(
            passages=np.array(of_passage, np.int64),
            entities=np.array(of_entity, np.int64),
            about=np.array(about, np.bool_),
        ),
    )
