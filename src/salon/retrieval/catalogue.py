"""The catalogue: which passages there are, in which card, and which of them have a vector.

It holds spans and numbers, no text and no vectors; both can be made again from the archive. Every
passage has an id that is made from its card and span alone, so the indexes that know a passage by
its id agree on any machine and after any rebuild.

Invariant: the passages of a card are those that `cut_passages` makes of its text with the settings
that the catalogue was opened with.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from salon.core.embedding import EmbeddingModel
from salon.core.hashing import CardHash
from salon.core.indexes import IndexedText, PassageId, passage_id
from salon.retrieval.chunking import ChunkSettings, cut_passages
from salon.retrieval.index_file import IndexFile

CATALOGUE_VERSION = 1

_TABLES = """
CREATE TABLE IF NOT EXISTS catalogue_card (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    language TEXT
);
CREATE TABLE IF NOT EXISTS catalogue_passage (
    id INTEGER PRIMARY KEY,
    card INTEGER NOT NULL REFERENCES catalogue_card(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    has_vector INTEGER NOT NULL DEFAULT 0 -- 0 not yet, 1 yes, 2 can have none
);
CREATE INDEX IF NOT EXISTS idx_catalogue_passage_card ON catalogue_passage(card, number);
CREATE INDEX IF NOT EXISTS idx_catalogue_passage_bare ON catalogue_passage(card, number)
    WHERE has_vector = 0;
CREATE TABLE IF NOT EXISTS catalogue_model (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    address TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    dimensions INTEGER NOT NULL
);
-- Every search tells how much there is, and counting a million rows takes longer than the search.
CREATE TABLE IF NOT EXISTS catalogue_count (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    cards INTEGER NOT NULL,
    passages INTEGER NOT NULL,
    with_vector INTEGER NOT NULL
);
INSERT OR IGNORE INTO catalogue_count VALUES (1, 0, 0, 0);
CREATE TRIGGER IF NOT EXISTS catalogue_card_came AFTER INSERT ON catalogue_card BEGIN
    UPDATE catalogue_count SET cards = cards + 1;
END;
CREATE TRIGGER IF NOT EXISTS catalogue_card_went AFTER DELETE ON catalogue_card BEGIN
    UPDATE catalogue_count SET cards = cards - 1;
END;
CREATE TRIGGER IF NOT EXISTS catalogue_passage_came AFTER INSERT ON catalogue_passage BEGIN
    UPDATE catalogue_count
    SET passages = passages + 1, with_vector = with_vector + (new.has_vector = 1);
END;
CREATE TRIGGER IF NOT EXISTS catalogue_passage_went AFTER DELETE ON catalogue_passage BEGIN
    UPDATE catalogue_count
    SET passages = passages - 1, with_vector = with_vector - (old.has_vector = 1);
END;
CREATE TRIGGER IF NOT EXISTS catalogue_vector_changed
AFTER UPDATE OF has_vector ON catalogue_passage BEGIN
    UPDATE catalogue_count
    SET with_vector = with_vector + (new.has_vector = 1) - (old.has_vector = 1);
END;
"""
_DROP = "".join(
    f"DROP TABLE IF EXISTS {table};"
    for table in ("catalogue_passage", "catalogue_card", "catalogue_model", "catalogue_count")
)
_HAS, _CANNOT_HAVE = 1, 2
_BY_ID = " WHERE passage.id IN (SELECT value FROM json_each(?))"
_PASSAGES = (
    "SELECT passage.id, hash, number, start, stop FROM catalogue_passage AS passage"
    " JOIN catalogue_card AS card ON card.id = passage.card"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CataloguedPassage:
    """The bytes from `start` up to `end` of card `hash`, the `number`th passage of it."""

    id: PassageId
    hash: CardHash
    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueStats:
    """How much there is, and how much of it has a vector."""

    cards: int
    passages: int
    with_vector: int


class Catalogue:
    """The tables of the catalogue; their writing happens inside the caller's transaction."""

    def __init__(self, file: IndexFile, chunks: ChunkSettings) -> None:
        self._file = file
        self._chunks = chunks

    @property
    def fingerprint(self) -> str:
        """What must be equal for the passages to be the same ones."""
        return f"v{CATALOGUE_VERSION} size={self._chunks.size} overlap={self._chunks.overlap}"

    # Writing

    def create_tables(self) -> None:
        """Make the tables that are not there."""
        with self._file.write() as connection:
            connection.execute(_TABLES)

    def drop_tables(self) -> None:
        """Forget everything."""
        with self._file.write() as connection:
            connection.execute(_DROP)

    def insert(self, card: CardHash, text: str) -> list[IndexedText]:
        """Write down the passages of a card's text and return them."""
        passages = cut_passages(text, self._chunks)
        with self._file.write() as connection:
            connection.execute("INSERT INTO catalogue_card (hash) VALUES (?)", (card,))
            owner = connection.last_insert_rowid()
            ids = [passage_id(card, passage.start, passage.end) for passage in passages]
            # Of two passages that share a number (one chance in ten million, at a million passages)
            # the second is not found; better than an index that never comes further.
            connection.executemany(
                "INSERT OR IGNORE INTO catalogue_passage (id, card, number, start, stop)"
                " VALUES (?, ?, ?, ?, ?)",
                (
                    (id_, owner, number, passage.start, passage.end)
                    for number, (id_, passage) in enumerate(zip(ids, passages, strict=True))
                ),
            )
        return [
            IndexedText(id_, card, passage.text) for id_, passage in zip(ids, passages, strict=True)
        ]

    def remove(self, card: CardHash) -> bool:
        """Forget a card, tell whether it was there."""
        with self._file.write() as connection:
            connection.execute("DELETE FROM catalogue_card WHERE hash = ?", (card,))
            return connection.changes() > 0

    def has(self, card: CardHash) -> bool:
        """Tell whether this card was taken in, as the writer sees it."""
        with self._file.write() as connection:
            found = connection.execute("SELECT 1 FROM catalogue_card WHERE hash = ?", (card,))
            return found.get is not None

    def use_model(self, model: EmbeddingModel) -> bool:
        """Note whose vectors are counted; of another model than before, none is there yet."""
        wanted = (model.address, model.fingerprint, model.dimensions)
        with self._file.write() as connection:
            known = connection.execute(
                "SELECT address, fingerprint, dimensions FROM catalogue_model"
            ).fetchone()
            if known == wanted:
                return False
            connection.execute("INSERT OR REPLACE INTO catalogue_model VALUES (1, ?, ?, ?)", wanted)
            connection.execute("UPDATE catalogue_passage SET has_vector = 0 WHERE has_vector")
            return True

    def mark_vectors(self, ids: Iterable[PassageId], *, can_have: bool = True) -> None:
        """Note that these passages have a vector in the index, or can have none."""
        with self._file.write() as connection:
            connection.executemany(
                "UPDATE catalogue_passage SET has_vector = ? WHERE id = ?",
                ((_HAS if can_have else _CANNOT_HAVE, id_) for id_ in ids),
            )

    def unmark_vectors(self) -> None:
        """Note that the index lost its vectors."""
        with self._file.write() as connection:
            connection.execute("UPDATE catalogue_passage SET has_vector = 0 WHERE has_vector")

    # Reading

    def model(self) -> EmbeddingModel | None:
        """Return whose vectors are counted."""
        with self._file.read() as connection:
            row = connection.execute(
                "SELECT address, fingerprint, dimensions FROM catalogue_model"
            ).fetchone()
        if row is None:
            return None
        address, fingerprint, dimensions = row
        return EmbeddingModel(address=address, fingerprint=fingerprint, dimensions=dimensions)

    def find(self, ids: Sequence[PassageId]) -> dict[PassageId, CataloguedPassage]:
        """Return those of these passages that are there."""
        with self._file.read() as connection:
            rows = connection.execute(
                _PASSAGES + _BY_ID,
                (json.dumps([int(id_) for id_ in ids]),),
            )
            return {found.id: found for found in map(_passage, rows)}

    def passages_of(self, card: CardHash) -> list[CataloguedPassage]:
        """Return the passages of a card in order."""
        with self._file.read() as connection:
            rows = connection.execute(_PASSAGES + " WHERE hash = ? ORDER BY number", (card,))
            return [_passage(row) for row in rows]

    def without_vector(self, limit: int) -> list[CataloguedPassage]:
        """Return passages that have no vector yet, card by card."""
        with self._file.read() as connection:
            rows = connection.execute(
                _PASSAGES + " WHERE has_vector = 0 ORDER BY passage.card, number LIMIT ?",
                (limit,),
            )
            return [_passage(row) for row in rows]

    def cards(self) -> Iterator[CardHash]:
        """Walk the cards in the order they were taken in."""
        with self._file.read() as connection:
            rows = connection.execute("SELECT hash FROM catalogue_card ORDER BY id").fetchall()
        yield from (CardHash(str(hash_)) for (hash_,) in rows)

    def knows(self, card: CardHash) -> bool:
        """Tell whether this card was taken in, as a reader sees it."""
        with self._file.read() as connection:
            found = connection.execute("SELECT 1 FROM catalogue_card WHERE hash = ?", (card,))
            return found.get is not None

    def stats(self) -> CatalogueStats:
        """Count what is there."""
        with self._file.read() as connection:
            row = connection.execute(
                "SELECT cards, passages, with_vector FROM catalogue_count"
            ).fetchone()
        assert row is not None
        cards, passages, with_vector = row
        return CatalogueStats(cards=cards, passages=passages, with_vector=with_vector)

    # Languages

    def languages(self, detect: Callable[[CardHash], str | None]) -> dict[CardHash, str]:
        """Return the language of every card that has one; `detect` is asked once per card."""
        with self._file.read() as connection:
            unknown = [
                CardHash(hash_)
                for (hash_,) in connection.execute(
                    "SELECT hash FROM catalogue_card WHERE language IS NULL"
                )
            ]
        if unknown:
            detected = [(detect(card) or "", card) for card in unknown]
            with self._file.write() as connection:
                connection.executemany(
                    "UPDATE catalogue_card SET language = ? WHERE hash = ?", detected
                )
        with self._file.read() as connection:
            rows = connection.execute(
                "SELECT hash, language FROM catalogue_card WHERE language <> ''"
            ).fetchall()
        return {CardHash(str(hash_)): str(language) for hash_, language in rows}


def _passage(row: tuple[int, str, int, int, int]) -> CataloguedPassage:
    id_, card, number, start, stop = row
    return CataloguedPassage(
        id=PassageId(id_), hash=CardHash(card), number=number, start=start, end=stop
    )
