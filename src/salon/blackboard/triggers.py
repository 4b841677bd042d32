"""When a step is due, as data. Nothing else in Salon asks which turn it is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from salon.blackboard.slots import Slot


@dataclass(frozen=True, slots=True)
class EveryTurn:
    """Due in every turn."""


EVERY_TURN = EveryTurn()


@dataclass(frozen=True, slots=True)
class Every:
    """Due in every n-th turn, counted from 1."""

    n: int


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


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Due when one of these is."""

    triggers: "tuple[Trigger, ...]"


Trigger = EveryTurn | Every | AtTurns | Holds | AnyOf
