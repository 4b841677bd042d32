"""The page and the picture of a companion's steps, from their declarations."""

from salon.blackboard.checking import Plan, make_plan
from salon.blackboard.describing import StepRow, rows_of
from salon.blackboard.drawing import draw_svg
from salon.steps.companion import COMPANION
from salon.steps.turn_taking import BY_PROFILE, IN_EVERY_TURN, RESOURCES


def _plan() -> Plan:
    return make_plan(COMPANION, given=(*IN_EVERY_TURN, *BY_PROFILE, *RESOURCES))


def steps_page() -> str:
    lines = [
        "# The steps of a companion's turn\n",
        (
            "Each is one file in `src/salon/steps`; this table is what it declares. They run in "
            "this order, those that wait for nothing new together. "
            "[The blackboard](../guides/blackboard.md) tells how, and how to add one; "
            "`salon steps` shows the same with the times of your own turns.\n"
        ),
        "![The steps in layers, each after what it reads](steps.svg)\n",
        "| step | when | reads | looks back at | writes | at most |",
        "|---|---|---|---|---|---|",
        *(_row(row) for row in rows_of(_plan())),
        "\n## What each is for\n",
        *(f"- `{row.name}`: {row.about}." for row in rows_of(_plan())),
        "\n## What they are given\n",
        "Recorded with the turn:\n",
        *(f"- `{slot.name}`" for slot in (*IN_EVERY_TURN, *BY_PROFILE)),
        "\nTo work with, never recorded:\n",
        *(f"- `{slot.name}`" for slot in RESOURCES),
    ]
    return "\n".join(lines) + "\n"


def steps_svg() -> str:
    return draw_svg(_plan())


def _row(row: StepRow) -> str:
    reads, back = (
        ", ".join(f"`{one}`" for one in names) for names in (row.reads, row.looks_back_at)
    )
    when = row.when.replace("|", "\\|")
    return f"| `{row.name}` | {when} | {reads} | {back} | `{row.writes}` | {row.timeout_s:g} s |"
