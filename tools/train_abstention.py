"""Fit when to answer: `python -m tools.train_abstention [--limit N]`.

Asks the questions of SQuAD 2 and the claims of SciFact (both of ../shared/data, whose licences
allow it) through the product, fits a logistic model of whether the first quote answers, and finds
the thresholds that keep the risk. Scores are out of fold: a question is scored by a model that
never saw its article or claim. The thresholds are those of questions; SciFact's claims have weights
of their own.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from salon.cli.common import amount_progress
from salon.evaluation.answers import AskedOnce, auroc, evaluate_answers
from salon.evaluation.questions import read_labelled
from salon.evaluation.retrieval import settings_for
from salon.experts.abstention import features
from salon.grounding.risk import Judged, find_threshold
from salon.settings import load_settings

DATA = Path(__file__).parents[2] / "shared" / "data"
OUT = Path(__file__).parents[1] / "src" / "salon" / "experts" / "weights" / "abstention.json"
ALPHAS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
FOLDS = 5
_RIDGE = 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, help="questions of each set")
    parser.add_argument("--keep", type=Path, required=True, help="folder for the two corpora")
    given = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"{DATA} is not there")
    sets = {
        "squad": (DATA / "squad2_half_dev/dev-v2.0.json.gz", None),
        "claims": (DATA / "scifact/claims_train.jsonl", DATA / "scifact/corpus.jsonl.gz"),
    }
    asked: dict[str, list[AskedOnce]] = {}
    for name, (questions, corpus) in sets.items():
        labelled = read_labelled(questions, corpus)
        settings = settings_for(given.keep / name, load_settings())
        figures, asked[name] = evaluate_answers(
            labelled, settings, limit=given.limit, progress=amount_progress
        )
        print(
            f"{name}: {figures.questions} questions, quote hit@1 {figures.quote_hit_1:.3f}, "
            f"inside {figures.quote_hit_1_inside:.3f} (BM25 {figures.bm25_hit_1_inside:.3f})"
        )
    everything = [one for some in asked.values() for one in some]
    weights = _fit(everything)
    scores = _out_of_fold(everything)
    thresholds = {}
    for alpha in ALPHAS:
        found = {}
        for name, some in asked.items():
            judged = [Judged(score=scores[id(one)], is_right=one.is_right) for one in some]
            point = find_threshold(judged, alpha=alpha)
            found[name] = 1.0 if point is None else point.threshold
            shown = "none" if point is None else f"{point.coverage:.3f} answered"
            print(f"alpha {alpha}: {name} {found[name]:.3f} ({shown})")
        thresholds[str(alpha)] = round(found["squad"], 4)
    for name, some in asked.items():
        right = [scores[id(one)] for one in some if one.is_right]
        wrong = [scores[id(one)] for one in some if not one.is_right]
        print(f"{name}: out-of-fold AUROC {auroc(right, wrong):.3f}")
    OUT.write_text(
        json.dumps(
            {
                "fitted_on": "SQuAD 2 (half of dev, CC BY-SA 4.0) and SciFact train (CC BY)",
                "weights": {name: round(float(value), 5) for name, value in weights.items()},
                "thresholds": thresholds,
            },
            indent=2,
        )
        + "\n",
        "utf-8",
    )


def _fit(asked: list[AskedOnce]) -> dict[str, float]:
    found = [features(one.signs) for one in asked]
    names = sorted({name for one in found for name in one})
    rows = np.array([[one.get(name, 0.0) for name in names] for one in found])
    labels = np.array([one.is_right for one in asked], float)
    weights = np.zeros(len(names))
    penalty = np.diag([0.0 if name.endswith(" one") else _RIDGE for name in names])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -50, 50)))
        gradient = rows.T @ (chance - labels) + penalty @ weights
        hessian = rows.T @ (rows * (chance * (1 - chance))[:, None]) + penalty
        weights -= np.linalg.solve(hessian + 1e-9 * np.eye(len(names)), gradient)
    return dict(zip(names, weights.tolist(), strict=True))


def _out_of_fold(asked: list[AskedOnce]) -> dict[int, float]:
    groups = sorted({one.group for one in asked})
    folds = {group: number % FOLDS for number, group in enumerate(groups)}
    scores: dict[int, float] = {}
    for fold in range(FOLDS):
        weights = _fit([one for one in asked if folds[one.group] != fold])
        for one in (one for one in asked if folds[one.group] == fold):
            total = sum(weights[name] * value for name, value in features(one.signs).items())
            scores[id(one)] = float(1 / (1 + np.exp(-np.clip(total, -50, 50))))
    return scores


if __name__ == "__main__":
    main()
