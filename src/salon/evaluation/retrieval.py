"""Measuring Salon's search on a test collection, beside its peers in the same run.

The product is run as it is: documents go into a home of their own through the archive, the app
brings the indexes up to date, and every query goes through the app's search. Nothing is tuned to
the collection, and judgements are looked at only when all searching is done.

Invariants: a document that the home has already is neither stored nor embedded again; a home that
holds anything else is refused and left as it is; all systems are asked the same queries by turns.
"""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from salon.app import Salon
from salon.core.archive import ArchiveTransaction
from salon.core.documents import Provenance
from salon.core.errors import InvalidInput
from salon.core.hashing import CardHash, content_hash
from salon.evaluation.beir import BeirDocument, Collection, Query
from salon.evaluation.figures import (
    CollectionFigures,
    IndexingFigures,
    RetrievalReport,
    Setup,
    Work,
)
from salon.evaluation.metrics import RESAMPLES, SEED
from salon.evaluation.progress import Progress, silent
from salon.evaluation.scoring import QueryRun, Ranked, compare, score
from salon.evaluation.systems import (
    MAX_PASSAGES,
    RESULTS,
    Bm25s,
    Hit,
    SalonMode,
    System,
)
from salon.settings import Settings

if TYPE_CHECKING:
    from salon.retrieval.searcher import Mode

DEPTHS = (1, 5, 10, 100)
_MODES: "tuple[Mode, ...]" = ("hybrid", "dense", "sparse")
_DOCUMENTS_PER_COMMIT = 500
_WARM_UP = "a first question, which loads whatever is loaded when first needed"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Texts:
    """The distinct texts of a collection: documents that say the same share a card."""

    documents: dict[CardHash, BeirDocument]
    ids: dict[CardHash, tuple[str, ...]]
    empty: int

    @classmethod
    def of(cls, collection: Collection) -> "_Texts":
        documents: dict[CardHash, BeirDocument] = {}
        ids: dict[CardHash, tuple[str, ...]] = {}
        empty = 0
        for document in collection.documents:
            if not document.content:
                empty += 1
                continue
            card = content_hash(document.content.encode())
            documents.setdefault(card, document)
            ids[card] = (*ids.get(card, ()), document.id)
        if not documents:
            raise InvalidInput("no document of this corpus has any text")
        return cls(documents=documents, ids=ids, empty=empty)

    def named(self, hits: Sequence[Hit], depth: int) -> Ranked:
        """Return the ranking by the collection's own ids, cut at `depth`."""
        found = [(name, hit.probability) for hit in hits for name in self.ids[hit.card]]
        return tuple(found[:depth])


def settings_for(home: Path, settings: Settings, *, embedder: str | None = None) -> Settings:
    """Return settings for an evaluation: as a person has them, but in a home of its own.

    Vectors stay in that home too, so nothing reaches a vector store that others use.
    """
    if home.resolve() == settings.home.resolve():
        raise InvalidInput(
            f"{home} is where your own archive is", hint="keep a corpus in a folder of its own"
        )
    chosen = {"vectors": "embedded"} | ({"embedder": embedder} if embedder else {})
    index = settings.index.model_copy(update=chosen)
    return settings.model_copy(update={"home": home, "archive": None, "index": index})


def evaluate_retrieval(
    collection: Collection,
    settings: Settings,
    *,
    depths: Sequence[int] = DEPTHS,
    limit_queries: int | None = None,
    progress: Progress = silent,
) -> RetrievalReport:
    """Store, index and search a collection in the home of `settings`, and say how well it went."""
    depths = _checked_depths(depths)
    depth = max(*depths, RESULTS)
    texts = _Texts.of(collection)
    answerable = collection.answerable()
    queries = answerable[:limit_queries]
    # First of all, since a missing package is better said now than after an hour of embedding.
    begun = time.perf_counter()
    bm25s = Bm25s({card: document.content for card, document in texts.documents.items()})
    bm25s_work = Work.of(len(texts.documents), time.perf_counter() - begun)
    with Salon(settings) as salon:
        indexing = _index(salon, texts, bm25s_work, progress)
        systems: list[System] = [*(SalonMode(salon, mode) for mode in _MODES), bm25s]
        runs = _ask_all(systems, queries, texts, depth, progress)
        embedder = str(salon.embedder.model)
    chosen = settings.index
    return RetrievalReport(
        collection=_count(collection, texts, answerable, queries),
        setup=Setup(
            embedder=embedder,
            engine=chosen.engine,
            fusion=chosen.fusion,
            chunk_size=chosen.chunk_size,
            chunk_overlap=chosen.chunk_overlap,
            depth=depth,
            results_timed=RESULTS,
            bm25s=bm25s.description,
            bootstrap_resamples=RESAMPLES,
            bootstrap_seed=SEED,
        ),
        indexing=indexing,
        systems=tuple(
            score(system.name, queries, run, collection.judgements, depths)
            for system, run in zip(systems, runs, strict=True)
        ),
        comparisons=compare(
            {system.name: run for system, run in zip(systems, runs, strict=True)},
            queries,
            collection.judgements,
        ),
    )


