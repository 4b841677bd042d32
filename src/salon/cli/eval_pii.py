"""`salon eval pii`: how much private data is noticed in texts where it is known."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salon.cli.common import amount_progress, counted, emit, json_option

if TYPE_CHECKING:
    from salon.evaluation.pii import FinderReport, PiiReport


@click.command("pii")
@click.option(
    "--texts",
    type=click.Path(path_type=Path),
    required=True,
    help="Labelled texts, a JSON list in presidio-research's layout, compressed or not.",
)
@json_option
def pii(texts: Path, as_json: bool) -> None:
    """Look for private data in labelled texts, beside presidio's patterns where installed.

    A place is noticed if anything was found there, named if the right kind was, certain if it was
    not reported as merely possible. See docs/guides/avatars.md for what each figure means.
    """
    from salon.evaluation.pii import evaluate_pii, read_labelled

    report = evaluate_pii(read_labelled(texts), progress=amount_progress)
    emit(report, "\n".join(_lines(report)), as_json=as_json)


def _lines(report: "PiiReport") -> Iterator[str]:
    yield counted(report.texts, "text")
    for finder in report.finders:
        yield ""
        yield from _about(finder)
    for name, reason in report.missing.items():
        yield f"\n{name}: {reason}"


def _about(report: "FinderReport") -> Iterator[str]:
    yield f"{report.finder:<20} spans  noticed  named  certain"
    for row in report.rows:
        yield (
            f"  {row.label:<18} {row.spans:>5}  {row.noticed:>7.3f}  {row.named:>5.3f}  "
            f"{row.certain:>7.3f}" + ("" if row.is_looked_for else "   (not looked for)")
        )
    yield (
        f"  noticed of what is looked for: {_share(report.noticed)}; right: "
        f"{_share(report.precision)} of {report.findings:,} findings, "
        f"{_share(report.certain_precision)} of {report.certain_findings:,} certain ones"
    )


def _share(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
