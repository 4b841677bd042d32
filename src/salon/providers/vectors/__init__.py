"""Vector stores outside: indexes in Qdrant and in PostgreSQL, each opened by its address."""

from salon.providers.vectors.registry import STORES, VectorStoreKind, open_vector_index

__all__ = ["STORES", "VectorStoreKind", "open_vector_index"]
