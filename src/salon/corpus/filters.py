"""Which documents a search may use.

A filter speaks of documents; the indexes know cards. This module turns the one into the other. A
document whose year or language is not known is outside of every filter on years or language: it
is not known to be inside.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from salon.core.archive import Archive
from salon.core.documents import Document, DocumentId, VerificationStatus
from salon.core.hashing import CardHash
from salon.core.ids import AvatarId
from salon.corpus.manifest import ALWAYS, Period, get_manifest

LanguageOf = Callable[[CardHash], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """What a document must be to be searched; what is not said does not matter."""

    avatar: AvatarId | None = None
    documents: frozenset[DocumentId] | None = None
    period: Period = ALWAYS
    verification: frozenset[VerificationStatus] | None = None
    language: str | None = None
    derived: bool | None = None

    @property
    def is_open(self) -> bool:
        """Tell whether every document passes."""
        return self == EVERYTHING


EVERYTHING = Where()


class DocumentFilter:
    """A filter that was looked up in the archive once, ready to judge documents.

    Without `in_period`, years do not matter.
    """

    def __init__(
        self,
        archive: Archive,
        where: Where,
        language_of: LanguageOf,
        *,
        in_period: bool = True,
    ) -> None:
        self._where = where
        self._language_of = language_of
        manifest = None if where.avatar is None else get_manifest(archive, where.avatar)
        self._members = None if manifest is None else frozenset(manifest.documents)
        periods = (where.period,) if manifest is None else (where.period, manifest.period)
        self._periods = periods if in_period else ()

    def passes(self, document: Document) -> bool:
        """Tell whether a document may be searched."""
        where, about = self._where, document.provenance
        return (
            (self._members is None or document.id in self._members)
            and (where.documents is None or document.id in where.documents)
            and all(period.holds(about.year) for period in self._periods)
            and (where.verification is None or document.verification.status in where.verification)
            and (where.derived is None or about.derived == where.derived)
            and (where.language is None or self._language_of(document.text) == where.language)
        )

    def cards(self, documents: Iterable[Document]) -> frozenset[CardHash]:
        """Return the texts of the documents that pass."""
        return frozenset(document.text for document in documents if self.passes(document))
