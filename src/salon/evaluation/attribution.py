"""Measuring whether claims are told apart that a text bears out and that it does not.

Two layouts of labelled claims are known: AttributionBench's (`claim`, `references`,
`attribution_label`) and WiCE's (`claim`, `evidence`, `label`). A claim that is borne out only in
part counts as not borne out. Beside the judge stands what anybody would try first: the share of the
claim's words that the text holds, at the threshold that was fitted where the judge's was, and at
the one that turns out best on these very claims, which no judge could know beforehand.

Invariant: nothing but the figures, and the threshold said to be the best one, depends on labels.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from salon.core.errors import InvalidInput
from salon.evaluation.files import as_row, read_lines
from salon.evaluation.metrics import PeerComparison, compare_with_peer, percentile
from salon.evaluation.progress import Progress, silent
from salon.grounding.support import Judge
from salon.grounding.support.readings import read_claim, read_evidence

Layout: TypeAlias = Literal["auto", "attributionbench", "wice"]

OVERLAP_THRESHOLD = 2 / 3
"""The share of words that is best by macro-F1 on the pairs that the judge was trained on."""
_WARM_UP = ("a first claim", "A first claim loads whatever is loaded when first needed.")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledClaim:
    """A claim, the text it rests on, whether the text bears it out, and where it comes from."""

    claim: str
    text: str
    is_borne_out: bool
    subset: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportFigures:
    """How well claims were told apart, over some of them.

    `macro_f1` and `auroc` are `None` where all claims have the same label.
    """

    claims: int
    borne_out: int
    macro_f1: float | None
    accuracy: float
    auroc: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSupport:
    """What one way of judging achieved at one threshold."""

    system: str
    threshold: float
    is_best_threshold: bool
    """Whether the threshold was chosen with these labels in sight."""
    overall: SupportFigures
    by_subset: dict[str, SupportFigures]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributionReport:
    """Everything that `salon eval attribution` found out."""

    layout: str
    claims: int
    borne_out: int
    encoder: str | None
    systems: tuple[SystemSupport, ...]
    comparisons: tuple[PeerComparison, ...]
    """How the judge's share of right verdicts differs from each peer's."""
    refused: dict[str, int]
    """How many claims there was a plain reason against, and how many of these are borne out."""
    p50_ms: float
    p99_ms: float

    def as_json(self) -> dict[str, object]:
        """Return what JSON knows."""
        return asdict(self)


# Reading


class _AttributionRow(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    claim: str
    references: list[str]
    attribution_label: Literal["attributable", "not attributable"]
    src_dataset: str = "all"

    def as_claim(self) -> LabelledClaim:
        return LabelledClaim(
            claim=self.claim,
            text="\n".join(self.references),
            is_borne_out=self.attribution_label == "attributable",
            subset=self.src_dataset,
        )


class _WiceRow(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    claim: str
    evidence: list[str]
    label: Literal["supported", "partially_supported", "not_supported"]

    def as_claim(self) -> LabelledClaim:
        return LabelledClaim(
            claim=self.claim,
            text="\n".join(self.evidence),
            is_borne_out=self.label == "supported",
            subset=self.label,
        )


_ROWS: Mapping[str, type[_AttributionRow] | type[_WiceRow]] = {
    "attributionbench": _AttributionRow,
    "wice": _WiceRow,
}


def read_claims(path: Path, layout: Layout = "auto") -> tuple[str, tuple[LabelledClaim, ...]]:
    """Read labelled claims from JSON lines; return the layout they are in as well."""
    lines = list(read_lines(path))
    if not lines:
        raise InvalidInput(f"{path} holds no claims")
    found = _layout_of(lines[0][1]) if layout == "auto" else layout
    hint = "the layouts of AttributionBench and of WiCE are known"
    claims = (
        as_row(path, number, line, _ROWS[found], hint=hint).as_claim() for number, line in lines
    )
    return found, tuple(claims)


def _layout_of(line: str) -> str:
    return "attributionbench" if '"attribution_label"' in line else "wice"


# Judging


def evaluate_attribution(
    path: Path,
    judge: Judge,
    *,
    layout: Layout = "auto",
    limit: int | None = None,
    progress: Progress = silent,
) -> AttributionReport:
    """Judge labelled claims, beside the share of words, and say how well it went."""
    found, everything = read_claims(path, layout)
    claims = everything[:limit]
    judge.judge([_WARM_UP])
    probabilities, shares, seconds, refused = [], [], [], []
    with progress("judging") as show:
        for done, one in enumerate(claims, start=1):
            begun = time.perf_counter()
            (support,) = judge.judge([(one.claim, one.text)])
            seconds.append(time.perf_counter() - begun)
            probabilities.append(support.probability)
            if support.against:
                refused.append(one.is_borne_out)
            shares.append(word_share(one.claim, one.text))
            show(done, len(claims))
    labels = np.array([one.is_borne_out for one in claims])
    ours, theirs = np.array(probabilities), np.array(shares)
    cuts = (
        ("salon", ours, judge.threshold, False),
        ("salon", ours, best_threshold(labels, ours), True),
        ("word overlap", theirs, OVERLAP_THRESHOLD, False),
        ("word overlap", theirs, best_threshold(labels, theirs), True),
    )
    milliseconds = [1000 * each for each in seconds]
    return AttributionReport(
        layout=found,
        claims=len(claims),
        borne_out=int(labels.sum()),
        encoder=judge.encoder,
        systems=tuple(
            _system(name, scores, threshold, claims, is_best=is_best)
            for name, scores, threshold, is_best in cuts
        ),
        comparisons=tuple(
            compare_with_peer(
                peer,
                (labels == (ours >= judge.threshold)).astype(float).tolist(),
                (labels == (theirs >= threshold)).astype(float).tolist(),
            )
            for peer, threshold in (
                ("word overlap", OVERLAP_THRESHOLD),
                ("word overlap at its best", cuts[3][2]),
            )
        ),
        refused={"claims": len(refused), "borne_out": sum(refused)},
        p50_ms=percentile(milliseconds, 0.5),
        p99_ms=percentile(milliseconds, 0.99),
    )


def word_share(claim: str, text: str) -> float:
    """Return the share of a claim's content words that a text holds: the plain baseline."""
    wanted = read_claim(claim).stems
    there = read_evidence(text).stems
    return sum(stem in there for stem in wanted) / len(wanted) if wanted else 0.0


