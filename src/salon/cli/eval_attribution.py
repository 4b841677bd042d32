"""`salon eval attribution`: how well the judge tells which claims a text bears out."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salon.cli.common import amount_progress, counted, emit, json_option

if TYPE_CHECKING:
    from salon.evaluation.attribution import (
        AttributionReport,
        Layout,
        SupportFigures,
        SystemSupport,
    )

_WIDTH = 34


@click.command("attribution")
@click.option(
    "--claims",
    type=click.Path(path_type=Path),
    required=True,
    help="Labelled claims, JSON lines, compressed or not.",
)
@click.option(
    "--format",
    "layout",
    type=click.Choice(["auto", "attributionbench", "wice"]),
    default="auto",
    show_default=True,
    help="How the file is laid out.",
)
@click.option("--limit-claims", type=click.IntRange(min=1), help="Judge only the first so many.")
@click.option("--words-only", is_flag=True, help="Judge without the embedded model.")
@json_option
def attribution(
    claims: Path,
    layout: "Layout",
    limit_claims: int | None,
    words_only: bool,
    as_json: bool,
) -> None:
    """Judge labelled claims by the texts they cite, beside plain word overlap.

    Layouts of AttributionBench (claim, references, attribution_label) and WiCE (claim, evidence,
    label). See docs/guides/claim-support.md for what each figure means.
    """
    from salon.evaluation.attribution import evaluate_attribution
    from salon.grounding.support import load_judge
    from salon.providers.embedders.minilm import open_minilm
    from salon.providers.embedders.options import EmbedderOptions

    encoder = None if words_only else open_minilm("minilm", EmbedderOptions())
    try:
        report = evaluate_attribution(
            claims,
            load_judge(encoder),
            layout=layout,
            limit=limit_claims,
            progress=amount_progress,
        )
    finally:
        if encoder is not None:
            encoder.close()
    emit(report, "\n".join(_lines(report)), as_json=as_json)


def _lines(report: "AttributionReport") -> Iterator[str]:
    yield (
        f"{counted(report.claims, 'claim')} in the layout of {report.layout}, "
        f"{report.borne_out:,} borne out; encoder {report.encoder or 'none: words only'}"
    )
    yield ""
    yield f"{'':{_WIDTH}}  macro-F1  accuracy  AUROC  threshold"
    for one in report.systems:
        yield _row(_name(one), one.overall) + f"  {one.threshold:9.3f}"
    for subset in report.systems[0].by_subset:
        yield ""
        yield f"{subset}: {counted(report.systems[0].by_subset[subset].claims, 'claim')}"
        for one in report.systems:
            yield _row(_name(one), one.by_subset[subset])
    yield ""
    for compared in report.comparisons:
        yield (
            f"right verdicts, salon against {compared.peer}: {compared.difference:+.3f} "
            f"(95 % {compared.low:+.3f} to {compared.high:+.3f}, p {compared.p:.4f}): "
            f"{compared.verdict}"
        )
    yield (
        f"plain reasons against {counted(report.refused['claims'], 'claim')}, of which "
        f"{report.refused['borne_out']:,} are labelled as borne out"
    )
    yield f"judging one claim took {report.p50_ms:.1f} ms (p50), {report.p99_ms:.1f} ms (p99)"


def _name(one: "SystemSupport") -> str:
    return f"{one.system}, best threshold here" if one.is_best_threshold else one.system


def _row(name: str, figures: "SupportFigures") -> str:

    known = _shown(figures.macro_f1), f"{figures.accuracy:.3f}", _shown(figures.auroc)
    return f"{name:{_WIDTH}}  {known[0]:>8}  {known[1]:>8}  {known[2]:>5}"


def _shown(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.3f}"
