"""How a round goes on: consensus, runoff, another attempt, or no quorum."""

from dataclasses import replace

import pytest

from salon.core.errors import InvalidInput, NotAllowed
from salon.council.deciding import decide
from salon.council.desk import Lineup
from salon.council.phases import Event
from salon.council.rounds import Phase, Round, Scorecard, Verdict
from salon.council.rules import CouncilRules
from salon.council.seats import Seat
from tests.council.desks import FAIR, GOOD, TOPIC_ID, Council, as_written, handles, moves

POOR = Scorecard(accuracy=6, depth=6, pedagogy=6)
AUTHORS = (Seat.CHAIR, Seat.MINER)
RATIFIERS = (Seat.AUDITOR, Seat.PROFESSOR, Seat.VIZIER)


def _ends(round_: Round) -> tuple[Phase, bool]:
    return round_.phase, round_.published is not None


def _retry(council: Council, round_: Round) -> Round:
    """Go through one attempt in which nobody is happy, with a clear loser in front."""
    refined = council.refine(round_) if round_.phase is Phase.REFINEMENT else round_
    first = council.candidate_of(refined, Seat.CHAIR)
    return council.vote(refined, {first: FAIR}, default=POOR)


# Publication by vote


@pytest.mark.requirement("council/security/consensus-verified")
@pytest.mark.parametrize(
    ("scores", "is_published"),
    [
        ([(8, 8, 8)] * 4, True),
        ([(8, 8, 8), (8, 8, 8), (8, 8, 8), (8, 8, 7)], False),
        ([(10, 10, 10), (10, 10, 10), (10, 10, 10), (10, 10, 4)], False),
        ([(10, 10, 10), (10, 10, 10), (10, 10, 10), (10, 10, 5)], True),
        ([(9, 9, 9), (9, 9, 9), (9, 9, 9), None], True),
        ([(10, 10, 10), (10, 10, 10), None, None], False),
    ],
    ids=["at-8", "just-below", "a-4", "a-5", "three-voters", "two-voters"],
)
def test_a_chapter_needs_a_mean_of_8_from_3_peers_and_no_score_below_5(
    council: Council, scores: list[tuple[int, int, int] | None], is_published: bool
) -> None:
    round_ = council.to(Phase.VOTE)
    chosen = council.candidate_of(round_, Seat.CHAIR)
    peers = [seat for seat in Seat if seat is not Seat.CHAIR]
    for seat, given in zip(peers, scores, strict=True):
        if given is not None:
            card = Scorecard(accuracy=given[0], depth=given[1], pedagogy=given[2])
            council.desk.cast_vote(seat, chosen, card, "as told")
        for one in council.desk.brief(seat, round_.id).due:
            if one != chosen:
                council.desk.cast_vote(seat, one, POOR, "as told")
        council.desk.mark_absent(round_.id, seat, "would not grade it")
    for one in council.desk.brief(Seat.CHAIR, round_.id).due:
        council.desk.cast_vote(Seat.CHAIR, one, POOR, "as told")
    after = council.desk.advance(round_.id)
    assert (after.published is not None) is is_published
    assert bool(handles(council.archive, "completed/")) is is_published


# Runoff


