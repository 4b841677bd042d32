"""Retrieval with MCard's class names: search, grounded answers, and a graph of what cards name.

Search joins words and vectors as everywhere in Salon. An answer states only what the cards in its
sources support: their own sentences, or a model's of which each was checked against them; where
they do not answer, it says so and names no source.

Invariant: every result is a span of a card of the collection, read from it just now.
"""

from salon.mcard.rag.answers import RAGResponse
from salon.mcard.rag.config import MAX_TOP_K, RAGConfig
from salon.mcard.rag.engine import MCardRAGEngine
from salon.mcard.rag.graph import GraphRAGEngine, GraphRAGResponse
from salon.mcard.rag.results import VectorSearchResult

__all__ = [
    "MAX_TOP_K",
    "GraphRAGEngine",
    "GraphRAGResponse",
    "MCardRAGEngine",
    "RAGConfig",
    "RAGResponse",
    "VectorSearchResult",
]
