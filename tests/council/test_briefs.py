"""What a seat is shown, who is absent, and several processes at one desk."""

from collections.abc import Callable

import pytest

from salon.core.errors import (
    Conflict,
    HandleMoved,
    SalonError,
)
from salon.council.desk import Lineup
from salon.council.keeping import round_to_json
from salon.council.rounds import Phase, Round
from salon.council.seats import Seat
from tests.council.desks import (
    FAIR,
    GOOD,
    TOPIC_ID,
    Council,
    as_written,
    without_times,
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


# Briefs


def test_drafts_are_anonymous_and_stand_in_another_order_for_each_reviewer(
    council: Council,
) -> None:
    round_ = council.to(Phase.CRITIQUE)
    orders = []
    for seat in Seat:
        brief = council.desk.brief(seat, round_.id)
        assert brief == council.new_desk().brief(seat, round_.id), "it is the same when asked again"
        assert [one.position for one in brief.peers] == [1, 2, 3, 4]
        assert tuple(one.id for one in brief.peers) == brief.due, "another order tells authors"
        assert not any(one.critiques for one in brief.peers)
        assert all(set(one.id.split("_")[-1]) <= set("0123456789abcdef") for one in brief.peers)
        orders.append([one.id for one in brief.peers])
    ranks = [tuple(order.index(one) for one in orders[0] if one in order) for order in orders]
    assert len(set(ranks)) > 1
    voting = council.refine(council.critique(round_))
    seats = [seat for seat in Seat if _order(council, voting, seat) != orders[[*Seat].index(seat)]]
    assert seats, "another phase, another order"


def _order(council: Council, round_: Round, seat: Seat) -> list[str]:
    return [one.id for one in council.desk.brief(seat, round_.id).peers]


def test_where_a_draft_stood_is_kept_with_the_vote(council: Council) -> None:
    round_ = council.to(Phase.VOTE)
    shown = council.desk.brief(Seat.CHAIR, round_.id).peers
    for one in shown:
        council.desk.cast_vote(Seat.CHAIR, one.id, GOOD, "seen in my order")
    votes = {one.candidate: one.position for one in council.desk.get(round_.id).votes}
    assert votes == {one.id: one.position for one in shown}


def test_an_author_sees_its_draft_with_the_critiques_of_it(council: Council) -> None:
    round_ = council.to(Phase.REFINEMENT)
    brief = council.desk.brief(Seat.MINER, round_.id)
    assert brief.own is not None
    assert as_written(brief.own.markdown) == council.draft(Seat.MINER) != brief.own.markdown
    assert sorted(brief.own.critiques) == [
        f"seat {seat} would add a source" for seat in Seat if seat is not Seat.MINER
    ]
    assert brief.peers == ()
    assert brief.due == ("refinement",)


def test_a_brief_carries_the_soul_that_the_seat_had_when_the_round_opened(
    council: Council,
) -> None:
    soul = council.archive.add(b"You look for what is missing.").hash
    council.lineup = Lineup(souls={Seat.CHAIR.value: soul})
    round_ = council.open()
    assert council.desk.brief(Seat.CHAIR, round_.id).soul == "You look for what is missing."
    assert council.desk.brief(Seat.MINER, round_.id).soul == ""


# Absences and several processes


def test_a_seat_that_is_late_but_in_time_is_not_absent_any_more(council: Council) -> None:
    round_ = council.open()
    council.desk.mark_absent(round_.id, Seat.CHAIR, "nothing came")
    assert council.desk.brief(Seat.CHAIR, round_.id).due == ()
    council.desk.submit_candidate(Seat.CHAIR, council.draft(), topic_id=TOPIC_ID)
    now = council.desk.get(round_.id)
    assert now.absences == ()
    assert now.find_own(Seat.CHAIR) is not None


def test_whoever_owes_nothing_cannot_be_absent(council: Council) -> None:
    round_ = council.open()
    council.desk.submit_candidate(Seat.CHAIR, council.draft(), topic_id=TOPIC_ID)
    before = council.archive.stats()
    council.desk.mark_absent(round_.id, Seat.CHAIR, "a mistake")
    assert council.archive.stats() == before
    council.desk.mark_absent(round_.id, Seat.MINER, "nothing came\udc80")
    council.desk.mark_absent(round_.id, Seat.MINER, "nothing came, again")
    [absence] = council.desk.get(round_.id).absences
    assert (absence.seat, absence.phase, absence.reason) == (
        Seat.MINER,
        Phase.SPRINT,
        "nothing came?",
    )


def test_a_round_does_not_move_while_somebody_is_due(council: Council) -> None:
    round_ = council.open()
    before = council.archive.stats()
    assert without_times(council.desk.advance(round_.id)) == without_times(round_)
    assert council.archive.stats() == before


def test_whoever_is_overtaken_decides_again_on_what_stands(council: Council) -> None:
    round_ = council.to(Phase.VOTE)
    peer = council.candidate_of(round_, Seat.MINER)
    other = council.new_desk()
    original, calls = council.archive.write, 0

    def overtaken(work: object, *, by: str | None = None) -> object:
        nonlocal calls
        calls += 1
        if calls == 1:  # another process votes right before this one writes
            other.cast_vote(Seat.AUDITOR, peer, GOOD, "first")
        return original(work, by=by)  # type: ignore[arg-type]

    council.archive.write = overtaken  # type: ignore[assignment,method-assign]
    council.desk.cast_vote(Seat.CHAIR, peer, FAIR, "second")
    council.archive.write = original  # type: ignore[method-assign]
    assert [one.seat for one in council.desk.get(round_.id).votes] == [Seat.AUDITOR, Seat.CHAIR]


def test_whoever_is_overtaken_forever_is_told(council: Council) -> None:
    round_ = council.open()

    def always(work: object, *, by: str | None = None) -> object:
        raise HandleMoved("somebody was faster")

    original = council.archive.write
    council.archive.write = always  # type: ignore[assignment,method-assign]
    with pytest.raises(Conflict, match="faster than"):
        council.desk.mark_absent(round_.id, Seat.CHAIR, "x")
    council.archive.write = original  # type: ignore[method-assign]


def test_a_round_is_one_card_that_reads_back_the_same(council: Council) -> None:
    round_ = council.to(Phase.RUNOFF)
    again = council.new_desk().get(round_.id)
    assert again == council.desk.get(round_.id)
    assert again.candidates[0].citations, "what the checks resolved is read from their reports"
    assert b"citations" not in round_to_json(again)
