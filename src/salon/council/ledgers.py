"""The two ledgers of a round: how a critique and a vote become cards with handles of their own."""

from dataclasses import replace

from salon.core.hashing import content_hash
from salon.council import acting
from salon.council.briefing import position_of
from salon.council.entering import verdict_of
from salon.council.keeping import ballot_to_json, critique_to_json
from salon.council.naming import ballot_handle, critique_handle
from salon.council.phases import Skill
from salon.council.roles import require_permission
from salon.council.rounds import Critique, Round, Scorecard, Verdict, Vote
from salon.council.rules import CouncilRules
from salon.council.seats import Seat
from salon.council.writing import Change


def enter_critique(
    round_: Round, seat: Seat, candidate_id: str, feedback: str, *, id_: str, at: str
) -> Change:
    """Return the change that enters a critique, or raise `NotAllowed`."""
    target = round_.find_candidate(candidate_id)
    content = feedback.encode()
    critique = Critique(
        id=id_,
        seat=seat,
        candidate=candidate_id,
        feedback=content_hash(content),
        attempt=round_.attempt,
        text=None if target is None else target.text,
        at=at,
    )
    entry = critique_to_json(round_, critique)
    card = content_hash(entry)
    return Change(
        round=acting.reviewed(round_, replace(critique, entry=card)),
        act=Skill.PEER_REVIEW.value,
        artefact=card,
        cards=(content, entry),
        handles=((critique_handle(round_.id, id_), card),),
    )


def enter_vote(
    round_: Round,
    seat: Seat,
    candidate_id: str,
    scores: Scorecard,
    rationale: str,
    *,
    verdict: Verdict | None,
    rules: CouncilRules,
    id_: str,
    at: str,
) -> Change:
    """Return the change that enters a vote on the text that stands, or raise `NotAllowed`."""
    target = round_.find_candidate(candidate_id)
    require_permission(round_, seat, Skill.CAST_VOTE, target)
    assert target is not None, "a vote needs a candidate"
    content = rationale.encode()
    vote = Vote(
        id=id_,
        seat=seat,
        candidate=candidate_id,
        scores=scores,
        rationale=content_hash(content),
        attempt=round_.attempt,
        position=position_of(round_, seat, target),
        verdict=verdict_of(round_, scores, verdict, rules),
        text=target.text,
        at=at,
    )
    entry = ballot_to_json(round_, vote)
    card = content_hash(entry)
    return Change(
        round=acting.voted(round_, replace(vote, ballot=card)),
        act=Skill.CAST_VOTE.value,
        artefact=card,
        cards=(content, entry),
        handles=((ballot_handle(round_.id, id_), card),),
    )
