"""The desk: what seats may do to a round, what is refused, and what is left behind."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product

import pytest

from salon.core.errors import (
    CardInUse,
    InvalidInput,
    NotAllowed,
    RoundNotFound,
    SalonError,
)
from salon.council.desk import Lineup
from salon.council.keeping import BALLOT, CRITIQUE
from salon.council.naming import ballot_handle, critique_handle, return_handle, staging_handle
from salon.council.phases import Skill
from salon.council.rounds import Phase, Round, Scorecard, Verdict
from salon.council.rules import CouncilRules, TextLimits
from salon.council.seats import Seat
from tests.council.desks import (
    FAIR,
    GOOD,
    TOPIC,
    TOPIC_ID,
    Council,
    handles,
    moves,
)

BAD = "# A garden\n\n## Claims\n\nAll wells are wet.\n"
OTHERS = tuple(seat for seat in Seat if seat is not Seat.CHAIR)


def _unchanged(council: Council, act: Callable[[], object], error: type[SalonError]) -> SalonError:
    """Expect a refusal, and that nothing at all was written."""
    before = council.archive.stats()
    with pytest.raises(error) as caught:
        act()
    assert council.archive.stats() == before
    return caught.value


# Opening and finding


def test_an_id_that_belongs_to_another_topic_is_not_taken_from_it(council: Council) -> None:
    """As rounds of old could share one: signs were left out of ids."""
    council.desk.open("C++", topic_id="c", holders={})
    refused = _unchanged(council, lambda: council.desk.open("C", holders={}), NotAllowed)
    assert refused.message == "the id c belongs to another topic: C++"
    assert council.desk.open("C#", holders={}).topic_id != "c"


def test_a_topic_is_the_same_however_it_is_spelled_and_a_given_id_is_taken_at_its_word(
    council: Council,
) -> None:
    council.publish()
    again = council.desk.open(f"{TOPIC.upper()}?", holders={})
    assert again.topic_id == TOPIC_ID
    for seat in Seat:
        council.desk.mark_absent(again.id, seat, "asleep")
    assert council.desk.advance(again.id).is_over
    assert council.desk.open("Gardens", topic_id=TOPIC_ID, holders={}).topic_id == TOPIC_ID


def test_a_round_opens_in_the_sprint_with_every_seat_due(council: Council) -> None:
    round_ = council.open()
    assert (round_.phase, round_.topic, round_.topic_id) == (Phase.SPRINT, TOPIC, TOPIC_ID)
    for seat in Seat:
        brief = council.desk.brief(seat, round_.id)
        assert brief.due == ("draft",)
        assert (brief.peers, brief.own, brief.reasons) == ((), None, ())
    [opened] = moves(council.archive, round_.id)
    assert (opened["act"], opened["by"], opened["phase"]) == ("open", "system", "sprint")


BAD_TOPIC_IDS = (
    "", "A", "-a", "a-", "a/b", "../completed/x", "a b", "a.b", "x" * 65, "ä", "a\n", "record/",
)  # fmt: skip


def test_an_id_that_could_lead_elsewhere_is_no_topic_id(council: Council) -> None:
    for topic_id in BAD_TOPIC_IDS:
        _unchanged(
            council,
            partial(council.desk.open, TOPIC, topic_id=topic_id, holders={}),
            InvalidInput,
        )


def test_a_topic_gets_an_id_from_its_words(council: Council) -> None:
    for topic, topic_id in (
        ("  Packet   Switching, 1964! ", "packet-switching-1964"),
        ("Über Gärten", "uber-garten"),
        ("庭と井戸", "topic-"),
    ):
        round_ = council.desk.open(topic, holders={})
        assert round_.topic_id.startswith(topic_id)
        assert round_.topic == " ".join(topic.split())


def test_a_topic_is_words_and_not_many(council: Council) -> None:
    for topic in ("", "  ", "x" * 301, "half \udc80"):
        _unchanged(council, partial(council.desk.open, topic, holders={}), InvalidInput)


def test_one_round_at_a_time_on_a_topic(council: Council) -> None:
    first = council.open()
    error = _unchanged(council, council.open, NotAllowed)
    assert first.id in error.message
    other = council.open("another-garden")
    assert [one.id for one in council.desk.rounds()] == [other.id, first.id]


def test_an_unknown_round_is_not_found(council: Council) -> None:
    for round_id in ("round_0", "", "../x", "round_" + "a" * 50):
        with pytest.raises((RoundNotFound, InvalidInput)):
            council.desk.get(round_id)


# Submitting


@pytest.mark.requirement("council/submit-candidate/enters-the-sprint")
def test_a_submitted_draft_joins_the_pool_and_gets_an_id(council: Council) -> None:
    round_ = council.open()
    taken = council.desk.submit_candidate(Seat.MINER, council.draft(Seat.MINER), topic_id=TOPIC_ID)
    assert (taken.status, taken.failings) == ("awaiting_peer_review", ())
    [pooled] = council.desk.get(round_.id).standing
    assert (pooled.id, pooled.authors) == (taken.candidate_id, (Seat.MINER,))
    written = council.draft(Seat.MINER).rstrip("\n").split("\n")
    stored = council.desk.text(pooled.text).rstrip("\n").split("\n")
    tail = " \u2014 Rules of the Garden, 1901"
    assert stored == [f"{one}{tail}" if one.startswith("[^") else one for one in written]
    for seat in (one for one in Seat if one is not Seat.MINER):
        council.desk.submit_candidate(seat, council.draft(seat), topic_id=TOPIC_ID)
    council.desk.advance(round_.id)
    assert taken.candidate_id in council.desk.brief(Seat.CHAIR, round_.id).due
    council.desk.peer_review(Seat.CHAIR, taken.candidate_id, "others refer to it by this id")


@pytest.mark.requirement("council/submit-candidate/staging-only")
def test_a_submission_writes_to_staging_and_nowhere_else(council: Council) -> None:
    council.open()
    before = handles(council.archive)
    taken = council.desk.submit_candidate(Seat.MINER, council.draft(), topic_id=TOPIC_ID)
    after = handles(council.archive)
    changed = {name for name in after if after[name] != before.get(name)}
    round_id = council.desk.rounds()[0].id
    assert changed == {staging_handle(taken.candidate_id), f"council/rounds/{round_id}"}
    assert not council.archive.documents_of(after[staging_handle(taken.candidate_id)])


def test_a_seat_has_one_draft_in_a_sprint(council: Council) -> None:
    council.open()
    council.desk.submit_candidate(Seat.CHAIR, council.draft(), topic_id=TOPIC_ID)
    _unchanged(
        council,
        lambda: council.desk.submit_candidate(Seat.CHAIR, council.draft(salt=2), topic_id=TOPIC_ID),
        NotAllowed,
    )


def test_what_fails_the_checks_goes_back_is_kept_and_may_be_tried_again(council: Council) -> None:
    round_ = council.open()
    back = council.desk.submit_candidate(Seat.CHAIR, BAD, topic_id=TOPIC_ID)
    assert back.status == "sent_back"
    assert [one.code for one in back.failings] == ["no_citation"]
    now = council.desk.get(round_.id)
    assert now.candidates == ()
    [returned] = now.returns
    assert council.desk.text(returned.text) == BAD
    handle = return_handle(round_.id, returned.id)
    assert council.archive.resolve(handle).current == returned.text
    last = moves(council.archive, round_.id)[-1]
    assert (last["rule"], last["artefact"], last["by"]) == ("sent_back", returned.report, "seat I")
    brief = council.desk.brief(Seat.CHAIR, round_.id)
    assert brief.failings == back.failings
    assert brief.due == ("draft",)
    taken = council.desk.submit_candidate(Seat.CHAIR, council.draft(), topic_id=TOPIC_ID)
    assert taken.candidate_id == back.candidate_id
    assert council.desk.brief(Seat.CHAIR, round_.id).failings == ()


def test_a_flood_of_bad_texts_ends(council: Council) -> None:
    council.rules = CouncilRules(limits=TextLimits(returns=2))
    council.desk = council.new_desk()
    round_ = council.open()
    for _ in range(2):
        assert council.desk.brief(Seat.CHAIR, round_.id).due == ("draft",)
        council.desk.submit_candidate(Seat.CHAIR, BAD, topic_id=TOPIC_ID)
    [gone] = council.desk.get(round_.id).absences
    assert (gone.seat, gone.reason) == (Seat.CHAIR, "the checks sent back 2 of its texts")
    assert council.desk.brief(Seat.CHAIR, round_.id).due == (), "nobody waits for it"
    _unchanged(
        council,
        lambda: council.desk.submit_candidate(Seat.CHAIR, council.draft(), topic_id=TOPIC_ID),
        NotAllowed,
    )


def test_a_text_that_is_far_too_long_or_no_text_is_refused(council: Council) -> None:
    council.open()
    for text in ("x" * 240_001, "half a character \udc80"):
        _unchanged(
            council,
            partial(council.desk.submit_candidate, Seat.CHAIR, text, topic_id=TOPIC_ID),
            InvalidInput,
        )


def test_a_refined_text_takes_the_place_of_the_draft_under_the_same_id(council: Council) -> None:
    round_ = council.to(Phase.REFINEMENT)
    [before] = [one for one in round_.standing if one.authors == (Seat.CHAIR,)]
    back = council.desk.submit_candidate(Seat.CHAIR, BAD, topic_id=TOPIC_ID)
    assert back.candidate_id == before.id
    still = council.desk.get(round_.id).find_own(Seat.CHAIR)
    assert still is not None
    assert still.text == before.text, "the draft stands until something better passes"
    taken = council.desk.submit_candidate(Seat.CHAIR, council.draft(salt=3), topic_id=TOPIC_ID)
    after = council.desk.get(round_.id).find_own(Seat.CHAIR)
    assert after is not None
    assert taken.candidate_id == after.id == before.id
    assert (after.is_refined, after.text != before.text) == (True, True)
    _unchanged(
        council,
        lambda: council.desk.submit_candidate(Seat.CHAIR, council.draft(), topic_id=TOPIC_ID),
        NotAllowed,
    )


def test_the_round_that_is_meant_must_be_on_the_topic(council: Council) -> None:
    round_ = council.open()
    council.open("another-garden")
    for topic_id, round_id, error in (
        ("another-garden", round_.id, InvalidInput),
        ("no-such-topic", None, RoundNotFound),
        (TOPIC_ID, "round_none", RoundNotFound),
        ("../completed", None, InvalidInput),
    ):
        _unchanged(
            council,
            partial(
                council.desk.submit_candidate,
                Seat.CHAIR,
                council.draft(),
                topic_id=topic_id,
                round_id=round_id,
            ),
            error,
        )


# Reviewing


@pytest.mark.requirement("council/peer-review/peers-only")
def test_a_seat_criticises_its_peers_once_each_and_never_itself(council: Council) -> None:
    round_ = council.to(Phase.CRITIQUE)
    own = council.candidate_of(round_, Seat.CHAIR)
    peer = council.candidate_of(round_, Seat.MINER)
    assert own not in council.desk.brief(Seat.CHAIR, round_.id).due
    review = council.desk.peer_review
    _unchanged(council, lambda: review(Seat.CHAIR, own, "splendid"), NotAllowed)
    assert review(Seat.CHAIR, peer, "too short").status == "sent"
    _unchanged(council, lambda: review(Seat.CHAIR, peer, "still too short"), NotAllowed)
    for forged in (
        peer[:-4] + "0000",
        "round_none.draft_1",
        f"{peer}-1",
        "../completed/x",
        "",
        round_.id,
    ):
        _unchanged(council, partial(review, Seat.MINER, forged, "x"), InvalidInput)


@pytest.mark.requirement("council/peer-review/critique-ledger")
def test_a_critique_is_in_the_ledger_and_touches_nothing_else(council: Council) -> None:
    round_ = council.to(Phase.CRITIQUE)
    peer = council.candidate_of(round_, Seat.MINER)
    before = handles(council.archive)
    sent = council.desk.peer_review(Seat.CHAIR, peer, "name the year of the well")
    after = handles(council.archive)
    ledger = critique_handle(round_.id, sent.review_id)
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {ledger, f"council/rounds/{round_.id}"}
    entry = CRITIQUE.read(council.archive.get(after[ledger]).content).critique
    assert (entry.seat, entry.candidate) == (Seat.CHAIR, peer)
    assert council.desk.text(entry.feedback) == "name the year of the well"
    with pytest.raises(CardInUse):
        council.archive.write(lambda tx: tx.delete(entry.feedback, reason="unwelcome"))
    now = council.desk.get(round_.id)
    assert replace(now, critiques=(), touched_at="") == replace(round_, touched_at="")


def test_a_critique_is_text_and_not_too_much(council: Council) -> None:
    round_ = council.to(Phase.CRITIQUE)
    peer = council.candidate_of(round_, Seat.MINER)
    for feedback in ("", " \n", "x" * 8_001, "half \udc80"):
        _unchanged(
            council,
            partial(council.desk.peer_review, Seat.CHAIR, peer, feedback),
            InvalidInput,
        )


# Voting


@pytest.mark.requirement("council/cast-vote/peers-only")
def test_nobody_votes_on_their_own_draft(council: Council) -> None:
    round_ = council.to(Phase.VOTE)
    for seat in Seat:
        own = council.candidate_of(round_, seat)
        assert own not in council.desk.brief(seat, round_.id).due
        assert len(council.desk.brief(seat, round_.id).due) == 4
        _unchanged(
            council,
            partial(council.desk.cast_vote, seat, own, GOOD, "mine"),
            NotAllowed,
        )


@pytest.mark.requirement("council/cast-vote/consensus-ledger")
def test_a_vote_is_in_the_ledger_with_its_rationale_once_per_seat_and_draft(
    council: Council,
) -> None:
    round_ = council.to(Phase.VOTE)
    peer = council.candidate_of(round_, Seat.MINER)
    text = round_.find_candidate(peer)
    assert text is not None
    before = handles(council.archive)
    counted = council.desk.cast_vote(Seat.CHAIR, peer, GOOD, "well cited")
    after = handles(council.archive)
    ledger = ballot_handle(round_.id, counted.vote_id)
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {ledger, f"council/rounds/{round_.id}"}
    ballot = BALLOT.read(council.archive.get(after[ledger]).content)
    assert (ballot.round, ballot.vote.seat, ballot.vote.scores) == (round_.id, Seat.CHAIR, GOOD)
    assert ballot.vote.text == text.text, "a ballot names the very text that was graded"
    assert council.desk.text(ballot.vote.rationale) == "well cited"
    _unchanged(
        council, lambda: council.desk.cast_vote(Seat.CHAIR, peer, FAIR, "on reflection"), NotAllowed
    )
    now = council.desk.get(round_.id)
    assert replace(now, votes=(), touched_at="") == replace(round_, touched_at="")


def test_a_vote_tells_the_average_so_far_and_whether_it_would_do(council: Council) -> None:
    round_ = council.to(Phase.VOTE)
    peer = council.candidate_of(round_, Seat.CHAIR)
    said = [council.desk.cast_vote(seat, peer, GOOD, "good") for seat in OTHERS[:2]]
    assert [(one.current_average, one.consensus_met) for one in said] == [(9, False), (9, False)]
    third = council.desk.cast_vote(OTHERS[2], peer, FAIR, "fair")
    assert third.current_average == pytest.approx(25 / 3)
    assert third.consensus_met
    low = Scorecard(accuracy=9, depth=9, pedagogy=4)
    assert not council.desk.cast_vote(OTHERS[3], peer, low, "dull").consensus_met


@pytest.mark.requirement("council/cast-vote/score-range")
def test_each_score_is_a_whole_number_from_one_to_ten(council: Council) -> None:
    round_ = council.to(Phase.VOTE)
    peer = council.candidate_of(round_, Seat.MINER)
    wrong: tuple[object, ...] = (0, 11, -1, 7.5, "8", True, None)
    for name, value in product(("accuracy", "depth", "pedagogy"), wrong):
        scores = replace(GOOD, **{name: value})  # type: ignore[arg-type]
        _unchanged(
            council,
            partial(council.desk.cast_vote, Seat.CHAIR, peer, scores, "x"),
            InvalidInput,
        )
    for edge in (1, 10):
        scores = Scorecard(accuracy=edge, depth=edge, pedagogy=edge)
        council.desk.cast_vote(
            Seat.CHAIR if edge == 1 else Seat.AUDITOR, peer, scores, "at the edge"
        )


def test_a_vote_has_a_rationale_and_no_verdict_on_a_draft(council: Council) -> None:
    round_ = council.to(Phase.VOTE)
    peer = council.candidate_of(round_, Seat.MINER)
    for rationale in ("", "  ", "x" * 4_001):
        _unchanged(
            council,
            partial(council.desk.cast_vote, Seat.CHAIR, peer, GOOD, rationale),
            InvalidInput,
        )
    _unchanged(
        council,
        lambda: council.desk.cast_vote(Seat.CHAIR, peer, GOOD, "yes", verdict=Verdict.UP),
        InvalidInput,
    )


def test_a_seat_on_probation_drafts_and_criticises_and_has_no_vote(council: Council) -> None:
    council.lineup = Lineup(on_probation=(Seat.VIZIER,))
    round_ = council.to(Phase.VOTE)
    assert council.desk.brief(Seat.VIZIER, round_.id).due == ()
    peer = council.candidate_of(round_, Seat.MINER)
    _unchanged(
        council, lambda: council.desk.cast_vote(Seat.VIZIER, peer, GOOD, "please"), NotAllowed
    )
    assert (
        council.candidate_of(round_, Seat.VIZIER) in council.desk.brief(Seat.CHAIR, round_.id).due
    )


def test_a_text_that_is_voted_on_cannot_change(council: Council) -> None:
    round_ = council.to(Phase.VOTE)
    peer = council.candidate_of(round_, Seat.MINER)
    council.desk.cast_vote(Seat.CHAIR, peer, GOOD, "as it stands")
    _unchanged(
        council,
        lambda: council.desk.submit_candidate(Seat.MINER, council.draft(salt=4), topic_id=TOPIC_ID),
        NotAllowed,
    )


def test_a_text_of_one_s_own_is_one_s_own_under_any_name(council: Council) -> None:
    round_ = council.to(Phase.REFINEMENT)
    desk = council.desk
    copied = council.draft(Seat.CHAIR)
    desk.submit_candidate(Seat.MINER, copied, topic_id=TOPIC_ID)
    voting = council.refine(round_)
    copy = council.candidate_of(voting, Seat.MINER)
    assert copy not in desk.brief(Seat.CHAIR, round_.id).due
    assert copy not in [one.id for one in desk.brief(Seat.CHAIR, round_.id).peers]
    _unchanged(council, lambda: desk.cast_vote(Seat.CHAIR, copy, GOOD, "my words"), NotAllowed)
    desk.cast_vote(Seat.AUDITOR, copy, GOOD, "not mine")


# Permissions


@pytest.mark.requirement("council/registry/all-seats")
def test_each_seat_has_each_skill_and_whoever_has_no_seat_has_none(council: Council) -> None:
    round_ = council.to(Phase.CRITIQUE)
    peer = council.candidate_of(round_, Seat.MINER)
    desk, text = council.desk, council.draft()
    for stranger in ("VI", "system", "", "i", "I ", "1"):
        nobody: Seat = stranger  # type: ignore[assignment]
        for act in (
            lambda who=nobody: desk.submit_candidate(who, text, topic_id=TOPIC_ID),
            lambda who=nobody: desk.peer_review(who, peer, "x"),
            lambda who=nobody: desk.submit_fusion(who, ("I", "II"), text, round_id=round_.id),
            lambda who=nobody: desk.cast_vote(who, peer, GOOD, "x"),
            lambda who=nobody: desk.brief(who, round_.id),
        ):
            error = _unchanged(council, act, NotAllowed)
            assert "not a seat" in error.message
    done = {
        (entry["seat"], entry["act"])
        for topic_id in ("first", "second")
        for entry in moves(council.archive, _to_the_end(council, topic_id).id)
    }
    for seat in Seat:
        for skill in (Skill.SUBMIT_CANDIDATE, Skill.PEER_REVIEW, Skill.CAST_VOTE):
            assert (seat, skill) in done


def _to_the_end(council: Council, topic_id: str) -> Round:
    return council.vote(council.to(Phase.RATIFICATION, topic_id), default=GOOD)


@pytest.mark.parametrize("phase", [one for one in Phase if one is not Phase.NO_QUORUM])
def test_a_skill_outside_its_phase_is_refused_and_changes_nothing(
    council: Council, phase: Phase
) -> None:
    round_ = council.publish() if phase is Phase.PUBLISHED else council.to(phase)
    known = council.desk.get(round_.id).candidates
    target = known[-1].id if known else "round_x.draft_1"
    stranger = next(seat for seat in Seat if not known or seat not in known[-1].authors)
    desk = council.desk
    acts: dict[Skill, Callable[[], object]] = {
        Skill.SUBMIT_CANDIDATE: lambda: desk.submit_candidate(
            Seat.CHAIR, council.draft(salt=6), topic_id=TOPIC_ID
        ),
        Skill.PEER_REVIEW: lambda: desk.peer_review(stranger, target, "late"),
        Skill.CAST_VOTE: lambda: desk.cast_vote(stranger, target, GOOD, "early"),
        Skill.SUBMIT_FUSION: lambda: desk.submit_fusion(
            Seat.CHAIR, ("I", "II"), council.draft(salt=6), round_id=round_.id
        ),
    }
    allowed = {
        Phase.SPRINT: {Skill.SUBMIT_CANDIDATE},
        Phase.CRITIQUE: {Skill.PEER_REVIEW},
        Phase.REFINEMENT: {Skill.SUBMIT_CANDIDATE},
        Phase.VOTE: {Skill.CAST_VOTE},
        Phase.RUNOFF: {Skill.SUBMIT_FUSION},
        Phase.RATIFICATION: {Skill.CAST_VOTE},
    }.get(phase, set())
    for skill, act in acts.items():
        if skill in allowed:
            continue
        before = council.archive.stats()
        with pytest.raises((NotAllowed, InvalidInput)):
            act()
        assert council.archive.stats() == before
    for skill in allowed:
        acts[skill]()
