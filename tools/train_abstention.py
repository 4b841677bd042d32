"""Fit when to answer: `python -m tools.train_abstention --pack DIR --read DIR`.

The pack (`tools.answer_pack`) holds what the product found for the questions of SQuAD 2 and the
claims of SciFact, whose licences allow it; what the answer reader says of each passage comes from
readers that never saw its article or claim (`tools.train_readers answers --folds 5 --score`).
Fitted are: how the selector's two looks are joined, a logistic model of whether one of a reply's
quotes answers, and the thresholds that keep the risk. Scores are out of fold. The thresholds are
those of questions; SciFact's claims have weights of their own.
"""

import argparse
import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from salon.core.documents import DocumentId
from salon.core.embedding import PassageReading
from salon.core.hashing import CardHash
from salon.corpus.search import FoundPassage
from salon.evaluation.answers import MOST_QUOTES, auroc
from salon.experts.abstention import features
from salon.experts.composing.extractive import choose
from salon.experts.evidence import Evidence, Signs, gather_evidence
from salon.grounding.risk import Judged, find_threshold
from salon.grounding.support.selector import READ, SecondLook, softened
from salon.grounding.support.weighing import SELECTOR, Feature, Weighing, read_weighings
from salon.providers.embedders.adapter import load_adapter
from salon.providers.embedders.answer_reader import ADAPTER

