"""When a step is due, as data. Nothing else in Salon asks which turn it is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from salon.blackboard.slots import Slot
from salon.core.absent import Absent


@dataclass(frozen=True, slots=True)
class EveryTurn:
    """Due in every turn."""


EVERY_TURN = EveryTurn()


@dataclass(frozen=True, slots=True)
class Every:
    """Due in every n-th turn, counted from 1."""

    n: int

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ValueError(f"every {self.n} turns is not possible")


@dataclass(frozen=True, slots=True)
class AtTurns:
    """Due in these turns."""

    turns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Holds:
    """Due when a test of one slot's value holds; never when the value is absent."""

    slot: Slot[Any]
    name: str
    """What is tested, in words: `any confidence below 0.6`."""
    test: Callable[[Any], bool]
    latest: bool = False
    """Where this turn wrote nothing into the slot, test the newest earlier value."""


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Due when one of these is."""

    triggers: "tuple[Trigger, ...]"


Trigger = EveryTurn | Every | AtTurns | Holds | AnyOf

Look = Callable[[Slot[Any], bool], Any]
"""Returns what is in a slot, or `Absent`; with `True`, the newest earlier value instead of that."""


def is_due(trigger: Trigger, turn: int, look: Look) -> bool:
    """Tell whether a step is due in a turn."""
    match trigger:
        case EveryTurn():
            return True
        case Every(n):
            return turn % n == 0
        case AtTurns(turns):
            return turn in turns
        case Holds():
            value = look(trigger.slot, trigger.latest)
            return not isinstance(value, Absent) and bool(trigger.test(value))
        case AnyOf(triggers):
            return any(is_due(one, turn, look) for one in triggers)


def conditions_of(trigger: Trigger) -> tuple[Holds, ...]:
    """Return the tests of slots inside a trigger: a step waits for these slots too."""
    match trigger:
        case Holds():
            return (trigger,)
        case AnyOf(triggers):
            return tuple(test for one in triggers for test in conditions_of(one))
        case _:
            return ()


def in_words(trigger: Trigger) -> str:
    """Return a trigger as the table of steps shows it."""
    match trigger:
        case EveryTurn():
            return "every turn"
        case Every(n):
            return f"every {n} turns" if n > 1 else "every turn"
        case AtTurns(turns):
            noun = "turn" if len(turns) == 1 else "turns"
            return f"at {noun} {', '.join(map(str, turns))}"
        case Holds():
            return f"when {trigger.name}"
        case AnyOf(triggers):
            return ", or ".join(in_words(one) for one in triggers)
