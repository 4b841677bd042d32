"""The answer reader: a question or claim and a passage are read together.

Heads: `sentence` (from the mean of a sentence's tokens: it answers the question; it decides the
claim), `passage` (from the first token: the passage answers; it decides), `span` (per token: the
answer begins, ends; the first token where there is none), `support` (the passage bears it out).
"""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tools.reader_examples import Read, Recipe, Tokens, scifact, squad
from tools.reader_model import (
    Adapted,
    Batch,
    Tensor,
    Weights,
    fast_device,
    hidden,
    load_base,
    optimise,
    side_by_side,
)

HEADS = {"sentence": 2, "passage": 2, "span": 2, "support": 1}


def sentence_means(states: Tensor, reads: Sequence[Read]) -> Tensor:
    """Return the mean state of each sentence of each text, one after the other."""
    import torch

    sums = torch.nn.functional.pad(states.cumsum(1), (0, 0, 1, 0))
    rows = [at for at, one in enumerate(reads) for _ in one.sentences]
    begins = [begin for one in reads for begin, _ in one.sentences]
    ends = [end for one in reads for _, end in one.sentences]
    lengths = torch.tensor(ends, device=states.device) - torch.tensor(begins, device=states.device)
    lengths = lengths.clamp(min=1)
    return (sums[rows, ends] - sums[rows, begins]) / lengths[:, None]


def train(base: Weights, reads: Sequence[Read], recipe: Recipe, device: str) -> Adapted:
    """Return the model trained on all heads at once."""
    import torch
    from torch.nn import functional

    torch.manual_seed(recipe.seed)
    random = np.random.default_rng(recipe.seed)
    model = Adapted(base, HEADS, rank=recipe.rank, seed=recipe.seed, device=device)
    batches = [
        [reads[at] for at in order[start : start + recipe.batch]]
        for order in (random.permutation(len(reads)) for _ in range(recipe.epochs))
        for start in range(0, len(order), recipe.batch)
    ]

    def masked_bce(logits: Tensor, labels: Sequence[bool | None]) -> Tensor:
        known = [at for at, one in enumerate(labels) if one is not None]
        if not known:
            return logits.sum() * 0
        wanted = torch.tensor([float(bool(labels[at])) for at in known], device=device)
        return functional.binary_cross_entropy_with_logits(logits[known], wanted)

    def loss(chosen: list[Read]) -> Tensor:
        batch = side_by_side([one.row for one in chosen], device)
        states = hidden(model.weights(), batch, recipe.dropout)
        kinds = [int(one.example.is_claim) for one in chosen]
        answers = [one.example.answers for one in chosen]
        passage = model.head("passage", states[:, 0])[range(len(chosen)), kinds]
        per_sentence = [at for at, one in enumerate(chosen) for _ in one.sentences]
        sentence = model.head("sentence", sentence_means(states, chosen))[
            range(len(per_sentence)), [kinds[at] for at in per_sentence]
        ]
        decides: list[bool | None] = [
            None if one.example.answers is None else flag for one in chosen for flag in one.decides
        ]
        asked = [
            at for at, one in enumerate(chosen)
            if one.example.answers is not None and not one.example.is_claim
        ]  # fmt: skip
        total = masked_bce(passage, answers) + masked_bce(sentence, decides)
        supported = [one.example.supported for one in chosen]
        total = total + recipe.support_weight * masked_bce(
            model.head("support", states[:, 0])[:, 0], supported
        )
        if asked:
            logits = span_logits(model, states[asked], batch_of(batch, asked))
            wanted = torch.tensor([chosen[at].span for at in asked], device=device)
            total = total + recipe.span_weight * functional.cross_entropy(
                logits.transpose(1, 2).reshape(-1, logits.shape[1]), wanted.reshape(-1)
            )
        return total

    optimise(model, batches, loss, rate=recipe.rate)
    return model


def batch_of(batch: Batch, rows: Sequence[int]) -> Batch:
    return Batch(ids=batch.ids[rows], types=batch.types[rows], mask=batch.mask[rows])


