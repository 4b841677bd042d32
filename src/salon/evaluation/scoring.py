"""From rankings and judgements to the figures of a report.

It neither searches nor measures time: it is handed what each system returned and how long that
took. Every figure is a mean over the same queries.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import fmean
from typing import TypeAlias

from salon.evaluation.beir import Judgements, Query
from salon.evaluation.figures import Calibration, Comparison, Latency, SystemFigures
from salon.evaluation.metrics import (
    Grades,
    average_precision,
    judged_share,
    ndcg,
    paired_bootstrap,
    percentile,
    recall,
    reciprocal_rank,
    reliability,
)

Ranked: TypeAlias = tuple[tuple[str, float | None], ...]
"""Ids of documents, best first, each with the probability that it is relevant, if there is one."""

CUT = 10
"""How far down the measures look that are known by that number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRun:
    """What one system returned for one query, and how long a search of a few results took."""

    ranked: Ranked
    seconds: float
    embedding_s: float

    @property
    def names(self) -> list[str]:
        """The ids alone."""
        return [name for name, _ in self.ranked]


def score(
    system: str,
    queries: Sequence[Query],
    runs: Sequence[QueryRun],
    judgements: Judgements,
    depths: Sequence[int],
) -> SystemFigures:
    """Return the figures of one system."""
    judged: list[tuple[list[str], Grades]] = [
        (run.names, judgements[query.id]) for query, run in zip(queries, runs, strict=True)
    ]
    return SystemFigures(
        system=system,
        ndcg_at_10=fmean(ndcg(names, grades, CUT) for names, grades in judged),
        recall={
            depth: fmean(recall(names, grades, depth) for names, grades in judged)
            for depth in depths
        },
        mrr_at_10=fmean(reciprocal_rank(names, grades, CUT) for names, grades in judged),
        map=fmean(average_precision(names, grades) for names, grades in judged),
        judged_at_10=fmean(judged_share(names, grades, CUT) for names, grades in judged),
        queries_without_result=sum(not names for names, _ in judged),
        calibration=_calibration(runs, [grades for _, grades in judged]),
        latency=_latency(runs),
    )


def _calibration(runs: Sequence[QueryRun], judged: Sequence[Grades]) -> Calibration | None:
    pairs = [
        (probability, grades.get(name, 0) > 0)
        for run, grades in zip(runs, judged, strict=True)
        for name, probability in run.ranked[:CUT]
        if probability is not None
    ]
    predicted = [probability for probability, _ in pairs]
    outcomes = [outcome for _, outcome in pairs]
    equal_mass = reliability(predicted, outcomes, binning="equal_mass")
    equal_width = reliability(predicted, outcomes, binning="equal_width")
    if equal_mass is None or equal_width is None:
        return None
    return Calibration(predictions=len(pairs), equal_mass=equal_mass, equal_width=equal_width)


def _latency(runs: Sequence[QueryRun]) -> Latency:
    whole = [run.seconds * 1000 for run in runs]
    without = [(run.seconds - run.embedding_s) * 1000 for run in runs]
    return Latency(
        p50_ms=percentile(whole, 0.5),
        p99_ms=percentile(whole, 0.99),
        p50_without_embedding_ms=percentile(without, 0.5),
        p99_without_embedding_ms=percentile(without, 0.99),
    )


def compare(
    runs: Mapping[str, Sequence[QueryRun]], queries: Sequence[Query], judgements: Judgements
) -> tuple[Comparison, ...]:
    """Hold the first system's nDCG@10 against that of each other one, query by query."""
    gains = {
        system: [
            ndcg(run.names, judgements[query.id], CUT)
            for query, run in zip(queries, some, strict=True)
        ]
        for system, some in runs.items()
    }
    first, ours = next(iter(gains.items()))
    found = []
    for peer, theirs in islice(gains.items(), 1, None):
        difference = paired_bootstrap(ours, theirs)
        found.append(
            Comparison(
                system=first,
                peer=peer,
                measure="ndcg@10",
                difference=difference.mean,
                low=difference.low,
                high=difference.high,
                p=difference.p,
                verdict=difference.verdict,
            )
        )
    return tuple(found)