@pytest.mark.requirement("council/submit-fusion/runoff-only")
def test_the_top_two_within_half_a_point_go_to_a_runoff_and_only_then_is_there_a_fusion(
    council: Council,
) -> None:
    round_ = council.to(Phase.VOTE)
    fuse = council.desk.submit_fusion
    text = council.draft(salt=5)
    with pytest.raises(NotAllowed):
        fuse(Seat.CHAIR, AUTHORS, text, round_id=round_.id)
    with pytest.raises(NotAllowed):
        fuse(Seat.CHAIR, AUTHORS, text)
    first, second = (council.candidate_of(round_, seat) for seat in AUTHORS)
    half_below = Scorecard(accuracy=9, depth=9, pedagogy=9)
    tied = council.vote(
        round_, {first: Scorecard(accuracy=10, depth=9, pedagogy=9), second: half_below}
    )
    assert (tied.phase, tied.finalists) == (Phase.RUNOFF, (first, second))
    brief = council.desk.brief(Seat.MINER, round_.id)
    assert (brief.due, brief.collaborators) == (("fusion",), AUTHORS)
    assert [one.id for one in brief.fusing] == [first, second]
    assert all(len(one.critiques) == 4 for one in brief.fusing), "the research is combined"
    assert council.desk.brief(Seat.AUDITOR, round_.id).fusing == ()
    assert fuse(Seat.MINER, AUTHORS, text).status == "pending_ratification"


def test_further_apart_there_is_no_runoff(council: Council) -> None:
    round_ = council.to(Phase.VOTE)
    first, second = (council.candidate_of(round_, seat) for seat in AUTHORS)
    best = Scorecard(accuracy=10, depth=10, pedagogy=9)
    after = council.vote(round_, {first: best, second: GOOD})
    assert _ends(after) == (Phase.PUBLISHED, True)
    assert after.published is not None
    assert after.published.candidate == first


@pytest.mark.requirement("council/submit-fusion/two-authors")
@pytest.mark.requirement("council/submit-fusion/fusion-layer")
def test_a_fusion_has_its_two_authors_and_lies_in_staging(council: Council) -> None:
    round_ = council.to(Phase.RUNOFF)
    text = council.draft(salt=5)
    for names in (("I",), ("I", "I"), ("I", "III"), ("I", "II", "III"), ("I", "VI")):
        with pytest.raises(NotAllowed):
            council.desk.submit_fusion(Seat.CHAIR, names, text, round_id=round_.id)
    for seat in RATIFIERS:
        with pytest.raises(NotAllowed):
            council.desk.submit_fusion(seat, AUTHORS, text, round_id=round_.id)
    before = handles(council.archive)
    fused = council.desk.submit_fusion(Seat.CHAIR, AUTHORS, text, round_id=round_.id)
    after = handles(council.archive)
    changed = {name for name in after if after[name] != before.get(name)}
    staged = f"staging/{round_.id}/{fused.fusion_id}"
    assert changed == {staged, f"council/rounds/{round_.id}"}
    now = council.desk.get(round_.id)
    assert now.fusion is not None
    assert set(now.fusion.authors) == set(AUTHORS)


def test_a_fusion_that_fails_the_checks_goes_back(council: Council) -> None:
    round_ = council.to(Phase.RUNOFF)
    bad = "# A garden\n\n## Claims\n\nAll wells are wet.\n"
    back = council.desk.submit_fusion(Seat.CHAIR, AUTHORS, bad, round_id=round_.id)
    assert back.status == "sent_back"
    assert council.desk.brief(Seat.CHAIR, round_.id).failings == back.failings
    assert council.desk.get(round_.id).fusion is None
    good = council.desk.submit_fusion(
        Seat.CHAIR, AUTHORS, council.draft(salt=5), round_id=round_.id
    )
    assert (good.status, good.fusion_id) == ("pending_ratification", back.fusion_id)


def test_the_first_fusion_stands_unless_the_leading_author_puts_another_in_its_place(
    council: Council,
) -> None:
    round_ = council.to(Phase.RUNOFF)
    leading, other = council.desk.brief(Seat.CHAIR, round_.id).collaborators
    fuse = council.desk.submit_fusion
    first = fuse(other, AUTHORS, council.draft(salt=5), round_id=round_.id)
    before = council.archive.stats()
    assert fuse(leading, AUTHORS, council.draft(salt=5), round_id=round_.id) == first
    assert council.archive.stats() == before, "the same text from both: nothing to change"
    with pytest.raises(NotAllowed):
        fuse(other, AUTHORS, council.draft(salt=6), round_id=round_.id)
    again = fuse(leading, AUTHORS, council.draft(salt=6), round_id=round_.id)
    assert again.fusion_id == first.fusion_id
    with pytest.raises(NotAllowed):
        fuse(leading, AUTHORS, council.draft(salt=7), round_id=round_.id)
    with pytest.raises(NotAllowed):
        fuse(other, AUTHORS, council.draft(salt=7), round_id=round_.id)
    now = council.desk.get(round_.id)
    assert now.fusion is not None
    assert as_written(council.desk.text(now.fusion.text)) == council.draft(salt=6)


