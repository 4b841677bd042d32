"""Documents: where text in a corpus comes from, and who vouches for it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

from salon.core.errors import InvalidDocument, InvalidInput
from salon.core.hashing import CardHash
from salon.core.text import require_text

DocumentId = NewType("DocumentId", str)


class DocumentType(StrEnum):
    """The kinds of source that a corpus knows."""

    BOOK = "book"
    PAPER = "paper"
    SPEECH = "speech"
    INTERVIEW = "interview"
    ARTICLE = "article"
    LETTER = "letter"
    TEXTBOOK = "textbook"
    GUIDE = "guide"
    LECTURE = "lecture"


class VerificationStatus(StrEnum):
    """Whether somebody confirmed that a source is what it claims to be."""

    VERIFIED = "verified"
    PENDING = "pending"
    DISPUTED = "disputed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What is known about a source; unknown is `None`, never a guess."""

    title: str
    type: DocumentType = DocumentType.ARTICLE
    authors: tuple[str, ...] = ()
    year: int | None = None
    url: str | None = None
    archive_url: str | None = None
    licence: str | None = None
    doi: str | None = None
    derived: bool = False

    def __post_init__(self) -> None:
        if not self.title.strip():
            raise InvalidDocument("a document needs a title")
        if self.year is not None and not -4000 <= self.year <= 9999:
            raise InvalidDocument(f"{self.year} is not a year")
        if self.type not in set(DocumentType):
            raise InvalidDocument(
                f"{self.type!r} is not a type of document",
                hint=f"use one of {', '.join(DocumentType)}",
            )
        texts = (self.title, *self.authors, self.url, self.archive_url, self.licence, self.doi)
        for text in texts:
            try:
                require_text(text or "", "the provenance of a document")
            except InvalidInput as error:
                raise InvalidDocument(error.message, hint=error.hint) from error

    def as_record(self) -> dict[str, str | int | bool | list[str] | None]:
        """Return the provenance as plain data, for digests and exports."""
        return {
            "title": self.title,
            "type": str(self.type),
            "authors": list(self.authors),
            "year": self.year,
            "url": self.url,
            "archive_url": self.archive_url,
            "licence": self.licence,
            "doi": self.doi,
            "derived": self.derived,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """One judgement on a document: all of them are kept, the latest one counts."""

    status: VerificationStatus
    by: str
    at: str
    notes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A source in a corpus: its provenance and the cards that hold it.

    `source` holds the bytes as they came, `text` the UTF-8 text read from them (the same card
    where the source was text already), `layout` the pages and sections of that text.
    """

    id: DocumentId
    provenance: Provenance
    source: CardHash
    text: CardHash
    layout: CardHash | None
    added_at: str
    verification: Verification = field(
        default_factory=lambda: Verification(status=VerificationStatus.PENDING, by="", at="")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The bytes from `start` up to `end` of one card: what a citation points at."""

    hash: CardHash
    start: int
    end: int