# Figures


def macro_f1(labels: npt.NDArray[np.bool_], said: npt.NDArray[np.bool_]) -> float:
    """Return the mean of the F1 of both verdicts; a verdict nobody needs and nobody gives is 1."""
    parts = []
    for truth, given in ((labels, said), (~labels, ~said)):
        both = int((truth & given).sum())
        either = int(truth.sum()) + int(given.sum())
        parts.append(2 * both / either if either else 1.0)
    return sum(parts) / 2


def best_threshold(labels: npt.NDArray[np.bool_], scores: npt.NDArray[np.float64]) -> float:
    """Return the score from which on saying yes gives the highest macro-F1."""
    candidates = np.unique(scores)
    return float(max(candidates, key=lambda cut: macro_f1(labels, scores >= cut)))


def auroc(labels: npt.NDArray[np.bool_], scores: npt.NDArray[np.float64]) -> float | None:
    """Return how often a claim that is borne out scores higher than one that is not."""
    good, bad = scores[labels], np.sort(scores[~labels])
    if not len(good) or not len(bad):
        return None
    lower = np.searchsorted(bad, good, side="left")
    level = np.searchsorted(bad, good, side="right") - lower
    return float((lower + 0.5 * level).mean() / len(bad))


def _system(
    name: str,
    scores: npt.NDArray[np.float64],
    threshold: float,
    claims: Sequence[LabelledClaim],
    *,
    is_best: bool,
) -> SystemSupport:
    labels = np.array([one.is_borne_out for one in claims])
    subsets = np.array([one.subset for one in claims])

    def over(chosen: npt.NDArray[np.bool_]) -> SupportFigures:
        truth, given = labels[chosen], scores[chosen] >= threshold
        return SupportFigures(
            claims=int(chosen.sum()),
            borne_out=int(truth.sum()),
            macro_f1=macro_f1(truth, given) if truth.any() and not truth.all() else None,
            accuracy=float((truth == given).mean()),
            auroc=auroc(truth, scores[chosen]),
        )

    return SystemSupport(
        system=name,
        threshold=threshold,
        is_best_threshold=is_best,
        overall=over(np.ones(len(claims), dtype=bool)),
        by_subset={str(subset): over(subsets == subset) for subset in np.unique(subsets)},
    )
