"""The table of vector stores outside: which addresses there are, and what opens each.

A kind is data. Its factory imports what it needs when it is called. An address may hold a
password, so no message from here repeats more of it than its first word.
"""

import difflib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from salon.core.embedding import EmbeddingModel
from salon.core.errors import InvalidSettings, UnknownProvider
from salon.core.indexes import VectorIndex
from salon.providers.addresses import require_modules


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorStoreKind:
    """One kind of store: `modules` have to be importable, `install` makes them so."""

    open: Callable[[str, EmbeddingModel, Path], VectorIndex]
    summary: str
    example: str
    modules: tuple[str, ...]
    install: str


def open_vector_index(address: str, model: EmbeddingModel, *, folder: Path) -> VectorIndex:
    """Return the index at `address` for the vectors of `model`.

    Paths in an address are relative to `folder`. Raises `UnknownProvider` where no store has such
    an address, or where the package that it needs is not installed.
    """
    name = address.partition(":")[0]
    kind = STORES.get(name) if ":" in address else None
    if kind is None:
        near = difflib.get_close_matches(name, STORES, n=1)
        known = ", ".join(kind.example for kind in STORES.values())
        raise UnknownProvider(
            f"there is no vector store {name + ':'!r}",
            hint=f"did you mean {STORES[near[0]].example!r}?" if near else f"use one of {known}",
        )
    require_modules(kind.modules, f"vectors in {name}: need", install=kind.install)
    return kind.open(address, model, folder)


def _open_qdrant(address: str, model: EmbeddingModel, folder: Path) -> VectorIndex:
    from salon.providers.vectors.qdrant_index import COLLECTION, QdrantIndex
    from salon.providers.vectors.qdrant_link import link_to_folder, link_to_server

    place = address.partition(":")[2]
    if "://" not in place:
        return QdrantIndex(link_to_folder(_within(folder, place or "qdrant")), model)
    url, _, collection = place.partition("#")
    link = link_to_server(url, api_key=os.environ.get("QDRANT_API_KEY") or None)
    return QdrantIndex(link, model, collection=collection or COLLECTION)


def _open_qdrant_edge(address: str, model: EmbeddingModel, folder: Path) -> VectorIndex:
    from salon.providers.vectors.qdrant_edge_index import QdrantEdgeIndex

    place = address.partition(":")[2]
    if "://" in place:
        raise InvalidSettings(
            "qdrant-edge runs inside Salon and has no server", hint="a server is at qdrant:http://…"
        )
    return QdrantEdgeIndex(_within(folder, place or "qdrant-edge"), model)


def _open_pgvector(address: str, model: EmbeddingModel, folder: Path) -> VectorIndex:  # noqa: ARG001 - it keeps no files
    from salon.providers.vectors.pgvector_index import PgvectorIndex

    return PgvectorIndex(address, model)


def _within(folder: Path, place: str) -> Path:
    return folder / Path(place).expanduser()


_POSTGRES = VectorStoreKind(
    open=_open_pgvector,
    summary="PostgreSQL with pgvector, also as Supabase runs it",
    example="postgresql://user@host/database",
    modules=("psycopg",),
    install="pip install 'salon[postgres]'",
)

STORES: Mapping[str, VectorStoreKind] = {
    "qdrant": VectorStoreKind(
        open=_open_qdrant,
        summary="a Qdrant server, or a folder in the local mode of its client",
        example="qdrant:http://localhost:6333",
        modules=("qdrant_client",),
        install="pip install 'salon[qdrant]'",
    ),
    "qdrant-edge": VectorStoreKind(
        open=_open_qdrant_edge,
        summary="Qdrant's engine inside Salon's process",
        example="qdrant-edge:",
        modules=("qdrant_edge",),
        install="pip install 'salon[qdrant]'",
    ),
    "postgresql": _POSTGRES,
    "postgres": _POSTGRES,
}
"""Every kind of vector store outside, by the first part of its address."""
