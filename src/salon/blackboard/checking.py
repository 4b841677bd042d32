"""Checking a set of steps before any runs: one writer for each slot, no read that nobody fills.

What is wrong with a set is the mistake of whoever wrote a step, so the message names the steps
and the slots. The order is derived from the declarations alone.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from salon.blackboard.slots import Given, Past, Resource, Slot
from salon.blackboard.steps import Step, slots_read
from salon.blackboard.triggers import conditions_of
from salon.core.errors import InvalidInput

_NAME = re.compile(r"[a-z][a-z0-9_]*")
AnyStep = Step[Any]
AnySlot = Slot[Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """A set of steps that was checked, in an order in which each comes after what it reads.

    `needs` says for each step which others it waits for; `unlocks` is the same the other way.
    """

    steps: tuple[AnyStep, ...]
    needs: dict[str, frozenset[str]]
    unlocks: dict[str, tuple[str, ...]]
    given: tuple[AnySlot, ...]
    """Givens and resources that some step reads."""
    past: tuple[AnySlot, ...]
    """Slots of which some step reads earlier values."""

    def step(self, name: str) -> AnyStep:
        """Return a step by its name."""
        return next(one for one in self.steps if one.name == name)

    @property
    def slots(self) -> tuple[AnySlot, ...]:
        """Return the slots that the steps write, in order."""
        return tuple(step.writes for step in self.steps)

    def layers(self) -> tuple[tuple[AnyStep, ...], ...]:
        """Return the steps in layers: each waits only for steps of earlier layers."""
        depth: dict[str, int] = {}
        for step in self.steps:
            depth[step.name] = 1 + max((depth[one] for one in self.needs[step.name]), default=-1)
        last = max(depth.values(), default=-1)
        return tuple(
            tuple(step for step in self.steps if depth[step.name] == level)
            for level in range(last + 1)
        )


def make_plan(steps: Iterable[AnyStep], *, given: Iterable[AnySlot]) -> Plan:
    """Return the plan of a set of steps, or raise `InvalidInput` with what cannot be."""
    listed = tuple(steps)
    _require_names(listed)
    writers = _writers(listed)
    filled = {slot.name: slot for slot in given}
    _require_filled(listed, writers, filled)
    needs = {
        step.name: frozenset(writers[slot.name] for slot in waits_for(step) if slot.name in writers)
        for step in listed
    }
    order = _order(listed, needs)
    unlocks = {name: tuple(one for one in order if name in needs[one]) for name in needs}
    by_name = {step.name: step for step in listed}
    return Plan(
        steps=tuple(by_name[name] for name in order),
        needs=needs,
        unlocks=unlocks,
        given=_once(slot for step in listed for slot in waits_for(step) if slot.name in filled),
        past=_once(slot for step in listed for slot in slots_of_the_past(step)),
    )


def waits_for(step: AnyStep) -> tuple[AnySlot, ...]:
    """Return the slots that must be filled before a step is looked at: its reads and its tests."""
    return _once((*slots_read(step), *(test.slot for test in conditions_of(step.when))))


def slots_of_the_past(step: AnyStep) -> tuple[AnySlot, ...]:
    """Return the slots of which a step, or its trigger, wants earlier values."""
    declared = (one.slot for one in step.reads if isinstance(one, Past))
    return _once((*declared, *(test.slot for test in conditions_of(step.when) if test.latest)))


def _once(slots: Iterable[AnySlot]) -> tuple[AnySlot, ...]:
    return tuple({slot.name: slot for slot in slots}.values())


def _require_names(steps: Sequence[AnyStep]) -> None:
    seen: set[str] = set()
    for step in steps:
        for name, what in ((step.name, "step"), (step.writes.name, "slot")):
            if not _NAME.fullmatch(name):
                raise InvalidInput(
                    f"{name!r} cannot be the name of a {what}",
                    hint="use lower-case letters, digits and underscores, a letter first",
                )
        if step.name in seen:
            raise InvalidInput(
                f"two steps have the name {step.name!r}", hint="give one of them another name"
            )
        if not step.timeout_s > 0:
            raise InvalidInput(f"step {step.name!r} has no time to run: {step.timeout_s} s")
        seen.add(step.name)


def _writers(steps: Sequence[AnyStep]) -> dict[str, str]:
    writers: dict[str, str] = {}
    for step in steps:
        slot = step.writes
        if isinstance(slot, Given | Resource):
            raise InvalidInput(
                f"step {step.name!r} writes {slot.name!r}, which is given before any step runs",
                hint="write a slot of its own",
                steps=[step.name],
                slots=[slot.name],
            )
        if slot.name in writers:
            raise InvalidInput(
                f"steps {writers[slot.name]!r} and {step.name!r} both write slot {slot.name!r}",
                hint="a slot has one writer: switch one of the steps off, or give it another slot",
                steps=[writers[slot.name], step.name],
                slots=[slot.name],
            )
        writers[slot.name] = step.name
    return writers


def _require_filled(
    steps: Sequence[AnyStep], writers: dict[str, str], filled: dict[str, AnySlot]
) -> None:
    for name in writers.keys() & filled.keys():
        raise InvalidInput(
            f"slot {name!r} is given before any step runs, and step {writers[name]!r} writes it",
            hint="write a slot of its own",
            steps=[writers[name]],
            slots=[name],
        )
    known = {step.writes.name: step.writes for step in steps} | filled
    for step in steps:
        for slot in (*waits_for(step), *slots_of_the_past(step)):
            if slot.name not in known:
                raise InvalidInput(
                    f"step {step.name!r} reads {slot.name!r}, which no step writes and nobody "
                    "gives",
                    hint="add the step that writes it, or correct the name",
                    steps=[step.name],
                    slots=[slot.name],
                )
            if known[slot.name].type != slot.type:
                raise InvalidInput(
                    f"step {step.name!r} reads {slot.name!r} as {_spelled(slot)}, but it holds "
                    f"{_spelled(known[slot.name])}",
                    hint="import the slot from the module that declares it",
                    steps=[step.name],
                    slots=[slot.name],
                )


def _spelled(slot: AnySlot) -> str:
    return getattr(slot.type, "__name__", str(slot.type))


def _order(steps: Sequence[AnyStep], needs: dict[str, frozenset[str]]) -> tuple[str, ...]:
    """Return the names in an order that only depends on the declarations and their sequence."""
    place = {step.name: number for number, step in enumerate(steps)}
    sorter = TopologicalSorter(
        {step.name: sorted(needs[step.name], key=place.__getitem__) for step in steps}
    )
    try:
        return tuple(sorter.static_order())
    except CycleError as error:
        # graphlib gives each step before the one that waits for it; a person reads it as "waits".
        names = list(error.args[1])[::-1]
        wrote = {step.name: step.writes.name for step in steps}
        raise InvalidInput(
            f"the steps {' → '.join(names)} wait for each other",
            hint="let one of them read what the turn before wrote: Past(SLOT)",
            steps=names[:-1],
            slots=[wrote[name] for name in names[:-1]],
        ) from error
