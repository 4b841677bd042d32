"""The matrix: what each seat did, and who is weakest."""

from dataclasses import replace

import pytest

from salon.core.absent import Absent
from salon.core.hashing import content_hash
from salon.council.performance import (
    Performance,
    blind_spots,
    goal_of,
    matrix,
    verdict_on,
    weakest,
)
from salon.council.rounds import Absence, Phase, Returned, Round, Verdict
from salon.council.seats import Seat
from salon.council.weighing import reliabilities
from tests.council.made_rounds import candidate, draft_id, finished_round, made_round, vote

CHAIR, MINER, AUDITOR, PROFESSOR, VIZIER = Seat


def _rows(*rounds: Round) -> dict[Seat, Performance]:
    return {row.seat: row for row in matrix(rounds, reliabilities([]))}


def test_the_matrix_counts_what_happened() -> None:
    gone = Absence(seat=MINER, phase=Phase.VOTE, attempt=0, reason="late")
    back = Returned(
        id="r",
        seat=AUDITOR,
        candidate="c",
        text=content_hash(b"t"),
        report=content_hash(b"r"),
        phase=Phase.SPRINT,
        attempt=0,
    )
    round_ = replace(finished_round(1), absences=(gone, gone), returns=(back,))
    rows = _rows(round_, made_round(id_="round_open"))
    assert rows[CHAIR].rounds == 1, "a round that goes on does not count yet"
    assert (rows[CHAIR].wins, rows[CHAIR].publications) == (1, 1)
    assert rows[CHAIR].mean_score == pytest.approx(9)
    assert rows[VIZIER].mean_score == pytest.approx(3)
    assert (rows[MINER].absences, rows[AUDITOR].checks_failed, rows[AUDITOR].drafts) == (1, 1, 1)
    assert rows[CHAIR].agreement == 1.0
    assert rows[AUDITOR].parts["checks"] == 0.5
    assert rows[MINER].parts["presence"] == 0.0


def test_a_draft_counts_once_however_often_it_was_voted_on() -> None:
    drafts = [candidate("a", CHAIR), candidate("a-1", CHAIR, attempt=1)]
    votes = [vote(MINER, "a", 4), vote(MINER, "a-1", 8, attempt=1)]
    rows = _rows(made_round(drafts, votes, attempt=1, phase=Phase.NO_QUORUM))
    assert rows[CHAIR].drafts == 1
    assert rows[CHAIR].mean_score == pytest.approx(6)
    assert rows[CHAIR].publications == 0


def test_agreement_is_with_the_others_order_and_with_what_was_ratified() -> None:
    drafts = [candidate(draft_id(seat), seat) for seat in (CHAIR, MINER)]
    fusion = candidate("fusion", CHAIR, MINER, is_fusion=True)
    votes = [
        vote(AUDITOR, draft_id(CHAIR), 9),
        vote(AUDITOR, draft_id(MINER), 5),
        vote(PROFESSOR, draft_id(CHAIR), 5),
        vote(PROFESSOR, draft_id(MINER), 8),
        vote(VIZIER, draft_id(CHAIR), 9),
        vote(VIZIER, draft_id(MINER), 4),
        vote(AUDITOR, "fusion", 9, verdict=Verdict.UP),
        vote(PROFESSOR, "fusion", 9, verdict=Verdict.DOWN),
    ]
    rows = _rows(made_round([*drafts, fusion], votes, published="fusion"))
    assert rows[PROFESSOR].agreement == 0.0
    assert rows[VIZIER].agreement == 1.0
    assert isinstance(rows[CHAIR].agreement, Absent)
    assert (rows[CHAIR].publications, rows[MINER].publications) == (1, 1)
    assert rows[CHAIR].wins == 1


def test_the_weakest_is_the_one_with_the_lowest_strength_and_may_be_spared() -> None:
    rows = tuple(_rows(*(finished_round(number) for number in range(5))).values())
    lowest = weakest(rows)
    assert lowest is not None
    assert lowest.seat is VIZIER
    spared = weakest(rows, spared=[VIZIER])
    assert spared is not None
    assert spared.seat is not VIZIER
    assert verdict_on(VIZIER, rows) is Verdict.UP
    assert verdict_on(CHAIR, rows) is Verdict.DOWN
    assert blind_spots(lowest, [row for row in rows if row is not lowest])[0].startswith(
        "its drafts scored 3.0"
    )
    assert "synthesis" in goal_of(VIZIER)


def test_without_rounds_nobody_is_weak() -> None:
    rows = tuple(_rows().values())
    assert weakest(rows) is None
    assert isinstance(rows[0].strength, Absent)
    assert verdict_on(CHAIR, rows) is Verdict.DOWN
    assert verdict_on(CHAIR, ()) is Verdict.DOWN


def test_of_equally_weak_seats_it_is_the_later_numeral() -> None:
    silent = made_round(phase=Phase.NO_QUORUM)
    lowest = weakest(_rows(silent).values())
    assert lowest is not None
    assert lowest.seat is VIZIER
