"""Contents and small verbs that many tests use."""

import io
from collections.abc import Mapping
from datetime import datetime

from salon.core.archive import Archive, Deletion
from salon.core.documents import Document, DocumentId, Provenance, VerificationStatus
from salon.core.events import AuditEntry, EventField
from salon.core.hashing import CardHash, content_hash

NOBODY = content_hash(b"no archive holds this")
"""The hash of a card that is never added."""


def kinds(archive: Archive, *, after: int = 0) -> list[object]:
    """Return the kinds of the audit entries after `after`."""
    return [entry.body["kind"] for entry in archive.audit_entries(after=after)]


def log(archive: Archive) -> list[AuditEntry]:
    """Return the whole audit log."""
    return list(archive.audit_entries())


def last_event(archive: Archive) -> Mapping[str, EventField]:
    """Return the body of the newest audit entry."""
    return log(archive)[-1].body


def delete(
    archive: Archive, card: CardHash, *, reason: str = "no longer wanted", force: bool = False
) -> Deletion:
    """Delete one card in a transaction of its own."""
    return archive.write(lambda tx: tx.delete(card, reason=reason, force=force))


def add_document(archive: Archive, source: CardHash, title: str = "A title") -> Document:
    """Register a plain document in a transaction of its own."""
    return archive.write(lambda tx: tx.add_document(Provenance(title=title), source=source))


def prune(archive: Archive, handle: str, *, older_than: datetime | None = None) -> int:
    """Prune one handle in a transaction of its own."""
    return archive.write(lambda tx: tx.prune_history(handle, older_than=older_than))


def judge(
    archive: Archive,
    document: DocumentId,
    status: VerificationStatus,
    *,
    notes: str = "",
    by: str | None = None,
) -> Document:
    """Judge one document in a transaction of its own."""
    return archive.write(lambda tx: tx.set_verification(document, status, notes=notes), by=by)


class Trickle(io.RawIOBase):
    """A stream that gives a few bytes at a time, as sockets and pipes may."""

    def __init__(self, content: bytes, *, most: int = 7, seekable: bool = False) -> None:
        super().__init__()
        self._content = io.BytesIO(content)
        self._most = most
        self._seekable = seekable
        self.given = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._seekable

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._content.seek(offset, whence)

    def tell(self) -> int:
        return self._content.tell()

    def read(self, size: int = -1) -> bytes:
        piece = self._content.read(self._most if size < 0 else min(size, self._most))
        self.given += len(piece)
        return piece
