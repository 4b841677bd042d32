"""The tables of the entity graph, and what one card's text writes into them.

Passages are those of search, with the same ids; a mention says which passage names what, where,
and whether the passage is about it. Names are kept for each card apart: an entity is all the names
with one key. MCard's tables are there to read, as views. Questions to the graph are asked in
`entity_graph`.

Invariant: every row belongs to a card, directly or through another row, and goes when it goes.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, takewhile

import apsw

from salon.core.clock import Clock, instant
from salon.core.hashing import CardHash
from salon.core.indexes import passage_id
from salon.retrieval.chunking import ChunkSettings, cut_passages, cut_spans
from salon.retrieval.graph.entities import EntityExtractor, Mention, entity_key
from salon.retrieval.graph.subjects import with_subjects
from salon.retrieval.index_file import IndexFile

LINKED_PER_PASSAGE = 30
"""Different entities of one passage that are linked with each other; a list of names has more."""
GRAPH_VERSION = 2

_TABLES = """
CREATE TABLE IF NOT EXISTS graph_state (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    state INTEGER NOT NULL -- counts changes from the moment the tables were made
);
CREATE TABLE IF NOT EXISTS graph_card (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS graph_name (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    card INTEGER NOT NULL REFERENCES graph_card(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    mentions INTEGER NOT NULL,
    UNIQUE (key, card)
);
CREATE INDEX IF NOT EXISTS idx_graph_name_card ON graph_name(card);
CREATE TABLE IF NOT EXISTS graph_link (
    one INTEGER NOT NULL REFERENCES graph_name(id) ON DELETE CASCADE,
    other INTEGER NOT NULL REFERENCES graph_name(id) ON DELETE CASCADE,
    weight INTEGER NOT NULL,
    PRIMARY KEY (one, other)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS idx_graph_link_other ON graph_link(other);
CREATE TABLE IF NOT EXISTS graph_passage (
    id INTEGER PRIMARY KEY,
    card INTEGER NOT NULL REFERENCES graph_card(id) ON DELETE CASCADE,
    start INTEGER NOT NULL, -- in bytes of the card
    stop INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_graph_passage_card ON graph_passage(card);
CREATE TABLE IF NOT EXISTS graph_mention (
    passage INTEGER NOT NULL REFERENCES graph_passage(id) ON DELETE CASCADE,
    start INTEGER NOT NULL, -- in characters of the passage
    stop INTEGER NOT NULL,
    name INTEGER NOT NULL REFERENCES graph_name(id) ON DELETE CASCADE,
    is_subject INTEGER NOT NULL,
    PRIMARY KEY (passage, start)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS idx_graph_mention_name ON graph_mention(name);
CREATE VIEW IF NOT EXISTS graph_extractions AS
    SELECT hash AS source_hash, created_at FROM graph_card;
CREATE VIEW IF NOT EXISTS graph_entities AS
    SELECT graph_name.id, name, key AS name_key, type, 'named ' || mentions || ' times' AS
    description, mentions, hash AS source_hash, created_at
    FROM graph_name JOIN graph_card ON graph_card.id = card;
CREATE VIEW IF NOT EXISTS graph_relationships AS
    SELECT one AS source_entity_id, other AS target_entity_id, 'CO_OCCURS_WITH' AS relationship,
    'named together in ' || weight || ' passages' AS description, weight, hash AS source_hash,
    created_at
    FROM graph_link JOIN graph_name ON graph_name.id = one JOIN graph_card ON graph_card.id = card;
"""
# Whatever an earlier version has left goes too; the last made first, since it may need the others.
_ALL_TABLES = """
SELECT type, name FROM sqlite_schema WHERE name LIKE 'graph!_%' ESCAPE '!'
AND type IN ('table', 'view') ORDER BY type DESC, rowid DESC
"""
_COUNT_ALL = """
SELECT (SELECT count(*) FROM graph_card), (SELECT count(DISTINCT key) FROM graph_name),
(SELECT count(*) FROM graph_link)
"""
_COUNT_OF_CARD = """
SELECT count(*), (SELECT count(*) FROM graph_name WHERE card = graph_card.id),
(SELECT count(*) FROM graph_link JOIN graph_name ON graph_name.id = one WHERE card = graph_card.id)
FROM graph_card WHERE hash = ?
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStats:
    """How much is in the graph."""

    cards: int
    entities: int
    relationships: int


class GraphRows:
    """The rows of the graph, as `Follower` wants them written."""

    def __init__(
        self, file: IndexFile, chunks: ChunkSettings, clock: Clock, extractor: EntityExtractor
    ) -> None:
        self._file = file
        self._chunks = chunks
        # Overlapping passages would count what stands in the overlap twice.
        self._apart = ChunkSettings(size=chunks.size, overlap=0)
        self._clock = clock
        self._extractor = extractor

    def create_tables(self) -> None:
        """Make the tables that are not there."""
        # Two graphs that were made one after the other never have a state in common.
        first = int(self._clock.now().timestamp() * 1_000_000)
        with self._file.write() as connection:
            connection.execute(_TABLES)
            connection.execute("INSERT OR IGNORE INTO graph_state VALUES (1, ?)", (first,))

    def drop_tables(self) -> None:
        """Forget everything."""
        with self._file.write() as connection:
            for kind, name in connection.execute(_ALL_TABLES).fetchall():
                connection.execute(f"DROP {kind} {name}")

    def has(self, card: CardHash) -> bool:
        """Tell whether this card was taken in."""
        with self._file.write() as connection:
            return has_card(connection, card)

    def insert(self, card: CardHash, text: str) -> None:
        """Take in the text of a card."""
        now = instant(self._clock.now())
        mentions = with_subjects(text, self._extractor.extract(text))
        with self._file.write() as connection:
            connection.execute(
                "INSERT INTO graph_card (hash, created_at) VALUES (?, ?)", (card, now)
            )
            owner = connection.last_insert_rowid()
            names = _insert_names(connection, owner, mentions)
            pairs = _named_together(mentions, cut_spans(text, self._apart))
            connection.executemany(
                "INSERT INTO graph_link VALUES (?, ?, ?)",
                (
                    (names[one], names[other], weight)
                    for (one, other), weight in sorted(pairs.items())
                ),
            )
            self._insert_passages(connection, (card, owner), text, mentions, names)
            _count_change(connection)

    def remove(self, card: CardHash) -> bool:
        """Forget a card, tell whether it was there."""
        with self._file.write() as connection:
            connection.execute("DELETE FROM graph_card WHERE hash = ?", (card,))
            there = connection.changes() > 0
            _count_change(connection)
            return there

    def flush(self) -> None:
        """Nothing to do: all is in the transaction."""

    def compact(self) -> None:
        """Nothing to do: `secure_delete` has overwritten the rows."""

    def _insert_passages(
        self,
        connection: apsw.Connection,
        card: tuple[CardHash, int],
        text: str,
        mentions: Sequence[Mention],
        names: Mapping[str, int],
    ) -> None:
        hash_, owner = card
        spans = cut_spans(text, self._chunks)
        for (start, end), passage in zip(spans, cut_passages(text, self._chunks), strict=True):
            id_ = passage_id(hash_, passage.start, passage.end)
            # Two passages may share a number (see `Catalogue.insert`); the first one keeps it.
            connection.execute(
                "INSERT OR IGNORE INTO graph_passage VALUES (?, ?, ?, ?)",
                (id_, owner, passage.start, passage.end),
            )
            connection.executemany(
                "INSERT OR IGNORE INTO graph_mention VALUES (?, ?, ?, ?, ?)",
                (
                    (
                        id_,
                        mention.start - start,
                        mention.end - start,
                        names[entity_key(mention.name)],
                        int(mention.is_subject),
                    )
                    for mention in _within(mentions, start, end)
                ),
            )


def _count_change(connection: apsw.Connection) -> None:
    connection.execute("UPDATE graph_state SET state = state + 1")


def _insert_names(
    connection: apsw.Connection, owner: int, mentions: Iterable[Mention]
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
            "INSERT INTO graph_name (key, card, name, type, mentions) VALUES (?, ?, ?, ?, ?)",
            (key, owner, name, kind.value, len(same)),
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


def _within(mentions: Sequence[Mention], start: int, end: int) -> Iterator[Mention]:
    """Walk the mentions that lie in a passage as a whole."""
    first = bisect_left(mentions, start, key=lambda one: one.start)
    return takewhile(lambda one: one.end <= end, islice(mentions, first, None))


def has_card(connection: apsw.Connection, card: CardHash) -> bool:
    """Tell whether the entities of a card are in the graph."""
    return connection.execute("SELECT 1 FROM graph_card WHERE hash = ?", (card,)).get is not None


def count_graph(connection: apsw.Connection, card: CardHash | None = None) -> GraphStats:
    """Count the whole graph, or what came from one card."""
    row = (
        connection.execute(_COUNT_ALL)
        if card is None
        else connection.execute(_COUNT_OF_CARD, (card,))
    ).fetchone()
    assert row is not None
    cards, entities, relationships = row
    return GraphStats(cards=cards, entities=entities, relationships=relationships)
