"""A set of steps is refused before it runs, with the names of what is wrong."""

from typing import Any

import pytest

from salon.blackboard.checking import make_plan
from salon.blackboard.slots import Given, Past, Slot
from salon.blackboard.steps import Step
from salon.blackboard.triggers import AnyOf, Every, Holds
from salon.core.errors import InvalidInput
from tests.blackboard.toys import COUNTING, LOUD, MESSAGE, SHOUTING, WORDS, says, step

A, B, C = (Slot(name, int) for name in "abc")


def _plan(*steps: Step[Any]) -> tuple[str, ...]:
    return tuple(one.name for one in make_plan(steps, given=(MESSAGE,)).steps)


def test_the_order_follows_from_reads_and_not_from_the_list() -> None:
    assert _plan(SHOUTING, COUNTING) == ("counting", "shouting")
    assert _plan(COUNTING, SHOUTING) == ("counting", "shouting")


@pytest.mark.requirement("companion/pattern/one-writer")
def test_two_writers_of_a_slot_are_refused_by_name() -> None:
    other = step("estimating", WORDS, says(3))
    with pytest.raises(InvalidInput, match="'counting' and 'estimating' both write slot 'words'"):
        _plan(COUNTING, other)


@pytest.mark.requirement("companion/pattern/one-writer")
def test_a_read_that_nobody_fills_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match=r"'shouting' reads 'words', which no step writes"):
        _plan(SHOUTING)


@pytest.mark.requirement("companion/pattern/one-writer")
def test_a_circle_is_refused_with_the_steps_in_it() -> None:
    steps = (
        step("one", A, says(1), reads=(C,)),
        step("two", B, says(1), reads=(A,)),
        step("three", C, says(1), reads=(B,)),
    )
    with pytest.raises(InvalidInput, match="wait for each other") as caught:
        _plan(*steps)
    assert set(caught.value.details["steps"] or ()) == {"one", "two", "three"}  # type: ignore[arg-type]
    said = caught.value.message
    assert any(turn in said for turn in ("one → three → two", "three → two → one", "two → one"))


def test_a_step_that_reads_its_own_slot_is_a_circle() -> None:
    with pytest.raises(InvalidInput, match="echo → echo"):
        _plan(step("echo", A, says(1), reads=(A,)))


def test_the_past_makes_no_circle() -> None:
    steps = (
        step("one", A, says(1), reads=(Past(B),)),
        step("two", B, says(1), reads=(A, Past(B))),
    )
    plan = make_plan(steps, given=())
    assert [one.name for one in plan.steps] == ["one", "two"]
    assert plan.past == (B,)


def test_earlier_values_of_a_slot_that_nobody_writes_are_refused() -> None:
    with pytest.raises(InvalidInput, match="'one' reads 'b'"):
        _plan(step("one", A, says(1), reads=(Past(B),)))


def test_a_step_waits_for_the_slot_that_its_trigger_tests() -> None:
    due = AnyOf((Every(3), Holds(WORDS, "many words", lambda count: count > 3)))
    asking = step("asking", A, says(1), when=due)
    assert _plan(asking, COUNTING) == ("counting", "asking")
    with pytest.raises(InvalidInput, match="'asking' reads 'words'"):
        _plan(asking)


def test_a_slot_read_as_another_type_is_refused() -> None:
    other = step("reading", A, says(1), reads=(Slot("words", str),))
    with pytest.raises(InvalidInput, match="'reading' reads 'words' as str, but it holds int"):
        _plan(COUNTING, other)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (step("counting", A, says(1)), "two steps have the name 'counting'"),
        (step("Other", A, says(1)), "'Other' cannot be the name of a step"),
        (step("other", Slot("a b", int), says(1)), "'a b' cannot be the name of a slot"),
        (step("other", A, says(1), timeout_s=0), "no time to run"),
        (step("other", Given("x", int), says(1)), "which is given before any step runs"),
        (step("other", Slot("message", str), says("")), "step 'other' writes it"),
    ],
    ids=["same-name", "step-name", "slot-name", "no-time", "writes-given", "writes-message"],
)
def test_what_cannot_be_declared_is_refused(wrong: Step[Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        _plan(COUNTING, wrong)


def test_layers_hold_what_may_run_together() -> None:
    plan = make_plan((SHOUTING, COUNTING, step("alone", A, says(1))), given=(MESSAGE,))
    assert [{one.name for one in layer} for layer in plan.layers()] == [
        {"counting", "alone"},
        {"shouting"},
    ]
    assert plan.step("alone").writes == A
    assert set(plan.slots) == {WORDS, LOUD, A}


def test_a_plan_without_steps_has_no_layers() -> None:
    assert make_plan((), given=()).layers() == ()
