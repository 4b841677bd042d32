"""Train the head that takes a second look at a message for a cry for help, and say how good it is.

This is the recipe, not part of the package. It needs Salon's environment with the `eval` extra.

    python -m tools.train_crisis --data FOLDER

The cries are our own sentences (`guard/crisis_examples.json`). Ordinary talk is 2,000 comments of
GoEmotions' train part; 1,500 of its dev part say how often ordinary talk alarms it.
"""

import argparse
import gzip
import json
import random
from pathlib import Path

import numpy as np
import numpy.typing as npt

from salon.guard.crisis_meaning import NONE, POSSIBLE, WEIGHTS, HeadFile
from salon.providers.embedders.registry import open_embedder
from tools.data_folder import add_data_option

EXAMPLES = WEIGHTS.parent.parent / "crisis_examples.json"
EMBEDDER = "embedded:minilm"
KINDS = {"self": "self", "overdose": "self", "other": "other", "danger": "danger", NONE: NONE}
COMMENTS, CHECKED = 2000, 1500
C, WEIGHT_OF_A_CRY, FOLDS, SEED = 4.0, 10.0, 5, 5
Floats = npt.NDArray[np.float64]


def read_comments(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t")[0] for line in lines]


def fit(vectors: Floats, kinds: npt.NDArray[np.str_]) -> tuple[list[str], Floats]:
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    weights = np.where(kinds == NONE, 1.0, WEIGHT_OF_A_CRY)
    model = LogisticRegression(C=C, max_iter=2000).fit(vectors, kinds, sample_weight=weights)
    return list(model.classes_), np.hstack([model.coef_, model.intercept_[:, None]])


def chances_of_a_cry(head: tuple[list[str], Floats], vectors: Floats) -> Floats:
    kinds, weights = head
    raised = vectors @ weights[:, :-1].T + weights[:, -1]
    shares = np.exp(raised - raised.max(axis=1, keepdims=True))
    result: Floats = 1 - (shares / shares.sum(axis=1, keepdims=True))[:, kinds.index(NONE)]
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    folder = parser.parse_args().data / "goemotions"
    examples = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    own = [(kind, text) for name, kind in KINDS.items() for text in examples[name]]
    talk = read_comments(folder / "train.tsv.gz")
    random.Random(SEED).shuffle(talk)
    embedder = open_embedder(EMBEDDER)
    texts = [text for _, text in own] + talk[:COMMENTS]
    vectors = embedder.embed_passages(texts).astype(np.float64)
    kinds = np.array([kind for kind, _ in own] + [NONE] * COMMENTS)
    fold = np.random.RandomState(0).randint(0, FOLDS, len(kinds))
    chances = np.zeros(len(kinds))
    for part in range(FOLDS):
        head = fit(vectors[fold != part], kinds[fold != part])
        chances[fold == part] = chances_of_a_cry(head, vectors[fold == part])
    ours = np.arange(len(kinds)) < len(own)
    cries = kinds != NONE
    print(f"cross-validated at {POSSIBLE}:")
    print(f"  our cries noticed        {(chances[cries] >= POSSIBLE).mean():.3f} of {cries.sum()}")
    near = ours & ~cries
    print(f"  our near misses alarmed  {(chances[near] >= POSSIBLE).mean():.3f} of {near.sum()}")
    print(f"  comments alarmed         {(chances[~ours] >= POSSIBLE).mean():.4f}")
    final = fit(vectors, kinds)
    dev = embedder.embed_passages(read_comments(folder / "dev.tsv.gz")[:CHECKED])
    alarmed = (chances_of_a_cry(final, dev.astype(np.float64)) >= POSSIBLE).mean()
    print(f"dev comments alarmed       {alarmed:.4f} of {CHECKED}")
    file = HeadFile(embedder=EMBEDDER, kinds=final[0], weights=np.round(final[1], 4).tolist())
    WEIGHTS.write_text(file.model_dump_json() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
