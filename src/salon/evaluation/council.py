"""How well votes of many judges are joined: ours beside counting heads and beside crowd-kit.

Each system sees the same votes. What is learned is learned on other items (by item, in folds; by
kind, with the whole kind left out) or comes with the package. Dawid-Skene and the majority learn
nothing from labels, and our correction to new kinds uses votes without labels, as Dawid-Skene does.

Invariant: the label of an item never reaches the system that gives a verdict on it.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from salon.core.errors import InvalidInput
from salon.evaluation.council_data import RecordedVotes
from salon.evaluation.council_judges import JudgeRow, Likeness, judge_rows, likeness
from salon.evaluation.metrics import PeerComparison, compare_with_peer
from salon.evaluation.progress import Progress

if TYPE_CHECKING:
    from salon.council.judge_weights import JudgesFile
    from salon.council.judges import Floats, JudgeWeights, Panel

FOLDS, REPEATS, SEED = 10, 5, 20_261_115
LEAST_ITEMS = 20
OURS = "weighted council"
MAJORITY, BEST, SKENE = "majority", "best judge", "dawid-skene"
SKENE_STEADY, PLAIN, UNCORRECTED = "dawid-skene, same in both orders", "plain log-odds", "weights"
Verdicts: TypeAlias = "dict[str, Floats]"


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRow:
    """The share of right verdicts; an undecided one counts half."""

    system: str
    accuracy: float
    by_kind: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """All systems under one way of learning, and ours beside the others."""

    learned_from: str
    items: int
    rows: tuple[SystemRow, ...]
    comparisons: tuple[PeerComparison, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VotesReport:
    """What was found out about recorded votes."""

    items: dict[str, int]
    """By kind, those with a label."""
    judges: tuple[JudgeRow, ...]
    likeness: Likeness
    trials: tuple[Trial, ...]
    missing: dict[str, str]


def evaluate_votes(
    votes: RecordedVotes, *, train: RecordedVotes | None = None, progress: Progress
) -> VotesReport:
    """Join the votes in every way that the data allow."""
    from salon.council.judge_weights import read_judges_file

    labelled = _labelled(votes)
    free, missing = _without_labels(labelled.panel)
    shipped = read_judges_file()
    trials: list[Trial] = []
    if train is not None:
        trials.append(_trained(labelled, _labelled(train), free))
    elif len(labelled.truth) >= LEAST_ITEMS:
        trials.append(_by_item(labelled, free, progress=progress))
        if len(set(labelled.panel.kinds)) > 1:
            trials.append(_by_kind(labelled, free))
    if train is None and set(labelled.panel.judges) & set(shipped.weights):
        trials.append(_shipped(labelled, shipped, free))
    kinds = labelled.panel.kinds
    return VotesReport(
        items={kind: kinds.count(kind) for kind in sorted(set(kinds))},
        judges=judge_rows(labelled),
        likeness=likeness(labelled),
        trials=tuple(trials),
        missing=missing,
    )


def _labelled(votes: RecordedVotes) -> RecordedVotes:
    rows = [row for row, label in enumerate(votes.truth) if label]
    if not rows:
        raise InvalidInput("no item has a label", hint="put 1 or 2 into the column `label`")
    return RecordedVotes(panel=votes.panel.among(rows), truth=votes.truth[rows])


def _without_labels(panel: "Panel") -> tuple[Verdicts, dict[str, str]]:
    """Return the verdicts of the systems that learn nothing from labels."""
    from salon.council.judges import majority

    found = {MAJORITY: majority(panel)}
    try:
        skene = import_module("crowdkit.aggregation").DawidSkene
        pandas = import_module("pandas")
    except ImportError as error:
        return found, {"crowd-kit": f"not installed ({error.name})"}
    found[SKENE] = _skene(panel, panel.orders, skene, pandas.DataFrame)
    steady = panel.says * (abs(panel.says) == 1)
    found[SKENE_STEADY] = _skene(panel, (steady,), skene, pandas.DataFrame)
    return found, {}


def _skene(
    panel: "Panel",
    orders: "Sequence[Floats]",
    skene: Callable[..., Any],
    frame: Callable[..., object],
) -> "Floats":
    """Run Dawid-Skene with a judge under each order as a worker of its own."""
    import numpy as np

    rows = [
        (task, f"{judge} {order}", vote)
        for order, votes in enumerate(orders)
        for task, line in enumerate(votes.tolist())
        for judge, vote in zip(panel.judges, line, strict=True)
        if vote
    ]
    if not rows:
        return np.zeros(len(panel.items))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it calls pandas in ways that pandas warns of
        found = skene(n_iter=100).fit_predict(frame(rows, columns=["task", "worker", "label"]))
    said: dict[int, float] = found.to_dict()
    return np.array([said.get(task, 0.0) for task in range(len(panel.items))])


def _learned(
    learned: "JudgeWeights", plain: "JudgeWeights", panel: "Panel", known: "dict[str, float]"
) -> Verdicts:
    """Return the verdicts of the systems that learned from labels."""
    from salon.council.judges import plain_verdicts, verdicts

    best = max(panel.judges, key=lambda judge: plain.weights.get(judge, 0.0))
    return {
        BEST: panel.says[:, panel.judges.index(best)],
        PLAIN: plain_verdicts(plain, panel),
        UNCORRECTED: plain_verdicts(learned, panel),
        OURS: verdicts(learned, panel, known=known),
    }


def _learn(votes: RecordedVotes) -> "tuple[JudgeWeights, JudgeWeights]":
    from salon.council.judges import learn_weights, plain_log_odds

    return learn_weights(votes.panel, votes.truth), plain_log_odds(votes.panel, votes.truth)


def _by_item(votes: RecordedVotes, free: Verdicts, *, progress: Progress) -> Trial:
    import numpy as np

    panel, truth = votes.panel, votes.truth
    rng = np.random.default_rng(SEED)
    marks: dict[str, list[Floats]] = {}
    with progress("by item") as show:
        for repeat in range(REPEATS):
            folds = rng.permutation(len(truth)) % FOLDS
            found: dict[str, Floats] = {}
            for fold in range(FOLDS):
                inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
                seen = RecordedVotes(panel=panel.among(outside.tolist()), truth=truth[outside])
                known = {panel.items[row]: float(truth[row]) for row in outside}
                for name, said in _learned(*_learn(seen), panel, known).items():
                    found.setdefault(name, np.zeros(len(truth)))[inside] = said[inside]
                show(repeat * FOLDS + fold + 1, REPEATS * FOLDS)
            for name, said in found.items():
                marks.setdefault(name, []).append(_marks(said, truth))
    means = {name: np.mean(every, axis=0) for name, every in marks.items()}
    note = f"{FOLDS} folds, {REPEATS} times"
    return _trial("other items", panel.kinds, _free_marks(free, truth) | means, note)


def _by_kind(votes: RecordedVotes, free: Verdicts) -> Trial:
    import numpy as np

    panel, truth = votes.panel, votes.truth
    kinds = np.array(panel.kinds)
    found: dict[str, Floats] = {}
    for kind in sorted(set(panel.kinds)):
        inside, outside = np.flatnonzero(kinds == kind), np.flatnonzero(kinds != kind)
        seen = RecordedVotes(panel=panel.among(outside.tolist()), truth=truth[outside])
        for name, said in _learned(*_learn(seen), panel.among(inside.tolist()), {}).items():
            found.setdefault(name, np.zeros(len(truth)))[inside] = said
    return _trial("other kinds", panel.kinds, _free_marks(free | found, truth))


def _trained(votes: RecordedVotes, train: RecordedVotes, free: Verdicts) -> Trial:
    shared = set(votes.panel.items) & set(train.panel.items)
    if shared:
        raise InvalidInput(
            f"{len(shared)} items are in both files, such as {min(shared)}",
            hint="learn from other items than those that are judged",
        )
    said = _learned(*_learn(train), votes.panel, {})
    marks = _free_marks(free | said, votes.truth)
    return _trial("the train file", votes.panel.kinds, marks, f"{len(train.truth)} items")


def _shipped(votes: RecordedVotes, file: "JudgesFile", free: Verdicts) -> Trial:
    said = _learned(file.learned, file.plain, votes.panel, {})
    seen = sorted(set(file.kinds) & set(votes.panel.kinds))
    note = f"the shipped weights have seen {', '.join(seen)}" if seen else ""
    marks = _free_marks(free | said, votes.truth)
    return _trial("the shipped weights", votes.panel.kinds, marks, note)


def _free_marks(verdicts: Verdicts, truth: "Floats") -> Verdicts:
    return {name: _marks(said, truth) for name, said in verdicts.items()}


def _marks(said: "Floats", truth: "Floats") -> "Floats":
    import numpy as np

    return np.where(said == 0, 0.5, (np.sign(said) == truth).astype(np.float64))


def _trial(learned_from: str, kinds: Sequence[str], marks: Verdicts, note: str = "") -> Trial:
    import numpy as np

    names = np.array(kinds)
    rows = tuple(
        SystemRow(
            system=name,
            accuracy=float(right.mean()),
            by_kind={kind: float(right[names == kind].mean()) for kind in sorted(set(kinds))},
        )
        for name, right in marks.items()
    )
    ours = marks[OURS].tolist()
    others = tuple(
        compare_with_peer(name, ours, right.tolist())
        for name, right in marks.items()
        if name not in {OURS, UNCORRECTED}
    )
    return Trial(
        learned_from=learned_from, items=len(kinds), rows=rows, comparisons=others, note=note
    )
