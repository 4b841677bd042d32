"""Publication: the system actor moves a chapter from staging to `completed`, in one transaction.

No seat can get here: the only caller is the desk's `advance`, after the votes were counted and
every citation was checked again. In one transaction the chapter and its signed record get their
handles, the sources are marked as cited, the chapter enters the corpus as a derived document, and
the round is closed.

A chapter's sources are kept for its sake (`cite`): deleting one is refused unless it is forced. The
chapter itself is not marked as made from them, because then it would vanish with the last of them;
it stays readable, and `verify_chapter` says that a source is gone. Only the plain text that is
indexed goes with the chapter it was made from.
"""

from dataclasses import dataclass

from salon.core.archive import Archive, ArchiveTransaction
from salon.core.documents import DocumentType, Provenance, Span
from salon.core.hashing import CardHash, content_hash
from salon.council.drafts import plain_text, read_draft
from salon.council.naming import chapter_handle, record_handle, staging_handle
from salon.council.phases import COMPLETED
from salon.council.rounds import Candidate, Published, Round

ORIGIN = "the council"
"""Who is named as author of a chapter in the corpus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """What is about to be published."""

    round: Round
    candidate: Candidate
    markdown: str
    record: bytes
    at: str

    @property
    def published(self) -> Published:
        """Return what the round will say of it; the document gets its id when it is added."""
        return Published(
            candidate=self.candidate.id,
            text=self.candidate.text,
            record=content_hash(self.record),
            handle=chapter_handle(self.round.topic_id),
            document="",
            at=self.at,
        )


def publish(tx: ArchiveTransaction, chapter: Chapter) -> str:
    """Move a chapter to `completed` and into the corpus; return the id of its document."""
    text = chapter.candidate.text
    tx.set_handle(chapter_handle(chapter.round.topic_id), text)
    record = tx.add(chapter.record).hash
    tx.set_handle(record_handle(chapter.round.topic_id), record)
    tx.remove_handle(staging_handle(chapter.candidate.id))
    spans = [
        Span(hash=one.hash, start=one.start, end=one.end) for one in chapter.candidate.citations
    ]
    tx.cite(text, spans)
    tx.cite(record, [Span(hash=text, start=0, end=len(chapter.markdown.encode()))])
    return _ingest(tx, chapter, text)


def chapters_citing(archive: Archive, text: CardHash) -> tuple[str, ...]:
    """Return the handles of chapters, present and past, that rest on a text."""
    names: set[str] = set()
    for citing in archive.needs(text).citing_cards:
        needs = archive.needs(citing)
        names.update((*needs.handles, *needs.past_of_handles))
    return tuple(sorted(one for one in names if one.startswith(COMPLETED)))


def _ingest(tx: ArchiveTransaction, chapter: Chapter, source: CardHash) -> str:
    known = tx.find_document_by_source(source)
    if known is not None and known.provenance.derived:
        return known.id
    draft = read_draft(chapter.markdown)
    added = tx.add(plain_text(draft).encode())
    if added.created or tx.is_derived(added.hash):
        tx.mark_derived(added.hash, from_card=source)
    provenance = Provenance(
        title=draft.title,
        type=DocumentType.TEXTBOOK,
        authors=(ORIGIN,),
        year=int(chapter.at[:4]),
        derived=True,
    )
    return tx.add_document(provenance, source=source, text=added.hash).id
