"""Train the heads that take a second look for harmful content, and say how good they are.

This is the recipe, not part of the package. It needs Salon's environment with the extras `eval` and
`demo`.

    python -m tools.train_harm --data FOLDER

`abuse` learns from Surge AI's toxic and ordinary comments, `request` from our own sentences
(`guard/harm_examples.json`). Both are also shown, as harmless, comments of GoEmotions that nobody
found angry, and `abuse` sentences of presidents that are no demo avatars. How often
they alarm on the demo presidents' own words is measured on sentences that they have not seen.
"""

import argparse
import csv
import gzip
import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from salon.experts.demo import PRESIDENTS
from salon.guard.harm import find_harmful_request, harm_of
from salon.guard.harm_meaning import SURE, WEIGHTS, HarmHeads, HeadName
from salon.providers.embedders.registry import open_embedder
from salon.providers.sotu import find_messages
from tools.data_folder import add_data_option

EXAMPLES = WEIGHTS.parent.parent / "harm_examples.json"
EMBEDDER = "embedded:minilm"
OTHERS = ("Andrew Jackson", "James K. Polk", "Ulysses S. Grant", "Woodrow Wilson")
ANGRY = frozenset({"2", "3", "9", "10", "11", "14"})
"""GoEmotions' anger, annoyance, disappointment, disapproval, disgust and fear."""
SPEECHES, COMMENTS, TALK, CHECKED = 500, 500, 300, 1500
C: dict[HeadName, float] = {"abuse": 4.0, "request": 4.0}
FOLDS, SEED = 10, 5
Floats = npt.NDArray[np.float64]


def speeches(names: Sequence[str], count: int) -> list[str]:
    found = []
    for name in names:
        for message in find_messages(name):
            text = message.path.read_text(encoding="utf-8", errors="replace")
            found += [one.strip() for one in re.split(r"(?<=[.!?])\s+", text)]
    kept = sorted({one for one in found if 30 < len(one) < 400})
    random.Random(SEED).shuffle(kept)
    return kept[:count]


def calm_comments(path: Path, count: int) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    kept = [row[0] for row in rows if not ANGRY & set(row[1].split(","))]
    random.Random(SEED).shuffle(kept)
    return kept[:count]


def surge(path: Path) -> tuple[list[str], npt.NDArray[np.bool_]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return [row["text"] for row in rows], np.array([row["is_toxic"] == "Toxic" for row in rows])


def fit(vectors: Floats, labels: npt.NDArray[np.bool_], c: float) -> Floats:
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    model = LogisticRegression(C=c, max_iter=3000).fit(vectors, labels)
    return np.append(model.coef_[0], model.intercept_)


def chances(head: Floats, vectors: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-(vectors @ head[:-1] + head[-1]))))


def words(texts: Sequence[str], labels: npt.NDArray[np.bool_], test: Sequence[str]) -> Floats:
    """Return the chances of the peer: TF-IDF of words and pairs under the same regression."""
    from sklearn.feature_extraction.text import (  # type: ignore[import-untyped]
        TfidfVectorizer,
    )
    from sklearn.linear_model import LogisticRegression

    maker = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    model = LogisticRegression(C=10, max_iter=3000).fit(maker.fit_transform(texts), labels)
    return np.asarray(model.predict_proba(maker.transform(test))[:, 1])


def report(name: str, labels: npt.NDArray[np.bool_], found: Floats, sure: float) -> None:
    from sklearn.metrics import f1_score, roc_auc_score  # type: ignore[import-untyped]

    print(
        f"  {name:<10} AUROC {roc_auc_score(labels, found):.3f}  F1 at half "
        f"{f1_score(labels, found > 0.5):.3f}  at {sure}: noticed "
        f"{(found[labels] >= sure).mean():.3f}, wrongly {(found[~labels] >= sure).mean():.3f}"
    )


def train(
    name: HeadName,
    own: tuple[list[str], npt.NDArray[np.bool_]],
    harmless: list[str],
    embed: Callable[[list[str]], Floats],
) -> Floats:
    """Fit a head, print its cross-validated figures beside the peer's on the labelled part."""
    texts, labels = [*own[0], *harmless], np.append(own[1], np.zeros(len(harmless), dtype=bool))
    vectors = embed(texts)
    fold = np.random.RandomState(0).randint(0, FOLDS, len(labels))
    ours, peer = np.zeros(len(labels)), np.zeros(len(labels))
    for part in range(FOLDS):
        inside, outside = np.flatnonzero(fold == part), np.flatnonzero(fold != part)
        ours[inside] = chances(fit(vectors[outside], labels[outside], C[name]), vectors[inside])
        seen, asked = [texts[n] for n in outside], [texts[n] for n in inside]
        peer[inside] = words(seen, labels[outside], asked)
    labelled = len(own[0])
    print(f"{name}: {labelled} labelled texts, {len(harmless)} harmless ones besides")
    report("ours", labels[:labelled], ours[:labelled], SURE[name])
    report("tf-idf", labels[:labelled], peer[:labelled], SURE[name])
    return fit(vectors, labels, C[name])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    data = parser.parse_args().data
    embedder = open_embedder(EMBEDDER)

    def embed(texts: list[str]) -> Floats:
        return embedder.embed_passages(texts).astype(np.float64)

    calm = calm_comments(data / "goemotions" / "train.tsv.gz", COMMENTS)
    examples = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    sentences = [*examples["harmful"], *examples["fine"]]
    asked = np.arange(len(sentences)) < len(examples["harmful"])
    toxic = surge(data / "surge_toxicity" / "toxicity_en.csv.gz")
    heads = {
        "abuse": train("abuse", toxic, [*speeches(OTHERS, SPEECHES), *calm], embed),
        "request": train("request", (sentences, asked), calm[:TALK], embed),
    }
    file = HarmHeads.model_validate(
        {
            "embedder": EMBEDDER,
            "heads": {name: np.round(head, 4).tolist() for name, head in heads.items()},
        }
    )
    WEIGHTS.write_text(file.model_dump_json() + "\n", encoding="utf-8")
    demo = speeches(tuple(PRESIDENTS.values()), CHECKED)
    others = calm_comments(data / "goemotions" / "dev.tsv.gz", CHECKED)
    print("wrongly alarmed, patterns and head together:")
    for name, texts in (("the demo presidents' sentences", demo), ("calm comments", others)):
        said = np.mean([harm_of(one, embedder=embedder) is not None for one in texts])
        wanted = np.mean([find_harmful_request(one, embedder) is not None for one in texts])
        print(f"  {name:<32} as a reply {said:.4f}, as a request {wanted:.4f} of {len(texts)}")


if __name__ == "__main__":
    main()
