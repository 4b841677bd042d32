"""Acts on a round, one by one: what two processes could do to each other in between."""

from dataclasses import replace

import pytest

from salon.core.errors import NotAllowed
from salon.core.hashing import content_hash
from salon.council import acting
from salon.council.deciding import why_not
from salon.council.phases import Skill
from salon.council.roles import due, is_own, ratifiers, require_permission
from salon.council.rounds import Absence, Critique, Phase, Returned, Round, Vote
from salon.council.rules import CouncilRules
from salon.council.seats import Seat
from tests.council.desks import GOOD
from tests.council.test_phases import make_round

TEXT = content_hash(b"something else")
DRAFT = "round_1.draft_2"


def _vote(round_: Round, **changes: object) -> Vote:
    target = round_.find_candidate(DRAFT)
    assert target is not None
    vote = Vote(
        id="vote_1",
        seat=Seat.CHAIR,
        candidate=DRAFT,
        scores=GOOD,
        rationale=TEXT,
        attempt=0,
        position=1,
        text=target.text,
    )
    return replace(vote, **changes)  # type: ignore[arg-type]


def test_a_vote_on_a_text_that_is_not_there_any_more_does_not_count() -> None:
    round_ = make_round(Phase.VOTE)
    assert len(acting.voted(round_, _vote(round_)).votes) == 1
    with pytest.raises(NotAllowed, match="another one than was graded"):
        acting.voted(round_, _vote(round_, text=TEXT))


def test_texts_that_are_sent_back_at_once_do_not_outrun_the_limit() -> None:
    round_ = make_round(Phase.SPRINT, candidates=())
    returned = Returned(
        id="return_1",
        seat=Seat.CHAIR,
        candidate="round_1.draft_9",
        text=TEXT,
        report=TEXT,
        phase=Phase.SPRINT,
        attempt=0,
    )
    once = acting.sent_back(round_, Skill.SUBMIT_CANDIDATE, returned, most=1)
    with pytest.raises(NotAllowed):
        acting.sent_back(once, Skill.SUBMIT_CANDIDATE, returned, most=1)
    later = replace(once, phase=Phase.REFINEMENT)
    assert acting.returns_now(later, Seat.CHAIR) == ()


def test_whoever_came_back_is_due_again() -> None:
    round_ = make_round(Phase.VOTE)
    gone = acting.absent(
        round_, Absence(seat=Seat.CHAIR, phase=Phase.VOTE, attempt=0, reason="asleep")
    )
    assert due(gone, Seat.CHAIR) == ()
    assert len(due(acting.voted(gone, _vote(gone)), Seat.CHAIR)) == 3


def test_a_seat_that_entered_no_draft_cannot_refine_one() -> None:
    round_ = make_round(Phase.REFINEMENT)
    without = replace(round_, candidates=round_.candidates[1:])
    with pytest.raises(NotAllowed, match="entered no draft"):
        require_permission(without, Seat.CHAIR, Skill.SUBMIT_CANDIDATE)
    assert due(without, Seat.CHAIR) == ()


def test_an_earlier_text_of_a_seat_is_known_from_the_critiques_of_it() -> None:
    round_ = make_round(Phase.VOTE)
    mine, copied = round_.candidates[0], round_.candidates[1]
    said = Critique(
        id="review_1",
        seat=Seat.AUDITOR,
        candidate=mine.id,
        feedback=TEXT,
        attempt=0,
        text=copied.text,
    )
    assert not is_own(round_, Seat.CHAIR, copied)
    assert is_own(replace(round_, critiques=(said,)), Seat.CHAIR, copied)


def test_a_text_that_is_no_candidate_cannot_be_published() -> None:
    why = why_not(make_round(Phase.VOTE), "round_1.draft_9", CouncilRules())
    assert why == "it is no candidate of this attempt"


def test_ratifiers_did_not_write_it_have_a_vote_and_were_there() -> None:
    round_ = make_round(
        Phase.RUNOFF,
        on_probation=(Seat.AUDITOR,),
        absences=(Absence(seat=Seat.VIZIER, phase=Phase.VOTE, attempt=0, reason="asleep"),),
    )
    assert ratifiers(round_, (Seat.CHAIR, Seat.MINER)) == (Seat.PROFESSOR,)
