"""Place and likeness: found where they were planted, not where they were not."""

from collections.abc import Sequence
from random import Random

import pytest

from salon.core.absent import Absent
from salon.council.bias import Slope, position_bias, self_preference
from salon.council.rounds import Round, Verdict
from salon.council.seats import Seat
from tests.council.made_rounds import candidate, card, draft_id, made_round, vote


def _rounds(
    count: int, *, per_place: float = 0.0, per_likeness: float = 0.0, only: Seat | None = None
) -> list[Round]:
    """Return rounds with drafts of different worth, strict and mild voters, and a planted bias."""
    random = Random(11)
    found = []
    for number in range(count):
        cites = {seat: set(random.sample("abcdefgh", 4)) for seat in Seat}
        drafts = [candidate(draft_id(seat), seat, cites=sorted(cites[seat])) for seat in Seat]
        worth = {seat: random.uniform(4, 8) for seat in Seat}
        mild = {seat: random.uniform(-1, 1) for seat in Seat}
        votes = []
        for voter in Seat:
            shown = [seat for seat in Seat if seat is not voter]
            random.shuffle(shown)
            for place, author in enumerate(shown, start=1):
                alike = len(cites[voter] & cites[author]) / len(cites[voter])
                moved = per_place * (place - 2.5) + per_likeness * alike
                planted = moved if only in {None, voter} else 0.0
                grade = worth[author] + mild[voter] + planted
                scores = [min(10, max(1, round(grade + random.gauss(0, 0.4)))) for _ in range(3)]
                votes.append(vote(voter, draft_id(author), card(*scores), position=place))
        found.append(made_round(drafts, votes, id_=f"round_{number}"))
    return found


def _slope(found: Slope | Absent) -> Slope:
    assert not isinstance(found, Absent)
    return found


def test_without_bias_the_interval_holds_zero() -> None:
    rounds = _rounds(20)
    for found in (_slope(position_bias(rounds)), _slope(self_preference(rounds))):
        assert found.low < 0 < found.high
        assert not found.is_beyond_noise
        assert found.grades == 400


@pytest.mark.parametrize("planted", [-0.4, 0.4])
def test_a_planted_position_bias_is_found_with_its_size(planted: float) -> None:
    found = _slope(position_bias(_rounds(20, per_place=planted)))
    assert found.is_beyond_noise
    assert found.low < planted < found.high


def test_a_planted_preference_for_ones_own_sources_is_found() -> None:
    found = _slope(self_preference(_rounds(30, per_likeness=2.0)))
    assert found.is_beyond_noise
    assert found.points == pytest.approx(2.0, abs=0.4)


def test_one_biased_seat_is_told_from_the_others() -> None:
    rounds = _rounds(30, per_place=-0.6, only=Seat.MINER)
    assert _slope(position_bias(rounds, seat=Seat.MINER)).points == pytest.approx(-0.6, abs=0.15)
    assert not _slope(position_bias(rounds, seat=Seat.CHAIR)).points < -0.3
    fond = _rounds(30, per_likeness=2.0, only=Seat.VIZIER)
    assert _slope(self_preference(fond, seat=Seat.VIZIER)).is_beyond_noise


@pytest.mark.parametrize("measure", [position_bias, self_preference], ids=["place", "likeness"])
def test_too_few_grades_say_nothing(measure: object) -> None:
    assert callable(measure)
    assert isinstance(measure([]), Absent)
    assert isinstance(measure(_rounds(1)), Absent)
    assert isinstance(measure(_rounds(1), seat=Seat.CHAIR), Absent)


def _same_place(rounds: Sequence[Round]) -> list[Round]:
    return [
        made_round(
            one.candidates,
            [vote(v.seat, v.candidate, v.scores, position=1) for v in one.votes],
            id_=one.id,
        )
        for one in rounds
    ]


def test_where_every_voter_saw_the_same_nothing_can_be_told() -> None:
    found = position_bias(_same_place(_rounds(20)))
    assert isinstance(found, Absent)
    assert "differs" in found.reason


def test_ratifications_and_voters_without_a_draft_are_left_out() -> None:
    rounds = _rounds(20)
    fusion = candidate("fusion", Seat.CHAIR, Seat.MINER, is_fusion=True)
    extra = made_round(
        [fusion, candidate("d", Seat.AUDITOR)],
        [
            vote(Seat.VIZIER, "fusion", 9, verdict=Verdict.UP),
            vote(Seat.VIZIER, "d", 9),  # nobody else graded it, and the voter has no draft
        ],
        id_="round_x",
    )
    before, after = _slope(self_preference(rounds)), _slope(self_preference([*rounds, extra]))
    assert before == after
    alone = _slope(position_bias([*rounds, extra], seat=Seat.VIZIER))
    assert alone == _slope(position_bias(rounds, seat=Seat.VIZIER))