def span_logits(model: Adapted, states: Tensor, batch: Batch) -> Tensor:
    """Return where an answer begins and ends; only the passage and the first token count."""
    import torch

    may = (batch.types == 1) & batch.mask
    first = torch.zeros_like(may)
    first[:, 0] = True
    return model.head("span", states).masked_fill(~(may | first)[..., None], -1e4)


def apply(model: Adapted, reads: Sequence[Read], device: str) -> list[dict[str, Any]]:
    """Return for each example the logits of its sentences, of its passage and of support."""
    import torch

    order = sorted(range(len(reads)), key=lambda at: len(reads[at].row[0]))
    found: dict[int, dict[str, Any]] = {}
    with torch.no_grad():
        weights = model.weights()
        for start in range(0, len(order), 256):
            places = order[start : start + 256]
            chosen = [reads[at] for at in places]
            batch = side_by_side([one.row for one in chosen], device)
            states = hidden(weights, batch)
            sentence = model.head("sentence", sentence_means(states, chosen)).cpu().numpy()
            passage = model.head("passage", states[:, 0]).cpu().numpy()
            support = model.head("support", states[:, 0])[:, 0].cpu().numpy()
            spans = span_scores(span_logits(model, states, batch)).cpu().numpy()
            row = 0
            for at, place in enumerate(places):
                one = reads[place]
                kind = int(one.example.is_claim)
                count = len(one.sentences)
                found[place] = {
                    "sentences": sentence[row : row + count, kind].tolist(),
                    "passage": float(passage[at, kind]),
                    "support": float(support[at]),
                    "span": float(spans[at]),
                }
                row += count
    return [found[at] for at in range(len(reads))]


def span_scores(logits: Tensor) -> Tensor:
    """Return how much better the best short span is than none."""
    starts, ends = logits[..., 0], logits[..., 1]
    none = starts[:, 0] + ends[:, 0]
    best = None
    for length in range(24):
        rolled = starts[:, 1 : starts.shape[1] - length] + ends[:, 1 + length :]
        top = rolled.max(1).values
        best = top if best is None else best.maximum(top)
    return best - none


def auroc(scores: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    scores, labels = np.asarray(scores, float), np.asarray(labels, bool)
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores, kind="stable")] = np.arange(1, len(scores) + 1)
    right = int(labels.sum())
    return float((ranks[labels].sum() - right * (right + 1) / 2) / (right * (len(labels) - right)))


