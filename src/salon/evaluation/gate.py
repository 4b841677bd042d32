"""How well the gate knows when to act: the learned gate beside its peers, on labelled dialogues.

Every system decides before the reply is known. Premature is the share of moments at which nothing
was to be done yet and the system acts; missed the share of acts that it does not make; false blocks
the share of acts that its threshold alone held back. The peers are the source protocol's literal
rules and TF-IDF with logistic regression, in the same run and on the same folds.
"""

import gzip
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from salon.core.embedding import Embedder
from salon.core.errors import InvalidInput
from salon.evaluation.gate_data import (
    CALL_LABELS,
    MOVE_LABELS,
    LabelledMoment,
    groups_of,
    read_calflow,
    read_schema_guided,
)
from salon.evaluation.gate_fitting import (
    FOLDS,
    Prepared,
    Recipe,
    apply,
    choose_by_folds,
    find_act_threshold,
    fit,
    fit_tfidf,
    folds_of,
    out_of_fold,
    prepare,
)
from salon.evaluation.progress import Progress
from salon.gate.learned import (
    CALLS,
    CALLS_FROM_TEXT,
    MOVES,
    MOVES_READ,
    choose,
    shipped,
    threshold_of,
)
from salon.gate.lexicon import lexicon_of
from salon.gate.policy import make_policy
from salon.gate.signals import read_reply
from salon.gate.verdicts import Side

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOVE_RECIPE = Recipe(
    labels=MOVE_LABELS,
    acting="ACT",
    weights={"ACT": 1.0, "ANSWER": 1.0, "ASK": 1.0, "REFUSE": 3.0},
    strength=2.0,
    most_premature=0.02,
)
CALL_RECIPE = Recipe(
    labels=CALL_LABELS,
    acting="CALL",
    weights={"ASK": 1.0, "CALL": 1.0},
    strength=1.0,
    most_premature=0.1,
)
TEXT_CALL_RECIPE = Recipe(
    labels=CALL_LABELS,
    acting="CALL",
    weights={"ASK": 1.0, "CALL": 1.0},
    strength=1.0,
    most_premature=0.1,
    uses_fields=False,
)
LITERAL = "seed's literal rules"
TFIDF = "tf-idf + logistic regression"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFigures:
    """How one system did; shares are of moments, `None` where it makes no such choice."""

    accuracy: float
    precision: float
    act_f1: float
    premature: float
    premature_while_asking: float
    missed: float
    false_blocks: float
    macro_f1: float | None
    f1: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """One system on one set, and how it was kept from seeing what it is judged on."""

    system: str
    protocol: str
    figures: GateFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSet:
    """All systems on one file."""

    name: str
    file: str
    moments: int
    acts: int
    rows: tuple[GateRow, ...]
    notes: tuple[str, ...]
    asking_precision: float
    asking_recall: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ClarifyingQuestions:
    """How many clarifying questions written without a question mark are seen to ask."""

    file: str
    questions: int
    recognised: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """The sets that were evaluated."""

    sets: tuple[GateSet, ...]
    clarifying: tuple[ClarifyingQuestions, ...]


def evaluate_gate(
    *,
    smcalflow: Sequence[Path],
    sgd: Sequence[Path],
    sgd_train: Path | None,
    clariq: Sequence[Path],
    embedder: Embedder,
    progress: Progress,
) -> GateReport:
    """Run every system over every file."""
    sets = [_calflow(path, embedder, progress) for path in smcalflow]
    train = None
    if sgd_train is not None and sgd:
        with progress(sgd_train.name) as show:
            train = prepare(read_schema_guided(sgd_train), embedder, on_progress=show)
    sets += [_guided(path, train, embedder, progress) for path in sgd]
    return GateReport(sets=tuple(sets), clarifying=tuple(_clariq(path) for path in clariq))


def _calflow(path: Path, embedder: Embedder, progress: Progress) -> GateSet:
    moments = _some(read_calflow(path), path)
    with progress(path.name) as show:
        data = prepare(moments, embedder, on_progress=show)
    groups = groups_of(moments, by_service=False)
    protocol = f"{FOLDS} folds by dialogue"
    with progress("folds") as show:
        chances, folds = out_of_fold(data, groups, MOVE_RECIPE, on_progress=show)
    labels = data.labels
    chosen = choose_by_folds(chances, labels, folds, MOVE_RECIPE)
    free = choose(chances, MOVE_RECIPE.labels, acting="ACT", threshold=0.0)
    rows = [
        GateRow(
            system="learned gate",
            protocol=protocol,
            figures=figures_of(labels, chosen, MOVE_RECIPE, unthresholded=free),
        )
    ]
    more, notes = _as_shipped(MOVES, data, MOVE_RECIPE, path)
    if more:
        more.append(_read_row(data, progress))
    peer = _tfidf_by_folds(moments, folds)
    rows += [
        *more,
        GateRow(system=TFIDF, protocol=protocol, figures=figures_of(labels, peer, MOVE_RECIPE)),
        _literal_row(moments, MOVE_RECIPE),
    ]
    return _set("smcalflow", path, moments, MOVE_RECIPE, rows=rows, notes=notes)


