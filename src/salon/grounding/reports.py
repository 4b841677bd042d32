"""What a check found: a verdict per citation and per claim, each with its reason.

A verdict says how bad it is, a fault says what exactly is wrong. Both are stable words that every
surface shows.
"""

from dataclasses import dataclass
from enum import StrEnum

from salon.core.citations import Citation


class Verdict(StrEnum):
    """How a claim or a citation stands."""

    SUPPORTED = "supported"
    FABRICATED = "fabricated"
    """The archive does not say this there."""
    MISATTRIBUTED = "misattributed"
    """The archive says it, but not in that source, on that page or in this corpus."""
    OUT_OF_PERIOD = "out_of_period"
    """The source lies outside the years that the avatar may speak from."""
    UNSUPPORTED = "unsupported"
    """The quoted text does not bear the claim, or nothing is quoted."""


class Fault(StrEnum):
    """What exactly is wrong."""

    NO_SUCH_CARD = "no_such_card"
    SPAN_OUTSIDE_CARD = "span_outside_card"
    QUOTE_DIFFERS = "quote_differs"
    NOT_A_DOCUMENT = "not_a_document"
    NOT_IN_CORPUS = "not_in_corpus"
    WRONG_SOURCE = "wrong_source"
    WRONG_PAGE = "wrong_page"
    OUTSIDE_PERIOD = "outside_period"
    NO_CITATION = "no_citation"
    ONLY_DERIVED = "only_derived"
    NOT_BORNE_OUT = "not_borne_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationCheck:
    """One citation and how it stands."""

    citation: Citation
    verdict: Verdict
    fault: Fault | None
    reason: str

    @property
    def holds(self) -> bool:
        """Tell whether nothing is wrong."""
        return self.verdict is Verdict.SUPPORTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """How probably a text bears a claim out, and what speaks against it."""

    probability: float
    against: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimCheck:
    """One sentence of a response, its citations, and how it stands.

    `support` is `None` where it was not judged: where a citation fails, or for words that frame
    claims and claim nothing themselves.
    """

    text: str
    verdict: Verdict
    fault: Fault | None
    reason: str
    citations: tuple[CitationCheck, ...]
    support: Support | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseReport:
    """Everything that a check of a response found."""

    claims: tuple[ClaimCheck, ...]
    citations: tuple[CitationCheck, ...]

    @property
    def holds(self) -> bool:
        """Tell whether every claim is supported and every citation stands."""
        return all(one.verdict is Verdict.SUPPORTED for one in self.claims) and all(
            one.holds for one in self.citations
        )
