"""The moves reader: what an assistant does next, from the conversation so far.

Two halves are read together: what was said before (the person's last message and the assistant's
answer), and what the person says now. The heads give the odds to act, answer, ask or refuse.
"""

import gzip
import json
from collections.abc import Sequence
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

LABELS = ("ACT", "ANSWER", "ASK", "REFUSE")
MAX_BEFORE, MAX_NOW = 64, 64
SCALE = 20.0
Row = tuple[list[int], list[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Every choice of the training; the defaults are what ships."""

    rank: int = 32
    epochs: int = 6
    rate: float = 1e-3
    dropout: float = 0.2
    batch: int = 64
    rare: float = 0.5
    """How much more a rare label counts: its weight is frequency to the power of minus this."""
    smoothing: float = 0.05
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """Conversations as tokens, what was done next, and the dialogue of each."""

    rows: list[Row]
    labels: npt.NDArray[np.int64]
    groups: list[str]


def read(folder: Path) -> Moments:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def tokens(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    rows: list[Row] = []
    labels: list[int] = []
    groups: list[str] = []
    with gzip.open(folder / "smcalflow/turns.jsonl.gz", "rt", encoding="utf-8") as lines:
        for dialogue in map(json.loads, lines):
            said: list[int] = []
            for turn in dialogue["turns"]:
                now = tokens(turn["user"])
                rows.append(as_row(said, now))
                labels.append(LABELS.index(turn["label"]))
                groups.append(dialogue["dialogue_id"])
                said = [*now[:24], 102, *tokens(turn["agent"])]
    return Moments(rows=rows, labels=np.array(labels), groups=groups)


def as_row(before: Sequence[int], now: Sequence[int]) -> Row:
    """Put what was said before and what is said now side by side."""
    first = [101, *before[-MAX_BEFORE:], 102]
    second = [*now[:MAX_NOW], 102]
    return [*first, *second], [0] * len(first) + [1] * len(second)


def train(
    base: Weights, moments: Moments, take: Sequence[int], recipe: Recipe, device: str
) -> Adapted:
    import torch
    from torch.nn import functional

    torch.manual_seed(recipe.seed)
    random = np.random.default_rng(recipe.seed)
    model = Adapted(base, {"moves": len(LABELS)}, rank=recipe.rank, seed=recipe.seed, device=device)
    chosen = np.asarray(take)
    share = np.bincount(moments.labels[chosen], minlength=len(LABELS)) / len(chosen)
    weight = torch.tensor((share / share.max()) ** -recipe.rare, device=device).float()
    batches: list[Any] = [
        order[start : start + recipe.batch]
        for order in (random.permutation(chosen) for _ in range(recipe.epochs))
        for start in range(0, len(order), recipe.batch)
    ]

    def loss(places: Any) -> Tensor:
        batch = side_by_side([moments.rows[at] for at in places], device)
        vectors = pooled(hidden(model.weights(), batch, recipe.dropout), batch.mask) * SCALE
        wanted = torch.tensor(moments.labels[places], device=device)
        return functional.cross_entropy(
            model.head("moves", vectors), wanted, weight=weight, label_smoothing=recipe.smoothing
        )

    optimise(model, batches, loss, rate=recipe.rate)
    with torch.no_grad():
        model.heads["moves.weight"] *= SCALE
    return model


def apply(
    model: Adapted, moments: Moments, take: Sequence[int], device: str
) -> npt.NDArray[np.float64]:
    import torch

    found = []
    with torch.no_grad():
        weights = model.weights()
        for start in range(0, len(take), 512):
            batch = side_by_side([moments.rows[at] for at in take[start : start + 512]], device)
            vectors = pooled(hidden(weights, batch), batch.mask)
            found.append(model.head("moves", vectors).float().cpu().numpy())
    return np.concatenate(found).astype(float)


def folds_of(groups: Sequence[str], folds: int) -> npt.NDArray[np.int64]:
    names = sorted(set(groups))
    place = {name: number % folds for number, name in enumerate(names)}
    return np.array([place[one] for one in groups])


def macro_f1(said: npt.NDArray[np.int64], labels: npt.NDArray[np.int64]) -> float:
    scores = []
    for one in range(len(LABELS)):
        both = ((said == one) & (labels == one)).sum()
        scores.append(2 * both / max(1, (said == one).sum() + (labels == one).sum()))
    return float(np.mean(scores))


def run(folder: Path, to: Path, recipe: Recipe, *, folds: int) -> None:
    """Cross-validate by dialogue, or train on everything."""
    device = fast_device()
    base = load_base(folder / "base.npz", device)
    moments = read(folder)
    everything = list(range(len(moments.rows)))
    if not folds:
        stored = train(base, moments, everything, recipe, device).stored()
        heads = {n.removeprefix("head."): stored.pop(n) for n in [*stored] if "head." in n}
        np.savez(to / "moves_adapter.npz", **stored)  # type: ignore[arg-type]
        np.savez(to / "moves_heads.npz", **heads)  # type: ignore[arg-type]
        return
    where = folds_of(moments.groups, folds)
    logits = np.zeros((len(everything), len(LABELS)))
    for fold in range(folds):
        model = train(base, moments, np.flatnonzero(where != fold).tolist(), recipe, device)
        held = np.flatnonzero(where == fold).tolist()
        logits[held] = apply(model, moments, held, device)
        found = macro_f1(logits[held].argmax(1), moments.labels[held])
        print(json.dumps({"fold": fold, "macro_f1": found}), flush=True)
    overall = macro_f1(logits.argmax(1), moments.labels)
    print(json.dumps({"recipe": repr(recipe), "macro_f1": overall}), flush=True)
    np.savez(to / "moves_out_of_fold.npz", logits=logits, folds=where)