def _guided(path: Path, train: Prepared | None, embedder: Embedder, progress: Progress) -> GateSet:
    moments = _some(read_schema_guided(path), path)
    with progress(path.name) as show:
        data = prepare(moments, embedder, on_progress=show)
    rows: list[GateRow] = []
    notes: list[str] = []
    folds = folds_of(groups_of(moments, by_service=True))
    protocol = f"{FOLDS} folds by service" if train is None else "trained on the train file"
    for system, name, recipe in (
        ("learned gate, fields known", CALLS, CALL_RECIPE),
        ("learned gate, text alone", CALLS_FROM_TEXT, TEXT_CALL_RECIPE),
    ):
        chances, chosen = _fitted(data, train, recipe)
        free = choose(chances, recipe.labels, acting="CALL", threshold=0.0)
        figures = figures_of(data.labels, chosen, recipe, unthresholded=free)
        rows.append(GateRow(system=system, protocol=protocol, figures=figures))
        more, said = _as_shipped(name, data, recipe, path, label=system)
        rows += more
        notes += said
    if train is None:
        peer = _tfidf_by_folds(moments, folds)
    else:
        predict = fit_tfidf([_peer_text(one) for one in train.moments], train.labels)
        peer = predict([_peer_text(one) for one in moments])
    rows.append(
        GateRow(system=TFIDF, protocol=protocol, figures=figures_of(data.labels, peer, CALL_RECIPE))
    )
    rows.append(_literal_row(moments, CALL_RECIPE))
    return _set("sgd", path, moments, CALL_RECIPE, rows=rows, notes=tuple(dict.fromkeys(notes)))


def _fitted(
    data: Prepared, train: Prepared | None, recipe: Recipe
) -> "tuple[npt.NDArray[np.float32], list[str]]":
    if train is None:
        groups = groups_of(data.moments, by_service=True)
        chances, folds = out_of_fold(data, groups, recipe)
        return chances, choose_by_folds(chances, data.labels, folds, recipe)
    seen, _ = out_of_fold(train, groups_of(train.moments, by_service=True), recipe)
    threshold = find_act_threshold(seen, train.labels, recipe)
    chances = apply(fit(train, recipe), data, recipe)
    return chances, choose(chances, recipe.labels, acting=recipe.acting, threshold=threshold)


def _as_shipped(
    name: str, data: Prepared, recipe: Recipe, path: Path, *, label: str = "learned gate"
) -> tuple[list[GateRow], tuple[str, ...]]:
    """Return how the shipped weights do, unless they were trained on this very file."""
    about = resources.files("salon.gate").joinpath("weights/gate.json").read_text("utf-8")
    trained = json.loads(about)["models"][name]["sha256"]
    if hashlib.sha256(path.read_bytes()).hexdigest() == trained:
        return [], ("the shipped weights were trained on this file and are not judged on it",)
    model = shipped(name)
    chances = apply(model, data, recipe)
    chosen = choose(chances, recipe.labels, acting=recipe.acting, threshold=model.threshold)
    free = choose(chances, recipe.labels, acting=recipe.acting, threshold=0.0)
    figures = figures_of(data.labels, chosen, recipe, unthresholded=free)
    return [GateRow(system=label, protocol="shipped weights", figures=figures)], ()


def _read_row(data: Prepared, progress: Progress) -> GateRow:
    """Return how the shipped reader of moves does."""
    import numpy as np

    from salon.providers.embedders.moves_reader import open_moves_reader

    chances = np.zeros((len(data.moments), len(MOVE_RECIPE.labels)), np.float32)
    with open_moves_reader() as reader, progress("reading") as show:
        for row, one in enumerate(data.moments):
            found = reader.chances(one.moment)
            chances[row] = [found[label] for label in MOVE_RECIPE.labels]
            show(row + 1, len(data.moments))
    chosen = choose(chances, MOVE_RECIPE.labels, acting="ACT", threshold=threshold_of(MOVES_READ))
    free = choose(chances, MOVE_RECIPE.labels, acting="ACT", threshold=0.0)
    figures = figures_of(data.labels, chosen, MOVE_RECIPE, unthresholded=free)
    return GateRow(system="learned gate, reading", protocol="shipped weights", figures=figures)