def test_a_seat_in_two_runoffs_says_which(council: Council) -> None:
    council.to(Phase.RUNOFF, "one")
    round_ = council.to(Phase.RUNOFF, "two")
    text = council.draft(salt=5)
    with pytest.raises(InvalidInput):
        council.desk.submit_fusion(Seat.CHAIR, AUTHORS, text)
    council.desk.submit_fusion(Seat.CHAIR, AUTHORS, text, round_id=round_.id)


# Ratification


@pytest.mark.requirement("council/submit-fusion/ratification")
@pytest.mark.parametrize(
    ("verdicts", "is_published"),
    [
        ("UUU", True),
        ("UUD", True),
        ("UDD", False),
        ("DDD", False),
    ],
)
def test_a_fusion_is_ratified_by_the_three_who_did_not_write_it(
    council: Council, verdicts: str, is_published: bool
) -> None:
    round_ = council.to(Phase.RATIFICATION)
    assert round_.fusion is not None
    fusion = round_.fusion.id
    for seat in AUTHORS:
        assert council.desk.brief(seat, round_.id).due == ()
        with pytest.raises(NotAllowed):
            council.desk.cast_vote(seat, fusion, GOOD, "ours", verdict=Verdict.UP)
    with pytest.raises(NotAllowed):
        council.desk.cast_vote(Seat.AUDITOR, round_.finalists[0], GOOD, "rather this one")
    for seat, said in zip(RATIFIERS, verdicts, strict=True):
        assert [one.id for one in council.desk.brief(seat, round_.id).peers] == [fusion]
        verdict = Verdict.UP if said == "U" else Verdict.DOWN
        council.desk.cast_vote(seat, fusion, GOOD, "as told", verdict=verdict)
    after = council.desk.advance(round_.id)
    assert (after.published is not None) is is_published
    if not is_published:
        assert (after.phase, after.attempt) == (Phase.REFINEMENT, 1)
        assert "Down" in after.reasons[0]


def test_up_is_not_enough_where_the_scores_are_too_low(council: Council) -> None:
    round_ = council.to(Phase.RATIFICATION)
    assert round_.fusion is not None
    for seat in RATIFIERS:
        council.desk.cast_vote(seat, round_.fusion.id, FAIR, "I like it anyway", verdict=Verdict.UP)
    after = council.desk.advance(round_.id)
    assert (after.phase, after.published) == (Phase.REFINEMENT, None)


def test_left_out_the_verdict_is_read_off_the_scores(council: Council) -> None:
    round_ = council.to(Phase.RATIFICATION)
    assert round_.fusion is not None
    uneven = Scorecard(accuracy=10, depth=10, pedagogy=4)
    for seat, scores in zip(RATIFIERS, (GOOD, FAIR, uneven), strict=True):
        council.desk.cast_vote(seat, round_.fusion.id, scores, "see the scores")
    said = [one.verdict for one in council.desk.get(round_.id).votes[-3:]]
    assert said == [Verdict.UP, Verdict.DOWN, Verdict.DOWN]


# Attempts and no quorum


