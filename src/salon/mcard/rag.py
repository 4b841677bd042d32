"""Retrieval with MCard's class names: search over a collection, and a graph of what cards name.

Search joins words and vectors as everywhere in Salon; names are found by rules unless a model is
configured, and `get_stats` says so. `query` comes with grounded answers; until then it does not
exist.

Invariant: every result is a span of a card of the collection, read from it just now.
"""

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from salon.archive.vectors import VectorStore
from salon.core.closing import Closable
from salon.core.hashing import CardHash
from salon.mcard.card import MCard
from salon.mcard.collection import CardCollection
from salon.mcard.errors import InvalidArgument, InvalidConfig, value_errors
from salon.providers.embedders import DEFAULT_ADDRESS, EmbedderOptions, open_embedder
from salon.providers.indexes import IndexPlan, open_passage_index
from salon.retrieval.chunking import ChunkSettings
from salon.retrieval.filling import FillReport, VectorFilling
from salon.retrieval.following import Scope, as_text
from salon.retrieval.graph.entity_graph import EntityGraph, Neighbour
from salon.retrieval.graph.links import Entity
from salon.retrieval.searcher import Searcher

MAX_TOP_K = 100
NO_VECTORS = "the graph has no vectors of its own; `MCardRAGEngine` searches them"
NO_MODEL = "no language model is asked: names and terms are found by rules"


@dataclass(frozen=True, slots=True)
class RAGConfig:
    """How many results a search gives, how text is cut into passages, what makes the vectors."""

    top_k: int = 5
    chunk_size: int = 1000
    chunk_overlap: int = 200
    embedder: str = DEFAULT_ADDRESS

    def __post_init__(self) -> None:
        if not 1 <= self.top_k <= MAX_TOP_K:
            raise InvalidConfig(f"top_k is {self.top_k}", hint=f"take 1 up to {MAX_TOP_K}")
        with value_errors():
            self.chunks()

    def chunks(self) -> ChunkSettings:
        """Return the part that concerns passages."""
        return ChunkSettings(size=self.chunk_size, overlap=self.chunk_overlap)


DEFAULT_CONFIG = RAGConfig()


@dataclass(frozen=True, slots=True)
class VectorSearchResult:
    """A passage found: higher scores are better, and `metadata` has its exact span."""

    hash: str
    score: float
    chunk_index: int
    chunk_text: str
    metadata: dict[str, str | int]


class MCardRAGEngine(Closable):
    """Search over the cards of a collection.

    The index is a folder beside the collection's file; with `vector_db_path` it is that one SQLite
    file instead, which is slower and needs the extra `single-file`.
    """

    def __init__(
        self,
        collection: CardCollection | None = None,
        config: RAGConfig | None = None,
        vector_db_path: str | Path | None = None,
    ) -> None:
        self._owns_collection = collection is None
        self.collection = CardCollection() if collection is None else collection
        self.config = config or DEFAULT_CONFIG
        archive = self.collection.archive
        self._plan = IndexPlan(
            folder=archive.path.with_name(f"{archive.path.stem}-index"),
            file=None if vector_db_path is None else Path(vector_db_path),
            chunks=self.config.chunks(),
            scope=Scope.CARDS,
        )
        self._embedder = open_embedder(self.config.embedder, EmbedderOptions())
        self._index = open_passage_index(archive, self._plan)
        self._searcher = Searcher(self._index, lambda: self._embedder)

    def close(self) -> None:
        """Let go of the index, and of the collection if it was made here."""
        self._index.close()
        self._embedder.close()
        if self._owns_collection:
            self.collection.close()

    def index(self, mcard: MCard) -> bool:
        """Make a card searchable and tell whether it is: only text can be.

        A card that the collection lacks is added to it, because results are read from there.
        """
        stored = self.collection.add(mcard)
        self._index.catch_up()
        self._fill()
        return self._index.catalogue.knows(CardHash(stored))

    def index_all(self, force: bool = False) -> dict[str, int]:  # noqa: FBT001, FBT002 - MCard's
        """Bring words and vectors up to date with the collection, or with `force` build them anew.

        Counts cards: `indexed` just now, `skipped` because they were indexed before, `not_text`,
        `failed` because their bytes are damaged, and `removed` because they were deleted; and
        `vectors` computed for their passages.
        """
        self.collection.archive.adopt()  # MCard itself may have written to the file
        done = self._index.rebuild() if force else self._index.catch_up()
        return {
            "indexed": done.indexed,
            "skipped": max(0, self._index.stats().cards - done.indexed),
            "not_text": done.not_text,
            "failed": done.damaged,
            "removed": done.removed,
            "vectors": self._fill().computed,
        }

    def search(
        self,
        query: str,
        k: int | None = None,
        hybrid: bool = True,  # noqa: FBT001, FBT002 - MCard's signature
    ) -> list[VectorSearchResult]:
        """Return the best `k` passages, best first: by words and vectors, or by vectors alone."""
        limit = self.config.top_k if k is None else k
        if not 1 <= limit <= MAX_TOP_K:
            raise InvalidArgument(f"k is {limit}", hint=f"take 1 up to {MAX_TOP_K}")
        with value_errors():
            found = self._searcher.search(query, limit=limit, mode="hybrid" if hybrid else "dense")
        return [
            VectorSearchResult(
                hash=hit.passage.hash,
                score=hit.score,
                chunk_index=hit.passage.number,
                chunk_text=hit.text,
                metadata={
                    "start": hit.passage.start,
                    "end": hit.passage.end,
                    "score": "probability of relevance",
                },
            )
            for hit in found.hits
        ]

    def get_info(self) -> dict[str, object]:
        """Tell what this can do, on how much, and how current it is."""
        stats, coverage = self._index.stats(), self._index.coverage()
        return {
            "config": asdict(self.config),
            "engine": self._plan.engine,
            "path": str(self._plan.file or self._plan.folder),
            "cards": stats.cards,
            "passages": stats.passages,
            "with_vector": stats.with_vector,
            "model": str(self._embedder.model),
            "audit_entries_behind": coverage.entries_behind,
        }

    def _fill(self) -> FillReport:
        store = VectorStore(self.collection.archive)
        return VectorFilling(self._index, store, self._embedder).fill()


