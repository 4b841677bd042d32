"""Survivors who stay silent: their time ends by the clock, and it is noted who was absent."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Thread
from typing import Any, TypeVar, cast

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.archive import Archive, ArchiveTransaction
from salon.core.clock import instant
from salon.core.errors import Conflict, InvalidSettings, NotAllowed
from salon.core.ids import CountedIds
from salon.council.evolving import evolve
from salon.council.rounds import Verdict
from salon.council.rules import CouncilRules
from salon.council.seats import Seat
from salon.council.soul_cards import EVOLUTION, EVOLUTION_CARD
from salon.council.soul_keeping import SoulKeeper
from salon.council.souls import Evolution, Stage
from tests.council.clocks import START, MovableClock
from tests.council.made_rounds import finished_round, keep
from tests.council.soul_writers import writers

CHAIR, MINER, AUDITOR, PROFESSOR, VIZIER = Seat
SURVIVORS = (CHAIR, MINER, AUDITOR, PROFESSOR)
RULES = CouncilRules(evolve_every=3, probation=2, evolve_patience_s=3_600)
DUE = instant(START + timedelta(hours=1))
NEW = "# Weaver\n\nPut side by side what is far apart.\n"
T = TypeVar("T")


@pytest.fixture
def archive() -> Iterator[SqliteArchive]:
    with SqliteArchive.temporary() as found:
        yield found


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


def _keeper(
    archive: Archive,
    clock: MovableClock,
    on_lapse: Callable[[Evolution], None] = lambda _: None,
) -> SoulKeeper:
    return SoulKeeper(archive, clock=clock, ids=CountedIds(), rules=RULES, on_lapse=on_lapse)


def _rounds(archive: SqliteArchive, first: int = 1, last: int = 3) -> None:
    for number in range(first, last + 1):
        keep(archive, finished_round(number))


def _voting(archive: SqliteArchive, clock: MovableClock) -> SoulKeeper:
    keeper = _keeper(archive, clock)
    _rounds(archive)
    keeper.open_retirement()
    assert keeper.state().subject is VIZIER
    return keeper


def _vacant(archive: SqliteArchive, clock: MovableClock) -> SoulKeeper:
    keeper = _voting(archive, clock)
    for seat in SURVIVORS:
        keeper.vote_retirement(seat, Verdict.UP)
    return keeper


def _acts(archive: SqliteArchive) -> list[tuple[object, ...]]:
    return [
        (*(entry.body[name] for name in ("act", "seat", "phase", "rule")), entry.by)
        for entry in archive.audit_entries()
        if entry.body["kind"] == "council_moved"
    ]


def _absent(state: Evolution) -> list[tuple[Seat, Stage, str]]:
    return [(one.seat, one.stage, one.reason) for one in state.absences]


# A retirement


def test_a_vote_keeps_until_when_it_waits(archive: SqliteArchive, clock: MovableClock) -> None:
    assert _voting(archive, clock).state().due_at == DUE
    clock.forward(minutes=59)
    vacant = _vacate(_keeper(archive, clock))
    assert vacant.due_at == instant(START + timedelta(minutes=59, hours=1)), "time of its own"


def _vacate(keeper: SoulKeeper) -> Evolution:
    for seat in SURVIVORS:
        keeper.vote_retirement(seat, Verdict.UP)
    return keeper.state()


def test_whoever_has_not_voted_in_time_is_absent_and_the_seat_stays(
    archive: SqliteArchive, clock: MovableClock
) -> None:
    keeper = _voting(archive, clock)
    soul = keeper.soul(VIZIER)
    keeper.vote_retirement(CHAIR, Verdict.UP)
    keeper.vote_retirement(MINER, Verdict.UP)
    clock.forward(seconds=3_599.999999)
    assert keeper.settle().stage is Stage.VOTING, "not a moment too early"
    clock.forward(microseconds=1)
    state = keeper.settle()
    assert (state.stage, state.subject, state.due_at) == (Stage.SETTLED, None, "")
    reason = f"nothing came by {DUE}"
    assert _absent(state) == [(AUDITOR, Stage.VOTING, reason), (PROFESSOR, Stage.VOTING, reason)]
    assert state.ended == (
        "seat V stays: 2 of the 4 Up that it takes were there, and III and IV had not voted by "
        f"{DUE}"
    )
    assert keeper.soul(VIZIER) == soul
    assert keeper.graveyard() == ()
    assert keeper.on_probation() == ()
    assert _acts(archive)[-1] == (
        "end_retirement",
        "system",
        "settled",
        "stays, absent III, absent IV",
        "system",
    )


def test_three_up_are_not_enough_when_the_fourth_is_absent(
    archive: SqliteArchive, clock: MovableClock
) -> None:
    keeper = _voting(archive, clock)
    for seat in SURVIVORS[:3]:
        keeper.vote_retirement(seat, Verdict.UP)
    clock.forward(days=30)
    state = keeper.settle()
    assert (state.stage, [one.seat for one in state.votes]) == (Stage.SETTLED, [*SURVIVORS[:3]])
    assert [one.seat for one in state.absences] == [PROFESSOR]


@pytest.mark.parametrize("verdict", Verdict)
def test_a_late_vote_ends_the_wait_and_gets_one_clear_error(
    archive: SqliteArchive, clock: MovableClock, verdict: Verdict
) -> None:
    keeper = _voting(archive, clock)
    for seat in SURVIVORS[:3]:
        keeper.vote_retirement(seat, Verdict.UP)
    clock.forward(hours=1)
    for _ in range(2):  # nobody looked before the first of them, and the second changes nothing
        with pytest.raises(
            NotAllowed,
            match=r"^no seat is put to the vote; how it ended last time: seat V stays: 3 of the 4 "
            r"Up that it takes were there, and IV had not voted by 2026-11-15T13:00:00.000000Z$",
        ):
            keeper.vote_retirement(PROFESSOR, verdict)
        state = keeper.state()
        assert (state.stage, len(state.votes)) == (Stage.SETTLED, 3)
        assert [act[0] for act in _acts(archive)].count("end_retirement") == 1


def test_the_next_review_starts_afresh(archive: SqliteArchive, clock: MovableClock) -> None:
    keeper = _voting(archive, clock)
    clock.forward(hours=2)
    assert len(keeper.settle().absences) == 4
    assert keeper.open_retirement() is None, "as after a Down: not before new rounds"
    _rounds(archive, 4, 6)
    state = keeper.open_retirement()
    assert state is not None
    assert (state.cycle, state.absences, state.votes) == (2, (), ())
    assert state.due_at == instant(START + timedelta(hours=3))


def test_rounds_that_were_held_meanwhile_lead_to_the_next_review_at_once(
    archive: SqliteArchive, clock: MovableClock
) -> None:
    keeper = _voting(archive, clock)
    _rounds(archive, 4, 6)
    clock.forward(hours=1)
    state = keeper.open_retirement()
    assert state is not None
    assert (state.cycle, state.stage) == (2, Stage.VOTING)
    assert [act[0] for act in _acts(archive)][-2:] == ["end_retirement", "propose_retirement"]


def test_a_late_vote_does_not_count_for_the_seat_that_is_voted_on_by_then(
    archive: SqliteArchive, clock: MovableClock
) -> None:
    keeper = _voting(archive, clock)
    old = keeper.state()
    _rounds(archive, 4, 6)
    clock.forward(hours=1)
    new = keeper.open_retirement()
    assert new is not None
    assert new.review != old.review
    with pytest.raises(NotAllowed, match=r"'evolution_1' is not what is voted on now; .*: seat V"):
        keeper.vote_retirement(CHAIR, Verdict.UP, review=old.review)
    assert keeper.state() == new
    assert keeper.vote_retirement(CHAIR, Verdict.UP, review=new.review).votes


# A vacancy


def test_three_who_agree_are_enough_once_the_time_is_over(
    archive: SqliteArchive, clock: MovableClock
) -> None:
    keeper = _vacant(archive, clock)
    clock.forward(minutes=30)
    for seat in SURVIVORS[:3]:
        assert keeper.synthesize(seat, system_prompt_content=NEW).status == "awaiting_survivors"
    assert keeper.settle().stage is Stage.VACANT
    clock.forward(minutes=30)
    state = keeper.settle()
    assert (state.stage, state.subject) == (Stage.SETTLED, None)
    assert (keeper.soul(VIZIER).text, keeper.soul(VIZIER).version) == (NEW, 2)
    assert archive.resolve("souls/active/V").current == state.souls[VIZIER]
    assert keeper.on_probation() == (VIZIER,)
    assert _absent(state) == [(PROFESSOR, Stage.VACANT, f"nothing came by {DUE}")]
    assert state.ended == "seat V has a new soul by I, II and III; IV stayed silent"
    last = ("end_vacancy", "system", "settled", "born, absent IV", "system")
    assert _acts(archive)[-1] == last
    with pytest.raises(NotAllowed, match=r"no seat is vacant.*; IV stayed silent$"):
        keeper.synthesize(PROFESSOR, system_prompt_content=NEW)
    assert _acts(archive)[-1] == last, "the late text left nothing"


def test_who_wanted_another_text_is_not_absent_and_cannot_block_for_ever(
    archive: SqliteArchive, clock: MovableClock
) -> None:
    keeper = _vacant(archive, clock)
    keeper.synthesize(PROFESSOR, system_prompt_content="# Mine\n")
    for seat in SURVIVORS[:3]:
        keeper.synthesize(seat, system_prompt_content=NEW)
    clock.forward(hours=1)
    state = keeper.settle()
    assert (state.stage, state.absences) == (Stage.SETTLED, ())
    assert state.ended == "seat V has a new soul by I, II and III; IV wanted another text"
    assert keeper.soul(VIZIER).text == NEW


def test_with_fewer_than_three_the_seat_stays_vacant_and_whoever_writes_later_is_back(
    archive: SqliteArchive, clock: MovableClock
) -> None:
    told: list[Evolution] = []
    _vacant(archive, clock)
    keeper = _keeper(archive, clock, told.append)
    for seat in (CHAIR, MINER):
        keeper.synthesize(seat, system_prompt_content=NEW)
    clock.forward(hours=1)
    for _ in range(3):
        state = keeper.settle()
        assert (state.stage, state.vacant, state.lapsed_at) == (Stage.VACANT, VIZIER, DUE)
        assert [one.seat for one in state.absences] == [AUDITOR, PROFESSOR]
    assert told == [state], "a person is told once"
    noted = ("end_vacancy", "system", "vacant", "still vacant, absent III, absent IV", "system")
    assert _acts(archive)[-1] == noted
    assert keeper.on_probation() == (VIZIER,)
    clock.forward(days=3)
    other = keeper.synthesize(AUDITOR, system_prompt_content="# Other\n")
    assert other.status == "awaiting_survivors"
    assert [one.seat for one in keeper.state().absences] == [PROFESSOR]
    assert keeper.synthesize(AUDITOR, system_prompt_content=NEW).status == "born"
    assert keeper.state().ended == "seat V has a new soul by I, II and III; IV stayed silent"
    assert _acts(archive)[-1][3] == "born"


def test_the_retired_seat_has_no_say_after_the_time_either(
    archive: SqliteArchive, clock: MovableClock
) -> None:
    keeper = _vacant(archive, clock)
    for seat in (CHAIR, MINER):
        keeper.synthesize(seat, system_prompt_content=NEW)
    clock.forward(hours=1)
    with pytest.raises(NotAllowed, match="no say in its own succession"):
        keeper.synthesize(VIZIER, system_prompt_content=NEW)
    assert keeper.state().stage is Stage.VACANT


def test_a_text_whose_card_was_deleted_comes_back_with_whoever_hands_it_in_again(
    archive: SqliteArchive, clock: MovableClock
) -> None:
    keeper = _vacant(archive, clock)
    for seat in SURVIVORS[:3]:
        keeper.synthesize(seat, system_prompt_content=NEW)
    card = keeper.state().proposals[0].text
    archive.write(lambda tx: tx.delete(card, reason="by mistake", force=True))
    clock.forward(hours=1)
    assert keeper.settle().stage is Stage.VACANT
    assert keeper.synthesize(PROFESSOR, system_prompt_content=NEW).status == "born"
    assert keeper.soul(VIZIER).text == NEW


# Holders that are asked here


def test_holders_go_on_without_an_outside_survivor_that_never_writes(
    archive: SqliteArchive, clock: MovableClock
) -> None:
    keeper = _keeper(archive, clock)
    _rounds(archive)
    holders = writers([NEW] * 5)
    del holders[CHAIR]
    evolve(keeper, holders)
    keeper.vote_retirement(CHAIR, Verdict.UP)
    clock.forward(hours=2)
    assert evolve(keeper, holders).stage is Stage.SETTLED, "asked late, they are back and agree"
    assert keeper.soul(VIZIER).text == NEW
    assert [one.seat for one in keeper.state().absences] == [CHAIR]


def test_holders_whose_vote_ended_by_the_clock_are_not_asked(
    archive: SqliteArchive, clock: MovableClock
) -> None:
    keeper = _voting(archive, clock)
    clock.forward(hours=1)
    state = evolve(keeper, writers([NEW] * 5))
    assert (state.stage, state.votes, state.cycle) == (Stage.SETTLED, (), 1)


def test_a_vote_that_ends_between_two_holders_stops_nobody(archive: SqliteArchive) -> None:
    class Running(MovableClock):
        def now(self) -> Any:
            self.forward(minutes=20)
            return self.moment

    keeper = _keeper(archive, Running())
    _rounds(archive)
    state = evolve(keeper, writers([NEW] * 5))
    assert (state.stage, [one.seat for one in state.votes]) == (Stage.SETTLED, [CHAIR, MINER])
    assert [one.seat for one in state.absences] == [AUDITOR, PROFESSOR]


# Restarts, crashes, many at once


def test_a_restart_in_the_middle_changes_neither_time_nor_votes(tmp_path: Path) -> None:
    clock = MovableClock()
    with SqliteArchive(tmp_path / "a.db") as archive:
        _voting(archive, clock).vote_retirement(CHAIR, Verdict.UP)
        before = _keeper(archive, clock).state()
    clock.forward(minutes=30)
    with SqliteArchive(tmp_path / "a.db") as archive:
        keeper = _keeper(archive, clock)
        assert keeper.settle() == before
        keeper.vote_retirement(MINER, Verdict.UP)
    clock.forward(days=2)
    with SqliteArchive(tmp_path / "a.db") as archive:
        keeper = _keeper(archive, clock)
        assert keeper.state().stage is Stage.VOTING, "nobody has looked yet"
        with pytest.raises(NotAllowed, match="III and IV had not voted"):
            keeper.vote_retirement(AUDITOR, Verdict.UP)
        assert [one.seat for one in keeper.state().votes] == [CHAIR, MINER]
        assert archive.verify().problems == ()


def test_a_card_from_before_there_were_due_times_gets_one(
    archive: SqliteArchive, clock: MovableClock
) -> None:
    keeper = _voting(archive, clock)
    old = EVOLUTION_CARD.write(
        {
            "stage": "voting",
            "review": "evolution_1",
            "subject": "V",
            "souls": keeper.state().souls,
            "versions": keeper.state().versions,
        }
    )
    archive.put(EVOLUTION, old)
    clock.forward(days=7)
    state = keeper.settle()
    assert (state.stage, state.due_at) == (
        Stage.VOTING,
        instant(START + timedelta(days=7, hours=1)),
    )
    assert _acts(archive)[-1][:3] == ("set_due", "system", "voting")
    clock.forward(hours=1)
    assert keeper.settle().stage is Stage.SETTLED


def test_many_who_look_at_once_end_it_once(archive: SqliteArchive, clock: MovableClock) -> None:
    _vacant(archive, clock)
    for seat in SURVIVORS[:3]:
        _keeper(archive, clock).synthesize(seat, system_prompt_content=NEW)
    clock.forward(hours=1)
    barrier = Barrier(4)
    refused: list[NotAllowed] = []

    def look() -> None:
        keeper = _keeper(archive, clock)
        barrier.wait()
        keeper.settle()

    def write() -> None:
        keeper = _keeper(archive, clock)
        barrier.wait()
        try:
            keeper.synthesize(PROFESSOR, system_prompt_content=NEW)
        except NotAllowed as error:
            refused.append(error)

    threads = [Thread(target=one) for one in (look, look, look, write)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(refused) == 1
    assert _keeper(archive, clock).state().versions[VIZIER] == 2
    assert [act[0] for act in _acts(archive)].count("end_vacancy") == 1
    assert len(archive.history("souls/active/V")) == 3, "laid down, retired, born once"


def test_an_act_that_is_always_overtaken_gives_up(
    archive: SqliteArchive, clock: MovableClock
) -> None:
    keeper = _vacant(archive, clock)
    for seat in SURVIVORS[:3]:
        keeper.synthesize(seat, system_prompt_content=NEW)
    archive.put("souls/active/V", b"put there by hand")
    with pytest.raises(Conflict, match="move faster"):
        keeper.synthesize(PROFESSOR, system_prompt_content=NEW)


class _Killed(BaseException):
    pass


class _Dying:
    """An archive whose process dies right before or right after its nth write."""

    def __init__(self, archive: SqliteArchive, at: int, *, after: bool) -> None:
        self._archive = archive
        self._left = at
        self._after = after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._archive, name)

    def write(self, work: Callable[[ArchiveTransaction], T], *, by: str | None = None) -> T:
        self._left -= 1
        if self._left == 0 and not self._after:
            raise _Killed
        done = self._archive.write(work, by=by)
        if self._left == 0:
            raise _Killed
        return done


def _play(archive: Archive, clock: MovableClock, upto: int) -> None:
    """Have `upto` survivors vote and, if all four did, three write; then the time is over."""
    keeper = _keeper(archive, clock)
    keeper.open_retirement()
    for seat in SURVIVORS[:upto]:
        if seat in keeper.state().waiting_for() and keeper.state().stage is Stage.VOTING:
            keeper.vote_retirement(seat, Verdict.UP)
    for seat in SURVIVORS[:3]:
        if keeper.state().stage is Stage.VACANT:
            keeper.synthesize(seat, system_prompt_content=NEW)
    clock.moment = max(clock.moment, START + timedelta(hours=1))
    keeper.settle()


def _end(archive: SqliteArchive, clock: MovableClock) -> tuple[object, ...]:
    keeper = _keeper(archive, clock)
    handles = {one.name: one.current for one in archive.handles(prefix="souls/")}
    return keeper.state(), handles, _acts(archive)


@pytest.mark.parametrize("votes", [2, 4])
def test_a_crash_at_any_write_loses_nothing_and_counts_nothing_twice(votes: int) -> None:
    with SqliteArchive.temporary() as archive:
        _rounds(archive)
        clock = MovableClock()
        _play(archive, clock, votes)
        undisturbed = _end(archive, clock)
    writes = len(cast("list[object]", undisturbed[2]))
    assert writes == {2: 1 + 1 + 2 + 1, 4: 1 + 1 + 4 + 3 + 1}[votes]
    for number in range(1, writes + 1):
        for after in (False, True):
            with SqliteArchive.temporary() as archive:
                _rounds(archive)
                clock = MovableClock()
                with pytest.raises(_Killed):
                    _play(cast("Archive", _Dying(archive, number, after=after)), clock, votes)
                _play(archive, clock, votes)
                assert _end(archive, clock) == undisturbed, (number, after)


def test_rules_that_cannot_be() -> None:
    for wrong in ({"evolve_patience_s": 0.0}, {"least_survivors": 2}, {"least_survivors": 5}):
        with pytest.raises(InvalidSettings):
            CouncilRules(**cast("dict[str, Any]", wrong))
