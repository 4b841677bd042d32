"""Searching a built corpus in a process of its own: how fast, and in how much memory.

As a program (`python -m bench.searching FOLDER CHARACTERS QUERIES`) this prints both. The query's
embedding is left out: vectors of queries are made beforehand.
"""

import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bench.corpora import opened
from bench.figures import timed
from bench.own_process import anonymous_mb, give_answer, peak_mb
from bench.synthetic import SyntheticEmbedder, Texts
from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.retrieval.searcher import Searcher

TOP = 10
WORDS = 6
WARM_UP = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """Milliseconds per search, and the memory of the process that searched."""

    p50_ms: float
    p99_ms: float
    before_mb: float
    anonymous_mb: float
    peak_mb: float


class GivenVectors:
    """An embedder that knows the vectors of the queries beforehand."""

    def __init__(self, queries: Sequence[str], first: Callable[[], object] = lambda: None) -> None:
        vectors = SyntheticEmbedder().embed_passages(queries)
        self._known: dict[str, Vector] = dict(zip(queries, vectors, strict=True))
        self._first = first
        self.model: EmbeddingModel = SyntheticEmbedder.model

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of known queries."""
        vectors: Vectors = np.stack([self._known[text] for text in texts])
        return vectors

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a known query, after what is to be done first."""
        self._first()
        return self._known[text]

    def close(self) -> None:
        """Nothing to let go of."""


def make_queries(count: int) -> list[str]:
    """Return different questions in made-up words."""
    texts = Texts(seed=2)
    queries: dict[str, None] = {}
    while len(queries) < count:
        queries[texts.question(WORDS)] = None
    return list(queries)


def ms(work: Callable[[], object]) -> float:
    """Return how many milliseconds something takes."""
    with timed() as watch:
        work()
    return watch.seconds * 1000


def p99(figures: Sequence[float]) -> float:
    """Return what all but one in a hundred stay below."""
    return float(np.percentile(figures, 99))


def search_alone(folder: Path, characters: int, count: int) -> Searched:
    """Search a corpus, with nothing else in the process."""
    queries = make_queries(count + WARM_UP)
    before = peak_mb()
    with opened(folder, characters) as corpus:
        given = GivenVectors(queries)
        searcher = Searcher(corpus.index, lambda: given)
        took = [ms(lambda query=query: searcher.search(query, limit=TOP)) for query in queries]  # type: ignore[misc]
        return Searched(
            p50_ms=statistics.median(took[WARM_UP:]),
            p99_ms=p99(took[WARM_UP:]),
            before_mb=before,
            anonymous_mb=anonymous_mb(),
            peak_mb=peak_mb(),
        )


def main() -> None:
    """Search what the arguments name."""
    folder, characters, queries = sys.argv[1:]
    give_answer(asdict(search_alone(Path(folder), int(characters), int(queries))))


if __name__ == "__main__":
    main()
