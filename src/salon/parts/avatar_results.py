"""The results of an avatar's capabilities on every surface: what a client sees."""

from typing import Any, Literal

from pydantic import Field

from salon.core.citations import Citation
from salon.corpus.search import SearchAnswer
from salon.experts.replies import AvatarInfo, Reply, SpeakDecision
from salon.grounding.reports import CitationCheck, ClaimCheck, ResponseReport
from salon.parts.shapes import Result


def _is_none(value: Any) -> bool:
    return value is None


class PassageFound(Result):
    """A passage with its proof."""

    content: str = Field(description="The text, byte for byte as in the archive")
    source: str = Field(description="The title of the document")
    page: int | None = Field(description="The page it begins on; null where there are no pages")
    score: float = Field(description="The calibrated probability that it is relevant")
    relevance_score: float = Field(description="The same as score")
    hash: str = Field(description="The card that holds it")
    start: int = Field(description="Its first byte in the card")
    end: int = Field(description="The byte after its last")
    document_id: str
    verified: bool = Field(description="Whether somebody confirmed that the source is authentic")
    derived: bool = Field(description="Whether Salon made the text itself")


class Passages(Result):
    """What `query_corpus` returns."""

    passages: list[PassageFound]
    notes: list[str] = Field(description="What the search could not do, if anything")


class Cited(Result):
    """A citation that anybody with the archive can derive again."""

    source: str
    page: int | None
    quote: str
    hash: str
    start: int
    end: int


class Claimed(Result):
    """A sentence of the response and the citations that bear it out."""

    text: str
    citations: list[int] = Field(description="Places in the list of citations")
    support: float = Field(description="The probability that they bear the sentence out")


class Response(Result):
    """What `generate_response` returns."""

    response: str
    citations: list[Cited]
    claims: list[Claimed]
    confidence: Literal["high", "medium", "low"]
    outcome: str = Field(description="answered, or why not")
    suggestion: str | None = Field(None, exclude_if=_is_none)
    redirect: str | None = Field(None, exclude_if=_is_none)
    ai_label: str = Field(description="Show it with the response: this is an AI")
    is_crisis: bool | None = Field(
        None,
        exclude_if=_is_none,
        description="True where this is the fixed reply with help lines",
    )


class Info(Result):
    """What `get_avatar_info` returns."""

    id: str
    name: str
    description: str
    expertise: list[str]
    corpus_summary: str
    corpus_size: int = Field(description="Words in the corpus")
    document_count: int
    verified_count: int
    ai: bool
    ai_label: str
    period: list[int | None] = Field(
        min_length=2, max_length=2, description="First and last year; null where open"
    )
    voice: str
    tools: list[str]


class Speaking(Result):
    """What `should_speak` returns."""

    speak: bool
    score: float
    reason: str
    rule: str


class CheckedCitation(Result):
    """A citation and how it stands."""

    citation: Cited
    verdict: str
    fault: str | None
    reason: str


class CheckedClaim(Result):
    """A sentence and how it stands."""

    text: str
    verdict: str
    fault: str | None
    reason: str
    support: float | None = Field(description="Null where it was not judged")
    against: list[str] = Field(description="What speaks against it")
    citations: list[CheckedCitation]


class Report(Result):
    """What `verify_response` returns."""

    holds: bool = Field(description="Whether every claim and every citation stands")
    claims: list[CheckedClaim]
    citations: list[CheckedCitation]


def passages_of(answer: SearchAnswer) -> Passages:
    """Shape what a search found."""
    names = PassageFound.model_fields
    found = [
        PassageFound(**{name: getattr(passage, name) for name in names})
        for passage in answer.passages
    ]
    return Passages(passages=found, notes=list(answer.notes))


def response_of(reply: Reply) -> Response:
    """Shape a reply."""
    return Response(
        response=reply.response,
        citations=[cited(one) for one in reply.citations],
        claims=[
            Claimed(text=one.text, citations=list(one.citations), support=one.support)
            for one in reply.claims
        ],
        confidence=reply.confidence,
        outcome=str(reply.outcome),
        suggestion=reply.suggestion,
        redirect=reply.redirect,
        ai_label=reply.ai_label,
        is_crisis=reply.is_crisis or None,
    )


def info_of(info: AvatarInfo) -> Info:
    """Shape what is known of an avatar."""
    values = {name: getattr(info, name) for name in Info.model_fields}
    lists = {name: list(values[name]) for name in ("expertise", "period", "tools")}
    return Info(**(values | lists))


def speaking_of(decision: SpeakDecision) -> Speaking:
    """Shape a decision to speak."""
    return Speaking(
        speak=decision.speak, score=decision.score, reason=decision.reason, rule=decision.rule
    )


def report_of(report: ResponseReport) -> Report:
    """Shape the check of a response."""
    return Report(
        holds=report.holds,
        claims=[_claim(one) for one in report.claims],
        citations=[_check(one) for one in report.citations],
    )


def cited(citation: Citation) -> Cited:
    """Shape a citation."""
    return Cited(**{name: getattr(citation, name) for name in Cited.model_fields})


def _check(check: CitationCheck) -> CheckedCitation:
    return CheckedCitation(
        citation=cited(check.citation),
        verdict=str(check.verdict),
        fault=None if check.fault is None else str(check.fault),
        reason=check.reason,
    )


def _claim(check: ClaimCheck) -> CheckedClaim:
    return CheckedClaim(
        text=check.text,
        verdict=str(check.verdict),
        fault=None if check.fault is None else str(check.fault),
        reason=check.reason,
        support=None if check.support is None else check.support.probability,
        against=[] if check.support is None else list(check.support.against),
        citations=[_check(one) for one in check.citations],
    )
