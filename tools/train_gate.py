"""Fit the learned gate: `python -m tools.train_gate [--data FOLDER] [--limit N]`.

Trains on SMCalFlow and on the schema-guided dialogues (CC BY-SA 4.0 both) what an assistant does
next, chooses the thresholds of acting out of fold, and writes the weights with
half precision. Folds keep dialogues (SMCalFlow) and services (schema-guided) whole.
"""

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from salon.cli.common import amount_progress
from salon.evaluation.gate import CALL_RECIPE, MOVE_RECIPE, TEXT_CALL_RECIPE, figures_of
from salon.evaluation.gate_data import LabelledMoment, groups_of, read_calflow, read_schema_guided
from salon.evaluation.gate_fitting import (
    Recipe,
    choose_by_folds,
    find_act_threshold,
    fit,
    out_of_fold,
    prepare,
)
from salon.gate.learned import CALLS, CALLS_FROM_TEXT, MOVES, MOVES_READ
from salon.providers.embedders import open_embedder
from tools.data_folder import add_data_option

OUT = Path(__file__).parents[1] / "src" / "salon" / "gate" / "weights"
SOURCES = {
    "smcalflow": "smcalflow/turns.jsonl.gz",
    "sgd": "sgd_action_trigger/train.jsonl.gz",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    parser.add_argument("--limit", type=int, help="moments of each set, to try it out")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument(
        "--read", type=Path, help="only choose the threshold of the reader, from its folds"
    )
    given = parser.parse_args()
    files = {name: given.data / file for name, file in SOURCES.items()}
    if given.read is not None:
        add_reader(given.data, given.read, given.out)
        return
    sets: dict[str, list[LabelledMoment]] = {
        "smcalflow": read_calflow(files["smcalflow"])[: given.limit],
        "sgd": read_schema_guided(files["sgd"])[: given.limit],
    }
    embedder = open_embedder("embedded:minilm")
    arrays: dict[str, Any] = {}
    models: dict[str, object] = {}
    prepared = {}
    for name, moments in sets.items():
        with amount_progress(name) as show:
            prepared[name] = prepare(moments, embedder, on_progress=show)
    wanted: tuple[tuple[str, str, Recipe], ...] = (
        (MOVES, "smcalflow", MOVE_RECIPE),
        (CALLS, "sgd", CALL_RECIPE),
        (CALLS_FROM_TEXT, "sgd", TEXT_CALL_RECIPE),
    )
    for name, source, recipe in wanted:
        data = prepared[source]
        groups = groups_of(data.moments, by_service=source == "sgd")
        chances, folds = out_of_fold(data, groups, recipe)
        threshold = find_act_threshold(chances, data.labels, recipe)
        figures = figures_of(
            data.labels, choose_by_folds(chances, data.labels, folds, recipe), recipe
        )
        print(f"{name}: out of fold {figures}, threshold {threshold:.3f}", flush=True)
        model = fit(data, recipe)
        for part in ("buckets", "vectors", "signals", "bias"):
            arrays[f"{name}.{part}"] = getattr(model, part).astype(np.float16)
        models[name] = {
            "labels": model.labels,
            "acting": recipe.acting,
            "threshold": round(threshold, 6),
            "trained_on": source,
            "sha256": hashlib.sha256(files[source].read_bytes()).hexdigest(),
            "moments": len(data.moments),
        }
    known = json.loads((OUT / "gate.json").read_text("utf-8"))["models"]
    models |= {name: one for name, one in known.items() if name == MOVES_READ}
    given.out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(given.out / "gate.npz", **arrays)
    (given.out / "gate.json").write_text(json.dumps({"models": models}, indent=2) + "\n", "utf-8")


def add_reader(data: Path, folder: Path, out: Path) -> None:
    """Choose from which chance on the reader of moves acts, on what it never saw."""
    source = data / SOURCES["smcalflow"]
    moments = read_calflow(source)
    with np.load(folder / "moves_out_of_fold.npz") as found:
        odds, folds = found["logits"], found["folds"]
    chances = np.exp(odds - odds.max(axis=1, keepdims=True))
    chances = (chances / chances.sum(axis=1, keepdims=True)).astype(np.float32)
    labels = [one.label for one in moments]
    chosen = choose_by_folds(chances, labels, folds.tolist(), MOVE_RECIPE)
    print(f"{MOVES_READ}: out of fold {figures_of(labels, chosen, MOVE_RECIPE)}")
    known = json.loads((out / "gate.json").read_text("utf-8"))
    known["models"][MOVES_READ] = {
        "labels": list(MOVE_RECIPE.labels),
        "acting": "ACT",
        "threshold": round(find_act_threshold(chances, labels, MOVE_RECIPE), 6),
        "trained_on": "smcalflow",
        "sha256": hashlib.sha256(source.read_bytes()).hexdigest(),
        "moments": len(moments),
    }
    (out / "gate.json").write_text(json.dumps(known, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