def summary(reads: Sequence[Read], found: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return how well passages and sentences were told apart."""
    result: dict[str, float] = {}
    for kind, is_claim in (("question", False), ("claim", True)):
        some = [
            (one, got) for one, got in zip(reads, found, strict=True)
            if one.example.is_claim == is_claim and one.example.answers is not None
        ]  # fmt: skip
        labels = [bool(one.example.answers) for one, _ in some]
        if len(set(labels)) < 2:
            continue
        result[f"{kind} passage auroc"] = auroc([got["passage"] for _, got in some], labels)
        result[f"{kind} span auroc"] = auroc([got["span"] for _, got in some], labels)
        top = [max(got["sentences"], default=-99) for _, got in some]
        result[f"{kind} sentence auroc"] = auroc(top, labels)
        hits = [
            one.decides[int(np.argmax(got["sentences"]))] for one, got in some if any(one.decides)
        ]
        result[f"{kind} hit@1"] = float(np.mean(hits))
    some = [(one, got) for one, got in zip(reads, found, strict=True)
            if one.example.supported is not None]  # fmt: skip
    for kind, is_claim in (("made", False), ("claim", True)):
        chosen = [(o, g) for o, g in some if o.example.is_claim == is_claim]
        labels = [bool(one.example.supported) for one, _ in chosen]
        if len(set(labels)) == 2:
            result[f"{kind} support auroc"] = auroc([g["support"] for _, g in chosen], labels)
    return result


def score(
    model: Any, tokens: Tokens, packed: Path, to: Path, *, chosen: set[str], device: str
) -> None:
    """Add to a file what the model says of the packed passages of some groups."""
    for name in ("squad", "claims"):
        with gzip.open(packed / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [(at, one) for at, one in enumerate(map(json.loads, lines))
                    if one["group"] in chosen]  # fmt: skip
        reads: list[Read] = []
        places: list[tuple[int, int]] = []
        for at, row in rows:
            for number, passage in enumerate(row["passages"]):
                parts = tokens.read_sentences(
                    row["asked"], passage["sentences"], is_claim=row["is_claim"]
                )
                reads += parts
                places += [(at, number)] * len(parts)
        joined: dict[tuple[int, int], dict[str, Any]] = {}
        for place, got in zip(places, apply(model, reads, device), strict=True):
            one = joined.setdefault(place, {"sentences": [], "passage": -99.0})
            one["sentences"] += [round(value, 4) for value in got["sentences"]]
            one["passage"] = max(one["passage"], round(got["passage"], 4))
        with (to / f"{name}_read.jsonl").open("a", encoding="utf-8") as out:
            for (at, number), one in joined.items():
                out.write(json.dumps({"row": at, "place": number, **one}) + "\n")


class Stored:
    """A model that was trained before, as `apply` takes it."""

    def __init__(self, base: Weights, stem: Path, device: str) -> None:
        import torch

        def tensor(value: Any) -> Tensor:
            return torch.from_numpy(value.astype(np.float32)).to(device)

        found = dict(base)
        with np.load(f"{stem}_adapter.npz") as arrays:
            for key in arrays.files:
                name, _, part = key.rpartition(".")
                if part == "a":
                    found[name] = base[name] + tensor(arrays[key]) @ tensor(arrays[f"{name}.b"])
                elif part == "full":
                    found[name] = tensor(arrays[key])
        with np.load(f"{stem}_heads.npz") as arrays:
            self.heads = {name: tensor(arrays[name]) for name in arrays.files}
        half_is_fast = device != "cpu"
        self.tensors = {
            name: one.to(torch.bfloat16) if half_is_fast else one for name, one in found.items()
        }

    def weights(self) -> Weights:
        """Return the tensors of the model."""
        return self.tensors

    def head(self, name: str, x: Tensor) -> Tensor:
        """Return the outputs of a head."""
        return x @ self.heads[f"{name}.weight"] + self.heads[f"{name}.bias"]


def score_stored(folder: Path, trained: Path, packed: Path, to: Path, *, folds: int) -> None:
    """Score a pack with the models of a cross-validation, each the groups it never saw."""
    device = fast_device()
    base = load_base(folder / "base.npz", device)
    tokens = Tokens(folder)
    groups = json.loads((trained / "groups.json").read_text())
    for fold in range(folds):
        unseen = {group for number, group in enumerate(groups) if number % folds == fold}
        model = Stored(base, trained / f"answers_{fold}", device)
        score(model, tokens, packed, to, chosen=unseen, device=device)


def run(folder: Path, to: Path, recipe: Recipe, *, folds: int, only: int | None = None) -> None:
    """Cross-validate by article and claim, or train on everything."""
    device = fast_device()
    base = load_base(folder / "base.npz", device)
    tokens = Tokens(folder)
    examples = [*squad(folder, recipe), *scifact(folder)]
    reads = [tokens.read(one) for one in examples]
    print(f"{len(reads)} examples", flush=True)
    if not folds:
        save(train(base, reads, recipe, device), to / "answers")
        return
    groups = sorted({one.group for one in examples})
    (to / "groups.json").write_text(json.dumps(groups))
    at = {group: number % folds for number, group in enumerate(groups)}
    held: list[Read] = []
    scores: list[dict[str, Any]] = []
    for fold in range(folds) if only is None else [only]:
        model = train(base, [r for r in reads if at[r.example.group] != fold], recipe, device)
        unseen = [one for one in reads if at[one.example.group] == fold]
        got = apply(model, unseen, device)
        print(json.dumps({"fold": fold, **summary(unseen, got)}), flush=True)
        held += unseen
        scores += got
        save(model, to / f"answers_{fold}")
    print(json.dumps({"recipe": repr(recipe), **summary(held, scores)}), flush=True)


def save(model: Adapted, to: Path) -> None:
    stored = model.stored()
    heads = {name.removeprefix("head."): stored.pop(name) for name in [*stored] if "head." in name}
    np.savez(f"{to}_adapter.npz", **stored)  # type: ignore[arg-type]
    np.savez(f"{to}_heads.npz", **heads)  # type: ignore[arg-type]
