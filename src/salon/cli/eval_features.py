"""`salon eval features`: how often prediction sets hold the truth, and what wording tells."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salon.cli.common import amount_progress, emit, json_option

if TYPE_CHECKING:
    from salon.evaluation.features import FeatureReport

_file = click.Path(path_type=Path)


@click.command("features")
@click.option("--attachment", type=_file, help="Attachment items Q1..Q36, a CSV table.")
@click.option("--big-five", type=_file, help="Big Five items E1..O10, a table with tabs.")
@click.option("--sentences", type=_file, help="Sentence completions with trait scores, a CSV.")
@click.option(
    "--splits",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Random splits into people who fit, calibrate and test.",
)
@json_option
def features(
    attachment: Path | None,
    big_five: Path | None,
    sentences: Path | None,
    splits: int,
    as_json: bool,
) -> None:
    """Measure prediction sets from answered items beside crepes, and traits from wording.

    Give any of the three files. See docs/guides/features.md for what each figure means.
    """
    from salon.evaluation.features import evaluate_features
    from salon.providers.embedders.minilm import open_minilm
    from salon.providers.embedders.options import EmbedderOptions

    opened = nullcontext(None) if sentences is None else open_minilm("minilm", EmbedderOptions())
    with opened as embedder:
        report = evaluate_features(
            attachment=attachment,
            big_five=big_five,
            sentences=sentences,
            embedder=embedder,
            splits=splits,
            progress=amount_progress,
        )
    emit(report, "\n".join(_lines(report)), as_json=as_json)


def _lines(report: "FeatureReport") -> Iterator[str]:
    for one in report.targets:
        yield (
            f"{one.target}: {one.people:,} people, {one.items} items, accuracy "
            f"{one.accuracy:.3f}, ECE {one.ece:.3f}"
        )
        for method in one.methods:
            yield (
                f"  {method.method:<12} coverage {method.coverage:.4f} ({method.lowest:.3f} to "
                f"{method.highest:.3f} in {method.splits} splits), {method.mean_size:.3f} of "
                f"{one.labels} labels"
            )
        for shipped in report.shipped:
            if shipped.target == one.target:
                yield (
                    f"  as shipped, {shipped.answered} answered: coverage "
                    f"{shipped.coverage:.3f}, {shipped.mean_size:.3f} labels, accuracy "
                    f"{shipped.accuracy:.3f}"
                )
    for trait in report.wording:
        yield (
            f"{trait.trait} from wording: r {trait.r:.3f} ({report.peer} {trait.peer_r:.3f}), "
            f"sets cover {trait.sets.coverage:.3f} with {trait.sets.mean_size:.2f} of 3 labels"
        )