Floats = npt.NDArray[np.float64]
OUT = Path(__file__).parents[1] / "src" / "salon" / "experts" / "weights" / "abstention.json"
ALPHAS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
FOLDS = 5
STEPS = (0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
"""The thresholds of the trade-off."""
_RIDGE = 1.0
_JOINED = ("first_look", "sentence", "passage")
_CLAMP = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """One question with everything that was found for it."""

    row: dict[str, Any]
    readings: dict[int, PassageReading]

    @property
    def form(self) -> str:
        """Return what the selector calls it."""
        return "statement" if self.row["is_claim"] else "question"

    def passages(self) -> list[FoundPassage]:
        """Return the passages as search returned them."""
        return [
            FoundPassage(
                content=one["text"], source="", page=None, section=None, score=one["score"],
                relevance_score=one["score"], hash=CardHash(one["hash"]), start=one["start"],
                end=one["end"], document_id=DocumentId(""), verified=True, derived=False,
                why=None,  # type: ignore[arg-type]
            )
            for one in self.row["passages"]
        ]  # fmt: skip

    def rights(self) -> set[tuple[str, int]]:
        """Return which sentences are right, by card and first byte."""
        found = set()
        for one in self.row["passages"]:
            place = 0
            for sentence, right in zip(one["sentences"], one["right"], strict=True):
                place = one["text"].index(sentence, place)
                if right:
                    found.add((one["hash"], one["start"] + len(one["text"][:place].encode())))
        return found


class Recorded:
    """A selector that says what was recorded; it notes which passages were looked at twice."""

    def __init__(self, packed: Packed, weighing: Weighing | None = None) -> None:
        self._known = {
            tuple(one["sentences"]): (number, one)
            for number, one in reversed(list(enumerate(packed.row["passages"])))
        }
        self._readings = packed.readings
        self._weighing = weighing
        self.read: list[tuple[list[float], PassageReading, list[bool]]] = []

    def first_look(self, question: str, sentences: Sequence[str]) -> list[float]:  # noqa: ARG002
        """Return what the first look said."""
        first: list[float] = self._known[tuple(sentences)][1]["first"]
        return first

    def look_again(
        self,
        question: str,  # noqa: ARG002
        passages: Sequence[Sequence[str]],
        first_looks: Sequence[Sequence[float]],
    ) -> list[SecondLook]:
        """Return what both looks say together."""
        found = []
        for sentences, first in zip(passages, first_looks, strict=True):
            number, one = self._known[tuple(sentences)]
            reading = self._readings[number]
            self.read.append((list(first), reading, one["right"]))
            answers = tuple(first)
            if self._weighing is not None:
                rows = _rows(first, reading)
                answers = tuple(
                    self._weighing.probability(dict(zip(_JOINED, row, strict=True))) for row in rows
                )
            found.append(SecondLook(answers=answers, passage=reading.passage))
        return found


class Unread(Recorded):
    """The same without a second look."""

    def look_again(
        self,
        question: str,  # noqa: ARG002
        passages: Sequence[Sequence[str]],  # noqa: ARG002
        first_looks: Sequence[Sequence[float]],
    ) -> list[SecondLook]:
        """Return what the first look said."""
        return [SecondLook(answers=tuple(one), passage=None) for one in first_looks]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question as the product answers it."""

    group: str
    signs: Signs
    is_right: bool
    is_first: bool
    is_first_unread: bool
    """Whether the first quote answers when nothing is looked at twice."""
    is_counted: bool
    """Whether an answer could be right."""


def read_packs(pack: Path, read: Path) -> dict[str, list[Packed]]:
    """Return what was packed, with what the reader said of each passage."""
    found = {}
    for name in ("squad", "claims"):
        readings: dict[int, dict[int, PassageReading]] = {}
        for line in (read / f"{name}_read.jsonl").read_text("utf-8").splitlines():
            one = json.loads(line)
            found_there = PassageReading(
                sentences=tuple(one["sentences"]), passage=one["passage"], support=0.0
            )
            readings.setdefault(one["row"], {})[one["place"]] = softened(found_there)
        with gzip.open(pack / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            found[name] = [
                Packed(row=row, readings=readings.get(at, {}))
                for at, row in enumerate(map(json.loads, lines))
            ]
    return found


def fit_joined(packs: Sequence[Packed], kind: str, fingerprint: str) -> Weighing:
    """Fit how the two looks are joined, on the passages that are looked at twice."""
    rows: list[tuple[float, ...]] = []
    labels: list[bool] = []
    for packed in packs:
        recorded = Recorded(packed)
        gather_evidence(packed.row["asked"], packed.passages(), recorded)
        for first, reading, right in recorded.read:
            rows += _rows(first, reading)
            labels += right
    values = np.array(rows)
    centre, scale = values.mean(axis=0), values.std(axis=0)
    ones = np.ones((len(values), 1))
    slopes = _logistic(
        np.hstack([ones, (values - centre) / scale]),
        np.array(labels, float),
        np.array([0.0, *[_RIDGE] * len(_JOINED)]),
    )
    return Weighing(
        kind=kind,
        fingerprint=fingerprint,
        features={
            name: Feature(
                centre=_six(centre[at]), scale=_six(scale[at]), slope=_six(slopes[at + 1])
            )
            for at, name in enumerate(_JOINED)
        },
        start=_six(slopes[0]),
        threshold=0.5,
    )


def _rows(first: Sequence[float], reading: PassageReading) -> list[tuple[float, ...]]:
    return [
        (_logit(one), sentence, reading.passage)
        for one, sentence in zip(first, reading.sentences, strict=True)
    ]


def ask(packed: Packed, weighing: Weighing) -> Asked:
    """Ask as the product does."""
    evidence: Evidence = gather_evidence(
        packed.row["asked"], packed.passages(), Recorded(packed, weighing)
    )
    unread = gather_evidence(packed.row["asked"], packed.passages(), Unread(packed)).quotes[:1]
    rights = packed.rights()
    chosen = [(one.hash, one.start) in rights for one in choose(evidence.quotes, MOST_QUOTES)]
    return Asked(
        group=packed.row["group"],
        signs=evidence.signs,
        is_right=any(chosen),
        is_first=bool(chosen) and chosen[0],
        is_first_unread=any((one.hash, one.start) in rights for one in unread),
        is_counted=packed.row["is_answerable"] and not packed.row["is_hidden"],
    )


def _fit(asked: Sequence[Asked]) -> dict[str, float]:
    found = [features(one.signs) for one in asked]
    names = sorted({name for one in found for name in one})
    rows = np.array([[one.get(name, 0.0) for name in names] for one in found])
    penalty = np.array([0.0 if name.endswith(" one") else _RIDGE for name in names])
    weights = _logistic(rows, np.array([one.is_right for one in asked], float), penalty)
    return dict(zip(names, weights.tolist(), strict=True))


def _logistic(rows: Floats, labels: Floats, penalty: Floats) -> Floats:
    weights = np.zeros(rows.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -50, 50)))
        gradient = rows.T @ (chance - labels) + penalty * weights
        hessian = rows.T @ (rows * (chance * (1 - chance))[:, None]) + np.diag(penalty)
        weights -= np.linalg.solve(hessian + 1e-9 * np.eye(len(weights)), gradient)
    return weights


def _out_of_fold(asked: Sequence[Asked]) -> list[float]:
    groups = sorted({one.group for one in asked})
    folds = {group: number % FOLDS for number, group in enumerate(groups)}
    scores = [0.0] * len(asked)
    for fold in range(FOLDS):
        weights = _fit([one for one in asked if folds[one.group] != fold])
        for at, one in enumerate(asked):
            if folds[one.group] == fold:
                total = sum(weights[name] * value for name, value in features(one.signs).items())
                scores[at] = float(1 / (1 + np.exp(-np.clip(total, -50, 50))))
    return scores


def _report(name: str, asked: Sequence[Asked], scores: Sequence[float]) -> Iterator[float]:
    """Print how well a set went; walk the threshold for each alpha."""
    counted = [one for one in asked if one.is_counted]
    first = sum(one.is_first for one in counted) / len(counted)
    some = sum(one.is_right for one in counted) / len(counted)
    judged = [
        Judged(score=score, is_right=one.is_right) for one, score in zip(asked, scores, strict=True)
    ]
    told = auroc([one.score for one in judged if one.is_right],
                 [one.score for one in judged if not one.is_right])  # fmt: skip
    unread = sum(one.is_first_unread for one in counted) / len(counted)
    print(
        f"{name}: {len(asked)} asked, first quote {first:.3f} (by the first look alone "
        f"{unread:.3f}), any {some:.3f}, AUROC {told:.3f}"
    )
    for threshold in STEPS:
        given = [one for one, score in zip(asked, scores, strict=True) if score >= threshold]
        if given:
            risk = 1 - sum(one.is_right for one in given) / len(given)
            hit = sum(one.is_first for one in given) / len(given)
            print(
                f"  from {threshold:.1f}: {len(given) / len(asked):.3f} answered, {risk:.3f} "
                f"unsupported, first quote {hit:.3f}"
            )
    for alpha in ALPHAS:
        point = find_threshold(judged, alpha=alpha)
        shown = "nothing" if point is None else f"{point.coverage:.3f} of them"
        print(f"  alpha {alpha}: {shown} answered")
        yield 1.0 if point is None else round(point.threshold, 4)


def _logit(probability: float) -> float:
    held = min(max(probability, _CLAMP), 1 - _CLAMP)
    return float(np.log(held / (1 - held)))


def _six(value: float) -> float:
    return round(float(value), 6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pack", type=Path, required=True, help="what tools.answer_pack wrote")
    parser.add_argument("--read", type=Path, required=True, help="what the reader said of it")
    given = parser.parse_args()
    packs = read_packs(given.pack, given.read)
    fingerprint = load_adapter(ADAPTER).sha256
    joined = {
        form: fit_joined([one for one in some if one.form == form], READ[form], fingerprint)
        for some, form in ((packs["squad"], "question"), (packs["claims"], "statement"))
    }
    asked = {name: [ask(one, joined[one.form]) for one in some] for name, some in packs.items()}
    everything = [one for some in asked.values() for one in some]
    scores = dict(zip(map(id, everything), _out_of_fold(everything), strict=True))
    thresholds = {
        name: list(_report(name, some, [scores[id(one)] for one in some]))
        for name, some in asked.items()
    }
    known = json.loads(OUT.read_text("utf-8"))
    # Where nothing could be read there is nothing to fit; the older weights stay for that.
    fitted = {name: round(value, 5) for name, value in _fit(everything).items() if " read " in name}
    known["weights"] = dict(sorted({**known["weights"], **fitted}.items()))
    known["thresholds"] = dict(zip(map(str, ALPHAS), thresholds["squad"], strict=True))
    OUT.write_text(json.dumps(known, indent=2) + "\n", "utf-8")
    _add_joined(list(joined.values()))


def _add_joined(made: Sequence[Weighing]) -> None:
    """Put the weights of the second look into the selector's file, for old ones."""
    content = read_weighings(SELECTOR)
    kept = [one for one in content.weighings if one.kind not in READ.values()]
    changed = content.model_copy(update={"weighings": (*kept, *made)})
    text = json.dumps(changed.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":"))
    SELECTOR.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
