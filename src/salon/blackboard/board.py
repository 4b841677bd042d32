"""A board after its turn: what every slot holds or why it holds nothing, and how long it took."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from salon.blackboard.slots import Slot
from salon.blackboard.values import as_record
from salon.core.absent import Absent

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """When a step began, from the beginning of the turn, and how long it ran."""

    began_s: float
    took_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A step that was due and wrote nothing; `kind` says why without any word of the message."""

    step: str
    slot: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The board of one turn. Times stand beside what is recorded, never in it."""

    turn: int
    values: Mapping[str, Any] = field(default_factory=dict)
    recorded: Mapping[str, bytes | Absent] = field(default_factory=dict)
    """What the steps wrote, by slot, as JSON."""
    failures: tuple[Failure, ...] = ()
    times: Mapping[str, StepTime] = field(default_factory=dict)
    """Of the steps that ran, by name."""
    took_s: float = 0.0

    def __getitem__(self, slot: Slot[T]) -> T | Absent:
        """Return what is in a slot, or why nothing is."""
        return cast("T | Absent", self.values.get(slot.name, NOBODY_WRITES))

    def record(self) -> dict[str, dict[str, object]]:
        """Return what the steps wrote, as a turn record has it."""
        return {name: as_record(raw) for name, raw in sorted(self.recorded.items())}

    @property
    def idle_s(self) -> float:
        """Return the time of the turn in which no step was running: the board's own."""
        busy, until = 0.0, 0.0
        for one in sorted(self.times.values(), key=lambda time: time.began_s):
            end = one.began_s + one.took_s
            busy += max(0.0, end - max(until, one.began_s))
            until = max(until, end)
        return max(0.0, self.took_s - busy)


NOBODY_WRITES = Absent("no step writes it")
