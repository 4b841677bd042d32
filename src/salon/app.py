"""The application: builds everything from settings, and alone knows concrete classes.

Each capability of Salon is one function here or on the interfaces that it hands out; the edges
(command line, HTTP, MCP, chat platforms) translate and call it.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from salon.archive.audit.log import ChainFault, ChainSigner, find_chain_fault
from salon.archive.audit.signing import is_signed_by, load_or_make_signer, load_signer
from salon.archive.checks.verification import VerificationReport
from salon.archive.sqlite_archive import SqliteArchive
from salon.core.closing import Closable
from salon.core.documents import Document
from salon.core.errors import AuditBroken, CardNotFound, InvalidInput, SalonError
from salon.core.events import Checkpoint
from salon.core.hashing import CardHash, as_card_hash
from salon.parts.assistant import AssistantPart
from salon.parts.avatars import AvatarsPart
from salon.parts.companion import CompanionPart
from salon.parts.conversations import ConversationsPart
from salon.parts.council import CouncilPart
from salon.parts.experts import ExpertsPart
from salon.parts.gate import GatePart
from salon.parts.memories import MemoriesPart
from salon.settings import Settings

if TYPE_CHECKING:
    from salon.archive.export.transfer import Exported, Imported, OnConflict
    from salon.core.chat import ChatModel
    from salon.core.documents import DocumentId
    from salon.core.embedding import Embedder
    from salon.core.ids import AvatarId
    from salon.corpus.fetch import Fetcher
    from salon.corpus.filters import Where
    from salon.corpus.ingest import Details, Result
    from salon.corpus.ingest import Progress as IngestProgress
    from salon.corpus.layout import Layout, ReadText
    from salon.corpus.manifest import CorpusManifest, Period
    from salon.corpus.sandbox import Sandbox
    from salon.corpus.search import CorpusSearch, SearchAnswer
    from salon.corpus.sources import Source
    from salon.retrieval.filling import BackgroundFilling, FillReport, VectorFilling
    from salon.retrieval.following import CaughtUp
    from salon.retrieval.graph.entity_graph import EntityGraph
    from salon.retrieval.passage_index import Coverage, PassageIndex
    from salon.retrieval.searcher import Mode

SHORTEST_PREFIX = 6
Progress = Callable[[int], None]
_CLOSED = (
    "_drivers",
    "_uses",
    "deliveries",
    "graph",
    "passages",
    "embedder",
    "_patient_embedder",
    "_token_embedder",
    "_reader",
    "_moves_reader",
    "_emotion_embedder",
    "_step_workers",
    "_step_times",
    "chat",
)
"""What is closed with the application, where it was opened at all."""


class Salon(
    ConversationsPart,
    CompanionPart,
    CouncilPart,
    MemoriesPart,
    AssistantPart,
    GatePart,
    ExpertsPart,
    AvatarsPart,
    Closable,
):
    """Salon at work in one home. Use as a context manager, or call `close`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @cached_property
    def archive(self) -> SqliteArchive:
        """The archive of this home, opened when first needed."""
        return SqliteArchive(
            self.settings.archive_path, actor=self.settings.actor, signer=self._signer
        )

    def close(self) -> None:
        """Note where the audit log stands, and let go of the archive."""
        self.stop_indexing()
        for name in _CLOSED:
            opened = self.__dict__.pop(name, None)
            if opened is not None:
                opened.close()
        archive = self.__dict__.pop("archive", None)
        if archive is not None:
            self._note_checkpoint(archive.checkpoint())
            archive.close()

    # Archive

    def find_card_hash(self, reference: str) -> CardHash:
        """Return the card that a person means: a hash, the beginning of one, or a handle."""
        try:
            return as_card_hash(reference)
        except SalonError:
            pass
        if not reference.strip():
            raise InvalidInput("give a hash or a handle")
        is_prefix = len(reference) >= SHORTEST_PREFIX and not set(reference) - set(
            "0123456789abcdef"
        )
        if not is_prefix:
            return self.archive.resolve(reference).current
        if handle := self._find_handle(reference):
            return handle
        found = [card.hash for card in self.archive.cards(prefix=reference, limit=2)]
        if not found:
            raise CardNotFound(
                f"no card's hash starts with {reference}", hint="`salon archive ls` lists the cards"
            )
        if len(found) > 1:
            raise InvalidInput(
                f"several cards start with {reference}", hint="give more of the hash"
            )
        return found[0]

    def _find_handle(self, reference: str) -> CardHash | None:
        if not reference[0].isalpha():
            return None
        handle = self.archive.find_handle(reference)
        return handle.current if handle else None

    def export(self, stream: BinaryIO, *, on_bytes: Progress = lambda _: None) -> "Exported":
        """Write the whole archive to a stream."""
        from salon.archive.export.transfer import export_archive

        return export_archive(self.archive, stream, on_bytes=on_bytes)

    def import_export(
        self,
        stream: BinaryIO,
        *,
        on_conflict: "OnConflict" = "refuse",
        on_bytes: Progress = lambda _: None,
    ) -> "Imported":
        """Take in an export."""
        from salon.archive.export.transfer import import_archive

        return import_archive(self.archive, stream, on_conflict=on_conflict, on_bytes=on_bytes)

    def verify(
        self,
        *,
        checkpoints: Iterable[Checkpoint] = (),
        on_bytes: Progress = lambda _: None,
    ) -> VerificationReport:
        """Check the whole archive."""
        key = self._trusted_key()
        return self.archive.verify(
            witnesses=self._witnesses(checkpoints, key),
            is_signed=None if key is None else lambda head: is_signed_by(head, key),
            on_bytes=on_bytes,
        )

    # Corpus

    def read(self, source: "Source", *, encoding: str | None = None) -> "ReadText":
        """Return the text that a reader finds in a source, without storing anything."""
        from salon.corpus.ingest import load

        with self._sandbox() as sandbox:
            content, hints = load(source, sandbox.limits, self._fetcher(), encoding)
            return sandbox.read(content, hints)

    def ingest(
        self,
        sources: Iterable["Source"],
        *,
        details: "Details | None" = None,
        encoding: str | None = None,
        on_progress: "Callable[[IngestProgress], None] | None" = None,
    ) -> Iterator["Result"]:
        """Read sources and store each as a document; one that fails does not stop the others."""
        from salon.corpus.ingest import ingest

        with self._sandbox() as sandbox:
            yield from ingest(
                self.archive,
                sources,
                details=details,
                encoding=encoding,
                sandbox=sandbox,
                fetcher=self._fetcher(),
                on_progress=on_progress,
            )

    def documents(self, *, avatar: str | None = None) -> list[Document]:
        """Return the documents of an avatar's corpus, or all of them."""
        from salon.corpus.manifest import as_avatar_id, get_manifest

        if avatar is None:
            return list(self.archive.documents())
        members = frozenset(get_manifest(self.archive, as_avatar_id(avatar)).documents)
        return [document for document in self.archive.documents() if document.id in members]

    def add_to_corpus(
        self, avatar: "AvatarId", documents: Iterable["DocumentId"]
    ) -> "CorpusManifest":
        """Put documents into an avatar's corpus."""
        from salon.corpus.manifest import add_to_corpus

        return add_to_corpus(self.archive, avatar, documents)

    def remove_from_corpus(
        self, avatar: "AvatarId", documents: Iterable["DocumentId"]
    ) -> "CorpusManifest":
        """Take documents out of an avatar's corpus."""
        from salon.corpus.manifest import remove_from_corpus

        return remove_from_corpus(self.archive, avatar, documents)

    def set_period(self, avatar: "AvatarId", period: "Period") -> "CorpusManifest":
        """Say which years an avatar's corpus covers."""
        from salon.corpus.manifest import set_period

        return set_period(self.archive, avatar, period)

    def layout(self, document: Document) -> "Layout | None":
        """Return the pages and sections of a document's text."""
        from salon.corpus.layout import Layout

        if document.layout is None:
            return None
        return Layout.from_json(self.archive.get(document.layout).content, text=document.text)

    def _sandbox(self) -> "Sandbox":
        from salon.corpus.limits import Limits
        from salon.corpus.sandbox import Sandbox

        allowed = self.settings.reader
        return Sandbox(
            Limits(
                memory_bytes=allowed.memory_mb * 2**20,
                cpu_s=allowed.cpu_s,
                wall_s=allowed.wall_s,
                input_bytes=allowed.input_mb * 1_000_000,
                output_bytes=allowed.output_mb * 1_000_000,
            )
        )

    def _fetcher(self) -> "Fetcher":
        from salon.corpus.fetch import Fetcher, FetchLimits

        allowed = self.settings.fetch
        return Fetcher(
            FetchLimits(body_bytes=allowed.body_mb * 1_000_000, total_s=allowed.timeout_s)
        )

    # Search

    def search(
        self,
        query: str,
        *,
        limit: int = 5,
        mode: "Mode" = "hybrid",
        alpha: float = 0.5,
        threshold: float = 0.0,
        where: "Where | None" = None,
    ) -> "SearchAnswer":
        """Return the passages of the corpus that answer a query best, each with its proof.

        Words are looked up in everything that is stored by now; vectors in what has one. While the
        background is at work on the index, that alone brings it up to date.
        """
        from salon.corpus.filters import EVERYTHING

        filling = self._filling
        if filling is None:
            self.passages.catch_up()
        elif filling.is_idle and self.passages.catch_up().indexed:
            filling.wake()  # what another process stored gets its vectors too
        return self._corpus_search.search(
            query,
            limit=limit,
            mode=mode,
            alpha=alpha,
            threshold=threshold,
            where=where or EVERYTHING,
        )

    def index_words(self, on_entries: Progress = lambda _: None) -> "CaughtUp":
        """Make everything that is stored searchable by its words."""
        return self.passages.catch_up(on_entries)

    def index_vectors(
        self,
        on_progress: "Callable[[int, int], None]" = lambda _done, _total: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> "FillReport":
        """Give every passage its vector; resumes where an earlier run stopped."""
        return self._vector_filling(background=False).fill(on_progress, should_stop)

    def index(
        self, on_progress: "Callable[[int, int], None]" = lambda _done, _total: None
    ) -> "tuple[CaughtUp, FillReport]":
        """Bring words and vectors up to date."""
        return self.index_words(), self.index_vectors(on_progress)

    def index_coverage(self) -> "Coverage":
        """Tell how much of the archive the indexes reflect."""
        return self.passages.coverage()

    def rebuild_index(self) -> "CaughtUp":
        """Forget the indexes and build the words anew; vectors fill in from the archive."""
        return self.passages.rebuild()

    def start_indexing(self) -> None:
        """Keep the indexes up to date in the background from now on."""
        from salon.retrieval.filling import BackgroundFilling

        def fill(should_stop: Callable[[], bool]) -> None:
            self.passages.catch_up()
            self._vector_filling(background=True).fill(should_stop=should_stop)

        if self._filling is None:
            self._filling = BackgroundFilling(fill)
        self._filling.wake()

    def stop_indexing(self) -> None:
        """End indexing in the background after what is under way."""
        if self._filling is not None:
            self._filling.stop()
            self._filling = None

    _filling: "BackgroundFilling | None" = None

    def compact(self) -> int:
        """Leave nothing of what was deleted in any file; return the bytes saved in the archive."""
        from salon.archive.vectors import VectorStore

        self.passages.catch_up()
        self.passages.compact()
        if self._has_graph():
            self._current_graph().compact()
        if model := self.passages.catalogue.model():
            VectorStore(self.archive).prune(keep=model)
        return self.archive.compact()

    @cached_property
    def passages(self) -> "PassageIndex":
        """The passages of this home with their indexes, opened when first needed."""
        from salon.providers.indexes import IndexPlan, open_passage_index
        from salon.retrieval.chunking import ChunkSettings

        chosen = self.settings.index
        archive = self.archive  # its file must be there before an index goes into it
        plan = IndexPlan(
            folder=self.settings.index_path,
            file=self.settings.archive_path if chosen.engine == "single-file" else None,
            vectors=chosen.vectors,
            chunks=ChunkSettings(size=chosen.chunk_size, overlap=chosen.chunk_overlap),
        )
        return open_passage_index(archive, plan)

    @cached_property
    def graph(self) -> "EntityGraph":
        """The entity graph of this home, opened when first needed."""
        from salon.providers.entities import ExtractorOptions, open_extractor
        from salon.retrieval.chunking import ChunkSettings
        from salon.retrieval.following import Scope
        from salon.retrieval.graph.entity_graph import EntityGraph

        chosen = self.settings.index
        key = chosen.entities_key
        options = ExtractorOptions(
            base_url=chosen.entities_url, api_key=key.get_secret_value() if key else None
        )
        return EntityGraph(
            self._graph_path,
            chunks=ChunkSettings(size=chosen.chunk_size, overlap=chosen.chunk_overlap),
            extractor=open_extractor(chosen.entities, options),
            scope=Scope.DOCUMENTS,
        )

    @property
    def _graph_path(self) -> Path:
        if self.settings.index.engine == "single-file":
            return self.settings.archive_path
        return self.settings.index_path / "graph.db"

    def _has_graph(self) -> bool:
        """Tell whether a graph was ever made here; only those who use one pay for it."""
        if self._graph_path != self.settings.archive_path:
            return self._graph_path.exists()
        tables = "SELECT 1 FROM sqlite_schema WHERE name = 'graph_card'"
        return self.archive.read_sqlite().execute(tables).get is not None

    def _current_graph(self) -> "EntityGraph":
        self.graph.catch_up(self.archive)
        return self.graph

    @cached_property
    def embedder(self) -> "Embedder":
        """What turns questions into vectors, opened when first needed."""
        return self._open_embedder(background=False)

    @cached_property
    def _corpus_search(self) -> "CorpusSearch":
        from salon.corpus.search import CorpusSearch
        from salon.retrieval.searcher import Searcher

        searcher = Searcher(
            self.passages,
            lambda: self.embedder,
            fusion=self.settings.index.fusion,
            graph=self._current_graph,
        )
        return CorpusSearch(self.archive, self.passages, searcher)

    def _vector_filling(self, *, background: bool) -> "VectorFilling":
        from salon.archive.vectors import VectorStore
        from salon.retrieval.filling import VectorFilling

        store = VectorStore(self.archive)
        if not background:
            return VectorFilling(self.passages, store, self.embedder)
        # Small windows, so that stopping does not take long.
        return VectorFilling(self.passages, store, self._patient_embedder, window=64)

    @cached_property
    def _patient_embedder(self) -> "Embedder":
        """What computes vectors in the background, after everybody else."""
        return self._open_embedder(background=True)

    @cached_property
    def chat(self) -> "ChatModel | None":
        """The chat model of the settings, opened when first needed; `None` where there is none."""
        from salon.parts.chat_options import chat_options
        from salon.providers.chat import open_chat

        chosen = self.settings.chat
        if chosen.model is None:
            return None
        options = chat_options(chosen, url=chosen.url, key=chosen.key)
        return open_chat(chosen.model, options)

    def _open_embedder(self, *, background: bool) -> "Embedder":
        from salon.providers.embedders import EmbedderOptions, open_embedder

        chosen = self.settings.index
        key = chosen.embedder_key
        return open_embedder(
            chosen.embedder,
            EmbedderOptions(
                base_url=chosen.embedder_url,
                api_key=key.get_secret_value() if key else None,
                background=background,
            ),
        )

    # Audit

    def verify_audit(self, checkpoints: Iterable[Checkpoint] = ()) -> Checkpoint:
        """Check the audit chain and return its head, or raise `AuditBroken`."""
        key = self._trusted_key()
        with self.archive.snapshot() as connection:
            fault = find_chain_fault(connection, self._witnesses(checkpoints, key))
        head = self.archive.checkpoint()
        if fault is None and key is not None and head.seq and not is_signed_by(head, key):
            fault = ChainFault(
                seq=head.seq, reason="the head of the log is not signed by this archive's key"
            )
        if fault:
            raise AuditBroken(
                f"the audit log does not hold at entry {fault.seq}: {fault.reason}",
                hint="somebody or something changed the file behind Salon's back; "
                "compare it with a copy or an export",
                entry=fault.seq,
                reason=fault.reason,
            )
        return head

    def _witnesses(self, given: Iterable[Checkpoint], key: str | None) -> list[Checkpoint]:
        """Return every checkpoint that vouches for the log; refuse one that we cannot trust."""
        witnesses = list(given)
        if key is not None:
            for checkpoint in witnesses:
                if checkpoint.signature and not is_signed_by(checkpoint, key):
                    raise AuditBroken(
                        f"the checkpoint for entry {checkpoint.seq} is not signed by "
                        "this archive's key",
                        hint="is it the checkpoint of another archive?",
                    )
        noted = self._read_noted_checkpoint()
        return [*witnesses, noted] if noted else witnesses

    def _note_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Keep the head outside the archive, so that a later cut of the log shows."""
        noted = self._read_noted_checkpoint()
        if checkpoint.seq == 0 or (noted and noted.seq >= checkpoint.seq):
            return
        path = self.settings.checkpoint_path
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            fresh.write_text(json.dumps(asdict(checkpoint)) + "\n")
            fresh.replace(path)
        except OSError:
            fresh.unlink(missing_ok=True)  # a read-only home: the archive's own head stands

    def _read_noted_checkpoint(self) -> Checkpoint | None:
        try:
            return read_checkpoint_file(self.settings.checkpoint_path)
        except SalonError:
            return None

    def _trusted_key(self) -> str | None:
        path = self.settings.key_path
        return load_signer(path).key if path.exists() else None

    def _signer(self) -> ChainSigner | None:
        if not self.settings.sign_audit:
            return None
        return load_or_make_signer(self.settings.key_path)


def read_checkpoint_file(path: Path) -> Checkpoint:
    """Read a checkpoint that `salon audit checkpoint` printed."""
    try:
        values = json.loads(path.read_text("utf-8"))
        checkpoint = Checkpoint(
            seq=int(values["seq"]),
            hash=str(values["hash"]),
            key=values.get("key"),
            signature=values.get("signature"),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidInput(
            f"{path} does not hold a checkpoint: {error}",
            hint="give a file written by `salon audit checkpoint --output FILE`",
        ) from error
    return checkpoint
