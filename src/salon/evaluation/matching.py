"""How well a match is foreseen, on evenings that no model has seen: ours beside plainer ways.

Three things may be known: what a profile has (what the companion uses), all that both said before
they met, and how one side rated the other afterwards. Beside them stand the cosine of the two
feature vectors, plain attractiveness, and scikit-learn's logistic regression on the same columns.
The shipped model is measured only on evenings that it was not fitted on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from salon.evaluation.attribution import auroc
from salon.evaluation.coverage import (
    SetFigures,
    calibration_error,
    make_sets,
    mark,
    peer_module,
    summed,
)
from salon.evaluation.dating_data import RATINGS, Dates, Numbers, Whole, read_dates
from salon.evaluation.dating_fits import (
    RIDGE_BEFORE,
    RIDGE_PROFILE,
    RIDGE_RATINGS,
    Fit,
    auroc_by_wave,
    leave_one_wave_out,
    model_scores,
    our_fit,
    standard_of,
    standardised,
)
from salon.evaluation.progress import Progress
from salon.steps.match_model import fitted_waves, load_match_model


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchFigures:
    """How well one way foresees a match."""

    system: str
    knows: str
    """`profile`, `before` or `ratings`."""
    auroc: float
    """Mean over evenings of the AUROC inside each."""
    pooled: float
    """Over all dates at once."""
    by_wave: dict[int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchReport:
    """All ways on the same dates."""

    rows: int
    waves: int
    matches: float
    """Share of dates on which both said yes."""
    systems: tuple[MatchFigures, ...]
    sets: dict[str, SetFigures]
    """Our sets of `match` and `no_match`, each evening calibrated on the others."""
    ece: dict[str, float]


def evaluate_matching(path: Path, *, progress: Progress) -> MatchReport:
    """Measure every way on a file of speed dates."""
    dates = read_dates(path)
    kinds: dict[str, tuple[Numbers, float]] = {
        "profile": (dates.profile, RIDGE_PROFILE),
        "before": (dates.before, RIDGE_BEFORE),
        "ratings": (dates.ratings, RIDGE_RATINGS),
    }
    found, sets, ece = [], {}, {}
    with progress("evenings left out") as show:
        for number, (knows, (values, ridge)) in enumerate(kinds.items(), 1):
            scores = leave_one_wave_out(values, dates.match, dates.wave, our_fit(ridge))
            found.append(_figures("salon", knows, scores, dates))
            sets[knows] = set_figures(scores, dates.match, dates.wave)
            ece[knows] = calibration_error(_both(scores), dates.match)
            plain = values[:, : len(RATINGS)] if knows == "ratings" else values
            peer = leave_one_wave_out(plain, dates.match, dates.wave, _peer_fit())
            found.append(_figures("logistic regression", knows, peer, dates))
            show(number, len(kinds))
    if not set(dates.wave.tolist()) & set(fitted_waves()):
        shipped = model_scores(load_match_model(), dates.profile)
        found.append(_figures("salon, as shipped", "profile", shipped, dates))
    found.append(_figures("cosine", "profile", dates.similarity, dates))
    found.append(_figures("attractiveness", "ratings", dates.attractiveness, dates))
    return MatchReport(
        rows=len(dates.match),
        waves=len(set(dates.wave.tolist())),
        matches=float(dates.match.mean()),
        systems=tuple(sorted(found, key=lambda one: (list(kinds).index(one.knows), -one.auroc))),
        sets=sets,
        ece=ece,
    )


def _figures(system: str, knows: str, scores: Numbers, dates: Dates) -> MatchFigures:
    import numpy as np

    by_wave = auroc_by_wave(scores, dates.match, dates.wave)
    known = np.nan_to_num(scores, nan=float(np.nanmean(scores)))
    return MatchFigures(
        system=system,
        knows=knows,
        auroc=float(np.mean(list(by_wave.values()))) if by_wave else 0.5,
        pooled=auroc(dates.match == 1, known) or 0.5,
        by_wave=by_wave,
    )


def set_figures(scores: Numbers, match: Whole, wave: Whole) -> SetFigures:
    """Measure the sets of each evening, calibrated on all other evenings."""
    import numpy as np

    both = _both(scores)
    marks, sizes = [], []
    for one in np.unique(wave):
        inside = wave == one
        sets = make_sets(both[~inside], match[~inside], both[inside], "lac")
        marks.append(mark(sets, match[inside]))
        sizes.append(int(inside.sum()))
    whole = summed("salon, lac", marks)
    weights = np.array(sizes) / sum(sizes)
    return SetFigures(
        method=whole.method,
        coverage=float(np.dot(weights, [one for one, _ in marks])),
        lowest=whole.lowest,
        highest=whole.highest,
        mean_size=float(np.dot(weights, [size for _, size in marks])),
        splits=whole.splits,
    )


def _both(scores: Numbers) -> Numbers:
    """Return the probabilities of no match and of a match."""
    import numpy as np

    return np.column_stack([1.0 - scores, scores])


def _peer_fit() -> Fit:
    linear = peer_module("sklearn.linear_model")

    def fit(values: Numbers, outcome: Whole) -> Callable[[Numbers], Numbers]:
        standard = standard_of(values)
        model = linear.LogisticRegression(max_iter=1000)
        model.fit(standardised(values, standard), outcome)
        return lambda rows: model.predict_proba(standardised(rows, standard))[:, 1]

    return fit
