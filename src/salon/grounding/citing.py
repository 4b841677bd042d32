"""Citations: made from spans of the archive, and checked against it.

A citation that was made here holds as long as its document stays in the archive. The check trusts
nothing that the citation says: card, span, quote, document, corpus, year and page are each derived
again.
"""

from collections.abc import Callable
from dataclasses import dataclass

from salon.core.archive import Archive
from salon.core.citations import Citation
from salon.core.documents import Document
from salon.core.errors import InvalidInput, NotFound
from salon.corpus.layouts import Layouts
from salon.grounding.reports import CitationCheck, Fault, Verdict

IsAllowed = Callable[[Document], bool]

_VERDICTS = {
    Fault.NO_SUCH_CARD: Verdict.FABRICATED,
    Fault.SPAN_OUTSIDE_CARD: Verdict.FABRICATED,
    Fault.QUOTE_DIFFERS: Verdict.FABRICATED,
    Fault.NOT_A_DOCUMENT: Verdict.MISATTRIBUTED,
    Fault.NOT_IN_CORPUS: Verdict.MISATTRIBUTED,
    Fault.WRONG_SOURCE: Verdict.MISATTRIBUTED,
    Fault.WRONG_PAGE: Verdict.MISATTRIBUTED,
    Fault.OUTSIDE_PERIOD: Verdict.OUT_OF_PERIOD,
    Fault.NO_CITATION: Verdict.UNSUPPORTED,
    Fault.ONLY_DERIVED: Verdict.UNSUPPORTED,
    Fault.NOT_BORNE_OUT: Verdict.UNSUPPORTED,
}


def verdict_of(fault: Fault | None) -> Verdict:
    """Return how bad a fault is."""
    return Verdict.SUPPORTED if fault is None else _VERDICTS[fault]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """What a speaker may cite: members of a corpus, within a period."""

    is_member: IsAllowed
    is_in_period: IsAllowed


ANYTHING = Allowed(is_member=lambda _: True, is_in_period=lambda _: True)


class Citations:
    """Citations of one archive: made and checked."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._layouts = Layouts(archive)

    def make(self, document: Document, start: int, end: int) -> Citation:
        """Cite bytes `start` up to `end` of a document's text."""
        content = self._archive.get(document.text).content
        if not 0 <= start < end <= len(content):
            raise InvalidInput(f"bytes {start} to {end} are no span of {document.text}")
        try:
            quote = content[start:end].decode()
        except UnicodeDecodeError as error:
            raise InvalidInput(f"bytes {start} to {end} cut a character in two") from error
        return Citation(
            hash=document.text,
            start=start,
            end=end,
            quote=quote,
            source=document.provenance.title,
            page=self._page(document, start),
        )

    def check(self, citation: Citation, allowed: Allowed = ANYTHING) -> CitationCheck:
        """Derive everything that a citation says again, and tell the first thing that is wrong."""
        fault, reason = self._fault(citation, allowed)
        return CitationCheck(
            citation=citation, verdict=verdict_of(fault), fault=fault, reason=reason
        )

    def is_derived(self, citation: Citation) -> bool:
        """Tell whether all documents that a citation may mean were made by Salon itself."""
        meant = [
            one for one in self._archive.documents_of(citation.hash) if _is_called(one, citation)
        ]
        return bool(meant) and all(one.provenance.derived for one in meant)

    def years(self, citation: Citation) -> frozenset[str]:
        """Return the years of the documents that a citation may mean."""
        return frozenset(
            str(one.provenance.year)
            for one in self._archive.documents_of(citation.hash)
            if one.provenance.year is not None and _is_called(one, citation)
        )

    def _fault(self, cited: Citation, allowed: Allowed) -> tuple[Fault | None, str]:
        try:
            content = self._archive.get(cited.hash).content
        except (NotFound, InvalidInput):
            return Fault.NO_SUCH_CARD, f"the archive has no card {cited.hash[:16]}…"
        if not 0 <= cited.start < cited.end <= len(content):
            return (
                Fault.SPAN_OUTSIDE_CARD,
                f"bytes {cited.start} to {cited.end} are no span of a card of {len(content):,}",
            )
        if content[cited.start : cited.end] != cited.quote.encode(errors="surrogatepass"):
            return Fault.QUOTE_DIFFERS, "the card says something else there"
        return self._misattribution(cited, allowed)

    def _misattribution(self, cited: Citation, allowed: Allowed) -> tuple[Fault | None, str]:
        """Find the document that is meant; each test leaves those that pass it."""
        documents = self._archive.documents_of(cited.hash)
        if not documents:
            return Fault.NOT_A_DOCUMENT, "the card is no document's text"
        members = [one for one in documents if allowed.is_member(one)]
        if not members:
            return Fault.NOT_IN_CORPUS, "the document is not in this avatar's corpus"
        called = [one for one in members if _is_called(one, cited)]
        if not called:
            right = members[0].provenance.title
            return Fault.WRONG_SOURCE, f"this stands in {right!r}, not in {cited.source!r}"
        in_period = [one for one in called if allowed.is_in_period(one)]
        if not in_period:
            year = called[0].provenance.year
            return (
                Fault.OUTSIDE_PERIOD,
                f"the document is of {year or 'an unknown year'}, outside of the avatar's period",
            )
        pages = [self._page(one, cited.start) for one in in_period]
        if cited.page not in pages:
            where = f"on page {pages[0]}" if pages[0] else "in a text without pages"
            return Fault.WRONG_PAGE, f"this stands {where}, not on page {cited.page}"
        return None, "the card says exactly this there"

    def _page(self, document: Document, start: int) -> int | None:
        segment = self._layouts.find_segment(document, start)
        return None if segment is None else segment.page


def _is_called(document: Document, cited: Citation) -> bool:
    return document.provenance.title == cited.source
