"""What one step sees of a board: the slots it declared, for as long as it may run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from salon.blackboard.slots import Dated, Past, Slot
from salon.blackboard.steps import Step, slots_read
from salon.core.absent import Absent

T = TypeVar("T")
NOTHING = Absent("nothing was given")


class Undeclared(LookupError):
    """A step touched a slot that it did not declare: a mistake in the step."""


class TooLate(RuntimeError):
    """A step looked at the board after its time was up."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What one step may look at."""

    step: str
    now: frozenset[str]
    past: frozenset[str]


def declared(step: Step[Any]) -> Declared:
    """Return what a step said it reads."""
    return Declared(
        step=step.name,
        now=frozenset(slot.name for slot in slots_read(step)),
        past=frozenset(one.slot.name for one in step.reads if isinstance(one, Past)),
    )


class BoardView:
    """The view of one step in one turn; see `steps.View`."""

    __slots__ = ("_declared", "_is_closed", "_past", "_values", "turn")

    def __init__(
        self,
        turn: int,
        allowed: Declared,
        values: Mapping[str, Any],
        past: Mapping[str, tuple[Dated[Any], ...]],
    ) -> None:
        self.turn = turn
        self._declared = allowed
        self._values = values
        self._past = past
        self._is_closed = False

    def __getitem__(self, slot: Slot[T]) -> T | Absent:
        """Return what is in a slot this turn, or why nothing is."""
        self._require(slot, self._declared.now, "")
        return cast("T | Absent", self._values.get(slot.name, NOTHING))

    def past(self, slot: Slot[T]) -> tuple[Dated[T], ...]:
        """Return what earlier turns wrote into a slot, oldest first."""
        self._require(slot, self._declared.past, "earlier values of ")
        return self._past.get(slot.name, ())

    def latest(self, slot: Slot[T]) -> T | Absent:
        """Return this turn's value, or the newest earlier one, or why there is none."""
        value, earlier = self[slot], self.past(slot)
        if isinstance(value, Absent) and earlier:
            return earlier[-1].value
        return value

    def close(self) -> None:
        """Show nothing from now on: the step's time is up."""
        self._is_closed = True

    def _require(self, slot: Slot[Any], allowed: frozenset[str], what: str) -> None:
        if self._is_closed:
            raise TooLate(f"step {self._declared.step!r} ran out of time")
        if slot.name not in allowed:
            raise Undeclared(f"step {self._declared.step!r} did not declare {what}{slot.name!r}")


def look(
    slot: Slot[Any],
    *,
    latest: bool,
    values: Mapping[str, Any],
    past: Mapping[str, tuple[Dated[Any], ...]],
) -> Any:
    """Return what a trigger tests: a slot's value, or with `latest` the newest earlier one."""
    value = values.get(slot.name, NOTHING)
    if latest and isinstance(value, Absent) and past.get(slot.name):
        return past[slot.name][-1].value
    return value
