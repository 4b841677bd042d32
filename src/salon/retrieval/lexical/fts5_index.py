"""The lexical index inside one SQLite file, on FTS5: slower than tantivy, and nothing to install.

It holds words and their places, no text. Changes wait in memory until `commit` writes them in one
transaction, or as a part of one that is under way in the same file.

Invariants: `commit` is all or nothing; `compact` leaves no word of what was removed; whatever a
person types reaches FTS5 as quoted words. A prefix is stemmed like any word, so that `general*`
also finds "generic", whose stem begins the same.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import apsw
import numpy as np

from salon.core.closing import Closable
from salon.core.errors import InvalidInput
from salon.core.hashing import CardHash
from salon.core.indexes import Cards, IndexedText, Ranking
from salon.retrieval.index_file import IndexFile
from salon.retrieval.lexical.folding import FOLDING_VERSION, fold_lowered, only_words
from salon.retrieval.lexical.query import Query, completions, parse_query

# Marks (M*) belong to words, or scripts that write vowels as marks fall apart into consonants.
_SPLITTER = ("remove_diacritics", "0", "categories", "L* N* Co M*")
_MOST = 2**31
"""More passages than this are not asked for; SQLite counts no further than 2**63."""

_TABLES = """
CREATE TABLE IF NOT EXISTS lexical_cards (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS lexical_passages (
    id INTEGER PRIMARY KEY,
    card INTEGER NOT NULL REFERENCES lexical_cards(id)
);
CREATE INDEX IF NOT EXISTS idx_lexical_passages_card ON lexical_passages(card);
CREATE VIEW IF NOT EXISTS lexical_by_card AS
    SELECT lexical_passages.id, hash FROM lexical_passages
    JOIN lexical_cards ON lexical_cards.id = card;
CREATE VIRTUAL TABLE IF NOT EXISTS lexical_index USING fts5(
    text, content='', contentless_delete=1,
    tokenize="porter unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);
"""
_IS_THERE = "SELECT count(*) FROM sqlite_master WHERE name = 'lexical_index'"
_DROP = """
DROP VIEW lexical_by_card;
DROP TABLE lexical_index;
DROP TABLE lexical_passages;
DROP TABLE lexical_cards;
"""
_REMOVE = (
    "DELETE FROM lexical_index WHERE rowid IN (SELECT id FROM lexical_by_card WHERE hash = ?1)",
    "DELETE FROM lexical_passages WHERE id IN (SELECT id FROM lexical_by_card WHERE hash = ?1)",
    "DELETE FROM lexical_cards WHERE hash = ?1",
)
# The plus signs keep SQLite from asking FTS5 once per row of the inner query.
_SEARCH = (
    "SELECT rowid, bm25(lexical_index) AS badness FROM lexical_index"
    " WHERE lexical_index MATCH :words"
)
_WITH_PHRASES = (
    " AND +rowid IN (SELECT rowid FROM lexical_index WHERE lexical_index MATCH :phrases)"
)
_OF_CARDS = (
    " AND +rowid IN (SELECT id FROM lexical_by_card"
    " WHERE hash IN (SELECT value FROM json_each(:cards)))"
)
_HAVING = "SELECT count(*) FROM lexical_index WHERE lexical_index MATCH ?"
_BEST = " ORDER BY badness, rowid LIMIT :limit"


@dataclass(frozen=True, slots=True)
class _Removal:
    card: CardHash


@dataclass(frozen=True, slots=True)
class _Clearing:
    pass


_Change: TypeAlias = IndexedText | _Removal | _Clearing


class Fts5Index(Closable):
    """Passages in tables of a SQLite file, found by their words."""

    fingerprint = f"fts5 1, folding {FOLDING_VERSION}"
    """Changes when an index must be built again because text is read differently."""
    needs_rebuild_to_compact = False
    """Words of removed passages never need more than `compact` to be gone."""

    def __init__(self, file: IndexFile | Path | str) -> None:
        self._is_own_file = not isinstance(file, IndexFile)
        self._file = file if isinstance(file, IndexFile) else IndexFile(Path(file))
        self._changes: list[_Change] = []
        with self._file.read() as connection:
            is_there = connection.execute(_IS_THERE).get
        if not is_there:  # an index that is there opens even while others write to it
            with self._file.write() as connection:
                connection.execute(_TABLES)

    def add(self, passages: Iterable[IndexedText]) -> None:
        """Take in passages, in place of those with the same ids."""
        self._changes.extend(passages)

    def remove(self, cards: Iterable[CardHash]) -> None:
        """Forget every passage of these cards."""
        self._changes.extend(map(_Removal, cards))

    def clear(self) -> None:
        """Forget everything; like any change, others see it after `commit`."""
        self._changes = [_Clearing()]

    def commit(self) -> None:
        """Make what was added and removed durable and visible."""
        changes, self._changes = self._changes, []
        if changes:
            with self._file.write() as connection:
                for change in changes:
                    _apply(connection, change)

    def compact(self) -> None:
        """Commit, and make sure that nothing of what was removed is left in the file.

        Not inside a transaction: the log can only be emptied after it.
        """
        self.commit()
        with self._file.write() as connection:
            # FTS5 only marks a row as deleted; its words stay until segments are merged.
            connection.execute("INSERT INTO lexical_index (lexical_index) VALUES ('optimize')")
        self._file.empty_log()

    def close(self) -> None:
        """Let go of the file, unless it was lent, and of what was not committed."""
        self._changes = []
        if self._is_own_file:
            self._file.close()

    def search(self, query: str, limit: int, *, cards: Cards = None) -> Ranking:
        """Rank the passages with any of the query's words by BM25."""
        if limit < 1:
            raise InvalidInput(f"a search for {limit} passages finds nothing", hint="ask for 1 up")
        parsed = parse_query(query)
        rows: list[tuple[int, float]] = []
        if parsed and (cards is None or cards):
            with self._file.read() as connection:
                rows = _find(connection, parsed, min(limit, _MOST), cards)
        ids, badness = zip(*rows, strict=True) if rows else ((), ())
        return Ranking(np.array(ids, np.int64), -np.array(badness, np.float32))

    def frequencies(self, query: str) -> tuple[int, list[int]]:
        """Return how many passages there are, and how many have each word of a query."""
        parsed = parse_query(query)
        words = dict.fromkeys([*parsed.words, *(word for part in parsed.phrases for word in part)])
        with self._file.read() as connection:
            counts = [connection.execute(_HAVING, (_quoted((word,)),)).get for word in words]
        return self.count(), counts

    def count(self) -> int:
        """Return how many passages are visible."""
        with self._file.read() as connection:
            found: int = connection.execute("SELECT count(*) FROM lexical_passages").get
        return found


def _apply(connection: apsw.Connection, change: _Change) -> None:
    if isinstance(change, IndexedText):
        _insert(connection, change)
    elif isinstance(change, _Removal):
        for statement in _REMOVE:
            connection.execute(statement, (change.card,))
    else:
        connection.execute(_DROP + _TABLES)


def _insert(connection: apsw.Connection, passage: IndexedText) -> None:
    connection.execute("INSERT OR IGNORE INTO lexical_cards (hash) VALUES (?)", (passage.card,))
    connection.execute(
        "INSERT OR REPLACE INTO lexical_passages SELECT ?, id FROM lexical_cards WHERE hash = ?",
        (passage.id, passage.card),
    )
    connection.execute(
        "INSERT OR REPLACE INTO lexical_index (rowid, text) VALUES (?, ?)",
        (passage.id, _prepared(passage.text)),
    )


def _prepared(text: str) -> str:
    # FTS5 knows an old Unicode: it takes signs that came later for parts of the words they touch.
    return text if text.isascii() else only_words(fold_lowered(text))


def _find(
    connection: apsw.Connection, query: Query, limit: int, cards: Collection[CardHash] | None
) -> list[tuple[int, float]]:
    phrases = [_quoted(phrase) for phrase in query.phrases]
    wanted = [
        *phrases,
        *(_quoted((word,)) for word in query.words),
        *(_quoted(pair) for pair in query.pairs),
        *(_beginning(connection, prefix) for prefix in query.prefixes),
    ]
    statement = _SEARCH
    bindings: dict[str, str | int] = {"words": " OR ".join(wanted), "limit": limit}
    if phrases:
        statement += _WITH_PHRASES
        bindings["phrases"] = " AND ".join(phrases)
    if cards is not None:
        statement += _OF_CARDS
        bindings["cards"] = json.dumps(list(cards))
    return list(connection.execute(statement + _BEST, bindings))


def _quoted(words: Iterable[str]) -> str:
    return f'"{" ".join(words)}"'


def _beginning(connection: apsw.Connection, prefix: str) -> str:
    """Return the words that begin with `prefix`, each stem once."""
    split = connection.fts5_tokenizer("porter", ["unicode61", *_SPLITTER])

    def stem(word: str) -> str:
        stems = split(
            word.encode(),
            apsw.FTS5_TOKENIZE_QUERY,
            None,
            include_offsets=False,
            include_colocated=False,
        )
        return " ".join(map(str, stems))

    others = {stem(word): word for word in completions(prefix)}
    begins = stem(prefix)
    words = [_quoted((word,)) for found, word in others.items() if not found.startswith(begins)]
    return " OR ".join([f"{_quoted((prefix,))} *", *words])
