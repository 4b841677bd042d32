"""A view for steps that look back: the slots they declared, now and earlier."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from salon.blackboard.slots import Dated, Slot
from salon.blackboard.steps import Step
from salon.blackboard.view import declared
from salon.core.absent import Absent

T = TypeVar("T")


class TurnView:
    """The view of one step in one turn."""

    def __init__(
        self,
        step: Step[Any],
        values: Mapping[Slot[Any], Any],
        *,
        turn: int = 1,
        past: Mapping[Slot[Any], Sequence[tuple[int, Any]]] | None = None,
    ) -> None:
        self.turn = turn
        self._values = {slot.name: value for slot, value in values.items()}
        self._past = {slot.name: rows for slot, rows in (past or {}).items()}
        self._allowed = declared(step)

    def __getitem__(self, slot: Slot[T]) -> T | Absent:
        assert slot.name in self._allowed.now, f"{slot.name} was not declared"
        return cast("T | Absent", self._values.get(slot.name, Absent("nothing was given")))

    def past(self, slot: Slot[T]) -> tuple[Dated[T], ...]:
        assert slot.name in self._allowed.past, f"the past of {slot.name} was not declared"
        rows = self._past.get(slot.name, ())
        return tuple(Dated(turn=turn, value=value) for turn, value in rows)

    def latest(self, slot: Slot[T]) -> T | Absent:
        value, earlier = self[slot], self.past(slot)
        return earlier[-1].value if isinstance(value, Absent) and earlier else value
