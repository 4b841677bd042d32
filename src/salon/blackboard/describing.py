"""The table of steps: what each reads, writes and when, from the declarations alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from salon.blackboard.checking import AnyStep, Plan
from salon.blackboard.slots import Past
from salon.blackboard.triggers import conditions_of, in_words


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """One step as the table shows it."""

    name: str
    about: str
    reads: tuple[str, ...]
    """Slots of this turn."""
    looks_back_at: tuple[str, ...]
    """Slots of which earlier values are read."""
    writes: str
    when: str
    timeout_s: float
    package: str = "salon"
    median_s: float | None = None
    """Of its latest runs, where it ran."""


def rows_of(
    plan: Plan,
    *,
    medians: Mapping[str, float] | None = None,
    packages: Mapping[str, str] | None = None,
) -> tuple[StepRow, ...]:
    """Return the steps of a plan in the order in which they run."""
    return tuple(
        row_of(
            step,
            package=(packages or {}).get(step.name, "salon"),
            median_s=(medians or {}).get(step.name),
        )
        for step in plan.steps
    )


def row_of(step: AnyStep, *, package: str = "salon", median_s: float | None = None) -> StepRow:
    """Return one step as the table shows it."""
    now = [one.name for one in step.reads if not isinstance(one, Past)]
    tested = [one.slot.name for one in conditions_of(step.when)]
    return StepRow(
        name=step.name,
        about=step.about,
        reads=tuple(dict.fromkeys((*now, *tested))),
        looks_back_at=tuple(one.slot.name for one in step.reads if isinstance(one, Past)),
        writes=step.writes.name,
        when=in_words(step.when),
        timeout_s=step.timeout_s,
        package=package,
        median_s=median_s,
    )
