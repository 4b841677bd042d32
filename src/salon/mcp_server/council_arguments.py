"""The arguments of the council's skills: the names, required lists and limits of the registry.

Beside what the registry has, some take an explicit `round_id` or `verdict`; both may be left out.
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from salon.council.rounds import Verdict
from salon.council.rules import TextLimits
from salon.council.souls import LONGEST_GOAL, LONGEST_SOUL
from salon.mcp_server.tables import Arguments

_LIMITS = TextLimits()
SEARCH_LIMIT, SEARCH_MOST = 5, 20
LONGEST_QUERY = 2_000
LONGEST_ID = 200
LONGEST_WAIT_S = 20

_Id: TypeAlias = Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
_Draft: TypeAlias = Annotated[
    str,
    Field(
        min_length=1,
        max_length=_LIMITS.draft,
        description="The text in Markdown. Each sentence ends with marks such as [^1]; each note "
        'at the end is `[^1]: "quote" card:HASH#START-END`, byte for byte as the search gave it.',
    ),
]
_Score: TypeAlias = Annotated[int, Field(ge=1, le=10)]
_Round: TypeAlias = Annotated[
    str,
    Field(
        max_length=LONGEST_ID,
        description="The round, where several are open; left out, the only one that fits",
    ),
]


class SearchArguments(Arguments):
    """What `skill_qdrant_search` takes."""

    query: str = Field(
        min_length=1,
        max_length=LONGEST_QUERY,
        description="What to look for, in words, such as 'history of packet switching'",
    )
    limit: int = Field(
        SEARCH_LIMIT, ge=1, le=SEARCH_MOST, description="How many results at most (default 5)"
    )
    mode: Literal["hybrid", "dense", "sparse"] = Field(
        "hybrid",
        description="`hybrid` joins words and vectors by rank, `dense` is vectors alone, `sparse` "
        "words alone (default hybrid)",
    )
    alpha: float = Field(
        0.5,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="The weight of vectors in `hybrid`: 0.0 is words (BM25) only, 1.0 vectors "
        "only (default 0.5)",
    )


class CandidateArguments(Arguments):
    """What `skill_submit_candidate` and its alias take."""

    topic_id: _Id = Field(description="The topic of the round, as `council_brief` names it")
    markdown_content: _Draft
    round_id: _Round = ""


class ReviewArguments(Arguments):
    """What `skill_peer_review` takes."""

    target_candidate_id: _Id = Field(description="The candidate, as `council_brief` names it")
    feedback: str = Field(
        min_length=1, max_length=_LIMITS.feedback, description="Constructive criticism"
    )


class FusionArguments(Arguments):
    """What `skill_submit_fusion` takes."""

    collaborator_ids: list[_Id] = Field(
        max_length=10,
        description="The two seats that write it, such as II and IV, as `council_brief` names them",
    )
    markdown_content: _Draft
    round_id: _Round = ""


class Scores(Arguments):
    """A scorecard."""

    accuracy: _Score = Field(description="Is every claim borne out by what it cites?")
    depth: _Score = Field(description="Several sources, and what follows from them?")
    pedagogy: _Score = Field(description="Can a newcomer follow it?")


class VoteArguments(Arguments):
    """What `skill_cast_vote` takes."""

    target_draft_id: _Id = Field(description="The candidate or fusion, as `council_brief` names it")
    scores: Scores = Field(description="Three scores, each a whole number from 1 to 10")
    rationale: str = Field(
        min_length=1, max_length=_LIMITS.rationale, description="Why these scores"
    )
    verdict: Verdict | None = Field(
        None,
        # Strict checking of arguments would take only the enumeration itself.
        strict=False,
        description="`up` or `down`, only where a fusion is ratified; left out, the scores decide",
    )


class SoulArguments(Arguments):
    """What `skill_synthesize_soul` takes."""

    goal: str = Field(
        "", max_length=LONGEST_GOAL, description="Which blind spot the new soul is to cover"
    )
    system_prompt_content: str = Field(
        min_length=1, max_length=LONGEST_SOUL, description="The new system prompt, whole"
    )


class RetirementArguments(Arguments):
    """What `council_vote_retirement` takes."""

    review_id: _Id = Field(
        description="The review that is voted on, as `council_brief` names it under `retirement`"
    )
    verdict: Verdict = Field(
        strict=False,  # as in a vote
        description="`up`: the seat is to have a new soul; `down`: it stays",
    )


class BriefArguments(Arguments):
    """What `council_brief` takes."""

    round_id: _Round = ""
    wait_s: int = Field(
        0,
        ge=0,
        le=LONGEST_WAIT_S,
        description="How many seconds to wait until something is due from this seat",
    )
