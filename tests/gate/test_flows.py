"""Flows: a pure machine that reaches approval by one way only."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.clock import instant
from salon.gate.actions import Action, Reading, Situation
from salon.gate.answers import is_yes
from salon.gate.builtin_actions import CALENDAR, EMAIL
from salon.gate.flow_table import ENDS, MOVES, Event, Step
from salon.gate.flows import (
    READERS,
    At,
    Flow,
    Read,
    Taken,
    is_expired,
    open_flow,
    proposal_of,
    read_approval,
    take_answer,
    take_event,
    take_slots,
)
from salon.gate.forms import flow_request
from salon.gate.prompts import PROMPTS, prompt
from tests.gate.simulate import AMBIGUOUS, BACKING_OUT, EDITS, GOOD
from tests.gate.worlds import MONDAY, ZONE

READING = Reading(now=MONDAY, zone=ZONE)
AT = At(reading=READING, turn=3)
ABSENT = Situation(said=("My employee Jordan has been absent for three days.",), reply="")
SLOTS = [MONDAY + timedelta(hours=hours) for hours in (1, 2, 3)]


def _open(action: Action) -> Flow:
    return open_flow(action, ABSENT, id_="flow_1", session="s-1", reading=READING)


def _say(flow: Flow, action: Action, *answers: str, at: At = AT) -> Taken:
    taken = Taken(flow=flow, event=Event.UNCLEAR)
    for answer in answers:
        taken = take_answer(taken.flow, answer, action, at)
        if taken.flow.step is Step.FETCHING:
            taken = take_slots(taken.flow, SLOTS, action, at)
    return taken


def _confirming() -> Flow:
    flow = _say(_open(CALENDAR), CALENDAR, "yes", "the second one", "Jordan Lee", "skip").flow
    assert flow.step is Step.CONFIRMING
    return flow


def test_a_call_goes_through_its_steps_in_order() -> None:
    flow, seen = _open(CALENDAR), []
    for answer in ("yes", "the second one", "Jordan Lee", "555-010-4477", "yes"):
        seen.append(flow.step_name)
        flow = _say(flow, CALENDAR, answer).flow
    assert seen == [
        "awaiting_initial_confirmation",
        "awaiting_time_selection",
        "awaiting_employee_name",
        "awaiting_employee_phone",
        "awaiting_confirmation",
    ]
    assert flow.step is Step.APPROVED
    assert flow.arguments == {
        "title": "Call: Your attendance",
        "minutes": "30",
        "start": instant(SLOTS[1]),
        "employee_name": "Jordan Lee",
        "employee_phone": "5550104477",
    }


def test_a_mail_asks_for_every_open_place_of_its_text_one_by_one() -> None:
    flow, seen = _open(EMAIL), []
    answers = ("sure", "Jordan Lee", "jo@example.com", "Monday to Wednesday", "Friday", "Meg")
    for answer in answers:
        seen.append(flow.step_name)
        flow = _say(flow, EMAIL, answer).flow
    assert seen == [
        "awaiting_initial_confirmation",
        "awaiting_employee_name",
        "awaiting_employee_email",
        "awaiting_variables",
        "awaiting_variables",
        "awaiting_variables",
    ]
    assert flow.step is Step.CONFIRMING
    body = flow.arguments["body"]
    assert body.startswith("Hi Jordan Lee,")
    assert "Monday to Wednesday" in body
    assert body.endswith("Meg")
    assert "[" not in body


@pytest.mark.parametrize("action", [CALENDAR, EMAIL], ids=["call", "mail"])
def test_who_was_named_is_suggested_and_taken_only_by_a_yes(action: Action) -> None:
    named = replace(ABSENT, names=("Jordan",))
    flow = open_flow(action, named, id_="flow_1", session="s-1", reading=READING)
    assert "employee_name" not in flow.arguments
    first = ("yes", "the second one") if action is CALENDAR else ("yes",)
    flow = _say(flow, action, *first).flow
    assert flow.step_name == "awaiting_employee_name"
    assert prompt(flow, action, READING) == "Is it for Jordan? Say yes, or give the name."
    [field] = flow_request(flow, action, READING).fields
    assert field.question == prompt(flow, action, READING)
    assert _say(flow, action, "yes").flow.arguments["employee_name"] == "Jordan"
    assert _say(flow, action, "Sam Hill").flow.arguments["employee_name"] == "Sam Hill"
    turned_down = _say(flow, action, "no").flow
    assert prompt(turned_down, action, READING) == "Who is it for? Please give the name."
    assert _say(turned_down, action, "yes").flow.step_name == "awaiting_employee_name"


def test_of_several_who_were_named_one_has_to_be_said() -> None:
    named = replace(ABSENT, names=("Jordan Lee", "Sam", "1234", "Sam"))
    flow = open_flow(EMAIL, named, id_="flow_1", session="s-1", reading=READING)
    flow = _say(flow, EMAIL, "yes").flow
    assert prompt(flow, EMAIL, READING).endswith("You spoke of Jordan Lee and Sam.")
    assert _say(flow, EMAIL, "yes").flow.step_name == "awaiting_employee_name"


def test_a_draft_shows_everything_that_would_happen() -> None:
    text = prompt(_confirming(), CALENDAR, READING)
    for shown in ("Jordan Lee", "Monday, November 16, 2026 at 10:00 AM (EST)", "30 minutes"):
        assert shown in text


@pytest.mark.parametrize("answer", ["maybe", "yes but not now?", "ok if she agrees", "", "yes yes"])
def test_an_ambiguous_answer_asks_again_and_never_approves(answer: str) -> None:
    taken = _say(_confirming(), CALENDAR, answer)
    assert taken.event is Event.UNCLEAR
    assert taken.flow.step is Step.CONFIRMING
    assert taken.flow.digest == _confirming().digest


def test_a_change_makes_another_digest_that_has_to_be_approved_anew() -> None:
    before = _confirming()
    taken = take_answer(before, "change the name to Ada Byron", CALENDAR, replace(AT, turn=4))
    after = taken.flow
    assert taken.event is Event.CHANGE
    assert after.step is Step.CONFIRMING
    assert after.digest != before.digest
    assert read_approval(after, before.digest, CALENDAR, AT).event is Event.VOID
    assert read_approval(after, after.digest, CALENDAR, AT).event is Event.APPROVE


def test_the_same_words_in_another_turn_have_another_digest() -> None:
    flow = _confirming()
    later = replace(flow, shown_turn=9)
    assert proposal_of(later).digest != flow.digest
    assert read_approval(later, flow.digest, CALENDAR, AT).event is Event.VOID
    old = replace(flow, policy="0")
    assert read_approval(old, flow.digest, CALENDAR, AT).event is Event.VOID


def test_what_was_changed_behind_the_flow_is_shown_again_instead_of_done() -> None:
    flow = _confirming()
    forged = replace(flow, arguments=flow.arguments | {"employee_name": "Somebody Else"})
    taken = take_answer(forged, "yes", CALENDAR, AT)
    assert taken.event is Event.VOID
    assert taken.flow.step is Step.CONFIRMING
    assert "Somebody Else" in prompt(taken.flow, CALENDAR, READING)


@pytest.mark.parametrize(
    ("answer", "field", "value"),
    [
        ("change the time to 2026-11-19 10:30", "start", "2026-11-19T15:30:00.000000Z"),
        ("make it Thursday at 11", "start", "2026-11-19T16:00:00.000000Z"),
        ("length: 45", "minutes", "45"),
        ("the title should be A talk", "title", "A talk"),
        ("change the phone to 555 010 4477", "employee_phone", "5550104477"),
    ],
)
def test_every_field_can_be_changed_in_words(answer: str, field: str, value: str) -> None:
    taken = _say(_confirming(), CALENDAR, answer)
    assert taken.event is Event.CHANGE
    assert taken.flow.arguments[field] == value


@pytest.mark.parametrize(
    "answer", ["change the time to next week", "change the phone to unknown", "make it Sunday at 9"]
)
def test_a_change_that_cannot_be_leaves_the_draft_as_it_was(answer: str) -> None:
    taken = _say(_confirming(), CALENDAR, answer)
    assert taken.event is Event.BAD_CHANGE
    assert taken.say
    assert taken.flow.arguments == _confirming().arguments
    assert taken.flow.digest == _confirming().digest


def test_a_changed_name_changes_in_the_text_too() -> None:
    answers = ("yes", "Jordan Lee", "jo@example.com", "Monday", "Friday", "Meg")
    flow = _say(_open(EMAIL), EMAIL, *answers, "change the name to Jo Li").flow
    assert flow.arguments["body"].startswith("Hi Jo Li,")
    assert "Jordan" not in flow.arguments["body"]


def test_a_time_that_is_taken_or_has_passed_is_not_approved() -> None:
    taken = replace(AT, is_taken=lambda _start, _minutes: True)
    assert _say(_confirming(), CALENDAR, "yes", at=taken).event is Event.UNCLEAR
    flow = replace(_confirming(), touched_at=instant(SLOTS[1]))
    late = replace(AT, reading=Reading(now=SLOTS[1], zone=ZONE))
    after = _say(flow, CALENDAR, "yes", at=late)
    assert after.flow.step is Step.CONFIRMING
    assert "passed" in after.say
    choosing = _say(_open(CALENDAR), CALENDAR, "yes").flow
    assert _say(choosing, CALENDAR, "1", at=taken).say == "That time is taken by now."
    changed = _say(_confirming(), CALENDAR, "make it Thursday at 11", at=taken)
    assert changed.event is Event.BAD_CHANGE


def test_an_offer_is_asked_again_once_and_then_left() -> None:
    first = _say(_open(CALENDAR), CALENDAR, "what about the holidays")
    assert first.flow.step is Step.OFFERED
    assert "yes or no" in prompt(first.flow, CALENDAR, READING)
    second = _say(first.flow, CALENDAR, "and the weekends")
    assert second.event is Event.MOVE_ON
    assert not second.flow.is_active


@pytest.mark.parametrize("answers", [("no",), ("cancel",), ("yes", "cancel"), ("yes", "1", "stop")])
def test_it_can_be_called_off_in_every_step(answers: tuple[str, ...]) -> None:
    taken = _say(_open(CALENDAR), CALENDAR, *answers)
    assert taken.flow.step is Step.CANCELLED
    assert "Nothing was done" in prompt(taken.flow, CALENDAR, READING)


def test_without_free_times_or_a_calendar_a_person_names_one() -> None:
    fetching = take_answer(_open(CALENDAR), "yes", CALENDAR, AT).flow
    assert fetching.step is Step.FETCHING
    for slots, event in (([], Event.NO_SLOTS), (None, Event.LOOKUP_FAILED)):
        taken = take_slots(fetching, slots, CALENDAR, AT)
        assert taken.event is event
        assert "no free time" in prompt(taken.flow, CALENDAR, READING)
        named = _say(taken.flow, CALENDAR, "2026-11-20 15:00")
        assert named.flow.step_name == "awaiting_employee_name"
    one = take_slots(fetching, SLOTS[:1], CALENDAR, AT).flow
    assert _say(one, CALENDAR, "yes").event is Event.CHOOSE


def test_a_flow_that_waits_too_long_expires_and_cannot_be_approved() -> None:
    flow = _confirming()
    late = replace(AT, reading=Reading(now=MONDAY + timedelta(minutes=31), zone=ZONE))
    assert is_expired(flow, late.reading.now)
    assert not is_expired(flow, MONDAY + timedelta(minutes=30))
    assert take_answer(flow, "yes", CALENDAR, late).flow.step is Step.EXPIRED


def test_what_a_model_wrote_is_taken_for_a_draft_only_where_it_is_one() -> None:
    letter = (
        "You should send an email.\nSubject: Your shifts\n\nDear [name],\n\nplease call me.\n\n"
        "Best regards,\n[your name]\n\nAnything else?"
    )
    flow = open_flow(EMAIL, replace(ABSENT, reply=letter), id_="f", session="s", reading=READING)
    assert flow.arguments["subject"] == "Your shifts"
    assert flow.arguments["body"].startswith("Dear [name],")
    assert "Anything else" not in flow.arguments["body"]
    forged = "Subject: x\x00y\nDear Jo,\nhi\nSincerely,\nme"
    kept = open_flow(EMAIL, replace(ABSENT, reply=forged), id_="f", session="s", reading=READING)
    assert "subject" not in kept.arguments, "what its field refuses is asked for"


def test_the_answer_to_an_open_place_is_words_and_not_a_question() -> None:
    flow = _say(_open(EMAIL), EMAIL, "yes", "Jordan Lee", "jo@example.com").flow
    for answer in ("what do you mean?", "yes", "[something]", "x" * 10_000):
        assert _say(flow, EMAIL, answer).event is Event.BAD_ANSWER


# The table


def test_approval_is_reached_from_the_shown_draft_alone_and_by_approving_alone() -> None:
    ways = [key for key, step in MOVES.items() if step is Step.APPROVED]
    assert ways == [(Step.CONFIRMING, Event.APPROVE)]


def test_every_step_can_be_cancelled_and_can_expire_and_ends_lead_nowhere() -> None:
    for step in set(Step) - ENDS - {Step.NEXT}:
        assert MOVES[step, Event.CANCEL] is Step.CANCELLED
        assert MOVES[step, Event.EXPIRE] is Step.EXPIRED
    assert not [step for step, _ in MOVES if step in ENDS]
    assert set(READERS) == set(Step) - ENDS - {Step.NEXT, Step.FETCHING}
    assert set(PROMPTS) == set(Step) - {Step.NEXT}


def test_what_is_not_in_the_table_cannot_happen() -> None:
    with pytest.raises(KeyError):
        take_event(_open(CALENDAR), Read(event=Event.APPROVE), CALENDAR, AT)


WORDS = st.sampled_from(
    sorted({*AMBIGUOUS, *BACKING_OUT, *EDITS, *(one for some in GOOD.values() for one in some)})
)


@given(
    st.sampled_from((CALENDAR, EMAIL)),
    st.lists(st.one_of(WORDS, st.text(max_size=30)), max_size=25),
    st.booleans(),
)
def test_whatever_is_said_only_a_clear_yes_to_the_shown_draft_approves(
    action: Action, answers: list[str], is_busy: bool
) -> None:
    flow = _open(action)
    at = replace(AT, is_taken=lambda start, _minutes: is_busy and start.hour % 2 == 0)
    for turn, answer in enumerate(answers, start=3):
        if flow.step is Step.FETCHING:
            flow = take_slots(flow, SLOTS, action, at).flow
        if not flow.is_active:
            break
        before, flow = flow, take_answer(flow, answer, action, replace(at, turn=turn)).flow
        if flow.step is Step.APPROVED:
            assert before.step is Step.CONFIRMING
            assert before.digest == proposal_of(before).digest == flow.digest
            assert before.arguments == flow.arguments
            assert is_yes(answer)
            assert "?" not in answer
        if flow.step is Step.CONFIRMING:
            assert flow.digest == proposal_of(flow).digest
            assert prompt(flow, action, READING)


def test_the_moments_of_the_test_are_in_working_hours() -> None:
    assert [one.astimezone(ZONE).hour for one in SLOTS] == [9, 10, 11]
    assert isinstance(SLOTS[0], datetime)
