"""Souls: retired by four others, written by all four, with nobody else having a say."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from salon.core.errors import InvalidInput, LimitReached, NotAllowed
from salon.core.hashing import CardHash, content_hash
from salon.council.rounds import Verdict
from salon.council.seats import Seat
from salon.council.souls import (
    LONGEST_SOUL,
    MOST_SUBMISSIONS,
    Evolution,
    Stage,
    as_goal,
    as_soul_text,
    find_agreed,
    give_birth,
    propose,
    take_text,
    take_vote,
    without_vote,
)

CHAIR, MINER, AUDITOR, PROFESSOR, VIZIER = Seat
SURVIVORS = (CHAIR, MINER, AUDITOR, PROFESSOR)
OLD = content_hash(b"old")


def _start() -> Evolution:
    return Evolution(
        souls={seat.value: OLD for seat in Seat}, versions={seat.value: 1 for seat in Seat}
    )


def _voting() -> Evolution:
    return propose(
        _start(),
        VIZIER,
        review="evolution_1",
        finished=100,
        blind_spots=("late",),
        goal="g",
        due_at="later",
    )


def _vote(state: Evolution, seat: Seat, verdict: Verdict = Verdict.UP) -> Evolution:
    return take_vote(state, seat, verdict, needed=4, at="now", vacant_until="much later")


def _text(state: Evolution, seat: Seat, text: str) -> Evolution:
    return take_text(state, seat, text, goal="", past={OLD: "v1 of seat V"}, at="now")


def _vacant() -> Evolution:
    state = _voting()
    for seat in SURVIVORS:
        state = _vote(state, seat)
    return state


def test_the_four_others_vote_and_all_of_them_are_needed() -> None:
    state = _voting()
    assert state.survivors == SURVIVORS
    for seat in SURVIVORS[:3]:
        state = _vote(state, seat)
        assert state.stage is Stage.VOTING
    assert state.waiting_for() == (PROFESSOR,)
    state = _vote(state, PROFESSOR)
    assert (state.stage, state.vacant, state.due_at) == (Stage.VACANT, VIZIER, "much later")
    assert VIZIER not in state.souls
    assert state.souls[CHAIR] == OLD


def test_one_down_keeps_the_seat() -> None:
    state = _vote(_voting(), CHAIR, Verdict.DOWN)
    assert (state.stage, state.subject, state.reviewed) == (Stage.SETTLED, None, 100)
    assert state.souls == _start().souls
    with pytest.raises(
        NotAllowed, match=r"no seat is put to the vote; .*seat V stays: I voted Down"
    ):
        _vote(state, MINER)


def test_the_retired_seat_and_a_second_vote_are_refused() -> None:
    with pytest.raises(NotAllowed, match="no say in its own succession"):
        _vote(_voting(), VIZIER)
    once = _vote(_voting(), CHAIR)
    with pytest.raises(NotAllowed, match="has voted already"):
        _vote(once, CHAIR)
    with pytest.raises(NotAllowed, match="no seat is put to the vote"):
        _vote(_vacant(), CHAIR)


@pytest.mark.requirement("council/synthesize-soul/survivors-only")
def test_a_soul_is_agreed_on_when_all_four_have_submitted_exactly_it() -> None:
    state = _vacant()
    for seat in SURVIVORS:
        assert find_agreed(state, least=3) is None
        state = _text(state, seat, "A soul.\n")
    agreed = find_agreed(state, least=3)
    assert agreed is not None
    assert agreed.by is CHAIR
    born = give_birth(state, agreed, vote_after=110)
    assert born.souls[VIZIER] == content_hash(b"A soul.\n")
    assert born.versions[VIZIER] == 2
    assert (born.stage, born.subject) == (Stage.SETTLED, None)
    assert born.ended == "seat V has a new soul by I, II, III and IV"
    assert without_vote(born, 109) == (VIZIER,)
    assert without_vote(born, 110) == ()


@pytest.mark.requirement("council/synthesize-soul/survivors-only")
def test_a_retired_seat_writes_nothing_and_without_a_vacancy_nobody_does() -> None:
    with pytest.raises(NotAllowed, match="no say"):
        _text(_vacant(), VIZIER, "I stay.\n")
    for state in (_start(), _voting()):
        with pytest.raises(NotAllowed, match="no seat is vacant"):
            _text(state, CHAIR, "A soul.\n")


def test_a_changed_text_has_none_of_the_consent_to_the_old_one() -> None:
    state = _vacant()
    for seat in SURVIVORS[:3]:
        state = _text(state, seat, "A soul.\n")
    forged = _text(state, PROFESSOR, "A soul, forged.\n")
    assert find_agreed(forged, least=3) is None, "until the time is over all four must agree"
    assert [one.endorsed_by for one in forged.proposals] == [SURVIVORS[:3], (PROFESSOR,)]
    assert forged.waiting_for() == (PROFESSOR,)
    moved = _text(forged, CHAIR, "A soul, forged.\n")
    assert [one.endorsed_by for one in moved.proposals] == [(MINER, AUDITOR), (PROFESSOR, CHAIR)]


def test_a_proposal_that_nobody_holds_any_more_is_gone() -> None:
    state = _text(_text(_vacant(), CHAIR, "One.\n"), CHAIR, "Two.\n")
    (only,) = state.proposals
    assert only.text == content_hash(b"Two.\n")
    assert _vacant().waiting_for() == SURVIVORS


def test_a_replay_changes_nothing_and_a_flood_is_stopped() -> None:
    state = _text(_vacant(), CHAIR, "A soul.\n")
    assert _text(state, CHAIR, "A soul.\n") is state
    for number in range(MOST_SUBMISSIONS - 1):
        state = _text(state, CHAIR, f"{number}\n")
    with pytest.raises(LimitReached):
        _text(state, CHAIR, "one more\n")
    assert _text(state, MINER, "mine\n").submissions[MINER] == 1


def test_a_retired_soul_does_not_return() -> None:
    with pytest.raises(NotAllowed, match="v1 of seat V again"):
        _text(_vacant(), CHAIR, "old")


def test_a_vacant_seat_has_no_vote_in_rounds() -> None:
    assert without_vote(_vacant(), 1_000) == (VIZIER,)
    assert without_vote(_voting(), 0) == ()


def test_which_rounds_are_under_review() -> None:
    settled = replace(_start(), reviewed=100)
    assert settled.under_review(130) == slice(100, 130)
    open_ = propose(settled, VIZIER, review="e", finished=200, blind_spots=(), goal="", due_at="d")
    assert open_.under_review(230) == slice(100, 200)


@pytest.mark.parametrize("text", ["", " \n\t ", "a" * (LONGEST_SOUL + 1), "a\u202eb", "a\x00b"])
def test_what_cannot_be_a_soul(text: str) -> None:
    with pytest.raises(InvalidInput):
        as_soul_text(text)


@given(st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=200))
def test_a_kept_soul_reads_the_same_when_it_is_kept_again(text: str) -> None:
    if text.strip():
        kept = as_soul_text(text)
        assert as_soul_text(kept) == kept
        assert as_soul_text(text.replace("\n", "\r\n")) == kept
        assert kept.endswith("\n")


def test_goals_are_one_line() -> None:
    assert as_goal(None) == ""
    assert as_goal(" a \n b ") == "a b"
    with pytest.raises(InvalidInput):
        as_goal("a" * 301)


class HostileSuccession(RuleBasedStateMachine):
    """Any seat tries anything at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.state = _voting()
        self.said: dict[Seat, CardHash] = {}

    @rule(seat=st.sampled_from(Seat), verdict=st.sampled_from([Verdict.UP, *Verdict]))
    def vote(self, seat: Seat, verdict: Verdict) -> None:
        try:
            self.state = _vote(self.state, seat, verdict)
        except NotAllowed:
            return

    @rule(seat=st.sampled_from(Seat), text=st.sampled_from(["a\n", "b\n", "old"]))
    def submit(self, seat: Seat, text: str) -> None:
        try:
            self.state = _text(self.state, seat, text)
        except (NotAllowed, LimitReached):
            return
        self.said[seat] = content_hash(text.encode())
        agreed = find_agreed(self.state, least=3)
        if agreed is not None:
            assert all(self.said[one] == agreed.text for one in SURVIVORS)
            assert VIZIER not in self.said
            self.state = propose(
                give_birth(self.state, agreed, vote_after=10),
                VIZIER,
                review="again",
                finished=200,
                blind_spots=(),
                goal="",
                due_at="later",
            )
            self.said = {}

    @invariant()
    def a_vacancy_has_four_votes(self) -> None:
        if self.state.stage is Stage.VACANT:
            up = {one.seat for one in self.state.votes if one.verdict is Verdict.UP}
            assert up == set(SURVIVORS)

    @invariant()
    def consent_is_what_a_seat_said_last(self) -> None:
        for one in self.state.proposals if self.state.stage is Stage.VACANT else ():
            assert all(self.said[seat] == one.text for seat in one.endorsed_by)


TestHostileSuccession = HostileSuccession.TestCase
TestHostileSuccession.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
