"""Steps of other packages: found through the entry points `salon.steps`, off until named.

An entry is a `Step` or a tuple of them. Nothing of another package is imported before somebody
asks for a step that Salon does not have, or for the list.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from salon.blackboard.steps import Step
from salon.core.errors import InvalidInput

GROUP = "salon.steps"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideStep:
    """A step that another package brings."""

    step: Step[Any]
    package: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenEntry:
    """An entry point that gives no step, and why."""

    entry: str
    package: str
    reason: str


def find_outside_steps() -> tuple[tuple[OutsideStep, ...], tuple[BrokenEntry, ...]]:
    """Return the steps of installed packages by name, and the entries that are broken."""
    found: list[OutsideStep] = []
    broken: list[BrokenEntry] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda one: (one.name, one.value)):
        try:
            found += [OutsideStep(step=one, package=_package(entry)) for one in _load(entry)]
        except InvalidInput as error:
            broken.append(
                BrokenEntry(entry=entry.name, package=_package(entry), reason=error.message)
            )
    return tuple(sorted(found, key=lambda one: one.step.name)), tuple(broken)


def get_outside_steps(names: Iterable[str]) -> tuple[Step[Any], ...]:
    """Return the steps of these names, or raise `InvalidInput` that says what there is."""
    wanted = tuple(dict.fromkeys(names))
    if not wanted:
        return ()
    found, broken = find_outside_steps()
    by_name: dict[str, Step[Any]] = {}
    for one in found:
        if one.step.name in wanted and one.step.name in by_name:
            raise InvalidInput(
                f"two packages bring a step {one.step.name!r}", hint="uninstall one of them"
            )
        by_name[one.step.name] = one.step
    missing = [name for name in wanted if name not in by_name]
    if missing:
        why = "; ".join(f"{one.entry} of {one.package}: {one.reason}" for one in broken)
        known = ", ".join(sorted(by_name)) or "none"
        raise InvalidInput(
            f"no installed package brings the step {missing[0]!r}",
            hint=f"there are: {known}" + (f"; broken: {why}" if why else ""),
        )
    return tuple(by_name[name] for name in wanted)


def _load(entry: EntryPoint) -> tuple[Step[Any], ...]:
    try:
        loaded = entry.load()
    except (ImportError, AttributeError, SyntaxError, TypeError, ValueError) as error:
        raise InvalidInput(f"cannot be imported: {error}") from error
    steps = loaded if isinstance(loaded, tuple) else (loaded,)
    if not steps or not all(isinstance(one, Step) for one in steps):
        raise InvalidInput(f"{entry.value} is no step and no tuple of steps")
    return steps


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "an unknown package"
