"""Printing rows as one table."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from bench.figures import Row

WIDTH_OF_A_FILE = 140


def print_table(rows: Sequence[Row], console: Console) -> None:
    """Print every row with its peer, its goal and whether that is met."""
    table = Table(box=None, pad_edge=False)
    for title in ("what", "Salon", "peer", "", "ratio", "goal", "met"):
        table.add_column(title, justify="right" if title in {"Salon", "ratio"} else "left")
    for row in rows:
        table.add_row(
            row.what,
            _with_unit(row.salon, row.unit),
            "" if row.peer is None else _with_unit(row.peer, row.unit),
            row.peer_is,
            "" if row.ratio is None else f"{row.ratio:.2f}",
            _goal(row),
            {True: "yes", False: "NO", None: "-"}[row.is_met],
        )
    console.print(table)


def _goal(row: Row) -> str:
    goals = (
        (row.below, f"< {row.below} {row.unit}"),
        (row.least, f"≥ {row.least} {row.unit}"),
        (row.least_ratio, f"ratio ≥ {row.least_ratio}"),
        (row.most_ratio, f"ratio ≤ {row.most_ratio}"),
    )
    return next((text for goal, text in goals if goal is not None), "-")


def _with_unit(figure: float, unit: str) -> str:
    if figure >= 100:
        return f"{figure:,.0f} {unit}".strip()
    return f"{figure:.3f} {unit}".strip() if figure < 1 else f"{figure:.1f} {unit}".strip()
