"""How well frauds are told from harmless talk across sources, beside two peers.

Each source is tested by words fitted on another one: inside one source every method looks perfect.
Letters are all frauds, so harmless dialogues are put beside them. The peers are TF-IDF with
logistic regression, fitted on the same source, and the original's rule. Reported are AUROC with a
bootstrap interval and the share of frauds found where 5 % of the harmless cases raise an alarm; for
the weights that ship also how often each level is reached.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from salon.core.errors import InvalidInput
from salon.evaluation.attribution import auroc
from salon.evaluation.progress import Progress
from salon.evaluation.scam_fitting import fit_words, sklearn_module
from salon.evaluation.scam_original import original_score
from salon.evaluation.scam_sets import Case, Source
from salon.steps.scam import LEVELS, ScamReading, scam_risk
from salon.steps.scam_model import ScamWords

Floats = npt.NDArray[np.float64]
Score = Callable[[Case], float]
SHIPPED = "what ships"
FALSE_ALARMS = 0.05
_RESAMPLES = 200
_SEED = 20_261_115
_LOW, _HIGH = 0.025, 0.975


@dataclass(frozen=True, slots=True, kw_only=True)
class ScamFigures:
    """How one method, fitted on one source, did on another."""

    method: str
    fitted_on: str
    tested_on: str
    frauds: int
    harmless: int
    auroc: float
    auroc_low: float
    auroc_high: float
    recall: float
    """The share of frauds found where 5 % of the harmless cases raise an alarm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelFigures:
    """How often the weights that ship reach each level."""

    cases: str
    count: int
    share: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScamReport:
    """All pairs of sources and methods, the levels, and letters by their kind."""

    figures: tuple[ScamFigures, ...]
    levels: tuple[LevelFigures, ...]
    kinds: tuple[ScamFigures, ...]


def evaluate_scam(
    calls: Source, messages: Source, letters: Source, dialogues: Source, *, progress: Progress
) -> ScamReport:
    """Fit on calls, on messages and take what ships; test each on everything else."""
    tested = {
        calls.name: calls.cases,
        messages.name: messages.cases,
        letters.name: (*letters.cases, *dialogues.cases),
    }
    figures: list[ScamFigures] = []
    for source in (calls, messages):
        others = {name: cases for name, cases in tested.items() if name != source.name}
        methods: Mapping[str, Score] = {
            "salon": fit_ours(source.cases),
            "TF-IDF + LR": fit_peer(source.cases),
            "original rule": lambda case: original_score(case.messages),
        }
        for name, cases in others.items():
            labels = np.array([one.is_scam for one in cases])
            for method, score in methods.items():
                scores = _scores(f"{method}: {source.name} to {name}", score, cases, progress)
                figures.append(measure(method, source.name, name, labels=labels, scores=scores))
    readings = _readings(tested[letters.name], progress)
    scores = np.array([one.scam_risk_score for one in readings])
    labels = np.array([one.is_scam for one in tested[letters.name]])
    figures.append(measure("salon", SHIPPED, letters.name, labels=labels, scores=scores))
    return ScamReport(
        figures=tuple(figures),
        levels=_levels(letters.name, dialogues.name, labels, readings),
        kinds=_kinds(tested[letters.name], labels, scores),
    )


def fit_ours(cases: Sequence[Case]) -> Score:
    """Return Salon's score with its words fitted on cases."""
    words = ScamWords(fit_words(cases))
    return lambda case: scam_risk(case.messages, words=words).scam_risk_score


def fit_peer(cases: Sequence[Case]) -> Score:
    """Return TF-IDF with logistic regression, fitted on cases."""
    text, linear = sklearn_module("feature_extraction.text"), sklearn_module("linear_model")
    vectors = text.TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)
    matrix = vectors.fit_transform([_text(one) for one in cases])
    fitted = linear.LogisticRegression(max_iter=500, class_weight="balanced").fit(
        matrix, [one.is_scam for one in cases]
    )
    return lambda case: float(fitted.decision_function(vectors.transform([_text(case)]))[0])


def measure(
    method: str, fitted_on: str, tested_on: str, *, labels: npt.NDArray[np.bool_], scores: Floats
) -> ScamFigures:
    """Return the figures of one method's scores."""
    found = auroc(labels, scores)
    if found is None:
        raise InvalidInput(f"{tested_on}: frauds and harmless cases are both needed")
    frauds, harmless = scores[labels], scores[~labels]
    rng = np.random.default_rng(_SEED)
    resampled = []
    for _ in range(_RESAMPLES):
        some, others = rng.choice(frauds, len(frauds)), rng.choice(harmless, len(harmless))
        sampled = np.concatenate([some, others])
        resampled.append(auroc(np.arange(len(sampled)) < len(some), sampled) or 0.0)
    low, high = np.quantile(resampled, [_LOW, _HIGH])
    return ScamFigures(
        method=method,
        fitted_on=fitted_on,
        tested_on=tested_on,
        frauds=len(frauds),
        harmless=len(harmless),
        auroc=found,
        auroc_low=float(low),
        auroc_high=float(high),
        recall=recall_at(frauds, harmless),
    )


def recall_at(frauds: Floats, harmless: Floats, alarms: float = FALSE_ALARMS) -> float:
    """Return the share of frauds above a threshold that at most `alarms` of the harmless pass."""
    allowed = int(alarms * len(harmless))
    threshold = np.sort(harmless)[::-1][allowed] if allowed < len(harmless) else -np.inf
    return float((frauds > threshold).mean())


def _scores(label: str, score: Score, cases: Sequence[Case], progress: Progress) -> Floats:
    found = []
    with progress(label) as show:
        for number, case in enumerate(cases, start=1):
            found.append(score(case))
            show(number, len(cases))
    return np.array(found)


def _readings(cases: Sequence[Case], progress: Progress) -> list[ScamReading]:
    found = []
    with progress(SHIPPED) as show:
        for number, case in enumerate(cases, start=1):
            found.append(scam_risk(case.messages))
            show(number, len(cases))
    return found


def _levels(
    frauds: str, harmless: str, labels: npt.NDArray[np.bool_], readings: Sequence[ScamReading]
) -> tuple[LevelFigures, ...]:
    found = np.array([one.scam_warning_level for one in readings])
    return tuple(
        LevelFigures(
            cases=name,
            count=int(chosen.sum()),
            share={level: float((found[chosen] == level).mean()) for level in LEVELS},
        )
        for name, chosen in ((frauds, labels), (harmless, ~labels))
    )


def _kinds(
    cases: Sequence[Case], labels: npt.NDArray[np.bool_], scores: Floats
) -> tuple[ScamFigures, ...]:
    kinds = np.array([one.kind for one in cases])
    return tuple(
        measure(
            "salon",
            SHIPPED,
            kind,
            labels=labels[chosen],
            scores=scores[chosen],
        )
        for kind in sorted({one.kind for one in cases if one.is_scam})
        for chosen in [(kinds == kind) | ~labels]
    )


def _text(case: Case) -> str:
    return "\n".join(case.messages)
