"""The JSON shapes of rounds over HTTP; what is not known is `{"absent": why}`."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from salon.api.shapes import Shape
from salon.core.absent import Absent
from salon.core.citations import Citation
from salon.council.bias import Slope
from salon.council.rounds import Candidate, Failing, Round
from salon.council.seats import Seat
from salon.parts.council_shapes import (
    Ballot,
    BallotRow,
    CandidateText,
    Chapter,
    RoundReport,
    SoulShown,
)

LONGEST_TOPIC = 300


class Unknown(Shape):
    """No value, and why."""

    absent: str


class NewRound(Shape):
    """What a round is about; who holds which seat comes from the settings where it is not said."""

    topic: str = Field(min_length=1, max_length=LONGEST_TOPIC, examples=["Water in a dry year"])
    topic_id: str | None = Field(default=None, max_length=200)
    seats: dict[Seat, str] = Field(
        default_factory=dict, examples=[{"II": "outside"}], max_length=len(Seat)
    )


class RoundSummary(Shape):
    """A round in short."""

    id: str
    topic_id: str
    topic: str
    phase: str
    attempt: int
    is_over: bool
    opened_at: str
    touched_at: str
    holders: dict[str, str]
    handle: str | None = Field(description="Where the chapter is, once published")
    reasons: list[str]


class FailingBody(Shape):
    """What a check found in a text."""

    code: str
    message: str
    excerpt: str


class CitationBody(Shape):
    """The proof of a sentence; `mark` is its number in the text, where it has one."""

    mark: int | None = None
    hash: str
    start: int
    end: int
    quote: str
    source: str
    page: int | None


class CandidateBody(Shape):
    """A draft or a fusion."""

    id: str
    authors: list[str]
    attempt: int
    is_fusion: bool
    is_refined: bool
    citations: list[CitationBody]
    failings: list[FailingBody]
    at: str


class CritiqueBody(Shape):
    """What one seat said of a peer's candidate."""

    id: str
    seat: str
    candidate: str
    attempt: int
    feedback: str
    at: str


class ReturnBody(Shape):
    """A text that the checks sent back."""

    seat: str
    phase: str
    attempt: int
    failings: list[FailingBody]
    at: str


class AbsenceBody(Shape):
    """A seat that was due and did not act."""

    seat: str
    phase: str
    attempt: int
    reason: str
    at: str


class PublishedBody(Shape):
    """Where the chapter is."""

    candidate: str
    text: str
    record: str
    handle: str
    document: str
    at: str


class RoundBody(RoundSummary):
    """A round, whole."""

    on_probation: list[str]
    souls: dict[str, str]
    candidates: list[CandidateBody]
    critiques: list[CritiqueBody]
    returns: list[ReturnBody]
    absences: list[AbsenceBody]
    finalists: list[str]
    published: PublishedBody | None
    due: dict[str, list[str]] = Field(description="By seat: what it has yet to do")


class VoteBody(Shape):
    """One vote with its reasons."""

    seat: str
    accuracy: int
    depth: int
    pedagogy: int
    mean: float
    rationale: str
    position: int
    verdict: str | None


class RowBody(Shape):
    """What the votes on one candidate come to."""

    candidate: str
    authors: list[str]
    is_fusion: bool
    voters: int
    score: float | Unknown
    mean: float | Unknown
    lowest: int | Unknown
    weighted: float | Unknown
    votes: list[VoteBody]


class VerdictBody(Shape):
    """What a seat said of a fusion."""

    seat: str
    verdict: str


class SlopeBody(Shape):
    """How many points a grade moves per step, with its 95 % interval."""

    points: float
    low: float
    high: float
    grades: int
    is_beyond_noise: bool


class BallotBody(Shape):
    """How an attempt was voted on, best first."""

    round_id: str
    attempt: int
    rows: list[RowBody]
    runoff: list[str]
    ratification: list[VerdictBody]
    effective_votes: float | Unknown
    position_bias: SlopeBody | Unknown = Field(
        description="Points that a draft gained per place further back in a voter's order."
    )
    self_preference: SlopeBody | Unknown = Field(
        description="Points that a draft gained by citing all that the voter's own draft cites."
    )
    weights: dict[str, float]


class CandidateTextBody(CandidateBody):
    """A candidate with its text and the critiques of it."""

    markdown: str
    critiques: list[CritiqueBody]


class ChapterBody(Shape):
    """What a round published."""

    round_id: str
    title: str
    markdown: str
    citations: list[CitationBody]
    record: dict[str, Any]
    text: str
    record_card: str
    handle: str
    document: str
    at: str


class CheckBody(Shape):
    """One thing that was checked."""

    name: str
    holds: bool
    reason: str


class ReportBody(Shape):
    """Whether a round stands up to a second look."""

    round_id: str
    phase: str
    holds: bool
    checks: list[CheckBody]


class SoulBody(Shape):
    """A seat and its soul."""

    seat: str
    title: str
    virtue: str
    holder: str
    handle: str
    hash: str | None
    soul: str
    has_token: bool
    on_probation: bool
    history: list[dict[str, str]]
    performance: dict[str, Any]


def summary_of(round_: Round) -> RoundSummary:
    """Return a round in short."""
    return RoundSummary(**_summary(round_))


