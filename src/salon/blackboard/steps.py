"""Steps: small agents that read declared slots and write one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from salon.blackboard.slots import Dated, Past, Read, Slot
from salon.blackboard.triggers import EVERY_TURN, Trigger
from salon.core.absent import Absent

T = TypeVar("T")


class View(Protocol):
    """What a step sees of the board: the slots it declared, and nothing else."""

    @property
    def turn(self) -> int:
        """Return the number of this turn, from 1."""

    def __getitem__(self, slot: Slot[T]) -> T | Absent:
        """Return what is in a slot this turn, or why nothing is."""

    def past(self, slot: Slot[T]) -> tuple[Dated[T], ...]:
        """Return what earlier turns wrote into a slot, oldest first; declared as `Past(slot)`."""

    def latest(self, slot: Slot[T]) -> T | Absent:
        """Return this turn's value, or the newest earlier one; both must be declared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Generic[T]):
    """One agent, declared: what it reads, what it writes, when it is due, how long it may take.

    `run` returns the value for `writes`, or `Absent` where it has nothing to say.
    """

    name: str
    about: str
    """One line for the table of steps."""
    reads: tuple[Read, ...]
    writes: Slot[T]
    run: Callable[[View], T | Absent]
    when: Trigger = EVERY_TURN
    timeout_s: float = 5.0


def slots_read(step: Step[Any]) -> tuple[Slot[Any], ...]:
    """Return the slots whose value of this turn a step reads."""
    return tuple(one for one in step.reads if not isinstance(one, Past))
