"""Triggers: when a step is due, as data."""

import pytest

from salon.blackboard.slots import Dated, Slot
from salon.blackboard.triggers import (
    EVERY_TURN,
    AnyOf,
    AtTurns,
    Every,
    Holds,
    Trigger,
    conditions_of,
    in_words,
    is_due,
)
from salon.blackboard.view import look
from salon.core.absent import Absent

NOTHING = Absent("not due")
DOUBT = Slot("doubt", float)
DOUBTFUL = Holds(DOUBT, "doubt is above 0.5", lambda doubt: doubt > 0.5)
LATELY = Holds(DOUBT, "doubt was last above 0.5", lambda doubt: doubt > 0.5, latest=True)


def _due(trigger: Trigger, turns: int, value: float | Absent = NOTHING) -> list[int]:
    def see(slot: Slot[object], latest: bool) -> object:
        past = {"doubt": (Dated(turn=1, value=0.9),)}
        return look(slot, latest=latest, values={"doubt": value}, past=past)

    return [turn for turn in range(1, turns + 1) if is_due(trigger, turn, see)]


@pytest.mark.parametrize(
    ("trigger", "turns", "words"),
    [
        (EVERY_TURN, [1, 2, 3, 4, 5, 6], "every turn"),
        (Every(3), [3, 6], "every 3 turns"),
        (Every(1), [1, 2, 3, 4, 5, 6], "every turn"),
        (AtTurns((2, 5)), [2, 5], "at turns 2, 5"),
        (AtTurns((1,)), [1], "at turn 1"),
        (AnyOf((Every(5), AtTurns((1, 5)))), [1, 5], "every 5 turns, or at turns 1, 5"),
    ],
    ids=["always", "every-3", "every-1", "at-2-5", "at-1", "any"],
)
def test_turns_in_which_a_step_is_due(trigger: Trigger, turns: list[int], words: str) -> None:
    assert _due(trigger, 6) == turns
    assert in_words(trigger) == words


def test_a_test_holds_only_where_there_is_a_value() -> None:
    assert _due(DOUBTFUL, 2, 0.7) == [1, 2]
    assert _due(DOUBTFUL, 2, 0.3) == []
    assert _due(DOUBTFUL, 2) == []


def test_a_test_of_the_latest_value_looks_back() -> None:
    assert _due(LATELY, 2) == [1, 2]
    assert _due(LATELY, 2, 0.3) == []


def test_the_tests_inside_a_trigger_are_found() -> None:
    assert conditions_of(AnyOf((Every(2), AnyOf((DOUBTFUL,)), LATELY))) == (DOUBTFUL, LATELY)
    assert in_words(AnyOf((Every(2), DOUBTFUL))) == "every 2 turns, or when doubt is above 0.5"


def test_every_no_turn_is_refused() -> None:
    with pytest.raises(ValueError, match="every 0 turns"):
        Every(0)
