"""The lexical index: BM25 over the words of passages, by SQLite's FTS5.

It holds words and spans, no text: what it finds it reads from the archive, so a passage it returns
is in a card whose hash was just checked. It is not the truth, not a vector index, and it does not
judge relevance: `score` orders passages of one search and means nothing between searches.

Invariants: rows and the place in the audit log are committed together; a removed card leaves no
word behind; whatever a person types is searched as words, never read as a query language.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw

from salon.core.archive import Archive
from salon.core.closing import Closable
from salon.core.errors import InvalidInput
from salon.core.hashing import CardHash
from salon.retrieval.chunking import DEFAULT_CHUNKS, ChunkSettings, cut_passages
from salon.retrieval.following import CARDS_PER_COMMIT, CaughtUp, Follower
from salon.retrieval.index_file import IndexFile

MAX_QUERY_WORDS = 64
"""How many different words of a query count; a whole page pasted as a query stays cheap."""

# Marks (M*) belong to words, or scripts that write vowels as marks fall apart into consonants.
_SPLITTER = ("remove_diacritics", "2", "categories", "L* N* Co M*")
_VERSION = 1

_TABLES = """
CREATE TABLE IF NOT EXISTS lexical_card (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS lexical_passage (
    id INTEGER PRIMARY KEY,
    card INTEGER NOT NULL REFERENCES lexical_card(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_lexical_passage_card ON lexical_passage(card);
CREATE VIRTUAL TABLE IF NOT EXISTS lexical_words USING fts5(
    text, content='', contentless_delete=1,
    tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
);
"""
_DROP = "".join(
    f"DROP TABLE IF EXISTS {table};"
    for table in ("lexical_words", "lexical_passage", "lexical_card")
)
_RANKED = (
    "SELECT rowid, bm25(lexical_words) AS badness FROM lexical_words"
    " WHERE lexical_words MATCH ? ORDER BY badness, rowid"
)
_PASSAGE = (
    "SELECT hash, number, start, stop FROM lexical_passage"
    " JOIN lexical_card ON lexical_card.id = card WHERE lexical_passage.id = ?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPassage:
    """A passage that matches a query: the bytes from `start` up to `end` of card `hash`."""

    hash: CardHash
    number: int
    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStats:
    """How much is in an index, and which audit entry it reflects."""

    cards: int
    passages: int
    seq: int


class FtsIndex(Closable):
    """Passages of one archive, found by their words."""

    def __init__(
        self,
        path: Path | str,
        archive: Archive,
        *,
        chunks: ChunkSettings = DEFAULT_CHUNKS,
        cards_per_commit: int = CARDS_PER_COMMIT,
    ) -> None:
        self.path = Path(path)
        self._archive = archive
        self._rows = _LexicalRows(IndexFile(self.path), chunks)
        self._file = self._rows.file
        self._follower = Follower(
            self._file,
            self._rows,
            name="lexical",
            fingerprint=f"v{_VERSION} size={chunks.size} overlap={chunks.overlap}",
            cards_per_commit=cards_per_commit,
        )

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def catch_up(self) -> CaughtUp:
        """Take in what happened in the archive since the last time."""
        return self._follower.catch_up(self._archive)

    def rebuild(self) -> CaughtUp:
        """Forget everything and build it again from the archive."""
        return self._follower.rebuild(self._archive)

    def behind(self) -> int:
        """Return how many audit entries the index has not seen."""
        return self._follower.behind(self._archive)

    def has(self, card: CardHash) -> bool:
        """Tell whether a card's text is in the index."""
        with self._file.read() as connection:
            return _find_card(connection, card) is not None

    def stats(self) -> IndexStats:
        """Count what is there."""
        with self._file.read() as connection:
            cards = connection.execute("SELECT count(*) FROM lexical_card").get
            passages = connection.execute("SELECT count(*) FROM lexical_passage").get
        return IndexStats(cards=cards, passages=passages, seq=self._follower.place().seq)

    def search(self, query: str, limit: int = 5) -> list[FoundPassage]:
        """Return the passages with any of the words of `query`, best first.

        Works on what the index has seen so far; a card deleted since is left out.
        """
        if limit < 1:
            raise InvalidInput(f"a search for {limit} passages finds nothing", hint="ask for 1 up")
        found: list[FoundPassage] = []
        contents: dict[CardHash, bytes | None] = {}
        with self._file.read() as connection:
            for card, number, start, stop, score in _ranked(connection, query):
                if card not in contents:
                    stored = self._archive.find(card)
                    contents[card] = stored.content if stored else None
                content = contents[card]
                if content is None:
                    continue
                text = content[start:stop].decode()
                found.append(
                    FoundPassage(
                        hash=card, number=number, start=start, end=stop, text=text, score=score
                    )
                )
                if len(found) == limit:
                    break
        return found


class _LexicalRows:
    """The rows of the index, as `Follower` wants them written."""

    def __init__(self, file: IndexFile, chunks: ChunkSettings) -> None:
        self.file = file
        self._chunks = chunks

    def create_tables(self) -> None:
        with self.file.write() as connection:
            connection.execute(_TABLES)

    def drop_tables(self) -> None:
        with self.file.write() as connection:
            connection.execute(_DROP)

    def has(self, card: CardHash) -> bool:
        with self.file.write() as connection:
            return _find_card(connection, card) is not None

    def insert(self, card: CardHash, text: str) -> None:
        with self.file.write() as connection:
            connection.execute("INSERT INTO lexical_card (hash) VALUES (?)", (card,))
            owner = connection.last_insert_rowid()
            for number, passage in enumerate(cut_passages(text, self._chunks)):
                connection.execute(
                    "INSERT INTO lexical_passage (card, number, start, stop) VALUES (?, ?, ?, ?)",
                    (owner, number, passage.start, passage.end),
                )
                connection.execute(
                    "INSERT INTO lexical_words (rowid, text) VALUES (?, ?)",
                    (connection.last_insert_rowid(), passage.text),
                )

    def remove(self, card: CardHash) -> bool:
        with self.file.write() as connection:
            owner = _find_card(connection, card)
            if owner is None:
                return False
            connection.execute(
                "DELETE FROM lexical_words WHERE rowid IN"
                " (SELECT id FROM lexical_passage WHERE card = ?)",
                (owner,),
            )
            connection.execute("DELETE FROM lexical_card WHERE id = ?", (owner,))
            return True

    def compact(self) -> None:
        # FTS5 only marks a row as deleted; its words stay in the file until segments are merged.
        with self.file.write() as connection:
            connection.execute("INSERT INTO lexical_words (lexical_words) VALUES ('optimize')")


def _find_card(connection: apsw.Connection, card: CardHash) -> int | None:
    found: int | None = connection.execute(
        "SELECT id FROM lexical_card WHERE hash = ?", (card,)
    ).get
    return found


def _ranked(
    connection: apsw.Connection, query: str
) -> Iterator[tuple[CardHash, int, int, int, float]]:
    """Walk the matching passages, best first."""
    expression = _as_match_expression(connection, query)
    if not expression:
        return
    for row, badness in connection.execute(_RANKED, (expression,)):
        for card, number, start, stop in connection.execute(_PASSAGE, (row,)):
            yield card, number, start, stop, -badness


def _as_match_expression(connection: apsw.Connection, query: str) -> str:
    """Return the words of `query`, split as the index splits text, each quoted, joined by OR."""
    split = connection.fts5_tokenizer("unicode61", list(_SPLITTER))
    words = split(
        query.encode(errors="replace"),
        apsw.FTS5_TOKENIZE_QUERY,
        None,
        include_offsets=False,
        include_colocated=False,
    )
    return " OR ".join(f'"{word}"' for word in list(dict.fromkeys(words))[:MAX_QUERY_WORDS])
