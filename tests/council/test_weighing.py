"""How heavy a seat's vote becomes by what its chapters came to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.hashing import content_hash
from salon.council.ballots import tally
from salon.council.rounds import Round, Verdict
from salon.council.seats import Seat
from salon.council.weighing import (
    Graded,
    Reliability,
    graded,
    is_approval,
    reliabilities,
    seat_weights,
)
from tests.council.made_rounds import candidate, card, made_round, vote

SOUL = content_hash(b"soul")
history = st.lists(
    st.builds(Graded, seat=st.sampled_from(Seat), approved=st.booleans(), held=st.booleans())
)


def test_with_no_history_every_seat_weighs_one() -> None:
    assert seat_weights([]) == {seat: pytest.approx(1.0) for seat in Seat}


@given(history)
def test_weights_are_never_negative_and_one_seats_record_is_its_own(found: list[Graded]) -> None:
    weights = seat_weights(found)
    assert set(weights) == set(Seat)
    assert min(weights.values()) >= 0
    for seat in Seat:
        alone = seat_weights([one for one in found if one.seat is seat])
        assert weights[seat] == alone[seat]


@given(history, st.sampled_from(Seat), st.booleans())
def test_being_right_never_makes_a_seat_lighter(
    found: list[Graded], seat: Seat, held: bool
) -> None:
    before = reliabilities(found)[seat]
    right = reliabilities([*found, Graded(seat=seat, approved=held, held=held)])[seat]
    wrong = reliabilities([*found, Graded(seat=seat, approved=not held, held=held)])[seat]
    assert wrong.log_odds < before.log_odds < right.log_odds


def test_who_approves_everything_has_told_nothing() -> None:
    careful = Reliability(seat=Seat.CHAIR, approved_held=8, refused_failed=8)
    always = Reliability(seat=Seat.MINER, approved_held=8, approved_failed=8)
    backwards = Reliability(seat=Seat.AUDITOR, approved_failed=8, refused_held=8)
    assert careful.weight > 2
    assert always.weight < 0.25
    assert backwards.weight == 0
    assert backwards.log_odds < 0
    assert (careful.right, careful.outcomes) == (16, 16)
    assert (backwards.right, backwards.outcomes) == (0, 16)


def test_an_approval_is_what_would_have_published() -> None:
    assert is_approval(vote(Seat.CHAIR, "a", 8))
    assert not is_approval(vote(Seat.CHAIR, "a", card(10, 10, 4)))
    assert not is_approval(vote(Seat.CHAIR, "a", 7))
    assert is_approval(vote(Seat.CHAIR, "a", 7, verdict=Verdict.UP))
    assert not is_approval(vote(Seat.CHAIR, "a", 9, verdict=Verdict.DOWN))


def _published(**rest: object) -> Round:
    return made_round(
        [candidate("a", Seat.CHAIR), candidate("b", Seat.MINER)],
        [
            vote(Seat.MINER, "a", 9),
            vote(Seat.AUDITOR, "a", 4),
            vote(Seat.AUDITOR, "b", 9),
        ],
        published="a",
        souls={Seat.MINER.value: SOUL},
        **rest,  # type: ignore[arg-type]
    )


def test_only_votes_on_published_chapters_with_an_outcome_count() -> None:
    rounds = [_published(id_="round_1"), _published(id_="round_2"), made_round(id_="round_3")]
    found = graded(rounds, {"round_1": False, "round_3": True})
    assert found == [
        Graded(seat=Seat.MINER, approved=True, held=False),
        Graded(seat=Seat.AUDITOR, approved=False, held=False),
    ]
    weights = seat_weights(found)
    assert weights[Seat.AUDITOR] > 1 > weights[Seat.MINER]
    (best, _) = tally(rounds[0], weights=weights)
    assert best.candidate == "b"


def test_a_new_soul_does_not_inherit_a_record() -> None:
    held = {"round_1": True}
    same = {Seat.MINER: SOUL}
    other = {Seat.MINER: content_hash(b"other")}
    assert [one.seat for one in graded([_published()], held, souls=same)] == [
        Seat.MINER,
        Seat.AUDITOR,
    ]
    assert [one.seat for one in graded([_published()], held, souls=other)] == [Seat.AUDITOR]
