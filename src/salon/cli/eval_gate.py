"""`salon eval gate`: whether the gate knows when to act, beside its peers."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salon.cli.common import amount_progress, counted, emit, json_option
from salon.core.errors import InvalidInput

if TYPE_CHECKING:
    from salon.evaluation.gate import GateReport, GateRow

_file = click.Path(path_type=Path, dir_okay=False)


@click.command("gate")
@click.option("--smcalflow", type=_file, multiple=True, help="Turns with ASK, ACT, REFUSE, ANSWER.")
@click.option("--sgd", type=_file, multiple=True,
              help="Schema-guided dialogues, their schema beside them.")  # fmt: skip
@click.option("--sgd-train", type=_file, help="Dialogues to train on, so that --sgd is unseen.")
@click.option("--clariq", type=_file, multiple=True, help="A table of clarifying questions.")
@json_option
def gate(
    smcalflow: tuple[Path, ...],
    sgd: tuple[Path, ...],
    sgd_train: Path | None,
    clariq: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Predict before each reply whether an assistant acts, beside two peers.

    The peers are the source protocol's literal rules and TF-IDF with logistic regression, on the
    same folds. See docs/guides/gate.md for what each figure means.
    """
    from salon.evaluation.gate import evaluate_gate
    from salon.providers.embedders import open_embedder

    if not (smcalflow or sgd or clariq):
        raise InvalidInput(
            "there is nothing to evaluate", hint="give --smcalflow, --sgd or --clariq"
        )
    embedder = open_embedder("embedded:minilm")
    try:
        report = evaluate_gate(
            smcalflow=smcalflow,
            sgd=sgd,
            sgd_train=sgd_train,
            clariq=clariq,
            embedder=embedder,
            progress=amount_progress,
        )
    finally:
        embedder.close()
    emit(report, "\n".join(_lines(report)), as_json=as_json)


def _lines(report: "GateReport") -> Iterator[str]:
    for one in report.sets:
        counts = f"{counted(one.moments, 'moment')}, {counted(one.acts, 'act')}"
        yield f"{one.name} ({one.file}): {counts}"
        yield (
            f"{'system':<30} {'protocol':<26} {'macro-F1':>8} {'act F1':>7} {'prec':>6} {'acc':>6} "
            f"{'premature':>9} {'missed':>7} {'blocked':>8}"
        )
        for row in one.rows:
            yield _line(row)
        yield (
            f"replies seen to ask: precision {one.asking_precision:.3f}, "
            f"recall {one.asking_recall:.3f}"
        )
        yield from one.notes
        yield ""
    for asked in report.clarifying:
        yield (
            f"{asked.file}: {asked.recognised:.3f} of {counted(asked.questions, 'question')} "
            "without a question mark are seen to ask"
        )


def _line(row: "GateRow") -> str:
    figures = row.figures
    macro = "-" if figures.macro_f1 is None else f"{figures.macro_f1:.3f}"
    return (
        f"{row.system:<30} {row.protocol:<26} {macro:>8} {figures.act_f1:>7.3f} "
        f"{figures.precision:>6.3f} {figures.accuracy:>6.3f} {figures.premature:>9.3f} "
        f"{figures.missed:>7.3f} {figures.false_blocks:>8.3f}"
    )
