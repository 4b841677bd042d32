"""The lexical index in a folder of its own, on tantivy: the fast one, and the default.

It holds words and their places, no text. One process at a time can write; a writer is opened by
the first change and let go by `commit`, so that others get their turn. Readers are never in the
way and never wait: each search takes the newest commit, whoever made it.

Invariants: `commit` is durable and all or nothing, also under `kill -9`; closing drops what was
not committed. tantivy only marks a removed passage, and its words stay in the files: as long as
`needs_rebuild_to_compact` says so, the way to be rid of them is `clear`, all passages again, and
`commit`, during which searches go on as before.
"""

import json
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tantivy import Document, Index, IndexWriter, Searcher

from salon.core.closing import Closable
from salon.core.errors import (
    InvalidInput,
    SalonError,
    StorageBusy,
    StorageFailed,
    StorageFull,
    StorageReadOnly,
)
from salon.core.hashing import CardHash
from salon.core.indexes import Cards, IndexedText, PassageId, Ranking
from salon.retrieval.lexical.folding import FOLDING_VERSION, fold
from salon.retrieval.lexical.query import parse_query
from salon.retrieval.lexical.tantivy_search import (
    CARD,
    CARD_HIGH,
    CARD_LOW,
    FILTERED_CARDS,
    ID,
    TEXT,
    WORDS,
    QueryBuilder,
    build_analyzer,
    build_schema,
    card_key,
    empty_ranking,
    rank,
)

BYTES_PER_THREAD = 64_000_000
"""How much a writing thread gathers before it writes a segment."""
MOST_THREADS = 4
BULK = 1_000
"""From so many passages on, several threads write; fewer would be torn into tiny segments."""

_META = "meta.json"
_REBUILD = "delete the folder: it holds nothing but what can be built again"