@pytest.mark.requirement("council/security/no-quorum")
def test_without_consensus_after_three_retries_nothing_is_published_and_a_person_is_told(
    council: Council,
) -> None:
    round_ = council.to(Phase.VOTE)
    for attempt in range(1, 4):
        round_ = _retry(council, round_)
        assert (round_.phase, round_.attempt) == (Phase.REFINEMENT, attempt)
        assert council.told == []
    round_ = _retry(council, round_)
    assert _ends(round_) == (Phase.NO_QUORUM, False)
    assert len(round_.reasons) == 4
    assert all("its mean is 7.00, below 8" in one for one in round_.reasons)
    assert [one.id for one in council.told] == [round_.id]
    assert handles(council.archive, "completed/") == {}
    last = moves(council.archive, round_.id)[-1]
    assert (last["by"], last["phase"], last["rule"]) == ("system", "no_quorum", "given_up")
    council.desk.advance(round_.id)
    assert len(council.told) == 1, "told once"


def test_another_attempt_begins_with_the_reasons_and_new_ids(council: Council) -> None:
    round_ = council.to(Phase.VOTE)
    stale = council.candidate_of(round_, Seat.MINER)
    again = _retry(council, round_)
    brief = council.desk.brief(Seat.MINER, round_.id)
    assert (brief.due, brief.attempt) == (("refinement",), 1)
    assert brief.reasons == again.reasons
    assert brief.own is not None
    assert len(brief.own.critiques) == 4
    assert brief.own.id != stale
    voting = council.refine(again)
    with pytest.raises(NotAllowed):
        council.desk.cast_vote(Seat.CHAIR, stale, GOOD, "meant for the text before")
    assert len(voting.votes) == 20, "the votes of the first attempt are kept"
    assert {one.text for one in voting.votes} == {one.text for one in round_.standing}
    fresh = council.candidate_of(voting, Seat.MINER)
    after = council.vote(voting, {fresh: GOOD}, default=POOR)
    assert _ends(after) == (Phase.PUBLISHED, True)


# Absences


def test_a_seat_that_never_comes_does_not_stop_the_others(council: Council) -> None:
    round_ = council.open()
    four = tuple(seat for seat in Seat if seat is not Seat.VIZIER)
    round_ = council.sprint(round_, four)
    assert round_.phase is Phase.CRITIQUE
    round_ = council.refine(council.critique(round_, absent=(Seat.VIZIER,)))
    first = council.candidate_of(round_, Seat.CHAIR)
    after = council.vote(round_, {first: GOOD}, absent=(Seat.VIZIER,))
    assert _ends(after) == (Phase.PUBLISHED, True)
    assert [one.phase for one in after.absences] == [Phase.SPRINT, Phase.CRITIQUE, Phase.VOTE]


def test_a_draft_that_is_not_refined_stands_as_it_was(council: Council) -> None:
    round_ = council.to(Phase.REFINEMENT)
    before = {one.id: one.text for one in round_.standing}
    after = council.refine(round_, absent=(Seat.CHAIR,))
    assert after.phase is Phase.VOTE
    own = after.find_own(Seat.CHAIR)
    assert own is not None
    assert (own.is_refined, own.text) == (False, before[own.id])


def test_without_any_draft_there_is_no_quorum(council: Council) -> None:
    after = council.sprint(council.open(), ())
    assert (after.phase, after.reasons) == (Phase.NO_QUORUM, ("nobody handed in a draft: asleep",))
    assert len(council.told) == 1


def test_with_fewer_than_three_possible_voters_there_is_no_quorum_at_once(
    council: Council,
) -> None:
    council.lineup = Lineup(on_probation=(Seat.CHAIR, Seat.MINER, Seat.AUDITOR))
    after = council.sprint(council.open())
    assert after.phase is Phase.NO_QUORUM
    assert after.reasons == ("no draft can have more than 2 voters",)


def test_where_fewer_than_three_voted_there_is_no_quorum_at_once(council: Council) -> None:
    round_ = council.to(Phase.VOTE)
    after = council.vote(round_, default=GOOD, absent=(Seat.AUDITOR, Seat.PROFESSOR, Seat.VIZIER))
    assert (after.phase, after.attempt) == (Phase.NO_QUORUM, 0)
    assert after.reasons == ("no draft was graded by 3 peers",)


