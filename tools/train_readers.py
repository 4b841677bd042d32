"""Train MiniLM to read: emotions in a message, and answers to a question in a passage.

This is the recipe, not part of the package. `pack` needs Salon's environment; the rest needs torch
and, to end in minutes, a GPU. Each reader is a low-rank addition to the weights of
all-MiniLM-L6-v2 (the file that `providers/embedders/adapter.py` reads) and a few linear heads.

    pack      the base model and the data into one folder that can travel
    emotion   GoEmotions' 28 labels and EmoBank's valence and arousal from a message
    answers   SQuAD 2 and SciFact: which sentences answer, and whether the passage answers at all
    moves     SMCalFlow: whether an assistant acts, answers, asks or refuses next

`--folds` measures by cross-validation (whole articles, whole claims are held out) and writes the
out-of-fold scores; without it everything is trained on.
"""

import argparse
import json
import shutil
from pathlib import Path

import numpy as np

from tools.data_folder import add_data_option

SETS = (
    "goemotions/train.tsv.gz", "goemotions/dev.tsv.gz", "goemotions/emotions.txt",
    "emobank/emobank.csv.gz", "squad2_half_dev/dev-v2.0.json.gz", "scifact/corpus.jsonl.gz",
    "scifact/claims_train.jsonl", "smcalflow/turns.jsonl.gz",
)  # fmt: skip


def pack(data: Path, to: Path) -> None:
    """Write the base model in half precision, its tokenizer and the data into a folder."""
    from salon.providers.embedders.minilm_files import find_minilm_files

    files = find_minilm_files()
    to.mkdir(parents=True, exist_ok=True)
    weights = {name: one.view(files.weights) for name, one in files.layout.items()}
    halves = {name: value.astype(np.float16) for name, value in weights.items()}
    np.savez(to / "base.npz", **halves)  # type: ignore[arg-type]
    shutil.copyfile(files.tokenizer, to / "tokenizer.json")
    for name in SETS:
        (to / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(data / name, to / name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("pack")
    add_data_option(one)
    one.add_argument("--to", type=Path, required=True)
    for name in ("emotion", "answers", "moves"):
        one = commands.add_parser(name)
        one.add_argument("--pack", type=Path, required=True)
        one.add_argument("--to", type=Path, required=True, help="folder for what is learned")
        one.add_argument("--folds", type=int, default=0)
        one.add_argument("--only", type=int, help="train this fold alone")
        one.add_argument("--score", type=Path, help="a pack of tools.answer_pack to score instead")
        one.add_argument("--trained", type=Path, help="folder of the folds that score it")
        one.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="of the recipe")
    asked = parser.parse_args()
    if asked.command == "pack":
        pack(asked.data, asked.to)
        return
    changes = {key: json.loads(value) for key, value in (one.split("=") for one in asked.set)}
    asked.to.mkdir(parents=True, exist_ok=True)
    if asked.command == "emotion":
        from tools.reader_emotion import Recipe, run

        run(asked.pack, asked.to, Recipe(**changes), folds=asked.folds)
    elif asked.command == "moves":
        from tools.reader_moves import Recipe as MovesRecipe
        from tools.reader_moves import run as run_moves

        run_moves(asked.pack, asked.to, MovesRecipe(**changes), folds=asked.folds)
    else:
        from tools.reader_answers import run as run_answers
        from tools.reader_answers import score_stored
        from tools.reader_examples import Recipe as AnswersRecipe

        if asked.score:
            score_stored(asked.pack, asked.trained, asked.score, asked.to, folds=asked.folds)
            return
        run_answers(
            asked.pack, asked.to, AnswersRecipe(**changes), folds=asked.folds, only=asked.only
        )


if __name__ == "__main__":
    main()
