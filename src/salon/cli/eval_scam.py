"""`salon eval scam`: how well frauds are told from harmless talk, across sources."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salon.cli.common import amount_progress, emit, json_option

if TYPE_CHECKING:
    from salon.evaluation.scam import ScamFigures, ScamReport

_file = click.Path(path_type=Path)


@click.command("scam")
@click.option("--calls", type=_file, required=True, help="Calls: a table of conversation, label.")
@click.option("--messages", type=_file, required=True, help="Text messages: spam or ham, text.")
@click.option(
    "--letters",
    type=_file,
    required=True,
    help="Fraudulent letters: JSON lines of category, subcategory, generated text.",
)
@click.option(
    "--dialogues",
    type=_file,
    required=True,
    help="Harmless dialogues: a table of Dialogue_ID, Speaker, Utterance.",
)
@json_option
def scam(calls: Path, messages: Path, letters: Path, dialogues: Path, as_json: bool) -> None:
    """Tell frauds from harmless talk in a source that nothing was fitted on.

    Beside it stand TF-IDF with logistic regression and the original's rule. Files may be
    compressed. See docs/guides/readings.md for what each figure means.
    """
    from salon.evaluation.scam import evaluate_scam
    from salon.evaluation.scam_sets import (
        read_calls,
        read_dialogues,
        read_letters,
        read_text_messages,
    )

    report = evaluate_scam(
        read_calls(calls),
        read_text_messages(messages),
        read_letters(letters),
        read_dialogues(dialogues),
        progress=amount_progress,
    )
    emit(report, "\n".join(_lines(report)), as_json=as_json)


def _lines(report: "ScamReport") -> Iterator[str]:
    yield f"{'fitted on':<15} {'tested on':<15} {'method':<14} AUROC (95 %)           found at 5 %"
    for one in report.figures:
        yield f"{one.fitted_on:<15} {one.tested_on:<15} {one.method:<14} {_row(one)}"
    yield ""
    yield "letters by kind, by what ships"
    for one in report.kinds:
        yield f"  {one.tested_on[:42]:<42} {one.frauds:>4}  {_row(one)}"
    yield ""
    for level in report.levels:
        shares = ", ".join(f"{name} {share:.3f}" for name, share in level.share.items())
        yield f"{level.cases} ({level.count:,}): {shares}"


def _row(one: "ScamFigures") -> str:
    return f"{one.auroc:.3f} ({one.auroc_low:.3f} to {one.auroc_high:.3f})  {one.recall:>6.3f}"
