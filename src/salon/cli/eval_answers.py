"""`salon eval answers`: how good answers and silences are, on labelled questions."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from salon.cli.common import amount_progress, emit, json_option
from salon.cli.eval_home import home_for
from salon.cli.place import settings_in_force

if TYPE_CHECKING:
    from salon.evaluation.answers import AnswerFigures

_file = click.Path(path_type=Path)


@click.command()
@click.option(
    "--questions", type=_file, required=True, help="SQuAD 2 JSON, or claims as JSON lines."
)
@click.option("--corpus", type=_file, help="For claims: documents with `sentences`.")
@click.option(
    "--alpha",
    type=click.FloatRange(0.01, 0.5),
    default=0.1,
    show_default=True,
    help="The share of unsupported answers that is tolerated.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Ask only the first so many.")
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    help="Build in this folder and keep it: another run on the same texts embeds nothing again.",
)
@json_option
def answers(
    questions: Path,
    corpus: Path | None,
    alpha: float,
    limit: int | None,
    keep: Path | None,
    as_json: bool,
) -> None:
    """Ask labelled questions, and say how often the quotes answer and the silences are right.

    Your own archive is not touched. See docs/guides/answers.md for what each figure means.
    """
    from salon.evaluation.answers import as_json as figures_as_json
    from salon.evaluation.answers import evaluate_answers
    from salon.evaluation.questions import read_labelled
    from salon.evaluation.retrieval import settings_for

    labelled = read_labelled(questions, corpus)
    with home_for(keep) as home:
        figures, _ = evaluate_answers(
            labelled,
            settings_for(home, settings_in_force()),
            alpha=alpha,
            limit=limit,
            progress=amount_progress,
        )
    emit(figures_as_json(figures), _text(figures), as_json=as_json)


def _text(figures: "AnswerFigures") -> str:
    lines = [
        f"{figures.questions:,} questions, {figures.answerable:,} of them answerable",
        f"the first quote answers           {figures.quote_hit_1:.3f}  of the answerable",
        f"  any quote of the reply does      {figures.reply_hit:.3f}",
        f"  inside the text that answers    {figures.quote_hit_1_inside:.3f}",
        f"  the same by BM25                {figures.bm25_hit_1_inside:.3f}",
        f"right from wrong, AUROC           {figures.auroc:.3f}",
    ]
    if figures.miss_auroc is not None:
        lines.append(f"present from hidden, AUROC        {figures.miss_auroc:.3f}")
    lines += [
        f"at the threshold {figures.threshold:.3f} for alpha {figures.alpha}:",
        f"  answered                        {figures.coverage:.3f}  ({figures.answered:,})",
        f"  unsupported among the answered  {figures.risk:.3f}",
        f"time for one question, p50        {figures.p50_ms:.0f} ms",
        "",
        "the trade-off: what answering from a threshold on comes to",
        "threshold  answered  unsupported  first quote answers",
    ]
    lines += [
        f"{point.threshold:9.2f}  {point.coverage:8.3f}  {point.risk:11.3f}"
        f"  {point.quote_hit_1:19.3f}"
        for point in figures.curve
    ]
    if figures.best is not None:
        lines.append(
            f"these questions alone would allow a threshold of {figures.best.threshold:.3f}: "
            f"answered {figures.best.coverage:.3f}, unsupported {figures.best.risk:.3f}"
        )
    return "\n".join(lines)
