"""The tables of the entity graph, and what one card's text writes into them.

They have MCard's names. Questions to the graph are asked in `entity_graph`.

Invariant: every row has the hash of the card that it came from and goes when that card goes.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import apsw

from salon.core.clock import Clock, instant
from salon.core.hashing import CardHash
from salon.retrieval.chunking import ChunkSettings, cut_spans
from salon.retrieval.entities import Mention, entity_key, find_mentions
from salon.retrieval.index_file import IndexFile

LINKED_PER_PASSAGE = 30
"""Different entities of one passage that are linked with each other; a list of names has more."""
RELATIONSHIP = "CO_OCCURS_WITH"
GRAPH_VERSION = 1

_TABLES = """
CREATE TABLE IF NOT EXISTS graph_extractions (
    source_hash TEXT PRIMARY KEY,
    created_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS graph_entities (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    type TEXT NOT NULL,
    description TEXT NOT NULL,
    mentions INTEGER NOT NULL,
    source_hash TEXT NOT NULL REFERENCES graph_extractions(source_hash) ON DELETE CASCADE,
    created_at TEXT NOT NULL,
    UNIQUE (name_key, source_hash)
);
CREATE INDEX IF NOT EXISTS idx_graph_entities_source ON graph_entities(source_hash);
CREATE TABLE IF NOT EXISTS graph_relationships (
    id INTEGER PRIMARY KEY,
    source_entity_id INTEGER NOT NULL REFERENCES graph_entities(id) ON DELETE CASCADE,
    target_entity_id INTEGER NOT NULL REFERENCES graph_entities(id) ON DELETE CASCADE,
    relationship TEXT NOT NULL,
    description TEXT NOT NULL,
    weight INTEGER NOT NULL,
    source_hash TEXT NOT NULL REFERENCES graph_extractions(source_hash) ON DELETE CASCADE,
    created_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_graph_relationships_from ON graph_relationships(source_entity_id);
CREATE INDEX IF NOT EXISTS idx_graph_relationships_to ON graph_relationships(target_entity_id);
CREATE INDEX IF NOT EXISTS idx_graph_relationships_source ON graph_relationships(source_hash);
"""
_DROP = "".join(
    f"DROP TABLE IF EXISTS {table};"
    for table in ("graph_relationships", "graph_entities", "graph_extractions")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStats:
    """How much is in the graph."""

    cards: int
    entities: int
    relationships: int


class GraphRows:
    """The rows of the graph, as `Follower` wants them written."""

    def __init__(self, file: IndexFile, chunks: ChunkSettings, clock: Clock) -> None:
        self._file = file
        self._chunks = chunks
        self._clock = clock

    def create_tables(self) -> None:
        """Make the tables that are not there."""
        with self._file.write() as connection:
            connection.execute(_TABLES)

    def drop_tables(self) -> None:
        """Forget everything."""
        with self._file.write() as connection:
            connection.execute(_DROP)

    def has(self, card: CardHash) -> bool:
        """Tell whether this card was taken in."""
        with self._file.write() as connection:
            return has_card(connection, card)

    def insert(self, card: CardHash, text: str) -> None:
        """Take in the text of a card."""
        now = instant(self._clock.now())
        mentions = find_mentions(text)
        with self._file.write() as connection:
            connection.execute("INSERT INTO graph_extractions VALUES (?, ?)", (card, now))
            ids = _insert_entities(connection, card, mentions, now)
            pairs = _named_together(mentions, cut_spans(text, self._chunks))
            connection.executemany(
                "INSERT INTO graph_relationships (source_entity_id, target_entity_id,"
                " relationship, description, weight, source_hash, created_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        ids[one],
                        ids[other],
                        RELATIONSHIP,
                        f"named together in {_times(weight, 'passage')}",
                        weight,
                        card,
                        now,
                    )
                    for (one, other), weight in sorted(pairs.items())
                ),
            )

    def remove(self, card: CardHash) -> bool:
        """Forget a card, tell whether it was there."""
        with self._file.write() as connection:
            there = has_card(connection, card)
            connection.execute("DELETE FROM graph_extractions WHERE source_hash = ?", (card,))
            return there

    def compact(self) -> None:
        """Nothing to do: `secure_delete` has overwritten the rows."""


def _insert_entities(
    connection: apsw.Connection, card: CardHash, mentions: Iterable[Mention], now: str
) -> dict[str, int]:
    """Write one row per entity of a card and return the row numbers by key."""
    by_key: dict[str, list[Mention]] = {}
    for mention in mentions:
        by_key.setdefault(entity_key(mention.name), []).append(mention)
    ids: dict[str, int] = {}
    for key, same in by_key.items():
        name = Counter(mention.name for mention in same).most_common(1)[0][0]
        kind = Counter(mention.type for mention in same).most_common(1)[0][0]
        connection.execute(
            "INSERT INTO graph_entities (name, name_key, type, description, mentions, source_hash,"
            " created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (name, key, kind.value, f"named {_times(len(same), 'time')}", len(same), card, now),
        )
        ids[key] = connection.last_insert_rowid()
    return ids


def _named_together(
    mentions: Sequence[Mention], passages: Sequence[tuple[int, int]]
) -> Counter[tuple[str, str]]:
    """Count for each pair of keys the passages that name both."""
    together: Counter[tuple[str, str]] = Counter()
    place = 0
    for _, end in passages:
        keys: dict[str, None] = {}
        while place < len(mentions) and mentions[place].start < end:
            keys[entity_key(mentions[place].name)] = None
            place += 1
        together.update(combinations(sorted(list(keys)[:LINKED_PER_PASSAGE]), 2))
    return together


def has_card(connection: apsw.Connection, card: CardHash) -> bool:
    """Tell whether the entities of a card are in the graph."""
    found = connection.execute("SELECT 1 FROM graph_extractions WHERE source_hash = ?", (card,))
    return found.get is not None


def count_graph(connection: apsw.Connection, card: CardHash | None = None) -> GraphStats:
    """Count the whole graph, or what came from one card."""
    row = connection.execute(
        "SELECT (SELECT count(*) FROM graph_extractions WHERE ?1 IS NULL OR source_hash = ?1),"
        " (SELECT count(DISTINCT name_key) FROM graph_entities"
        "  WHERE ?1 IS NULL OR source_hash = ?1),"
        " (SELECT count(*) FROM graph_relationships WHERE ?1 IS NULL OR source_hash = ?1)",
        (card,),
    ).fetchone()
    assert row is not None
    cards, entities, relationships = row
    return GraphStats(cards=cards, entities=entities, relationships=relationships)


def _times(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
