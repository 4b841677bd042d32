"""The outbox: every approved action once, whatever the servers and the processes do."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.clock import instant
from salon.core.errors import HandleMoved, InvalidDocument, InvalidInput, NotFound, ProviderFailed
from salon.gate.actions import Situation
from salon.gate.builtin_actions import event_uid
from salon.gate.desk import flow_to_json
from salon.gate.executing import Runner, is_gone, make_worker
from salon.gate.orders import (
    BACKOFF,
    CLOSED,
    MOVES,
    Order,
    OrderEvent,
    OrderState,
    order_from_json,
    order_to_json,
)
from salon.gate.prompts import STATUS, status
from tests.gate.worlds import Died, World

SAID = Situation(said=("My employee Jordan has been absent.",), reply="")
CALL = ("yes", "1", "Jordan Lee", "skip", "yes")
MAIL = ("yes", "Jordan Lee", "jo@example.com", "Monday", "Friday", "Meg", "yes")


@pytest.fixture
def world() -> Iterator[World]:
    with SqliteArchive.temporary() as archive:
        yield World(archive)


def _order(world: World, action: str = "calendar", session: str = "s-1") -> Order:
    desk = world.desk()
    desk.open(session, action, SAID, rule="offer")
    for answer in CALL if action == "calendar" else MAIL:
        desk.answer(session, answer, turn=3, by="meg")
    [held] = world.outbox.waiting(session=session)
    return held.order


def _now(world: World, order: Order) -> Order:
    return world.outbox.get(order.key).order


def _trail(world: World) -> Sequence[object]:
    notes = (entry.body for entry in world.archive.audit_entries())
    moves = [one["moved_to"] for one in notes if one["kind"] == "action_moved"]
    return moves[moves.index("approved") :]


def test_an_order_is_done_with_a_receipt_and_told_once(world: World) -> None:
    order = _order(world)
    [done] = world.runner().run_due()
    assert done.state is OrderState.DONE
    assert done.receipt is not None
    assert done.receipt.reference == event_uid(order)
    assert done.ended_at == instant(world.clock.now())
    assert _trail(world) == ["approved", "executing", "committing", "done"]
    assert world.runner().run_due() == []
    [held] = world.outbox.waiting()
    told = world.outbox.tell(held)
    assert told.order.is_told
    assert _trail(world)[-1] == "done", "that too is noted"
    assert len(_trail(world)) == 5
    assert world.outbox.tell(told) == told
    assert list(world.outbox.waiting()) == []
    assert world.calendar.puts[event_uid(order)] == 1


def test_a_server_that_fails_is_asked_again_with_growing_pauses_and_then_reported(
    world: World,
) -> None:
    order = _order(world)
    world.calendar.faults.draw = lambda: "fail"
    runner, waits = world.runner(), []
    for _ in range(len(BACKOFF)):
        [waiting] = runner.run_due()
        assert waiting.state is OrderState.WAITING
        due = runner.next_due()
        assert due is not None
        waits.append(due - world.clock.now())
        assert runner.run_due() == [], "not before it is due"
        world.clock.forward(waits[-1])
    assert tuple(waits) == BACKOFF
    [failed] = runner.run_due()
    assert failed.state is OrderState.FAILED
    assert failed.attempt == len(BACKOFF) + 1
    assert "503" in status(failed, world.desk().reading())
    [held] = world.outbox.waiting()
    assert held.order == failed, "it stays in the outbox until a person decides"
    assert runner.next_due() is None
    world.calendar.faults.draw = lambda: "ok"
    world.outbox.tell_how_it_ended(failed)
    done = runner.retry(order.key)
    assert (done.state, done.is_told) == (OrderState.DONE, False)
    assert world.outbox.tell_how_it_ended(done).is_told
    assert world.calendar.puts[event_uid(order)] == 1


@pytest.mark.parametrize("end", ["timeout", "drop", "late"])
def test_an_event_whose_end_is_unclear_is_looked_for_before_another_try(
    world: World, end: str
) -> None:
    order = _order(world)
    world.calendar.faults.ends = [end]
    world.runner().run_due()
    world.clock.forward(timedelta(minutes=1))
    world.runner().run_due()
    world.calendar.settle()
    assert _now(world, order).state is OrderState.DONE
    assert world.calendar.puts[event_uid(order)] == 1


@pytest.mark.parametrize("end", ["timeout", "drop", "late"])
def test_a_mail_whose_end_is_unclear_is_never_sent_again_by_itself(world: World, end: str) -> None:
    order = _order(world, "email")
    world.mail.faults.ends = [end]
    [unknown] = world.runner().run_due()
    assert unknown.state is OrderState.UNKNOWN
    assert "cannot tell" in status(unknown, world.desk().reading())
    world.clock.forward(timedelta(days=3))
    assert world.runner().run_due() == []
    world.mail.settle()
    runner = world.runner()
    if world.mail.count(event_uid(order)):
        assert runner.settle_done(order.key).state is OrderState.DONE
        assert list(world.outbox.waiting()) == []
    else:
        assert runner.retry(order.key).state is OrderState.DONE
    assert world.mail.count(event_uid(order)) == 1


def test_where_it_was_chosen_a_mail_of_unclear_end_is_sent_again_under_the_same_id(
    world: World,
) -> None:
    order = _order(world, "email")
    world.mail.is_idempotent = True
    world.mail.faults.ends = ["timeout"]
    world.runner().run_due()
    world.clock.forward(timedelta(minutes=1))
    world.runner().run_due()
    assert _now(world, order).state is OrderState.DONE
    assert [one.message_id for one in world.mail.taken] == [event_uid(order)]


def test_what_a_server_refuses_is_not_tried_again(world: World) -> None:
    order = _order(world, "email")
    world.mail.faults.ends = ["refuse"]
    [failed] = world.runner().run_due()
    assert (failed.state, failed.reason) == (OrderState.FAILED, "550")
    assert world.runner().withdraw(order.key).state is OrderState.WITHDRAWN
    assert list(world.outbox.waiting()) == []


def test_an_order_can_be_withdrawn_until_it_is_done(world: World) -> None:
    order = _order(world)
    assert world.runner().withdraw(order.key).state is OrderState.WITHDRAWN
    assert world.runner().run_due() == []
    assert world.calendar.events == {}
    done = _order(world, session="s-2")
    world.runner().run_due()
    with pytest.raises(InvalidInput, match="cannot be withdrawn"):
        world.runner().withdraw(done.key)
    with pytest.raises(InvalidInput, match="cannot be tried again"):
        world.runner().retry(done.key)
    with pytest.raises(InvalidInput, match="cannot be marked as done"):
        world.runner().settle_done(done.key)


def test_calling_off_what_may_have_worked_looks_first_and_does_not_pretend(world: World) -> None:
    order = _order(world)
    world.calendar.faults.ends = ["late", "ok"]
    world.runner().run_due()
    assert _now(world, order).state is OrderState.WAITING
    withdrawn = world.runner().withdraw(order.key)
    assert withdrawn.state is OrderState.UNKNOWN
    assert "may have worked" in withdrawn.reason
    second = _order(world, session="s-2")
    world.calendar.faults.ends = ["drop", "fail"]
    world.runner().run_due()
    assert world.runner().withdraw(second.key).state is OrderState.DONE


def test_an_order_of_which_an_early_try_may_have_worked_does_not_end_as_failed(
    world: World,
) -> None:
    order = _order(world)
    world.calendar.faults.ends = ["late", "ok"]
    world.calendar.faults.draw = lambda: "fail"
    runner = world.runner()
    while _now(world, order).state is OrderState.WAITING or not _now(world, order).attempt:
        runner.run_due()
        world.clock.forward(timedelta(hours=2))
    assert _now(world, order).state is OrderState.UNKNOWN
    world.calendar.faults.draw = lambda: "ok"
    refused = _order(world, session="s-2")
    world.calendar.faults.ends = ["late", "ok"]
    runner.run_due(session="s-2")
    world.clock.forward(timedelta(hours=2))
    world.calendar.faults.ends = ["ok", "refuse"]
    runner.run_due(session="s-2")
    assert _now(world, refused).state is OrderState.UNKNOWN


# Crashes and company


@pytest.mark.parametrize("action", ["calendar", "email"])
def test_a_process_that_dies_at_any_write_leaves_nothing_lost_and_nothing_twice(
    world: World, action: str
) -> None:
    for number in range(1, 7):
        order = _order(world, action, session=f"s-{number}")
        _die_at(world, number)
        with pytest.raises(Died):
            world.runner("dead").run_due(session=f"s-{number}")
        world.chance_of_death = 0.0
        world.gone.add("dead")
        world.runner("alive").run_due(session=f"s-{number}")
        now = _now(world, order)
        if now.state is OrderState.UNKNOWN:  # the dot had been sent, or might have been
            assert action == "email"
            taken = world.mail.count(event_uid(order))
            runner = world.runner("alive")
            now = runner.settle_done(order.key) if taken else runner.retry(order.key)
        assert now.state is OrderState.DONE, number
        done = world.calendar.puts[event_uid(order)] + world.mail.count(event_uid(order))
        assert done == 1, number


def _die_at(world: World, number: int) -> None:
    """Let the process die at so-many-th chance: before or after a write."""
    left = iter(range(number - 1, -1, -1))
    world.chance_of_death = 1.0
    world.random = _Chances(lambda: 0.0 if next(left) == 0 else 2.0)  # type: ignore[assignment]


class _Chances:
    def __init__(self, draw: Callable[[], float]) -> None:
        self.random = draw


def test_a_worker_is_left_alone_until_its_lease_is_over(world: World) -> None:
    order = _order(world)
    _die_at(world, 4)  # after it has committed
    with pytest.raises(Died):
        world.runner("dead").run_due()
    world.chance_of_death = 0.0
    assert _now(world, order).state is OrderState.COMMITTING
    assert world.runner("alive").run_due() == []
    due = world.runner("alive").next_due()
    assert due is not None
    world.clock.forward(due - world.clock.now())
    world.runner("alive").run_due()
    assert _now(world, order).state is OrderState.DONE


def test_two_processes_at_once_do_it_once(world: World) -> None:
    order = _order(world)
    seen: list[OrderState] = []

    def meanwhile() -> None:
        world.calendar.meanwhile = lambda: None
        world.runner("second").run_due()
        seen.append(_now(world, order).state)

    world.calendar.meanwhile = meanwhile
    world.runner("first").run_due()
    assert seen == [OrderState.COMMITTING], "the second one did nothing"
    assert world.calendar.puts[event_uid(order)] == 1


@pytest.mark.parametrize("action", ["calendar", "email"])
def test_a_slow_worker_that_was_overtaken_does_not_do_it_again(world: World, action: str) -> None:
    order = _order(world, action)
    server = world.calendar if action == "calendar" else world.mail

    def meanwhile() -> None:
        server.meanwhile = lambda: None
        world.clock.forward(timedelta(minutes=6))  # longer than the lease
        world.runner("second").run_due()

    server.meanwhile = meanwhile
    world.runner("first").run_due()
    assert _now(world, order).state is OrderState.DONE
    done = world.calendar.puts[event_uid(order)] + world.mail.count(event_uid(order))
    assert done == 1


def test_a_receipt_that_comes_late_still_counts(world: World) -> None:
    order = _order(world, "email")
    calls = iter(range(2))

    def meanwhile() -> None:
        if next(calls) == 1:  # after the commit, before the server answers
            world.clock.forward(timedelta(minutes=6))
            [given_up] = world.runner("second").run_due()
            assert given_up.state is OrderState.UNKNOWN

    world.mail.meanwhile = meanwhile
    world.runner("first").run_due()
    assert _now(world, order).state is OrderState.DONE
    assert world.mail.count(event_uid(order)) == 1


def test_of_two_who_decide_the_second_sees_what_the_first_did(world: World) -> None:
    order = _order(world)
    quick = world.outbox
    runner = world.runner()
    assert runner.next_due() == world.clock.now()
    world.before_the_next_write(lambda: quick.decide(order.key, OrderEvent.WITHDRAW))
    assert runner.run_due()[0].state is OrderState.WITHDRAWN
    second = _order(world, session="s-2")
    world.before_the_next_write(lambda: quick.decide(second.key, OrderEvent.WITHDRAW))
    with pytest.raises(InvalidInput, match="is withdrawn"):
        runner.withdraw(second.key)
    third = _order(world, session="s-3")
    world.calendar.faults.ends = ["late", "ok"]
    runner.run_due()
    world.before_the_next_write(lambda: world.runner("other").withdraw(third.key))
    assert runner.withdraw(third.key).state is OrderState.WITHDRAWN
    fourth = _order(world, session="s-4")
    runner.run_due()
    done = _now(world, fourth)
    world.before_the_next_write(lambda: quick.tell(quick.get(fourth.key)))
    assert runner.outbox.tell_how_it_ended(done) == done
    assert runner.outbox.tell_how_it_ended(order) == order


def test_whoever_was_slower_finds_out(world: World) -> None:
    order = _order(world)
    held = world.outbox.get(order.key)
    world.outbox.move(held, OrderEvent.WITHDRAW)
    with pytest.raises(HandleMoved):
        world.outbox.move(held, OrderEvent.CLAIM)


def test_an_action_that_nobody_carries_out_waits_and_is_reported(world: World) -> None:
    order = _order(world)

    def nobody(_name: str):  # type: ignore[no-untyped-def]
        raise ProviderFailed("no calendar is set up")

    runner = Runner(
        outbox=world.outbox, executor=nobody, clock=world.clock, worker="w", backoff=BACKOFF[:1]
    )
    [waiting] = runner.run_due()
    assert (waiting.state, waiting.reason) == (OrderState.WAITING, "no calendar is set up")
    world.clock.forward(timedelta(hours=1))
    [failed] = runner.run_due()
    assert failed.state is OrderState.FAILED
    second = _order(world, session="s-2")
    _die_at(world, 4)
    with pytest.raises(Died):
        world.runner("dead").run_due(session="s-2")
    world.chance_of_death = 0.0
    world.clock.forward(timedelta(hours=1))
    runner.run_due(session="s-2")
    assert _now(world, second).state is OrderState.UNKNOWN
    assert order.key != second.key


class _Rude:
    """An executor that raises instead of saying how it ended."""

    is_idempotent = False
    commits_late = True

    def __init__(self, *, commits: bool) -> None:
        self._commits = commits

    def execute(self, _order: Order, commit: Callable[[], None]) -> None:
        if self._commits:
            commit()
            commit()
        raise ProviderFailed("it broke")

    def look(self, _order: Order) -> None:
        raise ProviderFailed("it is still broken")


@pytest.mark.parametrize(
    ("commits", "state"), [(False, OrderState.WAITING), (True, OrderState.UNKNOWN)]
)
def test_an_executor_that_raises_is_taken_as_unclear(
    world: World, commits: bool, state: OrderState
) -> None:
    _order(world)
    rude = _Rude(commits=commits)
    runner = Runner(
        outbox=world.outbox,
        executor=lambda _: rude,  # type: ignore[arg-type, return-value]
        clock=world.clock,
        worker="w",
    )
    [order] = runner.run_due()
    assert (order.state, order.reason) == (state, "it broke")


# Names and records


def test_an_order_is_found_by_the_beginning_of_its_key(world: World) -> None:
    order = _order(world)
    assert world.outbox.get(order.key[:8]).order == order
    for name in (order.key[:3], "f" * 12, ""):
        with pytest.raises((NotFound, InvalidInput)):
            world.outbox.get(name)
    assert world.outbox.find("0" * 64) is None


def test_only_an_order_is_read_as_an_order(world: World) -> None:
    order = _order(world)
    assert order_from_json(order_to_json(order)) == order
    flow = world.desk().find("s-1")
    assert flow is not None
    for content in (b"{", b"[]", b"{}", flow_to_json(flow)):
        with pytest.raises(InvalidDocument, match="not an order"):
            order_from_json(content)


def test_every_state_is_spoken_of_and_closed_ones_do_not_move() -> None:
    assert set(STATUS) == set(OrderState)
    assert not [state for state, _ in MOVES if state in CLOSED]
    reached = {*MOVES.values(), OrderState.APPROVED}
    assert reached == set(OrderState)


def test_a_worker_knows_whether_another_of_this_machine_is_gone() -> None:
    me = make_worker()
    assert not is_gone(me)
    assert not is_gone("1@elsewhere/abc")
    assert not is_gone("nonsense")
    host = me.split("@")[1].split("/")[0]
    assert is_gone(f"{2**22 - 3}@{host}/abc")
    assert not is_gone(f"1@{host}/abc")
