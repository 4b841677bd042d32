"""The emotion reader: GoEmotions' labels, EmoBank's valence and arousal, from one unit vector."""

import csv
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tools.reader_model import (
    Adapted,
    Tensor,
    Weights,
    fast_device,
    hidden,
    load_base,
    optimise,
    pooled,
    side_by_side,
)

Floats = npt.NDArray[np.float64]
MAX_TOKENS = 96
LABELS = 28


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Every choice of the training; the defaults are what ships."""

    rank: int = 32
    epochs: int = 4
    rate: float = 2e-3
    dropout: float = 0.2
    messages: int = 64
    sentences: int = 32
    rated_weight: float = 10.0
    rare: float = 0.25
    """How much more a rare label counts: its weight is frequency to the power of minus this."""
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Texts as tokens, with what they are labelled."""

    tokens: list[list[int]]
    labels: Floats

    def some(self, places: npt.NDArray[np.int64]) -> "Rows":
        """Return some of the rows."""
        return Rows(tokens=[self.tokens[at] for at in places], labels=self.labels[places])


def read(folder: Path) -> tuple[Rows, Rows, Rows, npt.NDArray[np.int64]]:
    """Return GoEmotions train and dev, EmoBank, and the fold of each sentence of EmoBank."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)

    def tokens(texts: list[str]) -> list[list[int]]:
        return [one.ids for one in tokenizer.encode_batch(texts)]

    def comments(name: str) -> Rows:
        with gzip.open(folder / "goemotions" / name, "rt", encoding="utf-8") as lines:
            rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
        labels = np.zeros((len(rows), LABELS))
        for at, row in enumerate(rows):
            labels[at, [int(one) for one in row[1].split(",")]] = 1
        return Rows(tokens=tokens([row[0] for row in rows]), labels=labels)

    with gzip.open(folder / "emobank/emobank.csv.gz", "rt", encoding="utf-8") as lines:
        rated = list(csv.DictReader(lines))
    values = np.array([[float(row["V"]), float(row["A"])] for row in rated])
    split = np.array([0 if row["split"] == "train" else 1 for row in rated])
    sentences = Rows(tokens=tokens([row["text"] for row in rated]), labels=values)
    return comments("train.tsv.gz"), comments("dev.tsv.gz"), sentences, split


def train(base: Weights, comments: Rows, rated: Rows, recipe: Recipe, device: str) -> Adapted:
    """Return the model trained on both sets at once."""
    import torch
    from torch.nn import functional

    torch.manual_seed(recipe.seed)
    random = np.random.default_rng(recipe.seed)
    model = Adapted(
        base,
        {"emotions": LABELS, "rated": 2},
        rank=recipe.rank,
        seed=recipe.seed,
        device=device,
    )
    share = comments.labels.mean(axis=0)
    with torch.no_grad():
        model.heads["emotions.bias"] += torch.tensor(np.log(share), device=device).float()
    frequent = torch.tensor((share / share.max()) ** -recipe.rare, device=device).float()
    middle, spread = rated.labels.mean(axis=0), rated.labels.std(axis=0)
    batches: list[Any] = []
    queue: list[int] = []
    for _ in range(recipe.epochs):
        order = random.permutation(len(comments.tokens))
        for start in range(0, len(order), recipe.messages):
            while len(queue) < recipe.sentences:
                queue += random.permutation(len(rated.tokens)).tolist()
            batches.append((order[start : start + recipe.messages], queue[: recipe.sentences]))
            queue = queue[recipe.sentences :]

    def loss(batch: Any) -> Tensor:
        said, heard = batch
        rows = [comments.tokens[at] for at in said] + [rated.tokens[at] for at in heard]
        read = side_by_side([(row, [0] * len(row)) for row in rows], device)
        vectors = pooled(hidden(model.weights(), read, recipe.dropout), read.mask) * SCALE
        labels = torch.tensor(comments.labels[said], device=device).float()
        values = torch.tensor((rated.labels[heard] - middle) / spread, device=device).float()
        wrong = functional.binary_cross_entropy_with_logits(
            model.head("emotions", vectors[: len(said)]), labels, pos_weight=frequent
        )
        off = functional.mse_loss(model.head("rated", vectors[len(said) :]), values)
        return LABELS * wrong + off * recipe.rated_weight / 10

    optimise(model, batches, loss, rate=recipe.rate)
    # From here on the heads take unit vectors, and give ratings on their own scale.
    with torch.no_grad():
        model.heads["emotions.weight"] *= SCALE
        model.heads["rated.weight"] *= SCALE * torch.tensor(spread, device=device).float()
        model.heads["rated.bias"] *= torch.tensor(spread, device=device).float()
        model.heads["rated.bias"] += torch.tensor(middle, device=device).float()
    return model


SCALE = 20.0
"""Heads see vectors of this length while they are trained, so that they can move fast enough."""


def apply(model: Adapted, rows: Rows, device: str) -> dict[str, Floats]:
    """Return logits of the labels, and valence and arousal, of each text."""
    import torch

    found: dict[str, list[Any]] = {"emotions": [], "rated": []}
    order = np.argsort([len(one) for one in rows.tokens], kind="stable")
    with torch.no_grad():
        weights = model.weights()
        for start in range(0, len(order), 512):
            chosen = [rows.tokens[at] for at in order[start : start + 512]]
            batch = side_by_side([(row, [0] * len(row)) for row in chosen], device)
            vectors = pooled(hidden(weights, batch), batch.mask)
            for name, outputs in found.items():
                outputs.append(model.head(name, vectors).float().cpu().numpy())
    back = np.argsort(order, kind="stable")
    return {name: np.concatenate(outputs)[back].astype(float) for name, outputs in found.items()}


def best_f1(logits: Floats, labels: Floats) -> tuple[Floats, Floats]:
    """Return for each label the threshold with the highest F1, and that F1."""
    thresholds, scores = [], []
    for at in range(labels.shape[1]):
        order = np.argsort(-logits[:, at])
        right = np.cumsum(labels[order, at])
        f1 = 2 * right / (np.arange(1, len(order) + 1) + labels[:, at].sum())
        best = int(f1.argmax())
        thresholds.append(logits[order[best], at])
        scores.append(f1[best])
    return np.array(thresholds), np.array(scores)


def f1_at(logits: Floats, labels: Floats, thresholds: Floats) -> float:
    said = logits >= thresholds
    right = (said * labels).sum(0)
    return float((2 * right / np.maximum(1, said.sum(0) + labels.sum(0))).mean())


def measure(model: Adapted, comments: Rows, rated: Rows, device: str) -> dict[str, float]:
    """Return macro-F1 with thresholds from the other half, and the correlations of the ratings."""
    logits = apply(model, comments, device)["emotions"]
    even = np.arange(len(logits)) % 2 == 0
    halves = [
        f1_at(
            logits[~half], comments.labels[~half], best_f1(logits[half], comments.labels[half])[0]
        )
        for half in (even, ~even)
    ]
    values = apply(model, rated, device)["rated"]
    valence, arousal = (
        float(np.corrcoef(values[:, at], rated.labels[:, at])[0, 1]) for at in (0, 1)
    )
    return {"macro_f1": float(np.mean(halves)), "valence": valence, "arousal": arousal}


def run(folder: Path, to: Path, recipe: Recipe, *, folds: int) -> None:
    """Train on the training parts and measure on dev; with `folds` 0 train on everything too."""
    device = fast_device()
    base = load_base(folder / "base.npz", device)
    comments, dev, rated, split = read(folder)
    heard, unheard = np.flatnonzero(split == 0), np.flatnonzero(split == 1)
    model = train(base, comments, rated.some(heard), recipe, device)
    found = measure(model, dev, rated.some(unheard), device)
    print(json.dumps({"recipe": repr(recipe), **found}), flush=True)
    np.savez(
        to / "emotion_dev.npz",
        emotions=apply(model, dev, device)["emotions"],
        rated=apply(model, rated.some(unheard), device)["rated"],
    )
    if folds:
        return
    everything = Rows(
        tokens=comments.tokens + dev.tokens, labels=np.concatenate([comments.labels, dev.labels])
    )
    model = train(base, everything, rated, recipe, device)
    stored = model.stored()
    heads = {name.removeprefix("head."): stored.pop(name) for name in [*stored] if "head." in name}
    np.savez(to / "emotion_adapter.npz", **stored)  # type: ignore[arg-type]
    np.savez(to / "emotion_heads.npz", **heads)  # type: ignore[arg-type]
