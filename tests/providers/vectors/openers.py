"""How the tests open each vector store outside: the same place in every process of a test."""

import hashlib
from pathlib import Path

from salon.core.embedding import EmbeddingModel
from salon.core.indexes import VectorIndex
from salon.providers.vectors.pgvector_index import PgvectorIndex
from salon.providers.vectors.qdrant_edge_index import QdrantEdgeIndex
from salon.providers.vectors.qdrant_index import QdrantIndex
from salon.providers.vectors.qdrant_link import link_to_folder, link_to_server
from tests.postgres import schema_for
from tests.providers.vectors.qdrant_rest import shared_qdrant


def open_pgvector(place: Path, model: EmbeddingModel) -> VectorIndex:
    """Open an index in PostgreSQL that scans."""
    return PgvectorIndex(schema_for(place), model)


def open_pgvector_graph(place: Path, model: EmbeddingModel) -> VectorIndex:
    """Open an index in PostgreSQL that uses its graph as soon as it can."""
    return PgvectorIndex(
        schema_for(place).replace("-csearch", "-cenable_seqscan%3Doff%20-csearch"),
        model,
        exact_up_to=0,
    )


def open_local_qdrant(place: Path, model: EmbeddingModel) -> VectorIndex:
    """Open an index in the local mode of Qdrant's client."""
    return QdrantIndex(link_to_folder(place / "qdrant"), model)


def open_qdrant_edge(place: Path, model: EmbeddingModel) -> VectorIndex:
    """Open an index by the engine inside this process."""
    return QdrantEdgeIndex(place / "edge", model)


def open_qdrant_server(place: Path, model: EmbeddingModel) -> VectorIndex:
    """Open an index on a server."""
    name = "place_" + hashlib.sha256(str(place).encode()).hexdigest()[:16]
    return QdrantIndex(link_to_server(shared_qdrant()), model, collection=name)