def figures_of(
    labels: Sequence[str],
    chosen: Sequence[str],
    recipe: Recipe,
    *,
    unthresholded: Sequence[str] | None = None,
) -> GateFigures:
    """Return the figures of a system's choices."""
    act = recipe.acting
    pairs = list(zip(labels, chosen, strict=True))
    f1 = {one: _f1(pairs, one) for one in recipe.labels}
    is_complete = set(chosen) - {act, "ASK"} or set(recipe.labels) == {act, "ASK"}
    held = 0
    if unthresholded is not None:
        held = sum(
            label == act and free == act and one != act
            for label, one, free in zip(labels, chosen, unthresholded, strict=True)
        )
    acts = sum(label == act for label in labels)
    return GateFigures(
        accuracy=_share(label == one for label, one in pairs),
        precision=_share(label == act for label, one in pairs if one == act),
        act_f1=f1[act],
        premature=_share(one == act for label, one in pairs if label != act),
        premature_while_asking=_share(one == act for label, one in pairs if label == "ASK"),
        missed=_share(one != act for label, one in pairs if label == act),
        false_blocks=round(held / acts, 6) if acts else 0.0,
        macro_f1=round(sum(f1.values()) / len(f1), 6) if is_complete else None,
        f1=f1,
    )


def literal_rules(moment: LabelledMoment) -> bool:
    """Say what the source protocol's code says before a reply is there: depth, then context.

    It looks for the assistant's last question mark and whether anything was said after it.
    """
    history = moment.moment.history
    if len(history) < 2:
        return False
    asked = [at for at, one in enumerate(history) if one.side is Side.ASSISTANT and "?" in one.text]
    return not asked or len(history) > asked[-1] + 1


def _literal_row(moments: Sequence[LabelledMoment], recipe: Recipe) -> GateRow:
    chosen = [recipe.acting if literal_rules(one) else "ASK" for one in moments]
    labels = [one.label for one in moments]
    return GateRow(
        system=LITERAL, protocol="not trained", figures=figures_of(labels, chosen, recipe)
    )


def _tfidf_by_folds(moments: Sequence[LabelledMoment], folds: Sequence[int]) -> list[str]:
    chosen = [""] * len(moments)
    texts = [_peer_text(one) for one in moments]
    for fold in sorted(set(folds)):
        inside = [row for row, one in enumerate(folds) if one != fold]
        outside = [row for row, one in enumerate(folds) if one == fold]
        predict = fit_tfidf([texts[row] for row in inside], [moments[row].label for row in inside])
        for row, one in zip(outside, predict([texts[row] for row in outside]), strict=True):
            chosen[row] = one
    return chosen


def _peer_text(one: LabelledMoment) -> str:
    return f"{one.moment.before} || {one.moment.message}"


def _set(
    name: str,
    path: Path,
    moments: Sequence[LabelledMoment],
    recipe: Recipe,
    *,
    rows: Sequence[GateRow],
    notes: tuple[str, ...],
) -> GateSet:
    policy = make_policy()
    lexicon = lexicon_of(policy.actions, policy.language)
    asks = [bool(read_reply(one.reply, lexicon).asking) for one in moments]
    asked = [one.label == "ASK" for one in moments]
    pairs = list(zip(asked, asks, strict=True))
    return GateSet(
        name=name,
        file=path.name,
        moments=len(moments),
        acts=sum(one.label == recipe.acting for one in moments),
        rows=tuple(rows),
        notes=notes,
        asking_precision=_share(is_so for is_so, seen in pairs if seen),
        asking_recall=_share(seen for is_so, seen in pairs if is_so),
    )


def _clariq(path: Path) -> ClarifyingQuestions:
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
        head, *lines = text.splitlines()
        column = head.split("\t").index("question")
        asked = {line.split("\t")[column].strip() for line in lines if line.strip()}
    except (OSError, EOFError, ValueError, IndexError) as error:
        raise InvalidInput(
            f"{path} does not hold clarifying questions: {error}",
            hint="a table with tabs and a column `question`",
        ) from error
    policy = make_policy()
    lexicon = lexicon_of(policy.actions, policy.language)
    questions = sorted(one for one in asked if one)
    return ClarifyingQuestions(
        file=path.name,
        questions=len(questions),
        recognised=_share(bool(read_reply(one, lexicon).asking) for one in questions),
    )


def _some(moments: list[LabelledMoment], path: Path) -> list[LabelledMoment]:
    if len({one.group for one in moments}) < FOLDS:
        raise InvalidInput(
            f"{path} has too few dialogues to judge by", hint=f"give at least {FOLDS}"
        )
    return moments


def _f1(pairs: Sequence[tuple[str, str]], label: str) -> float:
    right = sum(is_so == chosen == label for is_so, chosen in pairs)
    total = sum((is_so == label) + (chosen == label) for is_so, chosen in pairs)
    return round(2 * right / total, 6) if total else 0.0


def _share(values: Iterable[bool]) -> float:
    found = list(values)
    return round(sum(found) / len(found), 6) if found else 0.0
