"""The desk: flows that survive restarts, one at a time, each move noted."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.errors import InvalidDocument
from salon.gate.actions import Situation
from salon.gate.approval import order_key
from salon.gate.desk import Desk, flow_from_json, flow_to_json
from salon.gate.flow_table import Event, Step
from salon.gate.forms import FormField, flow_request
from salon.gate.orders import order_to_json
from salon.gate.outbox import Outbox
from tests.gate.worlds import Died, World

SAID = Situation(said=("My employee Jordan has been absent for three days.",), reply="")


@pytest.fixture
def world() -> Iterator[World]:
    with SqliteArchive.temporary() as archive:
        yield World(archive)


def _walk(world: World, *answers: str, action: str = "calendar", session: str = "s-1") -> Desk:
    desk = world.desk()
    desk.open(session, action, SAID, rule="recommendation")
    for number, answer in enumerate(answers, start=3):
        assert desk.answer(session, answer, turn=number, by="meg") is not None
    return desk


def _moves(world: World) -> list[tuple[object, object]]:
    notes = (entry.body for entry in world.archive.audit_entries())
    return [(one["moved_to"], one["rule"]) for one in notes if one["kind"] == "action_moved"]


def test_every_move_is_one_note_in_the_audit_log(world: World) -> None:
    _walk(world, "yes", "1", "Jordan Lee", "skip", "yes")
    assert _moves(world) == [
        ("awaiting_initial_confirmation", "recommendation"),
        ("fetching_availability", "accept"),
        ("awaiting_time_selection", "slots"),
        ("awaiting_employee_name", "choose"),
        ("awaiting_employee_phone", "answer"),
        ("awaiting_confirmation", "skip"),
        ("approved", "approve"),
    ]
    last = [entry.body for entry in world.archive.audit_entries()][-1]
    flow = world.desk().find("s-1")
    assert flow is not None
    assert last["arguments_sha256"] == flow.digest
    assert last["session"] == "s-1"


@pytest.mark.requirement("gate/overview/offer-not-execution")
def test_nothing_is_ordered_before_the_approval_and_exactly_once_by_it(world: World) -> None:
    desk = _walk(world, "yes", "1", "Jordan Lee", "skip")
    assert list(world.outbox.waiting()) == []
    moved = desk.answer("s-1", "yes", turn=9, by="meg")
    assert moved is not None
    assert moved.is_approval
    [held] = world.outbox.waiting()
    assert held.order.key == moved.flow.order == order_key(moved.flow.id, moved.flow.digest or "")
    assert held.order.approved_by == "meg"
    assert held.order.arguments == moved.flow.arguments
    assert desk.answer("s-1", "yes", turn=10, by="meg") is None, "it is over"
    assert len(list(world.outbox.waiting())) == 1


def test_a_flow_goes_on_in_another_process_as_if_nothing_had_been(world: World) -> None:
    before = _walk(world, "yes", "2")
    other = world.desk()
    flow = other.find_active("s-1")
    assert flow == before.find_active("s-1")
    assert flow is not None
    assert other.prompt(flow) == before.prompt(flow)
    moved = other.answer("s-1", "Jordan Lee", turn=5, by="meg")
    assert moved is not None
    assert moved.flow.step_name == "awaiting_employee_phone"


def test_a_death_while_times_are_looked_up_is_made_good(world: World) -> None:
    desk = _walk(world)

    def die() -> str:
        raise Died

    world.calendar.faults.draw = die
    with pytest.raises(Died):
        desk.answer("s-1", "yes", turn=3, by="meg")
    world.calendar.faults.draw = lambda: "ok"
    flow = world.desk().find_active("s-1")
    assert flow is not None
    assert flow.step is Step.FETCHING
    assert "looking" in desk.prompt(flow)
    moved = world.desk().answer("s-1", "are you there", turn=4, by="meg")
    assert moved is not None
    assert len(moved.flow.slots) == 3
    assert "These times are free" in moved.text


def test_one_flow_at_a_time(world: World) -> None:
    desk = _walk(world, "yes")
    again = desk.open("s-1", "email", SAID, rule="offer")
    assert again.flow.action == "calendar"
    assert again.flow == desk.find_active("s-1")
    assert "These times are free" in again.text
    elsewhere = desk.open("s-2", "email", SAID, rule="offer")
    assert elsewhere.flow.action == "email"


def test_an_expired_flow_makes_room(world: World) -> None:
    desk = _walk(world, "yes")
    assert desk.expire("s-1") is None
    world.clock.forward(timedelta(minutes=31))
    moved = desk.answer("s-1", "1", turn=5, by="meg")
    assert moved is not None
    assert moved.event is Event.EXPIRE
    assert "expired" in moved.text
    desk.open("s-1", "calendar", SAID, rule="offer")
    world.clock.forward(timedelta(minutes=31))
    fresh = desk.open("s-1", "email", SAID, rule="offer")
    assert fresh.flow.action == "email"
    assert _moves(world)[-2:] == [
        ("expired", "expire"),
        ("awaiting_initial_confirmation", "offer"),
    ]
    world.clock.forward(timedelta(minutes=31))
    ended = desk.expire("s-1")
    assert ended is not None
    assert not ended.flow.is_active


def test_a_closed_gate_ends_a_flow(world: World) -> None:
    desk = _walk(world, "yes", "1")
    closed = desk.close("s-1", rule="closed")
    assert closed is not None
    assert closed.flow.step is Step.CANCELLED
    assert _moves(world)[-1] == ("cancelled", "closed")
    assert desk.close("s-1", rule="closed") is None


def test_an_approval_by_digest_approves_that_and_nothing_else(world: World) -> None:
    desk = _walk(world, "yes", "1", "Jordan Lee", "skip")
    wrong = desk.approve("s-1", "0" * 64, turn=8, by="meg")
    assert wrong is not None
    assert wrong.event is Event.VOID
    assert list(world.outbox.waiting()) == []
    right = desk.approve("s-1", wrong.flow.digest or "", turn=9, by="meg")
    assert right is not None
    assert right.is_approval
    early = _walk(world, session="s-2").approve("s-2", "0" * 64, turn=2, by="meg")
    assert early is not None
    assert early.flow.step is Step.OFFERED


def test_a_calendar_that_fails_does_not_stop_the_flow(world: World) -> None:
    world.calendar.faults.draw = lambda: "fail"
    desk = _walk(world, "yes")
    flow = desk.find_active("s-1")
    assert flow is not None
    assert flow.slots == ()
    moved = desk.answer("s-1", "2026-11-20 15:00", turn=4, by="meg")
    assert moved is not None
    assert moved.flow.step_name == "awaiting_employee_name"


def test_two_answers_at_once_are_taken_one_after_the_other(world: World) -> None:
    desk = _walk(world, "yes", "1", "Jordan Lee", "skip")
    other = world.desk()
    changes = ["change the name to Ada B"]

    def meanwhile() -> str:
        while changes:
            other.answer("s-1", changes.pop(), turn=8, by="x")
        return "ok"

    world.calendar.faults.draw = meanwhile
    moved = desk.answer("s-1", "yes", turn=8, by="meg")
    assert moved is not None
    [held] = world.outbox.waiting()
    # The yes that lost was read again, against the draft as it was by then.
    assert held.order.digest == moved.flow.digest
    assert held.order.arguments["employee_name"] == "Ada B"


def test_whoever_is_slower_sees_what_the_other_did(world: World) -> None:
    desk, other = world.desk(), world.desk()
    world.before_the_next_write(lambda: other.open("s-1", "email", SAID, rule="offer"))
    assert desk.open("s-1", "calendar", SAID, rule="offer").flow.action == "email"
    world.before_the_next_write(lambda: other.close("s-1", rule="closed"))
    assert desk.close("s-1", rule="closed") is None
    desk.open("s-1", "calendar", SAID, rule="offer")
    world.clock.forward(timedelta(minutes=31))
    world.before_the_next_write(lambda: other.expire("s-1"))
    assert desk.expire("s-1") is None
    desk.open("s-1", "calendar", SAID, rule="offer")
    world.clock.forward(timedelta(minutes=31))
    world.before_the_next_write(lambda: other.expire("s-1"))
    assert desk.open("s-1", "email", SAID, rule="offer").flow.action == "email"
    opened = [move for move in _moves(world) if move[1] == "offer"]
    assert len(opened) == 4


def test_a_flow_can_be_shown_as_a_form(world: World) -> None:
    desk, forms = _walk(world), []
    for answer in ("yes", "1", "Jordan Lee", "skip", "yes"):
        flow = desk.find_active("s-1")
        assert flow is not None
        forms.append(flow_request(flow, desk.actions.get(flow.action), desk.reading()))
        desk.answer("s-1", answer, turn=4, by="meg")
    assert [[field.name for field in form.fields] for form in forms] == [
        ["accept"],
        ["start"],
        ["employee_name"],
        ["employee_phone"],
        [],
    ]
    assert [form.digest is None for form in forms] == [True, True, True, True, False]
    assert len(forms[1].fields[0].choices) == 3
    assert not forms[3].fields[0].is_required
    mail = _walk(world, "yes", "Jo Lee", "jo@example.com", action="email", session="s-2")
    flow = mail.find_active("s-2")
    assert flow is not None
    asked = flow_request(flow, mail.actions.get("email"), mail.reading()).fields
    assert asked == (
        FormField(name="variables", label=flow.asking or "", question=mail.prompt(flow)),
    )


def test_only_a_flow_is_read_as_a_flow(world: World) -> None:
    desk = _walk(world, "yes", "1", "Jordan Lee", "skip", "yes")
    flow = desk.find("s-1")
    assert flow is not None
    assert flow_from_json(flow_to_json(flow)) == flow
    [held] = Outbox(world.archive).waiting()
    for content in (b"{", b"[]", b"{}", order_to_json(held.order)):
        with pytest.raises(InvalidDocument, match="not a flow"):
            flow_from_json(content)
