"""What a search gives back."""

from dataclasses import dataclass

from salon.retrieval.searcher import Hit


@dataclass(frozen=True, slots=True)
class VectorSearchResult:
    """A passage found: higher scores are better, and `metadata` has its exact span."""

    hash: str
    score: float
    chunk_index: int
    chunk_text: str
    metadata: dict[str, str | int]


def result_of(hit: Hit) -> VectorSearchResult:
    """Shape a hit as MCard's callers know it."""
    over = {} if hit.why.over is None else {"reached_over": hit.why.over}
    return VectorSearchResult(
        hash=hit.passage.hash,
        score=hit.score,
        chunk_index=hit.passage.number,
        chunk_text=hit.text,
        metadata={
            "start": hit.passage.start,
            "end": hit.passage.end,
            "score": "probability of relevance",
            **over,
        },
    )
