"""`salon eval emotion`: how well feelings are read from text, beside peers in the same run."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salon.cli.common import amount_progress, emit, json_option

if TYPE_CHECKING:
    from salon.evaluation.emotion import EmotionReport

_file = click.Path(path_type=Path)


@click.command("emotion")
@click.option("--train", type=_file, required=True, help="Comments that the peer is fitted on.")
@click.option("--test", type=_file, required=True, help="Comments: text, label numbers, id.")
@click.option("--emobank", type=_file, help="Rated sentences: a table of split, V, A, text.")
@click.option(
    "--emobank-test", type=_file, help="Rated sentences to test on, instead of the table's others."
)
@json_option
def emotion(
    train: Path, test: Path, emobank: Path | None, emobank_test: Path | None, as_json: bool
) -> None:
    """Read the feelings of labelled texts, beside TF-IDF models and VADER.

    Files may be compressed. The weights that ship saw GoEmotions' and EmoBank's train and dev
    parts; only a test part shows how good they are. See docs/guides/readings.md.
    """
    from salon.evaluation.emotion import evaluate_emotion, open_emotion_embedder
    from salon.evaluation.emotion_sets import read_comments, read_rated

    rated = read_rated(emobank, emobank_test) if emobank else None
    report = evaluate_emotion(
        read_comments(train),
        read_comments(test),
        rated,
        embedder=open_emotion_embedder(),
        progress=amount_progress,
    )
    emit(report, "\n".join(_lines(report)), as_json=as_json)


def _lines(report: "EmotionReport") -> Iterator[str]:
    yield f"{'measure':<12} {'method':<15} {'texts':>6}  value (95 %)"
    for one in report.figures:
        between = "" if one.low == one.high else f" ({one.low:.3f} to {one.high:.3f})"
        yield f"{one.measure:<12} {one.method:<15} {one.count:>6,}  {one.value:.3f}{between}"
    yield ""
    yield "F1 by label: " + ", ".join(f"{name} {f1:.2f}" for name, f1 in report.labels.items())
    yield f"one message: {report.median_ms:.1f} ms (median)"
