"""The systems that an evaluation holds against each other: Salon's modes of search, and `bm25s`.

Each answers a question in two ways: `ask` does what a person's search does and is timed; `rank`
goes as deep as the measures look. Neither knows queries' judgements.

Invariant: a ranking names each text once, best first; a text without any word in common with the
query is not in a lexical ranking.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from salon.core.errors import ProviderFailed, UnknownProvider
from salon.core.hashing import CardHash

if TYPE_CHECKING:
    from salon.app import Salon
    from salon.corpus.search import SearchAnswer
    from salon.retrieval.searcher import Mode

RESULTS = 10
"""How many results a timed search asks for."""
MAX_PASSAGES = 1000
"""As deep as Salon searches."""
_PASSAGES_PER_DOCUMENT = 3


class Hit(NamedTuple):
    """A text that was found, with the probability that it is relevant, if the system gives one."""

    card: CardHash
    probability: float | None


class System(Protocol):
    """A way to search the collection."""

    @property
    def name(self) -> str:
        """How it is called in a report."""

    def ask(self, query: str) -> float:
        """Search as a person does; return the seconds that went into the query's embedding."""

    def rank(self, query: str, depth: int) -> list[Hit]:
        """Return the best `depth` texts."""


@dataclass(frozen=True, slots=True)
class SalonMode:
    """Salon itself, in one of its modes, everything else as it comes."""

    salon: "Salon"
    mode: "Mode"

    @property
    def name(self) -> str:
        """How it is called in a report."""
        return f"salon {self.mode}"

    def ask(self, query: str) -> float:
        """Search as a person does; return the seconds that went into the query's embedding."""
        return self._search(query, RESULTS).timings.embed_s

    def rank(self, query: str, depth: int) -> list[Hit]:
        """Return the best `depth` texts: each as good as its best passage."""
        limit = min(MAX_PASSAGES, _PASSAGES_PER_DOCUMENT * depth)
        found = self._search(query, limit).passages
        # Long documents have many passages; where these crowd out others, look as deep as we can.
        if len(found) == limit < MAX_PASSAGES and len({one.hash for one in found}) < depth:
            found = self._search(query, MAX_PASSAGES).passages
        best: dict[CardHash, float] = {}
        for one in found:
            best[one.hash] = max(best.get(one.hash, 0.0), one.score)
        return [Hit(card, score) for card, score in best.items()][:depth]

    def _search(self, query: str, limit: int) -> "SearchAnswer":
        answer = self.salon.search(query, limit=limit, mode=self.mode)
        if answer.mode != self.mode:
            raise ProviderFailed(
                f"asked for {self.mode} search, Salon could only do {answer.mode}",
                hint="; ".join(answer.notes) or None,
            )
        return answer


class Bm25s:
    """BM25 by `bm25s` with an English stemmer and stop words, over whole texts in memory."""

    name = "bm25s"

    def __init__(self, texts: Mapping[CardHash, str]) -> None:
        self._bm25s, self._stemmer = import_bm25s()
        self._cards = list(texts)
        tokens = self._tokens(list(texts.values()))
        self._has_words = bool(tokens.vocab)
        self._index = self._bm25s.BM25()
        if self._has_words:  # bm25s cannot build an index of nothing
            self._index.index(tokens, show_progress=False)
        self.description = (
            f"bm25s {self._bm25s.__version__}, k1 {self._index.k1}, b {self._index.b}"
        )

    def ask(self, query: str) -> float:
        """Search for as many results as Salon is asked for; there is no embedding."""
        self.rank(query, RESULTS)
        return 0.0

    def rank(self, query: str, depth: int) -> list[Hit]:
        """Return the best `depth` texts that share a word with the query."""
        if not self._has_words:
            return []
        found, scores = self._index.retrieve(
            self._tokens([query]), k=min(depth, len(self._cards)), show_progress=False
        )
        return [
            Hit(self._cards[place], None)
            for place, score in zip(found[0].tolist(), scores[0].tolist(), strict=True)
            if score > 0
        ]

    def _tokens(self, texts: list[str]) -> Any:
        return self._bm25s.tokenize(
            texts, stopwords="en", stemmer=self._stemmer, show_progress=False
        )


def import_bm25s() -> tuple[Any, Any]:
    """Return `bm25s` and its stemmer, or say how to get them."""
    try:
        import bm25s
        import Stemmer
    except ImportError as error:
        raise UnknownProvider(
            "the peer bm25s is not installed", hint="pip install 'salon[eval]'"
        ) from error
    return bm25s, Stemmer.Stemmer("english")