class TantivyIndex(Closable):
    """Passages in a folder, found by their words."""

    fingerprint = f"tantivy 1, folding {FOLDING_VERSION}"
    """Changes when an index must be built again because text is read differently."""

    def __init__(self, folder: Path | str, *, threads: int | None = None) -> None:
        self.folder = Path(folder)
        self._threads = threads or min(MOST_THREADS, os.cpu_count() or 1)
        self._meta = str(self.folder / _META)
        self._writing = threading.RLock()
        self._reloading = threading.Lock()
        self._writer: IndexWriter | None = None
        self._base: Searcher | None = None
        self._waiting: list[IndexedText] = []
        self._uncommitted: set[PassageId] = set()
        with _engine_errors(self.folder):
            _ensure_folder(self.folder)
            schema, analyzer = build_schema(), build_analyzer()
            self._index = Index(schema, str(self.folder))
            self._index.register_tokenizer(WORDS, analyzer)
            self._index.config_reader("manual")
            self._queries = QueryBuilder(schema, analyzer)
            self._seen: tuple[int, int, int] | None = None
            self._current = self._newest()

    # Writing

    def add(self, passages: Iterable[IndexedText]) -> None:
        """Take in passages, in place of those with the same ids."""
        with self._writing:
            for passage in passages:
                self._waiting.append(passage)
                if len(self._waiting) >= BULK:
                    self._write_waiting(self._threads)

    def remove(self, cards: Iterable[CardHash]) -> None:
        """Forget every passage of these cards."""
        with self._writing:
            self._write_waiting(1)
            for card in cards:
                self._remove(card)

    def clear(self) -> None:
        """Forget everything; like any change, others see it after `commit`."""
        with self._changing():
            self._discard()  # the engine would not forget what it was just given
            self._open_writer(self._threads).delete_all_documents()
            self._base = None

    def commit(self) -> None:
        """Make what was added and removed durable and visible, or raise and drop it."""
        with self._changing():
            self._write_waiting(1)
            if self._writer is None:
                return
            try:
                self._writer.commit()
                self._writer.wait_merging_threads()
            except BaseException:
                with suppress(ValueError, OSError):
                    self._collect_garbage()  # a disk is full of what could not be finished
                raise
            self._discard()
            self._newest()

    @property
    def needs_rebuild_to_compact(self) -> bool:
        """Tell whether words of removed passages are still in the files."""
        with _engine_errors(self.folder):
            meta = json.loads((self.folder / _META).read_bytes())
        return any(segment["deletes"] for segment in meta["segments"])

    def compact(self) -> None:
        """Commit, and delete the files that nothing refers to any more.

        This is all that can be done without the texts; see `needs_rebuild_to_compact`.
        """
        self.commit()
        with self._changing():
            self._collect_garbage()

    def close(self) -> None:
        """Drop what was not committed; mapped files go with the object itself."""
        with self._writing:
            self._discard()

    # Reading

    def search(self, query: str, limit: int, *, cards: Cards = None) -> Ranking:
        """Rank the passages with any of the query's words by BM25."""
        if limit < 1:
            raise InvalidInput(f"a search for {limit} passages finds nothing", hint="ask for 1 up")
        parsed = parse_query(query)
        if not parsed or (cards is not None and not cards):
            return empty_ranking()
        with _engine_errors(self.folder):
            searcher = self._newest()
            asked = self._queries.build(parsed, searcher)
            if cards is not None and len(cards) <= FILTERED_CARDS:
                return rank(searcher, self._queries.within(asked, cards), limit)
            return rank(searcher, asked, limit, cards)

    def frequencies(self, query: str) -> tuple[int, list[int]]:
        """Return how many passages there are, and how many have each word of a query."""
        with _engine_errors(self.folder):
            searcher = self._newest()
            terms = self._queries.terms(parse_query(query))
            return searcher.num_docs, [searcher.doc_freq(TEXT, term) for term in terms]

    def count(self) -> int:
        """Return how many passages are visible."""
        with _engine_errors(self.folder):
            return self._newest().num_docs

    def _newest(self) -> Searcher:
        """Return the newest commit; looking whether there is one costs microseconds."""
        meta = os.stat(self._meta)  # noqa: PTH116 - twice as fast, and on the way of every search
        seen = (meta.st_ino, meta.st_mtime_ns, meta.st_size)
        if seen != self._seen:
            with self._reloading:
                self._index.reload()
                self._current = self._index.searcher()
                self._seen = seen
        return self._current

    # The writer

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Go back to the last commit if anything goes wrong, rather than commit a part later."""
        with self._writing, _engine_errors(self.folder):
            try:
                yield
            except BaseException:
                self._discard()
                raise

    def _open_writer(self, threads: int) -> IndexWriter:
        if self._writer is None:
            self._writer = self._index.writer(BYTES_PER_THREAD * threads, threads)
            newest = self._newest()  # nobody else can commit from now on
            self._base = newest if newest.num_docs else None
        return self._writer

    def _write_waiting(self, threads: int) -> None:
        waiting, self._waiting = self._waiting, []
        with self._changing():
            for passage in waiting:
                writer = self._open_writer(threads)
                if self._is_known(passage.id):
                    writer.delete_documents_by_term(ID, passage.id)
                writer.add_document(_as_document(passage))
                self._uncommitted.add(passage.id)

    def _is_known(self, passage: PassageId) -> bool:
        return passage in self._uncommitted or (
            self._base is not None and self._base.doc_freq(ID, passage) > 0
        )

    def _remove(self, card: CardHash) -> None:
        with self._changing():
            if self._uncommitted or self._newest().doc_freq(CARD, card):
                self._open_writer(1).delete_documents_by_term(CARD, card)

    def _discard(self) -> None:
        """Go back to the last commit."""
        self._writer = self._base = None
        self._waiting = []
        self._uncommitted = set()

    def _collect_garbage(self) -> None:
        """Delete the files of no commit; a search under way keeps what it has open."""
        self._discard()
        self._open_writer(1).garbage_collect_files()
        self._discard()


def _as_document(passage: IndexedText) -> Document:
    high, low = card_key(passage.card)
    document = Document()
    document.add_integer(ID, passage.id)
    document.add_text(CARD, passage.card)
    document.add_integer(CARD_HIGH, high)
    document.add_integer(CARD_LOW, low)
    document.add_text(TEXT, fold(passage.text))
    return document


def _ensure_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if (folder / _META).exists():
        return
    # A process may have died while it made the index; then there are only hidden files.
    if any(not file.name.startswith(".") for file in folder.iterdir()):
        raise StorageFailed(
            f"{folder} holds something, but it is not an index",
            hint=f"if it was one, {_REBUILD}",
        )


@contextmanager
def _engine_errors(folder: Path) -> Iterator[None]:
    """Translate what tantivy and the file system raise into the one error tree."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise _translate(error, folder) from error
    except BaseException as error:
        # tantivy gives up like this where it never expected to: on files that others changed.
        if type(error).__name__ != "PanicException":
            raise
        raise _unusable(error, folder) from error


def _translate(error: Exception, folder: Path) -> SalonError:
    message = str(error)
    if "LockBusy" in message:
        return StorageBusy(
            f"another process is writing to the index {folder}", hint="try again when it is done"
        )
    if "No space left" in message:
        return StorageFull(f"no room left to write the index {folder}", hint="free some space")
    if "Permission denied" in message or "Read-only file system" in message:
        return StorageReadOnly(
            f"the index {folder} cannot be written to: {error}",
            hint="check the permissions of the folder and of the files in it",
        )
    return _unusable(error, folder)


def _unusable(error: BaseException, folder: Path) -> SalonError:
    return StorageFailed(
        f"the index {folder} cannot be used: {error}", hint=f"if it is damaged, {_REBUILD}"
    )