class GraphRAGEngine(Closable):
    """A graph of what cards name together.

    `vector_db_path` says where vectors will be; today it only says where the graph is, if
    `graph_db_path` does not. With neither, the graph is temporary.
    """

    def __init__(
        self,
        config: RAGConfig | None = None,
        vector_db_path: str | Path | None = None,
        graph_db_path: str | Path | None = None,
        llm_model: str | None = None,
    ) -> None:
        self.config = config or DEFAULT_CONFIG
        self.llm_model = llm_model
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if graph_db_path is None and vector_db_path is None:
            self._folder = tempfile.TemporaryDirectory(prefix="salon-graph-")
            graph_db_path = Path(self._folder.name) / "graph.db"
        elif graph_db_path is None:
            graph_db_path = _beside(Path(str(vector_db_path)), "graph")
        self._graph = EntityGraph(graph_db_path, chunks=self.config.chunks())

    def close(self) -> None:
        """Let go of the graph."""
        self._graph.close()
        if self._folder:
            self._folder.cleanup()

    def index(
        self,
        mcard: MCard,
        extract_graph: bool = True,  # noqa: FBT001, FBT002 - MCard's signature
        force: bool = False,  # noqa: FBT001, FBT002 - MCard's signature
    ) -> dict[str, int]:
        """Take the names and links of a card into the graph; count what was new.

        A card that is there already, or is not text, gives zeros. `vectors` is always zero.
        """
        done = {"vectors": 0, "entities": 0, "relationships": 0}
        card, text = CardHash(mcard.hash), as_text(mcard.content)
        if not extract_graph or text is None or (self._graph.has(card) and not force):
            return done
        taken = self._graph.add(card, text)
        return done | {"entities": taken.entities, "relationships": taken.relationships}

    def remove(self, hash_value: str) -> bool:
        """Forget all that came from a card, tell whether there was anything."""
        return self._graph.remove(CardHash(hash_value))

    def explore_entity(self, name: str, hops: int = 2) -> dict[str, object]:
        """Return an entity and what it leads to; an unknown one gives a dictionary with `error`."""
        with value_errors():
            found = self._graph.explore_entity(name, hops)
        if found is None:
            return {"error": f"Entity {name!r} not found"}
        return {
            "entity": _described(found.entity),
            "related": [_related(neighbour) for neighbour in found.neighbours],
        }

    def find_connection(self, a: str, b: str, max_depth: int = 4) -> list[str] | None:
        """Return the names on the shortest way from one entity to another, or `None`."""
        with value_errors():
            links = self._graph.find_connection(a, b, max_depth)
        if links is None:
            return None
        return [links[0].source, *(link.target for link in links)] if links else [a]

    def get_stats(self) -> dict[str, object]:
        """Tell how much is in the graph and how it was found."""
        stats = self._graph.stats()
        return {
            "graph": {**asdict(stats), "path": str(self._graph.path)},
            "dense": {"available": False, "reason": NO_VECTORS},
            "extraction": {"by": "rules", "llm_model": self.llm_model, "reason": NO_MODEL},
        }


def _beside(path: Path, kind: str) -> Path:
    return path.with_name(f"{path.stem}.{kind}.db")


def _described(entity: Entity) -> dict[str, object]:
    return {
        "name": entity.name,
        "type": entity.type.value,
        "mentions": entity.mentions,
        "source_hashes": list(entity.sources),
    }


def _related(neighbour: Neighbour) -> dict[str, object]:
    return _described(neighbour.entity) | {
        "hops": neighbour.hops,
        "via": neighbour.link.source,
        "weight": neighbour.link.weight,
    }