def round_of(
    round_: Round, due: Mapping[Seat, Sequence[str]], feedback: Mapping[str, str]
) -> RoundBody:
    """Return a round whole; `feedback` is by the id of a critique."""
    return RoundBody(
        **_summary(round_),
        on_probation=[str(seat) for seat in round_.on_probation],
        souls={seat: str(card) for seat, card in round_.souls.items()},
        candidates=[CandidateBody(**_candidate(one)) for one in round_.candidates],
        critiques=[
            CritiqueBody(
                id=one.id,
                seat=one.seat,
                candidate=one.candidate,
                attempt=one.attempt,
                feedback=feedback.get(one.id, ""),
                at=one.at,
            )
            for one in round_.critiques
        ],
        returns=[
            ReturnBody(
                seat=one.seat,
                phase=one.phase,
                attempt=one.attempt,
                failings=_failings(one.failings),
                at=one.at,
            )
            for one in round_.returns
        ],
        absences=[
            AbsenceBody(
                seat=one.seat, phase=one.phase, attempt=one.attempt, reason=one.reason, at=one.at
            )
            for one in round_.absences
        ],
        finalists=list(round_.finalists),
        published=None
        if round_.published is None
        else PublishedBody(
            **{name: getattr(round_.published, name) for name in PublishedBody.model_fields}
        ),
        due={str(seat): list(works) for seat, works in due.items()},
    )


def ballot_body(ballot: Ballot) -> BallotBody:
    """Return a ballot."""
    return BallotBody(
        round_id=ballot.round_id,
        attempt=ballot.attempt,
        rows=[_row(one) for one in ballot.rows],
        runoff=list(ballot.runoff),
        ratification=[
            VerdictBody(seat=vote.seat, verdict=vote.verdict)
            for row in ballot.rows
            for vote in row.votes
            if vote.verdict is not None
        ],
        effective_votes=_or_unknown(ballot.effective_votes),
        position_bias=_slope_or_unknown(ballot.position_bias),
        self_preference=_slope_or_unknown(ballot.self_preference),
        weights=ballot.weights,
    )


def candidate_body(found: CandidateText) -> CandidateTextBody:
    """Return a candidate with its text."""
    return CandidateTextBody(
        **_candidate(found.candidate),
        markdown=found.markdown,
        critiques=[
            CritiqueBody(
                id=one.id,
                seat=one.seat,
                candidate=one.candidate,
                attempt=one.attempt,
                feedback=said,
                at=one.at,
            )
            for one, said in found.critiques
        ],
    )


def chapter_body(chapter: Chapter) -> ChapterBody:
    """Return a chapter."""
    return ChapterBody(
        round_id=chapter.round_id,
        title=chapter.title,
        markdown=chapter.markdown,
        citations=[_citation(one, mark) for mark, one in enumerate(chapter.citations, start=1)],
        record=chapter.record,
        text=chapter.text,
        record_card=chapter.record_card,
        handle=chapter.handle,
        document=chapter.document,
        at=chapter.at,
    )


def report_body(report: RoundReport) -> ReportBody:
    """Return the check of a round."""
    return ReportBody(
        round_id=report.round_id,
        phase=report.phase,
        holds=report.holds,
        checks=[
            CheckBody(name=one.name, holds=one.holds, reason=one.reason) for one in report.checks
        ],
    )


def soul_body(soul: SoulShown) -> SoulBody:
    """Return a soul."""
    return SoulBody(
        seat=soul.seat,
        title=soul.title,
        virtue=soul.virtue,
        holder=soul.holder,
        handle=soul.handle,
        hash=soul.hash,
        soul=soul.text,
        has_token=soul.has_token,
        on_probation=soul.on_probation,
        history=list(soul.history),
        performance=soul.performance,
    )


def _summary(round_: Round) -> dict[str, Any]:
    return {
        "id": round_.id,
        "topic_id": round_.topic_id,
        "topic": round_.topic,
        "phase": str(round_.phase),
        "attempt": round_.attempt,
        "is_over": round_.is_over,
        "opened_at": round_.opened_at,
        "touched_at": round_.touched_at,
        "holders": dict(round_.holders),
        "handle": None if round_.published is None else round_.published.handle,
        "reasons": list(round_.reasons),
    }


def _candidate(one: Candidate) -> dict[str, Any]:
    return {
        "id": one.id,
        "authors": [str(seat) for seat in one.authors],
        "attempt": one.attempt,
        "is_fusion": one.is_fusion,
        "is_refined": one.is_refined,
        "citations": [_citation(cited, mark) for mark, cited in enumerate(one.citations, start=1)],
        "failings": _failings(one.failings),
        "at": one.at,
    }


def _row(row: BallotRow) -> RowBody:
    return RowBody(
        candidate=row.candidate,
        authors=[str(seat) for seat in row.authors],
        is_fusion=row.is_fusion,
        voters=row.voters,
        score=_or_unknown(row.score),
        mean=_or_unknown(row.mean),
        lowest=Unknown(absent=row.lowest.reason) if isinstance(row.lowest, Absent) else row.lowest,
        weighted=_or_unknown(row.weighted),
        votes=[
            VoteBody(**{name: getattr(vote, name) for name in VoteBody.model_fields})
            for vote in row.votes
        ],
    )


def _failings(failings: Sequence[Failing]) -> list[FailingBody]:
    return [
        FailingBody(code=one.code, message=one.message, excerpt=one.excerpt) for one in failings
    ]


def _citation(one: Citation, mark: int | None) -> CitationBody:
    return CitationBody(
        mark=mark,
        hash=one.hash,
        start=one.start,
        end=one.end,
        quote=one.quote,
        source=one.source,
        page=one.page,
    )


def _or_unknown(value: float | Absent) -> float | Unknown:
    return Unknown(absent=value.reason) if isinstance(value, Absent) else value


def _slope_or_unknown(found: Slope | Absent) -> SlopeBody | Unknown:
    if isinstance(found, Absent):
        return Unknown(absent=found.reason)
    return SlopeBody(
        points=found.points,
        low=found.low,
        high=found.high,
        grades=found.grades,
        is_beyond_noise=found.is_beyond_noise,
    )
