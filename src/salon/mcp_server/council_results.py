"""The results of the council's skills: what a seat sees of what the app returned.

No result names the author of a text while its round is open.
"""

from collections.abc import Sequence

from pydantic import Field

from salon.core.absent import Absent
from salon.corpus.search import SearchAnswer
from salon.council.holders import Brief, Shown
from salon.council.rounds import Failing, Round
from salon.mcp_server.tables import Result
from salon.parts.council_skills import Retirement, Vacancy


class FoundText(Result):
    """A passage with its proof: these bytes of that card."""

    text: str = Field(description="The text, byte for byte as in the archive")
    source: str = Field(description="The title of the document")
    hash: str = Field(description="The card that holds it")
    start: int = Field(description="Its first byte in the card")
    end: int = Field(description="The byte after its last")
    score: float = Field(description="The calibrated probability that it is relevant")
    document: str = Field(description="The id of the document")
    page: int | None = Field(description="The page it begins on; null where there are no pages")
    verified: bool = Field(description="Whether somebody confirmed that the source is authentic")
    derived: bool = Field(description="Whether Salon made the text; then it may not stand alone")


class SearchResults(Result):
    """What `skill_qdrant_search` returns."""

    results: list[FoundText]
    mode: str
    notes: list[str] = Field(description="What the search could not do, if anything")


class FailingShown(Result):
    """What a check found in a draft."""

    code: str
    message: str
    excerpt: str


class SubmittedResult(Result):
    """What `skill_submit_candidate` returns."""

    candidate_id: str
    status: str = Field(description="awaiting_peer_review, or sent_back with what is wrong")
    failings: list[FailingShown]


class ReviewedResult(Result):
    """What `skill_peer_review` returns."""

    review_id: str
    status: str


class FusedResult(Result):
    """What `skill_submit_fusion` returns."""

    fusion_id: str
    status: str = Field(description="pending_ratification, or sent_back with what is wrong")
    failings: list[FailingShown]


class CountedResult(Result):
    """What `skill_cast_vote` returns."""

    current_average: float | None = Field(description="The mean so far; null where it is secret")
    consensus_met: bool


class SoulResult(Result):
    """What `skill_synthesize_soul` returns."""

    new_soul_path: str = Field(description="The handle that the soul has or will have")
    status: str = Field(
        description="born, or awaiting_survivors until all four hand in the same, or three of them "
        "once the time is over"
    )


class CandidateShown(Result):
    """A candidate as this seat sees it; nobody's name is on it."""

    id: str
    position: int
    markdown: str
    critiques: list[str]


class OpenRound(Result):
    """A round that is not over."""

    round_id: str
    topic_id: str
    topic: str
    phase: str
    attempt: int


class ProposalShown(Result):
    """A text for a vacant seat, and how many survivors have handed in exactly it."""

    system_prompt_content: str
    consents: int


class VacancyShown(Result):
    """A seat whose soul was retired; the survivors write the new one together."""

    seat: str
    goal: str
    blind_spots: list[str]
    proposals: list[ProposalShown]
    due_at: str = Field(description="Until when all four are waited for")
    consents_needed: int = Field(description="How many must hand in the same: 4, later 3")
    handed_in: bool = Field(description="Whether a text of this seat is among the proposals")


class RetirementShown(Result):
    """A seat that is proposed for retirement; the four others vote, and all four must agree."""

    review_id: str
    seat: str
    ups: int
    downs: int
    due_at: str = Field(description="Until when a vote counts; without four Up by then it stays")


class RetirementResult(Result):
    """What `council_vote_retirement` returns: `settled`, `voting` or `vacant`."""

    status: str


class BriefResult(Result):
    """What `council_brief` returns; without an open round, `round_id` is null."""

    seat: str
    open_rounds: list[OpenRound]
    round_id: str | None
    topic_id: str = ""
    topic: str = ""
    phase: str = ""
    attempt: int = 0
    soul: str = ""
    due: list[str] = Field(
        default_factory=list,
        description="What this seat has yet to do: `draft`, `refinement`, `fusion`, or the ids of "
        "candidates to review or to vote on",
    )
    peers: list[CandidateShown] = Field(default_factory=list)
    own: CandidateShown | None = None
    failings: list[FailingShown] = Field(default_factory=list)
    fusing: list[CandidateShown] = Field(default_factory=list)
    collaborators: list[str] = Field(default_factory=list)
    reasons: list[str] = Field(default_factory=list)
    vacancy: VacancyShown | None = None
    retirement: RetirementShown | None = Field(
        default=None, description="A seat that this one has yet to vote on"
    )


def found_of(answer: SearchAnswer) -> SearchResults:
    """Shape what a search found."""
    return SearchResults(
        results=[
            FoundText(
                text=one.content,
                source=one.source,
                hash=one.hash,
                start=one.start,
                end=one.end,
                score=one.score,
                document=one.document_id,
                page=one.page,
                verified=one.verified,
                derived=one.derived,
            )
            for one in answer.passages
        ],
        mode=answer.mode,
        notes=list(answer.notes),
    )


def failings_of(failings: Sequence[Failing]) -> list[FailingShown]:
    """Shape what the checks found."""
    return [
        FailingShown(code=one.code, message=one.message, excerpt=one.excerpt) for one in failings
    ]


def average_of(average: float | Absent) -> float | None:
    """Shape an average that may not be known."""
    return None if isinstance(average, Absent) else average


def brief_of(
    seat: str,
    rounds: Sequence[Round],
    brief: Brief | None,
    *,
    vacancy: Vacancy | None,
    retirement: Retirement | None,
) -> BriefResult:
    """Shape what a seat is shown."""
    listed = [
        OpenRound(
            round_id=one.id,
            topic_id=one.topic_id,
            topic=one.topic,
            phase=one.phase,
            attempt=one.attempt,
        )
        for one in rounds
    ]
    vacant = None if vacancy is None else _vacancy(vacancy)
    voted_on = (
        None
        if retirement is None
        else RetirementShown(
            review_id=retirement.review,
            seat=retirement.seat,
            ups=retirement.ups,
            downs=retirement.downs,
            due_at=retirement.due_at,
        )
    )
    if brief is None:
        return BriefResult(
            seat=seat, open_rounds=listed, round_id=None, vacancy=vacant, retirement=voted_on
        )
    return BriefResult(
        seat=seat,
        open_rounds=listed,
        round_id=brief.round_id,
        topic_id=brief.topic_id,
        topic=brief.topic,
        phase=brief.phase,
        attempt=brief.attempt,
        soul=brief.soul,
        due=list(brief.due),
        peers=[_shown(one) for one in brief.peers],
        own=None if brief.own is None else _shown(brief.own),
        failings=failings_of(brief.failings),
        fusing=[_shown(one) for one in brief.fusing],
        collaborators=[str(one) for one in brief.collaborators],
        reasons=list(brief.reasons),
        vacancy=vacant,
        retirement=voted_on,
    )


def _vacancy(one: Vacancy) -> VacancyShown:
    return VacancyShown(
        seat=one.seat,
        goal=one.goal,
        blind_spots=list(one.blind_spots),
        proposals=[
            ProposalShown(system_prompt_content=text, consents=consents)
            for text, consents in one.proposals
        ],
        due_at=one.due_at,
        consents_needed=one.needed,
        handed_in=one.has_written,
    )


def _shown(one: Shown) -> CandidateShown:
    return CandidateShown(
        id=one.id, position=one.position, markdown=one.markdown, critiques=list(one.critiques)
    )
