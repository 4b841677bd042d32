"""Search and grounded answers over the cards of a collection."""

from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property
from pathlib import Path

from salon.archive.vectors import VectorStore
from salon.core.closing import Closable
from salon.core.embedding import Embedder
from salon.core.hashing import CardHash
from salon.mcard.card import MCard
from salon.mcard.collection import CardCollection
from salon.mcard.errors import InvalidArgument, value_errors
from salon.mcard.rag.answers import LOOKED_AT, CardAnswers, RAGResponse, write_with
from salon.mcard.rag.config import DEFAULT_CONFIG, MAX_TOP_K, RAGConfig
from salon.mcard.rag.results import VectorSearchResult, result_of
from salon.providers.chat import ChatOptions, open_chat
from salon.providers.embedders import EmbedderOptions, open_embedder
from salon.providers.indexes import IndexPlan, open_passage_index
from salon.retrieval.filling import FillReport, VectorFilling
from salon.retrieval.following import Scope
from salon.retrieval.graph.entity_graph import EntityGraph
from salon.retrieval.searcher import Searcher


class MCardRAGEngine(Closable):
    """Search and answers over the cards of a collection.

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
        self._index = open_passage_index(archive, self._plan)
        self._searcher = Searcher(self._index, lambda: self._embedder)
        self._answers = CardAnswers()

    def close(self) -> None:
        """Let go of the index, and of the collection if it was made here."""
        self._answers.close()
        self._index.close()
        if (opened := self.__dict__.pop("_embedder", None)) is not None:
            opened.close()
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
        limit = self._checked(k)
        with value_errors():
            found = self._searcher.search(query, limit=limit, mode="hybrid" if hybrid else "dense")
        return [result_of(hit) for hit in found.hits]

    def query(
        self,
        question: str,
        k: int | None = None,
        system_prompt: str | None = None,
        model: str | None = None,
    ) -> RAGResponse:
        """Answer a question from the cards, or say that they do not answer it.

        Without a model the answer is quoted; `model` is a chat model as `kind:name`, told
        `system_prompt` too, whose every sentence must be borne out by what is quoted. `k` is how
        many passages come back in `source_chunks`.
        """
        limit = self._checked(k)
        with value_errors():
            hits = self._searcher.search(question, limit=max(limit, LOOKED_AT)).hits
        if model is None:
            grounded = self._answers.answer(question, hits)
        else:
            chat = open_chat(model, ChatOptions(url=self.config.llm_url))
            try:
                write = write_with(chat, system_prompt)
                grounded = self._answers.answer(question, hits, write=write, model=model)
            finally:
                chat.close()
        more = {} if model is None else {"model": model, "is_by_model": grounded.composer == model}
        unused = {"unused": "system_prompt: no model was named"} if system_prompt else {}
        return RAGResponse(
            answer=grounded.text,
            sources=grounded.sources,
            source_chunks=[result_of(hit) for hit in hits[:limit]],
            confidence=grounded.probability,
            metadata={**grounded.metadata(), **more, **(unused if model is None else {})},
        )

    def searcher(self, graph: Callable[[], EntityGraph]) -> Searcher:
        """Return a search over the same cards that also follows a graph."""
        return Searcher(self._index, lambda: self._embedder, graph=graph)

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

    @cached_property
    def _embedder(self) -> Embedder:
        # Opened when first needed: whoever only builds an engine does not wait for weights.
        return open_embedder(self.config.embedder, EmbedderOptions())

    def _fill(self) -> FillReport:
        store = VectorStore(self.collection.archive)
        return VectorFilling(self._index, store, self._embedder).fill()

    def _checked(self, k: int | None) -> int:
        limit = self.config.top_k if k is None else k
        if not 1 <= limit <= MAX_TOP_K:
            raise InvalidArgument(f"k is {limit}", hint=f"take 1 up to {MAX_TOP_K}")
        return limit
