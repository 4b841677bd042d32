"""Asking tantivy: a parsed query becomes an engine query, and hits become a ranking.

No text goes through tantivy's own query parser. Nothing here writes.

Invariants: what is found and in which order depends on the query, the passages and nothing else:
not on segments, on the limit, or on the way a filter is applied.
"""

import hashlib
import struct
from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from tantivy import (
    DocAddress,
    Filter,
    Occur,
    Schema,
    SchemaBuilder,
    Searcher,
    TextAnalyzer,
    TextAnalyzerBuilder,
    Tokenizer,
)
from tantivy import Query as EngineQuery

from salon.core.hashing import CardHash
from salon.core.indexes import Cards, Ranking
from salon.retrieval.lexical.query import Query, completions

ID, CARD, CARD_HIGH, CARD_LOW, TEXT = "id", "card", "card_high", "card_low", "text"
WORDS = "words"
"""The name under which an index knows the analyzer of its text."""
LONGEST_WORD = 128
"""In bytes. What is longer is no word that anybody types, but a key or a picture in disguise."""
PREFIX_WORDS = 64
"""How many words a prefix stands for at most; the most frequent ones."""
FILTERED_CARDS = 64
"""Up to so many cards the engine filters; each costs it a look-up, whatever the query."""

CardKey: TypeAlias = tuple[int, int]
Hit: TypeAlias = tuple[float, DocAddress]


def build_schema() -> Schema:
    """Return the fields of a passage."""
    builder = SchemaBuilder()
    builder.add_integer_field(ID, indexed=True, fast=True)
    builder.add_text_field(CARD, tokenizer_name="raw", index_option="basic")
    # Fast fields hold numbers only, so the card to filter hits by is there as two of them.
    builder.add_integer_field(CARD_HIGH, fast=True)
    builder.add_integer_field(CARD_LOW, fast=True)
    builder.add_text_field(TEXT, tokenizer_name=WORDS, index_option="position")
    return builder.build()


def build_analyzer() -> TextAnalyzer:
    """Return what turns folded text into the terms of the index."""
    return (
        TextAnalyzerBuilder(Tokenizer.simple())
        .filter(Filter.remove_long(LONGEST_WORD))
        .filter(Filter.lowercase())
        .filter(Filter.stemmer("english"))
        .build()
    )


def card_key(card: CardHash) -> CardKey:
    """Return 128 bits that stand for a card."""
    high, low = struct.unpack("<qq", hashlib.blake2b(card.encode(), digest_size=16).digest())
    return high, low


def empty_ranking() -> Ranking:
    """Return what is found where there is nothing."""
    return Ranking(np.empty(0, np.int64), np.empty(0, np.float32))


class QueryBuilder:
    """Builds engine queries for one schema."""

    def __init__(self, schema: Schema, analyzer: TextAnalyzer) -> None:
        self._schema = schema
        self._analyzer = analyzer

    def build(self, query: Query, searcher: Searcher) -> EngineQuery:
        """Return the engine's form of a query."""
        clauses = [(Occur.Must, self._phrase(phrase)) for phrase in query.phrases]
        clauses += [(Occur.Should, clause) for clause in self._wanted(query, searcher)]
        return EngineQuery.boolean_query(clauses)

    def terms(self, query: Query) -> list[str]:
        """Return the terms of a query's words, phrases included, each once."""
        words = [*query.words, *(word for phrase in query.phrases for word in phrase)]
        return list(dict.fromkeys(self._terms(words)))

    def within(self, query: EngineQuery, cards: Collection[CardHash]) -> EngineQuery:
        """Return a query that only finds passages of these cards, with the same scores."""
        filtered = EngineQuery.term_set_query(self._schema, CARD, list(cards))
        return EngineQuery.boolean_query(
            [(Occur.Must, query), (Occur.Must, EngineQuery.const_score_query(filtered, 0.0))]
        )

    def _wanted(self, query: Query, searcher: Searcher) -> Iterator[EngineQuery]:
        for term in dict.fromkeys(self._terms(query.words)):
            yield self._term(term)
        for pair in query.pairs:
            yield self._phrase(pair)
        for prefix in query.prefixes:
            terms = self._terms_with_prefix(prefix, searcher)
            # The best of them counts: a text does not get better by having every plural.
            yield EngineQuery.disjunction_max_query([self._term(term) for term in terms])

    def _terms_with_prefix(self, prefix: str, searcher: Searcher) -> list[str]:
        known = searcher.terms_with_prefix(TEXT, prefix, limit=PREFIX_WORDS)
        likely = self._terms(completions(prefix))
        return list(dict.fromkeys([*(term for term, _ in known), *likely]))

    def _terms(self, words: Sequence[str]) -> list[str]:
        return self._analyzer.analyze(" ".join(words))

    def _term(self, term: str) -> EngineQuery:
        return EngineQuery.term_query(self._schema, TEXT, term, index_option="freq")

    def _phrase(self, words: Sequence[str]) -> EngineQuery:
        terms = self._terms(words)
        if not terms:
            return EngineQuery.empty_query()
        if len(terms) == 1:
            return self._term(terms[0])
        return EngineQuery.phrase_query(self._schema, TEXT, [*terms])


def rank(searcher: Searcher, query: EngineQuery, limit: int, cards: Cards = None) -> Ranking:
    """Return the `limit` best passages, those of equal score by id, of these cards only.

    The engine cuts through passages of equal score wherever it likes. So this looks a little
    deeper than asked, and deeper still until what it leaves out scores less than what it returns.
    """
    everything = searcher.num_docs + 1
    allowed = None if cards is None else frozenset(map(card_key, cards))
    depth = min(limit + limit // 16 + 8, everything)
    while True:
        hits: list[Hit] = searcher.search(query, depth, count=False).hits
        is_all = len(hits) < depth
        lowest = hits[-1][0] if hits else 0.0
        if allowed is not None:
            hits = _of_cards(searcher, hits, allowed)
        if is_all or (len(hits) >= limit and hits[limit - 1][0] > lowest):
            return _in_order(searcher, _with_equals(hits, limit), limit)
        expected = depth * limit // max(len(hits), 1)
        depth = min(max(2 * depth, expected + expected // 8), everything)


def _of_cards(searcher: Searcher, hits: Sequence[Hit], allowed: Collection[CardKey]) -> list[Hit]:
    addresses = [address for _, address in hits]
    high = searcher.fast_field_values(CARD_HIGH, addresses)
    low = searcher.fast_field_values(CARD_LOW, addresses)
    keys = zip(high, low, strict=True)
    return [hit for hit, key in zip(hits, keys, strict=True) if key in allowed]


def _with_equals(hits: Sequence[Hit], limit: int) -> Sequence[Hit]:
    """Return the first `limit` hits, and those after them with the score of the last."""
    end = limit
    while end < len(hits) and hits[end][0] == hits[limit - 1][0]:
        end += 1
    return hits[:end]


def _in_order(searcher: Searcher, hits: Sequence[Hit], limit: int) -> Ranking:
    values = searcher.fast_field_values(ID, [address for _, address in hits])
    try:
        ids = np.fromiter(values, np.int64, len(hits))
    except TypeError as error:
        raise ValueError("there are passages without an id") from error
    scores = np.fromiter([score for score, _ in hits], np.float32, len(hits))
    if (scores[1:] == scores[:-1]).any():
        by_id = np.argsort(ids)
        order = by_id[np.argsort(-scores[by_id], kind="stable")]
        ids, scores = ids[order], scores[order]
    return Ranking(ids[:limit], scores[:limit])
