"""From sources to documents in the archive, one transaction each.

A source is either stored whole (source, text and layout cards, the document, and what was made
from what) or not at all. A source that fails is reported and the batch goes on; only a failing
archive stops it. A source whose document is already there is recognised by its bytes (a page by
its address) and left alone, so a second run picks up where the first one stopped.
"""

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Literal, TypeAlias

from salon.core.archive import Archive, ArchiveTransaction
from salon.core.documents import Document, DocumentType, Provenance
from salon.core.errors import (
    EmptyContent,
    FetchFailed,
    InvalidInput,
    NotFound,
    ReaderFailed,
    SalonError,
)
from salon.core.hashing import CardHash, content_hash
from salon.corpus.fetch import Fetcher
from salon.corpus.layout import ReadText
from salon.corpus.limits import Limits
from salon.corpus.readers import SourceHints
from salon.corpus.readers.characters import clean_title
from salon.corpus.sandbox import Sandbox
from salon.corpus.sources import FileSource, Source, UrlSource, load_file

_WORKERS = 2
# What is wrong with one source and says nothing about the next.
_SOURCE_ERRORS = (InvalidInput, NotFound, ReaderFailed, FetchFailed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """What the caller knows about the sources; stronger than what the files say of themselves."""

    title: str | None = None
    type: DocumentType = DocumentType.ARTICLE
    authors: tuple[str, ...] = ()
    year: int | None = None
    url: str | None = None
    archive_url: str | None = None
    licence: str | None = None
    doi: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """A source that is in the corpus: since now, or since an earlier run."""

    source: Source
    document: Document
    already_there: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A source that is not in the corpus, and why; nothing of it was stored."""

    source: Source
    error: SalonError


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One source was begun or done; `done` counts the finished ones, whatever came of them."""

    source: Source
    stage: Literal["begun", "done"]
    done: int


Result: TypeAlias = Ingested | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """The bytes of a source, and the text that is being read from them."""

    source: Source
    content: bytes
    hash: CardHash
    reading: Future[ReadText]


def ingest(
    archive: Archive,
    sources: Iterable[Source],
    *,
    details: Details | None = None,
    encoding: str | None = None,
    by: str | None = None,
    sandbox: Sandbox | None = None,
    fetcher: Fetcher | None = None,
    workers: int = _WORKERS,
    on_progress: Callable[[Progress], None] | None = None,
) -> Iterator[Result]:
    """Read each source and store it, yielding what came of it, in the order given.

    Up to `workers` sources are read at a time; storing happens in the caller's thread.
    """
    with contextlib.ExitStack() as stack:
        pool = ThreadPoolExecutor(max_workers=workers)
        # Nobody waits for a reader whose text is not wanted; it ends when its sandbox closes.
        stack.callback(pool.shutdown, wait=False, cancel_futures=True)
        batch = _Batch(
            archive=archive,
            sandbox=sandbox or stack.enter_context(Sandbox()),
            fetcher=fetcher or Fetcher(),
            pool=pool,
            details=details or Details(),
            encoding=encoding,
            by=by,
        )
        yield from batch.run(sources, workers, on_progress or (lambda _: None))


def load(
    source: Source, limits: Limits, fetcher: Fetcher, encoding: str | None = None
) -> tuple[bytes, SourceHints]:
    """Return the bytes of a source and what is said about them, ready for `Sandbox.read`."""
    if isinstance(source, FileSource):
        return load_file(source.path, limits), SourceHints(name=source.name, encoding=encoding)
    page = fetcher.fetch(source.url)
    if not page.content:
        raise EmptyContent(f"{source.url} is an empty page", hint="open it in a browser")
    hints = SourceHints(
        name=page.final_url,
        media_type=page.media_type,
        charset=page.charset,
        encoding=encoding,
    )
    return page.content, hints


class _Batch:
    """One run over many sources."""

    def __init__(
        self,
        *,
        archive: Archive,
        sandbox: Sandbox,
        fetcher: Fetcher,
        pool: ThreadPoolExecutor,
        details: Details,
        encoding: str | None,
        by: str | None,
    ) -> None:
        self._archive = archive
        self._sandbox = sandbox
        self._fetcher = fetcher
        self._pool = pool
        self._details = details
        self._encoding = encoding
        self._by = by
        self._by_url: dict[str, Document] | None = None

    def run(
        self, sources: Iterable[Source], ahead: int, report: Callable[[Progress], None]
    ) -> Iterator[Result]:
        """Yield the results in order, beginning up to `ahead` sources before they are due."""
        pending: deque[_Loaded | Result] = deque()
        done = 0
        for source in chain(sources, [None]):
            if source is not None:
                report(Progress(source=source, stage="begun", done=done))
                pending.append(self.begin(source))
            while len(pending) > (0 if source is None else ahead):
                result = self.finish(pending.popleft())
                done += 1
                report(Progress(source=result.source, stage="done", done=done))
                yield result

    def begin(self, source: Source) -> _Loaded | Result:
        """Load a source and have it read, unless it is there already or cannot be loaded."""
        try:
            known = self._find_by_url(source) if isinstance(source, UrlSource) else None
            if known:
                return Ingested(source=source, document=known, already_there=True)
            content, hints = load(source, self._sandbox.limits, self._fetcher, self._encoding)
        except _SOURCE_ERRORS as error:
            return Failed(source=source, error=error)
        card = content_hash(content)
        known = self._archive.find_document_by_source(card)
        if known:
            return Ingested(source=source, document=known, already_there=True)
        reading = self._pool.submit(self._sandbox.read, content, hints)
        return _Loaded(source=source, content=content, hash=card, reading=reading)

    def finish(self, begun: _Loaded | Result) -> Result:
        """Wait for the text of a source and store it."""
        if not isinstance(begun, _Loaded):
            return begun
        try:
            read = begun.reading.result()
            provenance = self._provenance(begun.source, read)
            store = partial(_store, content=begun.content, read=read, provenance=provenance)
            document, known = self._archive.write(store, by=self._by)
        except _SOURCE_ERRORS as error:
            return Failed(source=begun.source, error=error)
        if self._by_url is not None and document.provenance.url:
            self._by_url[document.provenance.url] = document
        return Ingested(source=begun.source, document=document, already_there=known)

    def _find_by_url(self, source: UrlSource) -> Document | None:
        if self._by_url is None:
            documents = self._archive.documents()
            self._by_url = {
                document.provenance.url: document
                for document in documents
                if document.provenance.url
            }
        return self._by_url.get(source.url)

    def _provenance(self, source: Source, read: ReadText) -> Provenance:
        details = self._details
        is_file = isinstance(source, FileSource)
        name = clean_title(source.path.stem) if isinstance(source, FileSource) else None
        return Provenance(
            title=details.title or read.title or name or source.name,
            type=details.type,
            authors=details.authors or read.authors,
            year=details.year,
            url=details.url or (None if is_file else source.name),
            archive_url=details.archive_url,
            licence=details.licence,
            doi=details.doi,
        )


def _store(
    transaction: ArchiveTransaction, *, content: bytes, read: ReadText, provenance: Provenance
) -> tuple[Document, bool]:
    """Store a source and tell whether it was there: an equal one may have come meanwhile."""
    known = transaction.find_document_by_source(content_hash(content))
    if known:
        return known, True
    text = read.text.encode()
    texts = [] if text == content else [text]
    layout = read.layout.to_json(content_hash(text))
    (source_card, _), *made = transaction.add_many([content, *texts, layout])
    for card, created in made:
        # A card that stood on its own before does not go when this source goes.
        if created or transaction.is_derived(card):
            transaction.mark_derived(card, from_card=source_card)
    *text_cards, layout_card = (card for card, _ in made)
    text_card = text_cards[0] if text_cards else source_card
    document = transaction.add_document(
        provenance, source=source_card, text=text_card, layout=layout_card
    )
    return document, False
