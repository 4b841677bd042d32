"""Finding what was said before: words, meaning, neighbours, speaker and time, in one score.

One searcher serves a person's memory in a turn and `salon eval memory`. It ranks short utterances:
a message is found by its own words, by its meaning, and by what was said right before and after it,
since an answer often repeats nothing of its question.

It is not the search of the corpus: no passage of a document is here, and nothing of a memory is
there. The score orders and lies between 0 and 1; it is not a probability.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import tantivy

from salon.core.clock import parse_instant
from salon.core.embedding import Vector, Vectors
from salon.retrieval.lexical.folding import fold
from salon.retrieval.lexical.query import STOPWORDS

Scores: TypeAlias = npt.NDArray[np.float64]

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)*\d*")
_OWNER = re.compile(r"['\u2019]s?\Z")
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What counts how much. Chosen on five conversations, each left out once (see the guide)."""

    words: float = 1.0
    meaning: float = 0.7
    words_before: float = 0.3
    words_after: float = 0.3
    meaning_before: float = 0.15
    meaning_after: float = 0.15
    speaker: float = 0.1
    substance: float = 0.1
    question: float = -0.05
    recency: float = 0.02

    @property
    def most(self) -> float:
        """The highest score there can be."""
        parts = (self.words, self.meaning, self.words_before, self.words_after)
        beside = (self.meaning_before, self.meaning_after, self.speaker, self.substance)
        return sum((*parts, *beside, self.recency))


SATURATION = 1.2
"""BM25's k1."""
LENGTH_MATTERS = 0.5
"""BM25's b."""
SUBSTANTIAL_WORDS = 20
RECENT_DAYS = 30.0


class Utterance(NamedTuple):
    """One thing that can be found; `thread` is the session, and order within one is time."""

    id: str
    text: str
    thread: str
    speaker: str
    at: str


class Hit(NamedTuple):
    """What was found, by its place among the utterances, and how well it fits."""

    place: int
    id: str
    score: float


class UtteranceSearch:
    """An index over utterances in the order they were said, each with its vector."""

    def __init__(
        self, said: Sequence[Utterance], vectors: Vectors, weights: Weights | None = None
    ) -> None:
        self._said = said
        self._vectors = vectors
        self._weights = weights or Weights()
        words = [stems_of(one.text) for one in said]
        self._words = _Bm25(words)
        self._substance = np.array(
            [min(len(one), SUBSTANTIAL_WORDS) / SUBSTANTIAL_WORDS for one in words]
        )
        self._asks = np.array([float(one.text.rstrip().endswith("?")) for one in said])
        self._follows = np.array(
            [n > 0 and said[n - 1].thread == one.thread for n, one in enumerate(said)], dtype=bool
        )
        self._names = {one.speaker for one in said if one.speaker}
        self._name_stems = {stem for name in self._names for stem in stems_of(name)}

    def query_text(self, query: str) -> str:
        """Return the query as it should be embedded: speakers' names weigh on everything alike."""
        return _without_names(query, frozenset(self._names))

    def search(
        self, query: str, vector: Vector, *, limit: int, now: str | None = None
    ) -> list[Hit]:
        """Return the best of what was said, best first; `vector` is that of `query_text(query)`."""
        if not self._said:
            return []
        scores = self._score(query, vector, now)
        best = np.argsort(-scores, kind="stable")[:limit]
        most = self._weights.most
        return [
            Hit(int(n), self._said[n].id, round(max(0.0, min(1.0, float(scores[n]) / most)), 6))
            for n in best
        ]

    def _score(self, query: str, vector: Vector, now: str | None) -> Scores:
        by = self._weights
        wanted = [stem for stem in stems_of(query) if stem not in self._name_stems]
        words = self._words.scores(wanted)
        meaning = (self._vectors @ vector).astype("float64")
        scores: Scores = (
            by.words * words
            + by.meaning * meaning
            + by.words_before * self._before(words)
            + by.words_after * self._after(words)
            + by.meaning_before * self._before(meaning)
            + by.meaning_after * self._after(meaning)
            + by.substance * self._substance
            + by.question * self._asks
        )
        scores += by.speaker * self._by_named_speaker(query)
        if now is not None:
            scores += by.recency * self._recency(now)
        return scores

    def _before(self, scores: Scores) -> Scores:
        """Return for each utterance the score of the one before it in its thread."""
        return np.where(self._follows, np.concatenate(([0.0], scores[:-1])), 0.0)

    def _after(self, scores: Scores) -> Scores:
        followed = np.concatenate((self._follows[1:], [False]))
        return np.where(followed, np.concatenate((scores[1:], [0.0])), 0.0)

    def _by_named_speaker(self, query: str) -> Scores:
        """Return 1 for what the one speaker said whom the query names; of two, neither counts."""
        if not self._names:
            return np.zeros(len(self._said))
        named = {name for name in self._names if re.search(rf"\b{re.escape(name)}\b", query)}
        return np.array([float(len(named) == 1 and one.speaker in named) for one in self._said])

    def _recency(self, now: str) -> Scores:
        today = parse_instant(now)
        ages = [(today - _moment(one.at)).total_seconds() / _DAY_S for one in self._said]
        recent: Scores = np.exp(-np.maximum(np.array(ages), 0.0) / RECENT_DAYS)
        return recent


class _Bm25:
    """BM25 over stems, as a share of what the query's words could bring at most."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._count = len(texts)
        lengths = [len(one) for one in texts]
        mean = sum(lengths) / self._count if any(lengths) else 1.0
        # Arrays are made for the words of a query alone; most words are never asked for.
        self._places: dict[str, list[int]] = defaultdict(list)
        self._shares: dict[str, list[float]] = defaultdict(list)
        for place, stems in enumerate(texts):
            norm = SATURATION * (1 - LENGTH_MATTERS + LENGTH_MATTERS * lengths[place] / mean)
            for stem, times in _counted(tuple(stems)):
                self._places[stem].append(place)
                self._shares[stem].append(times / (times + norm))

    def scores(self, query: Sequence[str]) -> Scores:
        total = np.zeros(self._count)
        most = 0.0
        for stem in dict.fromkeys(query):
            places = self._places.get(stem, [])
            rarity = math.log(1 + (self._count - len(places) + 0.5) / (len(places) + 0.5))
            most += rarity
            if places:
                total[places] += rarity * np.array(self._shares[stem])
        return total / most if most else total


@lru_cache(maxsize=16_384)
def _counted(stems: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    return tuple(Counter(stems).items())


@lru_cache(maxsize=16_384)
def stems_of(text: str) -> tuple[str, ...]:
    """Return the stems of the words of a text that carry meaning."""
    return tuple(stem for word in _WORD.findall(fold(text).lower()) if (stem := _stem(word)))


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    plain = _OWNER.sub("", word)
    if plain in STOPWORDS or (len(plain) == 1 and not plain.isdigit()):
        return ""
    stems: list[str] = _stemmer().analyze(plain)
    return "".join(stems) or plain


@cache
def _stemmer() -> Any:
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


@lru_cache(maxsize=4_096)
def _moment(at: str) -> Any:
    return parse_instant(at)


@lru_cache(maxsize=256)
def _without_names(query: str, names: frozenset[str]) -> str:
    for name in sorted(names):
        query = re.sub(rf"\b{re.escape(name)}['\u2019]s\b", "their", query)
        query = re.sub(rf"\b{re.escape(name)}\b", "they", query)
    return query
