"""Souls in an archive: laid down, retired, buried, written together, on probation."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from threading import Barrier, Thread

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.clock import SteppingClock
from salon.core.errors import InvalidInput, NotAllowed, NotFound, RoundNotFound
from salon.core.hashing import content_hash
from salon.core.ids import CountedIds
from salon.council.evolving import evolve
from salon.council.outcomes import Outcomes
from salon.council.rounds import Verdict
from salon.council.rules import CouncilRules
from salon.council.seats import CHARGES, Seat
from salon.council.soul_keeping import SoulKeeper
from salon.council.souls import Stage
from tests.council.made_rounds import finished_round, keep, made_round
from tests.council.soul_writers import writers

CHAIR, MINER, AUDITOR, PROFESSOR, VIZIER = Seat
SURVIVORS = (CHAIR, MINER, AUDITOR, PROFESSOR)
START = datetime(2026, 11, 15, 12, tzinfo=UTC)
RULES = CouncilRules(evolve_every=3, probation=2)
NEW = "# Weaver\n\nPut side by side what is far apart.\n"


@pytest.fixture
def archive() -> Iterator[SqliteArchive]:
    with SqliteArchive.temporary() as found:
        yield found


def _keeper(archive: SqliteArchive, rules: CouncilRules = RULES) -> SoulKeeper:
    return SoulKeeper(archive, clock=SteppingClock(START), ids=CountedIds(), rules=rules)


def _rounds(archive: SqliteArchive, first: int, last: int) -> None:
    for number in range(first, last + 1):
        keep(archive, finished_round(number))


def _vacate(archive: SqliteArchive) -> SoulKeeper:
    keeper = _keeper(archive)
    _rounds(archive, 1, 3)
    assert keeper.open_retirement() is not None
    for seat in SURVIVORS:
        keeper.vote_retirement(seat, Verdict.UP)
    return keeper


def _acts(archive: SqliteArchive) -> list[tuple[object, ...]]:
    notes = (entry.body for entry in archive.audit_entries())
    return [
        (one["act"], one["seat"], one["phase"], one["rule"])
        for one in notes
        if one["kind"] == "council_moved"
    ]


def test_five_souls_are_there_on_first_use_and_each_speaks_of_its_charge(
    archive: SqliteArchive,
) -> None:
    souls = _keeper(archive).souls()
    assert [one.seat for one in souls] == list(Seat)
    for one in souls:
        assert one.text.startswith(f"# {CHARGES[one.seat].title}\n")
        assert archive.resolve(f"souls/active/{one.seat}").current == one.card
        assert (one.version, one.handle) == (1, f"souls/active/{one.seat}")
        assert _keeper(archive).history(one.seat) == (one,)
    assert len({one.text for one in souls}) == 5
    assert _acts(archive) == [("lay_down_souls", "system", "settled", "first use")]


def test_a_review_is_due_after_enough_rounds_and_proposes_the_weakest(
    archive: SqliteArchive,
) -> None:
    keeper = _keeper(archive)
    _rounds(archive, 1, 2)
    keep(archive, made_round(id_="round_open"))
    assert not keeper.is_due()
    assert keeper.open_retirement() is None
    keep(archive, finished_round(3))
    assert keeper.is_due()
    state = keeper.open_retirement()
    assert state is not None
    assert (state.stage, state.subject, state.review) == (Stage.VOTING, VIZIER, "evolution_1")
    assert any("scored 3.0" in spot for spot in state.blind_spots)
    assert not keeper.is_due()
    assert keeper.open_retirement() is None, "one review at a time"
    assert {row.rounds for row in keeper.matrix()} == {3}, "the rounds of the open review"


def test_the_fourth_up_buries_the_soul(archive: SqliteArchive) -> None:
    before = _keeper(archive).soul(VIZIER)
    keeper = _vacate(archive)
    assert keeper.state().vacant is VIZIER
    with pytest.raises(NotFound, match="seat V is vacant"):
        keeper.soul(VIZIER)
    assert [one.seat for one in keeper.souls()] == list(SURVIVORS)
    (grave,) = keeper.graveyard()
    assert (grave.text, grave.version, grave.handle) == (before.text, 1, "souls/graveyard/V-v1")
    assert archive.find_handle("souls/active/V") is None
    assert keeper.on_probation() == (VIZIER,)
    assert _acts(archive)[-1] == ("vote_retirement", "IV", "vacant", "up")


@pytest.mark.requirement(
    "council/synthesize-soul/survivors-only", "council/synthesize-soul/new-prompt"
)
def test_four_survivors_write_the_new_soul_together(archive: SqliteArchive) -> None:
    keeper = _vacate(archive)
    old = keeper.graveyard()[0]
    for seat in SURVIVORS[:3]:
        made = keeper.synthesize(seat, system_prompt_content=NEW, goal="Links")
        assert (made.new_soul_path, made.status) == ("souls/active/V", "awaiting_survivors")
        with pytest.raises(NotFound):
            keeper.soul(VIZIER)
    # The same text as somebody else's editor leaves it.
    made = keeper.synthesize(PROFESSOR, system_prompt_content=NEW.replace("\n", "\r\n") + "\n")
    assert (made.new_soul_path, made.status) == ("souls/active/V", "born")
    soul = keeper.soul(VIZIER)
    assert (soul.text, soul.version) == (NEW, 2)
    assert keeper.history(VIZIER) == (old, soul)
    assert archive.resolve("souls/active/V").current == content_hash(NEW.encode())
    assert [act[0] for act in _acts(archive)].count("synthesize_soul") == 4


def test_a_new_soul_has_no_vote_for_so_many_rounds(archive: SqliteArchive) -> None:
    keeper = _vacate(archive)
    for seat in SURVIVORS:
        keeper.synthesize(seat, system_prompt_content=NEW)
    assert keeper.on_probation() == (VIZIER,)
    _rounds(archive, 4, 4)
    assert keeper.on_probation() == (VIZIER,)
    _rounds(archive, 5, 5)
    assert keeper.on_probation() == ()
    assert not keeper.is_due()


def test_a_seat_on_probation_is_not_proposed_again(archive: SqliteArchive) -> None:
    rules = CouncilRules(evolve_every=3, probation=10)
    keeper = _keeper(archive, rules)
    _rounds(archive, 1, 3)
    keeper.open_retirement()
    for seat in SURVIVORS:
        keeper.vote_retirement(seat, Verdict.UP)
    for seat in SURVIVORS:
        keeper.synthesize(seat, system_prompt_content=NEW)
    _rounds(archive, 4, 6)
    state = keeper.open_retirement()
    assert state is not None
    assert state.subject is not VIZIER


def test_a_down_settles_it_and_the_next_review_looks_at_new_rounds(
    archive: SqliteArchive,
) -> None:
    keeper = _keeper(archive)
    _rounds(archive, 1, 3)
    keeper.open_retirement()
    assert keeper.vote_retirement(CHAIR, Verdict.DOWN).stage is Stage.SETTLED
    assert keeper.soul(VIZIER).version == 1
    assert {row.rounds for row in keeper.matrix()} == {0}
    _rounds(archive, 4, 6)
    state = keeper.open_retirement()
    assert state is not None
    assert state.cycle == 2
    assert {row.rounds for row in keeper.matrix()} == {3}


@pytest.mark.requirement("council/synthesize-soul/survivors-only")
def test_nobody_else_has_a_say_and_a_refusal_leaves_no_trace(archive: SqliteArchive) -> None:
    keeper = _vacate(archive)
    before = (archive.resolve("council/evolution").current, len(_acts(archive)))
    hostile: list[Callable[[], object]] = [
        lambda: keeper.synthesize(VIZIER, system_prompt_content=NEW),
        lambda: keeper.synthesize(CHAIR, system_prompt_content=keeper.graveyard()[0].text),
        lambda: keeper.vote_retirement(CHAIR, Verdict.UP),
        lambda: keeper.vote_retirement(VIZIER, Verdict.DOWN),
    ]
    for act in hostile:
        with pytest.raises(NotAllowed):
            act()
    with pytest.raises(InvalidInput):
        keeper.synthesize(CHAIR, system_prompt_content=" ")
    assert (archive.resolve("council/evolution").current, len(_acts(archive))) == before


def test_a_replay_after_the_birth_is_refused(archive: SqliteArchive) -> None:
    keeper = _vacate(archive)
    for seat in SURVIVORS:
        keeper.synthesize(seat, system_prompt_content=NEW)
    with pytest.raises(NotAllowed, match="no seat is vacant"):
        keeper.synthesize(CHAIR, system_prompt_content="# Mine\n")
    assert keeper.soul(VIZIER).text == NEW


def test_a_replay_before_it_is_not_a_second_consent(archive: SqliteArchive) -> None:
    keeper = _vacate(archive)
    for _ in range(4):
        made = keeper.synthesize(CHAIR, system_prompt_content=NEW)
        assert made.status == "awaiting_survivors"
    assert keeper.state().proposals[0].endorsed_by == (CHAIR,)


def test_it_goes_on_in_another_process_where_it_stood(archive: SqliteArchive) -> None:
    _vacate(archive).synthesize(CHAIR, system_prompt_content=NEW)
    other = _keeper(archive)
    assert other.state().waiting_for() == (MINER, AUDITOR, PROFESSOR)
    for seat in SURVIVORS[1:]:
        other.synthesize(seat, system_prompt_content=other.text(other.state().proposals[0].text))
    assert other.soul(VIZIER).version == 2


def test_four_who_vote_at_once_are_all_counted(archive: SqliteArchive) -> None:
    _keeper(archive).souls()
    _rounds(archive, 1, 3)
    _keeper(archive).open_retirement()
    barrier = Barrier(4)

    def act(seat: Seat) -> None:
        keeper = _keeper(archive)
        barrier.wait()
        keeper.vote_retirement(seat, Verdict.UP)

    threads = [Thread(target=act, args=(seat,)) for seat in SURVIVORS]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    state = _keeper(archive).state()
    assert state.stage is Stage.VACANT
    assert {one.seat for one in state.votes} == set(SURVIVORS)


def test_holders_vote_by_the_matrix_and_consent_to_the_first_text_that_is_accepted(
    archive: SqliteArchive,
) -> None:
    keeper = _keeper(archive)
    old = keeper.soul(VIZIER).text
    writing = writers([None, " ", NEW, "# Other\n", "# Mine\n"])
    assert evolve(keeper, writing).stage is Stage.SETTLED, "nothing is due"
    _rounds(archive, 1, 3)
    assert evolve(keeper, writing).stage is Stage.SETTLED
    assert keeper.soul(VIZIER).text == NEW
    goal, spots, shown = writing[AUDITOR].asked[0]
    assert "synthesis" in goal
    assert spots
    assert shown == old
    assert not writing[PROFESSOR].asked
    assert not writing[VIZIER].asked
    assert evolve(keeper, writing).cycle == 1


def test_an_outside_survivor_is_waited_for(archive: SqliteArchive) -> None:
    keeper = _keeper(archive)
    _rounds(archive, 1, 3)
    writing = writers([NEW] * 5)
    outside = writing.pop(CHAIR)
    assert outside.text == NEW
    assert evolve(keeper, writing).waiting_for() == (CHAIR,)
    keeper.vote_retirement(CHAIR, Verdict.UP)
    assert evolve(keeper, writing).stage is Stage.VACANT
    made = keeper.synthesize(CHAIR, system_prompt_content=NEW)
    assert made.status == "born"


def test_outcomes_are_kept_noted_and_weighed(archive: SqliteArchive) -> None:
    keeper = _keeper(archive)
    souls = {one.seat.value: one.card for one in keeper.souls()}
    keep(archive, finished_round(1, souls=souls))
    outcomes = Outcomes(archive, clock=SteppingClock(START))
    assert outcomes.find("round_00001") is None
    assert keeper.weights() == {seat: pytest.approx(1.0) for seat in Seat}
    said = outcomes.record("round_00001", held=True, by="meg", note="read it again")
    assert outcomes.find("round_00001") == said
    weights = keeper.weights()
    assert weights[MINER] > 1, "it approved what held"
    assert weights[CHAIR] == pytest.approx(1.0), "its own chapter, so it had no vote"
    outcomes.record("round_00001", held=False, by="a later check")
    assert outcomes.held() == {"round_00001": False}
    assert keeper.weights()[MINER] < 1
    assert len(archive.history("council/outcomes/round_00001")) == 2
    assert [act[0] for act in _acts(archive)].count("outcome") == 2
    assert keeper.matrix()[1].reliability.approved_failed == 1


def test_only_what_was_published_can_hold_or_fail(archive: SqliteArchive) -> None:
    outcomes = Outcomes(archive, clock=SteppingClock(START))
    with pytest.raises(RoundNotFound):
        outcomes.record("round_9", held=True, by="meg")
    keep(archive, made_round(id_="round_9"))
    with pytest.raises(NotAllowed):
        outcomes.record("round_9", held=True, by="meg")
    keep(archive, finished_round(1))
    with pytest.raises(InvalidInput):
        outcomes.record("round_00001", held=True, by=" ")
    with pytest.raises(InvalidInput):
        outcomes.record("round_00001", held=True, by="meg", note="a" * 2_001)
    assert outcomes.held() == {}