@pytest.mark.parametrize("missing", AUTHORS)
def test_a_runoff_without_one_of_its_authors_is_decided_by_score(
    council: Council, missing: Seat
) -> None:
    round_ = council.to(Phase.RUNOFF)
    council.desk.mark_absent(round_.id, missing, "asleep")
    other = next(seat for seat in AUTHORS if seat is not missing)
    assert council.desk.brief(other, round_.id).due == ()
    with pytest.raises(NotAllowed):
        council.desk.submit_fusion(other, AUTHORS, council.draft(salt=5), round_id=round_.id)
    after = council.desk.advance(round_.id)
    assert _ends(after) == (Phase.PUBLISHED, True)
    assert after.published is not None
    assert after.published.candidate == round_.finalists[0]


def test_a_tie_that_too_few_could_ratify_is_decided_by_score(council: Council) -> None:
    council.lineup = Lineup(on_probation=(Seat.VIZIER,))
    round_ = council.to(Phase.VOTE)
    tied = {council.candidate_of(round_, seat): GOOD for seat in AUTHORS}
    after = council.vote(round_, tied)
    assert _ends(after) == (Phase.PUBLISHED, True)
    assert after.published is not None
    assert after.published.candidate in tied


def test_a_tie_while_a_ratifier_is_absent_is_decided_by_score(council: Council) -> None:
    round_ = council.to(Phase.VOTE)
    tied = {council.candidate_of(round_, seat): GOOD for seat in AUTHORS}
    after = council.vote(round_, tied, absent=(Seat.VIZIER,))
    assert _ends(after) == (Phase.PUBLISHED, True)


def test_a_fusion_with_a_ratifier_missing_goes_back(council: Council) -> None:
    round_ = council.to(Phase.RATIFICATION)
    after = council.vote(round_, default=GOOD, absent=(Seat.VIZIER,))
    assert (after.phase, after.attempt) == (Phase.REFINEMENT, 1)
    assert "2 of at least 3" in after.reasons[0]


def test_a_round_that_is_over_or_waits_is_left_alone(council: Council) -> None:
    round_ = council.publish()
    assert decide(round_, CouncilRules()) is None
    assert decide(replace(round_, phase=Phase.SPRINT, candidates=()), CouncilRules()) is None
    assert council.desk.advance(round_.id) == council.desk.get(round_.id)
    assert council.desk.mark_absent(round_.id, Seat.CHAIR, "x") == round_
    assert council.desk.brief(Seat.CHAIR, round_.id).due == ()


def test_the_system_alone_moves_a_round_and_only_by_the_table(council: Council) -> None:
    round_ = _retry(council, council.to(Phase.VOTE))
    log = moves(council.archive, round_.id)
    phases = ["sprint", *(one["phase"] for one in log if one["act"] == "move")]
    assert phases == ["sprint", "critique", "refinement", "vote", "refinement"]
    assert {one["by"] for one in log if one["act"] in {"move", "open"}} == {"system"}
    assert log[-1]["rule"] == Event.DISAGREED


def test_rules_may_be_stricter(council: Council) -> None:
    council.rules = CouncilRules(least_voters=4, retries=0)
    council.desk = council.new_desk()
    round_ = council.to(Phase.VOTE)
    first = council.candidate_of(round_, Seat.CHAIR)
    after = council.vote(round_, {first: GOOD}, absent=(Seat.VIZIER,))
    assert _ends(after) == (Phase.NO_QUORUM, False)


def test_the_topic_of_a_round_that_is_over_can_be_opened_again(council: Council) -> None:
    first = council.sprint(council.open(), ())
    second = council.open()
    assert second.id != first.id
    assert second.topic_id == TOPIC_ID
