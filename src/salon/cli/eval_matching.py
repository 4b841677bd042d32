"""`salon eval matching`: how well a match is foreseen, evening by evening."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salon.cli.common import amount_progress, emit, json_option

if TYPE_CHECKING:
    from salon.evaluation.matching import MatchReport


@click.command("matching")
@click.option(
    "--dates",
    type=click.Path(path_type=Path),
    required=True,
    help="Speed dates, a table with iid, pid, wave and match, compressed or not.",
)
@json_option
def matching(dates: Path, as_json: bool) -> None:
    """Foresee matches of speed dates, each evening by models that never saw it.

    Beside ours: the cosine of feature vectors, plain attractiveness and logistic regression. See
    docs/guides/features.md for what each figure means.
    """
    from salon.evaluation.matching import evaluate_matching

    report = evaluate_matching(dates, progress=amount_progress)
    emit(report, "\n".join(_lines(report)), as_json=as_json)


def _lines(report: "MatchReport") -> Iterator[str]:
    yield (
        f"{report.rows:,} rows of {report.waves} evenings, a match on {report.matches:.1%}; "
        "AUROC: mean over evenings, and over all"
    )
    knows = ""
    for one in report.systems:
        if one.knows != knows:
            knows = one.knows
            sets, ece = report.sets[knows], report.ece[knows]
            yield ""
            yield (
                f"{knows}: our sets cover {sets.coverage:.3f} with {sets.mean_size:.2f} of 2 "
                f"labels; ECE {ece:.3f}"
            )
        yield f"  {one.system:<22} {one.auroc:.3f}  {one.pooled:.3f}"
