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
from salon.settings import Settings

if TYPE_CHECKING:
    from salon.archive.export.transfer import Exported, Imported, OnConflict
    from salon.corpus.fetch import Fetcher
    from salon.corpus.ingest import Details, Result
    from salon.corpus.ingest import Progress as IngestProgress
    from salon.corpus.layout import Layout, ReadText
    from salon.corpus.sandbox import Sandbox
    from salon.corpus.sources import Source

SHORTEST_PREFIX = 6
Progress = Callable[[int], None]


class Salon(Closable):
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
