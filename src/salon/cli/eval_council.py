"""`salon eval council`: how well votes of many judges are joined, beside counting heads."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salon.cli.common import amount_progress, counted, emit, json_option
from salon.core.absent import Absent

if TYPE_CHECKING:
    from salon.evaluation.council import Trial, VotesReport
    from salon.evaluation.council_judges import JudgeRow
    from salon.evaluation.council_reviews import AnnotatorsReport, ReviewsReport

_SHOWN_JUDGES = 5
_file = click.Path(path_type=Path)


@dataclass(frozen=True, slots=True, kw_only=True)
class CouncilReport:
    """What was asked for; the rest is `None`."""

    votes: "VotesReport | None" = None
    reviews: "ReviewsReport | None" = None
    annotators: "AnnotatorsReport | None" = None


@click.command("council")
@click.option("--votes", type=_file, help="Recorded votes of judges, a table as in LLMBar.")
@click.option("--train", type=_file, help="Votes to learn weights from, instead of folds.")
@click.option("--reviews", type=_file, help="Reviews with decisions, PeerRead's JSON lines.")
@click.option("--annotators", type=_file, help="Three annotators on pairs, PandaLM's JSON list.")
@json_option
def council(
    votes: Path | None,
    train: Path | None,
    reviews: Path | None,
    annotators: Path | None,
    as_json: bool,
) -> None:
    """Join recorded votes by learned weights, beside majority, best judge and Dawid-Skene.

    Weights are learned on other items, on other kinds of items, on --train, or come with Salon.
    See docs/guides/evaluation.md for what each figure means.
    """
    from salon.evaluation.council import evaluate_votes
    from salon.evaluation.council_data import read_annotations, read_reviews, read_votes
    from salon.evaluation.council_reviews import evaluate_annotators, evaluate_reviews

    if votes is None and reviews is None and annotators is None:
        raise click.UsageError("name at least one of --votes, --reviews and --annotators")
    if train is not None and votes is None:
        raise click.UsageError("--train says where to learn for --votes, which is missing")
    report = CouncilReport(
        votes=None
        if votes is None
        else evaluate_votes(
            read_votes(votes),
            train=None if train is None else read_votes(train),
            progress=amount_progress,
        ),
        reviews=None if reviews is None else evaluate_reviews(read_reviews(reviews)),
        annotators=None
        if annotators is None
        else evaluate_annotators(read_annotations(annotators)),
    )
    emit(report, "\n".join(_lines(report)), as_json=as_json)


def _lines(report: CouncilReport) -> Iterator[str]:
    if report.votes is not None:
        yield from _about_votes(report.votes)
    if report.reviews is not None:
        yield from _about_reviews(report.reviews)
    if report.annotators is not None:
        yield from _about_annotators(report.annotators)


def _about_votes(report: "VotesReport") -> Iterator[str]:
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in report.items.items())
    alike = report.likeness
    yield f"{counted(sum(report.items.values()), 'item')} ({kinds})"
    yield (
        f"{counted(alike.judges, 'judge')}, their mistakes correlated by "
        f"{_figure(alike.correlation)}: worth {_figure(alike.effective, 1)} independent ones"
    )
    for trial in report.trials:
        yield ""
        yield from _about_trial(trial)
    yield ""
    yield from _about_judges(report.judges)
    for name, reason in report.missing.items():
        yield f"\n{name}: {reason}"


def _about_trial(trial: "Trial") -> Iterator[str]:
    kinds = list(trial.rows[0].by_kind)
    note = f" ({trial.note})" if trial.note else ""
    yield f"learned from {trial.learned_from}{note}"
    heads = "  ".join(f"{kind.rsplit('/', 1)[-1][:12]:>12}" for kind in kinds)
    yield f"  {'':<34} accuracy  {heads}"
    for row in trial.rows:
        shares = "  ".join(f"{row.by_kind[kind]:>12.3f}" for kind in kinds)
        yield f"  {row.system:<34} {row.accuracy:>8.3f}  {shares}"
    for one in trial.comparisons:
        yield (
            f"  against {one.peer}: {one.difference:+.3f} (95 % {one.low:+.3f} to {one.high:+.3f}, "
            f"p {one.p:.4f}): {one.verdict}"
        )


def _about_judges(judges: "tuple[JudgeRow, ...]") -> Iterator[str]:
    biased = sum(row.is_biased for row in judges)
    yield f"{biased} of {len(judges)} judges lean to a place beyond noise"
    shown = (*judges[:_SHOWN_JUDGES], *judges[_SHOWN_JUDGES:][-_SHOWN_JUDGES:])
    yield f"  {'best and worst judges':<34} accuracy  changes  chose the first shown"
    for row in shown:
        span = f"({_figure(row.low, 2)} to {_figure(row.high, 2)})"
        yield (
            f"  {row.judge[:34]:<34} {row.accuracy:>8.3f}  {_figure(row.changes):>7}  "
            f"{_figure(row.first_shown)} {span}"
        )


def _about_reviews(report: "ReviewsReport") -> Iterator[str]:
    yield (
        f"\n{counted(report.papers, 'paper')}, {report.accepted:,} accepted, "
        f"{counted(report.reviews, 'review')}"
    )
    yield f"  {'':<34}    AUROC  95 %            Brier"
    for row in report.rows:
        yield (
            f"  {row.system:<34} {row.auroc:>8.3f}  {row.low:.3f} to {row.high:.3f}  "
            f"{_figure(row.brier)}"
        )


def _about_annotators(report: "AnnotatorsReport") -> Iterator[str]:
    yield (
        f"\n{counted(report.pairs, 'pair')}, {report.unanimous:.1%} unanimous; three annotators "
        f"correlate by {_figure(report.correlation)}: worth {_figure(report.effective, 1)}"
    )
    for name, share in report.agreement.items():
        yield f"  {name} says what both others say: {share:.3f}"


def _figure(value: float | Absent, digits: int = 3) -> str:
    return "none" if isinstance(value, Absent) else f"{value:.{digits}f}"
