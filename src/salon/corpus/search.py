"""Searching a corpus: passages with their document, page and proof.

It joins what retrieval found with what the archive knows of documents. Every passage it returns
can be derived again from its `hash`, `start` and `end`.
"""

import math
import threading
from dataclasses import dataclass, field
from typing import TypeAlias

from salon.core.archive import Archive
from salon.core.documents import Document, DocumentId, VerificationStatus
from salon.core.errors import DocumentNotFound, InvalidInput
from salon.core.hashing import CardHash
from salon.corpus.filters import EVERYTHING, DocumentFilter, Where
from salon.corpus.language import detect_language
from salon.corpus.layouts import Layouts
from salon.corpus.manifest import corpus_handle
from salon.retrieval.passage_index import Coverage, PassageIndex
from salon.retrieval.searcher import DEFAULT_ALPHA, Found, Hit, Mode, Searcher, Timings, Why


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPassage:
    """A passage with everything that is needed to check it.

    `score` is the calibrated probability that it is relevant; `relevance_score` is the same.
    """

    content: str
    source: str
    page: int | None
    section: str | None
    score: float
    relevance_score: float
    hash: CardHash
    start: int
    end: int
    document_id: DocumentId
    verified: bool
    derived: bool
    why: Why = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """The passages found, and how much of the corpus was looked at, by which means."""

    passages: tuple[FoundPassage, ...]
    mode: Mode
    coverage: Coverage
    notes: tuple[str, ...]
    timings: Timings


_State: TypeAlias = tuple[tuple[int, ...], CardHash | None]


class CorpusSearch:
    """Search over the documents of an archive."""

    def __init__(self, archive: Archive, index: PassageIndex, searcher: Searcher) -> None:
        self._archive = archive
        self._index = index
        self._searcher = searcher
        self._allowed: dict[Where, tuple[_State, frozenset[CardHash]]] = {}
        self._lock = threading.Lock()
        self._layouts = Layouts(archive)

    def search(
        self,
        query: str,
        *,
        limit: int = 5,
        mode: Mode = "hybrid",
        alpha: float = DEFAULT_ALPHA,
        threshold: float = 0.0,
        where: Where = EVERYTHING,
    ) -> SearchAnswer:
        """Return at most `limit` passages whose score reaches `threshold`, best first."""
        if not 0 <= threshold <= 1:
            raise InvalidInput(f"a threshold of {threshold} is no probability", hint="take 0 to 1")
        rule = None if where.is_open else self._filter(where)
        cards = None if rule is None else self._cards(where, rule)
        found = self._searcher.search(query, limit=limit, mode=mode, alpha=alpha, cards=cards)
        known = [one for hit in found.hits if (one := self._passage(hit, rule)) is not None]
        passages = tuple(one for one in known if one.score >= threshold)
        below = [one.score for one in known if one.score < threshold]
        return _answer(found, passages, _below(below, threshold))

    # Documents

    def _filter(self, where: Where) -> DocumentFilter:
        languages = {} if where.language is None else self._index.catalogue.languages(self._detect)
        return DocumentFilter(self._archive, where, languages.get)

    def _cards(self, where: Where, rule: DocumentFilter) -> frozenset[CardHash]:
        """Return the cards that a filter lets through, looked up once per state of the archive."""
        state = self._state(where)
        with self._lock:
            known = self._allowed.get(where)
        if known is not None and known[0] == state:
            return known[1]
        cards = rule.cards(self._archive.documents())
        with self._lock:
            self._allowed = {
                other: entry for other, entry in self._allowed.items() if entry[0][0] == state[0]
            }
            self._allowed[where] = (state, cards)
        return cards

    def _state(self, where: Where) -> "_State":
        """Return all that the answer of a filter depends on."""
        manifest = None
        if where.avatar is not None:
            handle = self._archive.find_handle(corpus_handle(where.avatar))
            manifest = None if handle is None else handle.current
        return self._archive.documents_stamp(), manifest

    def _detect(self, card: CardHash) -> str | None:
        found = self._archive.find(card)
        return None if found is None else detect_language(found.content.decode(errors="replace"))

    def _passage(self, hit: Hit, rule: DocumentFilter | None) -> FoundPassage | None:
        document = self._document(hit.passage.hash, rule)
        if document is None:
            return None
        page, section = self._place(document, hit.passage.start)
        return FoundPassage(
            content=hit.text,
            source=document.provenance.title,
            page=page,
            section=section,
            score=hit.score,
            relevance_score=hit.score,
            hash=hit.passage.hash,
            start=hit.passage.start,
            end=hit.passage.end,
            document_id=document.id,
            verified=document.verification.status is VerificationStatus.VERIFIED,
            derived=document.provenance.derived,
            why=hit.why,
        )

    def _document(self, card: CardHash, rule: DocumentFilter | None) -> Document | None:
        """Return the first document with this text that may be searched."""
        for id_ in self._index.documents_of(card):
            try:
                document = self._archive.get_document(id_)
            except DocumentNotFound:
                continue  # removed since the index was brought up to date
            if rule is None or rule.passes(document):
                return document
        return None

    def _place(self, document: Document, start: int) -> tuple[int | None, str | None]:
        segment = self._layouts.find_segment(document, start)
        return (None, None) if segment is None else (segment.page, segment.section)


def _below(scores: list[float], threshold: float) -> tuple[str, ...]:
    """Say what a threshold kept back, so that nobody takes its silence for the corpus's."""
    if not scores:
        return ()
    count = "1 passage lies" if len(scores) == 1 else f"{len(scores)} passages lie"
    best = _down(max(scores))
    return (f"{count} below the threshold {threshold:.2f}, the best at {best:.2f}",)


def _down(score: float) -> float:
    """Cut a score to two places; rounded up it could read like the threshold itself."""
    return math.floor(score * 100) / 100


def _answer(
    found: Found, passages: tuple[FoundPassage, ...], notes: tuple[str, ...]
) -> SearchAnswer:
    return SearchAnswer(
        passages=passages,
        mode=found.mode,
        coverage=found.coverage,
        notes=(*found.notes, *notes),
        timings=found.timings,
    )
