"""What the audit log says of a document, in one digest that grows with every judgement.

The log never contains titles or notes, but it vouches for them: the event of a new document
carries the digest of its provenance, and each judgement is folded into the digest so far. Whoever
has the tables can fold them again and compare.
"""

from collections.abc import Iterable

from salon.core.canonical import canonical_json
from salon.core.documents import Document, Provenance, Verification
from salon.core.hashing import content_hash


def text_sha256(text: str) -> str:
    """Return the digest that stands for free text in the log."""
    return content_hash(text.encode())


def provenance_sha256(provenance: Provenance) -> str:
    """Return the digest that stands for a document's provenance in the log."""
    return content_hash(canonical_json(provenance.as_record()))


def new_document_digest(
    *, source: str, text: str, layout: str | None, provenance: str, added_at: str
) -> str:
    """Return the digest of a document that nobody has judged yet."""
    return content_hash(canonical_json([source, text, layout or "", provenance, added_at]))


def judged_digest(before: str, *, status: str, by: str, at: str, notes: str) -> str:
    """Fold one judgement (its notes as a digest) into a document's digest."""
    return content_hash(canonical_json([before, status, by, at, notes]))


def document_digest(document: Document, judged: Iterable[Verification]) -> str:
    """Return the digest of a document with its judgements, oldest first."""
    digest = new_document_digest(
        source=document.source,
        text=document.text,
        layout=document.layout,
        provenance=provenance_sha256(document.provenance),
        added_at=document.added_at,
    )
    for one in judged:
        digest = judged_digest(
            digest, status=one.status, by=one.by, at=one.at, notes=text_sha256(one.notes)
        )
    return digest
