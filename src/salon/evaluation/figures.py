"""What an evaluation of retrieval reports: the shape that `salon eval retrieval --json` prints.

Only data, no measuring. A figure that does not exist (the probability of a system that gives none,
a rate where nothing was done) is `None`. The shape is documented in docs/guides/evaluation.md.
"""

from dataclasses import dataclass
from typing import Literal

from salon.evaluation.metrics import Reliability


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionFigures:
    """What was in the files, and what of it was used."""

    documents: int
    distinct_texts: int
    empty_documents: int
    queries: int
    queries_without_relevant: int
    queries_left_out: int
    queries_evaluated: int
    relevant_judgements: int
    relevant_not_in_corpus: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """With what it was measured: enough to measure it again."""

    embedder: str
    engine: str
    fusion: str
    chunk_size: int
    chunk_overlap: int
    depth: int
    results_timed: int
    bm25s: str
    bootstrap_resamples: int
    bootstrap_seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How much was done and how long it took."""

    count: int
    seconds: float
    per_second: float | None

    @classmethod
    def of(cls, count: int, seconds: float) -> "Work":
        """Return the figures of some work, with a rate if there was any."""
        rate = count / seconds if count and seconds > 0 else None
        return cls(count=count, seconds=seconds, per_second=rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexingFigures:
    """How long it took to make the collection searchable."""

    documents_stored: Work
    documents_known: int
    words_indexed: Work
    vectors_indexed: Work
    vectors_computed: int
    passages: int
    passages_without_vector: int
    bm25s_documents: Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How long one search takes, in milliseconds, with and without the query's embedding."""

    p50_ms: float
    p99_ms: float
    p50_without_embedding_ms: float
    p99_without_embedding_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How the probabilities of the first ten documents compare with what is relevant."""

    predictions: int
    equal_mass: Reliability
    equal_width: Reliability


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFigures:
    """What one way of searching achieved, as means over the queries."""

    system: str
    ndcg_at_10: float
    recall: dict[int, float]
    mrr_at_10: float
    map: float
    judged_at_10: float
    queries_without_result: int
    calibration: Calibration | None
    latency: Latency


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Whether one system's nDCG@10 differs from another's by more than the choice of queries."""

    system: str
    peer: str
    measure: Literal["ndcg@10"]
    difference: float
    low: float
    high: float
    p: float
    verdict: Literal["better", "worse", "within noise"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalReport:
    """Everything that `salon eval retrieval` found out."""

    collection: CollectionFigures
    setup: Setup
    indexing: IndexingFigures
    systems: tuple[SystemFigures, ...]
    comparisons: tuple[Comparison, ...]
