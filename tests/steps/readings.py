"""A view for steps that are tested alone: the slots they are given, and nothing else."""

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from salon.blackboard.slots import Dated, Slot
from salon.blackboard.steps import Step, slots_read
from salon.core.absent import Absent

T = TypeVar("T")


class GivenView:
    """The view of one step in one turn."""

    def __init__(self, step: Step[Any], values: Mapping[Slot[Any], Any], turn: int = 1) -> None:
        self.turn = turn
        self._values = {slot.name: value for slot, value in values.items()}
        self._declared = {slot.name for slot in slots_read(step)}

    def __getitem__(self, slot: Slot[T]) -> T | Absent:
        assert slot.name in self._declared, f"{slot.name} was not declared"
        return cast("T | Absent", self._values.get(slot.name, Absent("nothing was given")))

    def past(self, slot: Slot[T]) -> tuple[Dated[T], ...]:
        raise AssertionError(f"nobody reads earlier values of {slot.name}")

    def latest(self, slot: Slot[T]) -> T | Absent:
        return self[slot]