def _checked_depths(depths: Sequence[int]) -> tuple[int, ...]:
    if not depths or not all(1 <= depth <= MAX_PASSAGES for depth in depths):
        raise InvalidInput(
            f"recall cannot be measured at {', '.join(map(str, depths)) or 'no depth'}",
            hint=f"give depths from 1 to {MAX_PASSAGES}",
        )
    return tuple(sorted(set(depths)))


# Storing and indexing


def _index(salon: Salon, texts: _Texts, bm25s: Work, progress: Progress) -> IndexingFigures:
    new = _find_new(salon, texts)
    begun = time.perf_counter()
    with progress("storing") as show:
        for start in range(0, len(new), _DOCUMENTS_PER_COMMIT):
            batch = new[start : start + _DOCUMENTS_PER_COMMIT]
            salon.archive.write(partial(_store, documents=batch))
            show(start + len(batch), len(new))
    stored_s = time.perf_counter() - begun
    begun = time.perf_counter()
    with progress("indexing words") as show:
        done, total = 0, salon.index_coverage().entries_behind

        def count(entries: int) -> None:
            nonlocal done
            done += entries
            show(done, total)

        words = salon.index_words(count)
    words_s = time.perf_counter() - begun
    begun = time.perf_counter()
    with progress("computing vectors") as show:
        vectors = salon.index_vectors(show)
    vectors_s = time.perf_counter() - begun
    coverage = salon.index_coverage()
    return IndexingFigures(
        documents_stored=Work.of(len(new), stored_s),
        documents_known=len(texts.documents) - len(new),
        words_indexed=Work.of(words.indexed, words_s),
        vectors_indexed=Work.of(vectors.computed + vectors.taken_from_archive, vectors_s),
        vectors_computed=vectors.computed,
        passages=coverage.passages,
        passages_without_vector=coverage.passages - coverage.with_vector,
        bm25s_documents=bm25s,
    )


def _find_new(salon: Salon, texts: _Texts) -> list[BeirDocument]:
    """Return the documents that are not stored yet; refuse a home that holds others."""
    there = {document.text for document in salon.archive.documents()}
    if foreign := len(there - texts.documents.keys()):
        raise InvalidInput(
            f"{salon.settings.home} holds {foreign:,} documents that are not in this corpus",
            hint="they would be found too; keep each corpus in a folder of its own",
        )
    return [document for card, document in texts.documents.items() if card not in there]


def _store(transaction: ArchiveTransaction, *, documents: Sequence[BeirDocument]) -> None:
    cards = transaction.add_many([document.content.encode() for document in documents])
    for (card, _), document in zip(cards, documents, strict=True):
        title = document.title if document.title.strip() else document.id
        transaction.add_document(Provenance(title=title), source=card)


# Searching


def _ask_all(
    systems: Sequence[System],
    queries: Sequence[Query],
    texts: _Texts,
    depth: int,
    progress: Progress,
) -> list[list[QueryRun]]:
    """Put every query to every system, so that a busy moment hits all of them.

    Each is the first in its turn: who asks later finds texts that are in memory already.
    """
    runs: list[list[QueryRun]] = [[] for _ in systems]
    for system in systems:
        system.ask(_WARM_UP)
    turns = deque(zip(systems, runs, strict=True))
    with progress("searching") as show:
        for done, query in enumerate(queries, start=1):
            turns.rotate(-1)
            for system, run in turns:
                begun = time.perf_counter()
                embedding_s = system.ask(query.text)
                seconds = time.perf_counter() - begun
                ranked = texts.named(system.rank(query.text, depth), depth)
                run.append(QueryRun(ranked=ranked, seconds=seconds, embedding_s=embedding_s))
            show(done, len(queries))
    return runs


def _count(
    collection: Collection,
    texts: _Texts,
    answerable: Sequence[Query],
    queries: Sequence[Query],
) -> CollectionFigures:
    known = {document.id for document in collection.documents}
    relevant = [collection.relevant(query) for query in queries]
    return CollectionFigures(
        documents=len(collection.documents),
        distinct_texts=len(texts.documents),
        empty_documents=texts.empty,
        queries=len(collection.queries),
        queries_without_relevant=len(collection.queries) - len(answerable),
        queries_left_out=len(answerable) - len(queries),
        queries_evaluated=len(queries),
        relevant_judgements=sum(map(len, relevant)),
        relevant_not_in_corpus=sum(len(some - known) for some in relevant),
    )
