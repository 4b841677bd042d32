"""The registry of skills: every tool of the council once, with what it takes, returns and touches.

The tools that a seat sees and the `SKILL.md` files of the skills extension are both made from
`REGISTRY`, so that neither can say what the other does not. When a skill may be used, and by whom,
is not written here but in `salon.council.phases`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from salon.council.phases import ALIASES, PERMISSIONS, Skill
from salon.council.rounds import Scorecard
from salon.council.seats import Seat
from salon.mcp_server.council_arguments import (
    CandidateArguments,
    FusionArguments,
    ReviewArguments,
    SearchArguments,
    SoulArguments,
    VoteArguments,
)
from salon.mcp_server.council_results import (
    CountedResult,
    FusedResult,
    ReviewedResult,
    SearchResults,
    SoulResult,
    SubmittedResult,
    average_of,
    failings_of,
    found_of,
)
from salon.mcp_server.council_service import CouncilService
from salon.mcp_server.tables import Arguments, Call, Result, Tool
from salon.parts.council_skills import SeatSkills

SEATS: dict[Skill, frozenset[Seat]] = dict.fromkeys(Skill, frozenset(Seat))
"""Who is offered which skill: every seat all of them. The phase, the part that a seat plays in a
round and, for souls, who survived, decide when one is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One skill: how it is announced, and what carries it out."""

    skill: Skill
    title: str
    description: str
    access: str
    """Which place it reads or writes."""
    arguments: type[Arguments]
    result: type[Result]
    run: Callable[[SeatSkills, Any], Result]
    read_only: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Return the tool's name and its other names."""
        return (self.skill, *(alias for alias, meant in ALIASES.items() if meant is self.skill))

    @property
    def role(self) -> str:
        """Return what a seat must be in a round to use it."""
        return str(PERMISSIONS[self.skill].role)

    @property
    def phases(self) -> tuple[str, ...]:
        """Return the phases in which it may be used; none: it belongs to no phase."""
        return tuple(sorted(PERMISSIONS[self.skill].phases))


def tools_of(service: CouncilService, seat: Seat) -> tuple[Tool, ...]:
    """Return the skills that a seat is offered, under every name."""
    return tuple(
        Tool(
            name=name,
            title=entry.title,
            description=entry.description,
            arguments=entry.arguments,
            result=entry.result,
            run=partial(_run, service, seat, entry),
            read_only=entry.read_only,
            destructive=False,  # a card once stored stays, also where a later text takes its place
            idempotent=entry.read_only,
            open_world=False,
        )
        for entry in REGISTRY
        if seat in SEATS[entry.skill]
        for name in entry.names
    )


def _run(service: CouncilService, seat: Seat, entry: Entry, call: Call, given: Arguments) -> Result:
    skills = service.seat_skills(seat, still_wanted=lambda: not call.is_over())
    return entry.run(skills, given)


# What each skill does


def _search(skills: SeatSkills, given: SearchArguments) -> SearchResults:
    return found_of(
        skills.search(given.query, limit=given.limit, mode=given.mode, alpha=given.alpha)
    )


def _submit(skills: SeatSkills, given: CandidateArguments) -> SubmittedResult:
    made = skills.submit_candidate(
        given.markdown_content, topic_id=given.topic_id, round_id=given.round_id or None
    )
    return SubmittedResult(
        candidate_id=made.candidate_id, status=made.status, failings=failings_of(made.failings)
    )


def _review(skills: SeatSkills, given: ReviewArguments) -> ReviewedResult:
    made = skills.peer_review(given.target_candidate_id, given.feedback)
    return ReviewedResult(review_id=made.review_id, status=made.status)


def _fuse(skills: SeatSkills, given: FusionArguments) -> FusedResult:
    made = skills.submit_fusion(
        given.collaborator_ids, given.markdown_content, round_id=given.round_id or None
    )
    return FusedResult(
        fusion_id=made.fusion_id, status=made.status, failings=failings_of(made.failings)
    )


def _vote(skills: SeatSkills, given: VoteArguments) -> CountedResult:
    scores = Scorecard(**given.scores.model_dump())
    made = skills.cast_vote(given.target_draft_id, scores, given.rationale, verdict=given.verdict)
    return CountedResult(
        current_average=average_of(made.current_average), consensus_met=made.consensus_met
    )


def _soul(skills: SeatSkills, given: SoulArguments) -> SoulResult:
    made = skills.synthesize_soul(given.system_prompt_content, goal=given.goal)
    return SoulResult(new_soul_path=made.new_soul_path, status=made.status)


REGISTRY: tuple[Entry, ...] = (
    Entry(
        skill=Skill.SEARCH,
        title="Search the archive",
        description="Find passages of the archive by words and by meaning. Each comes with the "
        "hash of its card and its place in it, so that anybody can check it and cite it.",
        access="reads the archive",
        arguments=SearchArguments,
        result=SearchResults,
        run=_search,
        read_only=True,
    ),
    Entry(
        skill=Skill.SUBMIT_CANDIDATE,
        title="Hand in a draft",
        description="Put this seat's draft on the topic into staging; in refinement, its final "
        "text. Every citation is checked at once: a draft that fails comes back with the list.",
        access="writes to staging",
        arguments=CandidateArguments,
        result=SubmittedResult,
        run=_submit,
    ),
    Entry(
        skill=Skill.PEER_REVIEW,
        title="Criticise a peer's draft",
        description="Tell the author of another seat's draft what to mend. Nobody criticises "
        "their own.",
        access="writes to the critique ledger",
        arguments=ReviewArguments,
        result=ReviewedResult,
        run=_review,
    ),
    Entry(
        skill=Skill.SUBMIT_FUSION,
        title="Hand in a joint draft",
        description="In a runoff, hand in one text that its two authors made of both drafts; it "
        "then waits for the other three seats.",
        access="writes to the fusion layer of staging",
        arguments=FusionArguments,
        result=FusedResult,
        run=_fuse,
    ),
    Entry(
        skill=Skill.CAST_VOTE,
        title="Grade a peer's final draft",
        description="Give a scorecard of three whole numbers from 1 to 10, with reasons, once for "
        "each peer's draft; where a fusion is ratified, also Up or Down.",
        access="writes to the consensus ledger",
        arguments=VoteArguments,
        result=CountedResult,
        run=_vote,
    ),
    Entry(
        skill=Skill.SYNTHESIZE_SOUL,
        title="Write a new soul",
        description="As a survivor of a retirement, propose the system prompt of the seat that "
        "fell vacant.",
        access="writes to the proposals for the vacant seat",
        arguments=SoulArguments,
        result=SoulResult,
        run=_soul,
    ),
)
