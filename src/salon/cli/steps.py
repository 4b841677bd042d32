"""`salon steps`: the steps of a companion's turn, as they are declared."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salon.app import Salon
from salon.cli.common import counted, emit, json_option, with_salon

if TYPE_CHECKING:
    from salon.blackboard.describing import StepRow
    from salon.steps.plugins import BrokenEntry, OutsideStep

MEASURED_TURNS = 30


@click.command()
@click.option(
    "--measure",
    is_flag=True,
    help=f"Take {MEASURED_TURNS} turns in a home that is thrown away, and show these times.",
)
@click.option(
    "--svg",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the graph of the steps to this file.",
)
@json_option
@with_salon
def steps(salon: Salon, measure: bool, svg: Path | None, as_json: bool) -> None:
    """Show the steps of a companion's turn: what each reads, writes, when, and how long it takes.

    The times are medians of the latest turns in this home. Steps of other packages are listed
    below; they run where the setting companion.steps, or an avatar's profile, names them.
    """
    from salon.blackboard.describing import rows_of
    from salon.blackboard.drawing import draw_svg
    from salon.steps.plugins import find_outside_steps

    outside, broken = find_outside_steps()
    plan = salon.companion_plan(salon.settings.companion.steps)
    medians = _measured(salon) if measure else salon.step_medians()
    packages = {one.step.name: one.package for one in outside}
    rows = rows_of(plan, medians=medians, packages=packages)
    off = [one for one in outside if one.step.name not in {row.name for row in rows}]
    if svg is not None:
        svg.write_text(draw_svg(plan), "utf-8")
    value = {
        "steps": [asdict(row) for row in rows],
        "off": [{"name": one.step.name, "package": one.package} for one in off],
        "broken": [asdict(one) for one in broken],
    }
    emit(value, _text(rows, off, broken), as_json=as_json)


def _measured(salon: Salon) -> dict[str, float]:
    import tempfile

    from salon.settings import load_settings

    with tempfile.TemporaryDirectory(prefix="salon-steps-") as folder:
        settings = load_settings(
            home=Path(folder), environment={}, flags={"companion": {"steps": list(_on(salon))}}
        )
        with Salon(settings) as trial:
            for number in range(MEASURED_TURNS):
                trial.take_turn("measured", _SAID[number % len(_SAID)])
            return trial.step_medians()


def _on(salon: Salon) -> tuple[str, ...]:
    return tuple(salon.settings.companion.steps)


_SAID = (
    "Good morning! I slept badly, there was a storm all night.",
    "I work in a small bakery, and my sister Ines helps me on Saturdays.",
    "Sometimes I worry that I will never have time for anything else.",
    "But yesterday we finished a huge order, and I was really proud of us.",
    "What do you think, should I take a week off in spring?",
)


def _text(
    rows: "Sequence[StepRow]", off: "Sequence[OutsideStep]", broken: "Sequence[BrokenEntry]"
) -> str:
    lines = []
    for row in rows:
        took = "not run yet" if row.median_s is None else f"{row.median_s * 1000:.2f} ms"
        source = "" if row.package == "salon" else f", from {row.package}"
        lines.append(f"{row.name}: {row.about}{source}")
        lines.append(f"    {row.when}; at most {row.timeout_s:g} s; median {took}")
        lines.append(f"    reads   {', '.join(row.reads) or 'nothing'}")
        if row.looks_back_at:
            lines.append(f"    earlier {', '.join(row.looks_back_at)}")
        lines.append(f"    writes  {row.writes}")
    lines += ["", f"{counted(len(rows), 'step')}, each after what it reads"]
    lines += [f"off: {one.step.name} of {one.package}" for one in off]
    lines += [f"broken: {one.entry} of {one.package}: {one.reason}" for one in broken]
    return "\n".join(lines)
