"""Train the small adapter that `embedded:salon` adds to all-MiniLM-L6-v2.

This is the recipe, not part of the package: nothing under `src/` imports it. Packing needs onnx,
tokenizers, bm25s and PyStemmer; the rest needs torch and, to end in minutes, a GPU.

    pack            read the public data and the base model into two compact files
    cross-validate  train on four fifths of the questions, measure on the others
    summarise       pool what cross-validation found
    train           train on all of them and write `adapter.npz`

What is learned: claims find the abstracts that decide them (SciFact), questions find their
passages (SQuAD, 2Wiki), and elsewhere the base model's judgement of what is alike stays.

Invariant: Cranfield and NPL are packed for measuring transfer, and no training batch can reach
them, because `Examples` holds the sets in `TRAINABLE` alone.

`adapter.npz` holds, in float16, `<initializer>.a` (in, rank) and `<initializer>.b` (rank, out)
for each adapted matrix, W' = W + a @ b where the model computes x @ W, and `<initializer>.full`
for the small tensors that are replaced whole.
"""

import argparse
import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tools.adapter_data import FUSION_DEPTH, Floats, Ints, TokenisedSet, load_sets, pack
from tools.adapter_model import (
    Adapter,
    Tensor,
    Weights,
    average,
    encode,
    encode_all,
    halved,
    load_base,
)
from tools.data_folder import add_data_option

Measured: TypeAlias = dict[str, dict[str, Floats]]
"""For each set and each way of ranking, the quality of each question."""

TRAINABLE = ("scifact", "squad", "twowiki", "redocred")
MEASURED = ("scifact", "squad", "twowiki", "cranfield", "npl")
HELD_OUT = ("scifact", "squad", "twowiki")
FOLDS = 5
NEIGHBOURS = 12
"""How many passages alike are drawn together, so that keeping their order means something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Every choice of the training; the defaults are what ships."""

    seeds: tuple[int, ...] = (0, 1)
    """One adapter is trained for each; their mean is shipped, so the ranks add up."""
    rank: int = 16
    scale: float = 2.0
    strength: float = 0.5
    """How far to go from the base model towards the trained one."""
    steps: int = 150
    rate: float = 3e-4
    small_rate: float = 1e-4
    weight_decay: float = 0.01
    dropout: float = 0.1
    temperature: float = 0.03
    refresh: int = 50
    """After how many steps all abstracts are encoded anew, to serve as negatives."""
    claims: int = 64
    hard: int = 2
    hard_depth: int = 30
    crop: float = 0.3
    """How often a claim gets only the sentences around its rationale instead of the abstract."""
    pairs: int = 128
    pair_weight: float = 0.5
    squad_share: float = 0.7
    anchors: int = 120
    anchor_weight: float = 4.0


class Encoder:
    """MiniLM as functions over named tensors, with a low-rank addition to each matrix."""

    def __init__(self, base: Weights, recipe: Recipe, seed: int, device: str) -> None:
        import torch

        generator = torch.Generator().manual_seed(seed)
        self.base = base
        self.recipe = recipe
        self.low: dict[str, tuple[Tensor, Tensor]] = {}
        self.full: Weights = {}
        for name, weight in base.items():
            if name.endswith("MatMul.weight"):
                rows, columns = weight.shape
                a = torch.randn(rows, recipe.rank, generator=generator) / math.sqrt(rows)
                b = torch.zeros(recipe.rank, columns)
                self.low[name] = (a.to(device).requires_grad_(), b.to(device).requires_grad_())
            elif weight.ndim == 1:
                self.full[name] = weight.clone().requires_grad_()

    def weights(self) -> Weights:
        """Return the tensors of the adapted model as it stands."""
        low = {
            name: self.base[name] + self.recipe.scale * (a @ b) for name, (a, b) in self.low.items()
        }
        return {**self.base, **low, **self.full}

    def groups(self) -> list[dict[str, Any]]:
        """Return what is trained, and how fast."""
        recipe = self.recipe
        low = [one for pair in self.low.values() for one in pair]
        return [
            {"params": low, "lr": recipe.rate, "weight_decay": recipe.weight_decay},
            {"params": list(self.full.values()), "lr": recipe.small_rate, "weight_decay": 0.0},
        ]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Texts and the passages they should find; `clash` marks passages that must not count."""

    left: list[list[int]]
    right: list[list[int]]
    clash: npt.NDArray[np.bool_]


class Examples:
    """Draws training batches from the trainable sets, leaving the held-out questions alone."""

    def __init__(
        self, sets: dict[str, TokenisedSet], held_out: dict[str, Ints], recipe: Recipe, seed: int
    ) -> None:
        self.sets = {name: sets[name] for name in TRAINABLE}
        self.recipe = recipe
        self.random = np.random.default_rng(seed)
        self.asked = {
            name: np.setdiff1d(np.arange(len(one.questions)), held_out.get(name, []))
            for name, one in self.sets.items()
        }
        self.queue: list[int] = []

    def claims(self, count: int) -> list[int]:
        """Return the next training claims of an endless shuffled round."""
        while len(self.queue) < count:
            self.queue += self.random.permutation(self.asked["scifact"]).tolist()
        taken, self.queue = self.queue[:count], self.queue[count:]
        return list(dict.fromkeys(taken))

    def gold(self, claim: int) -> tuple[int, list[int]]:
        """Return one relevant abstract and its text, sometimes only a part with the reason."""
        scifact = self.sets["scifact"]
        document = int(self.random.choice(scifact.answers[claim]))
        span = scifact.span(document)
        if self.random.random() >= self.recipe.crop or len(span) < 4:
            return document, scifact.document(document)
        reasons = [
            sentence
            for found, sentence in zip(*[iter(scifact.rationales[claim])] * 2, strict=True)
            if found == document and sentence < len(span)
        ]
        centre = int(self.random.choice(reasons or range(len(span))))
        before, after = self.random.integers(0, 3, size=2)
        part = scifact.text(span[max(0, centre - before) : centre + after + 1])
        title = scifact.titles[document] if self.random.random() < 0.5 else []
        return document, [*title, *part]

    def pairs(self, count: int) -> Pairs:
        """Return questions of one set with their passages; every other one without titles."""
        name = "squad" if self.random.random() < self.recipe.squad_share else "twowiki"
        one = self.sets[name]
        chosen = self.random.permutation(self.asked[name])[:count]
        found = np.array([self.random.choice(one.answers[at]) for at in chosen])
        clash = np.array([np.isin(found, one.answers[at]) for at in chosen])
        np.fill_diagonal(clash, val=False)
        titled = self.random.random() < 0.5
        return Pairs(
            [one.questions[at][:64] for at in chosen],
            [(one.document(at) if titled else one.text(one.span(at)))[:128] for at in found],
            clash,
        )

    def anchors(self, count: int) -> tuple[list[list[int]], list[list[int]]]:
        """Return passages of every set, and for each a short text about it."""
        short: list[list[int]] = []
        long: list[list[int]] = []
        for name, one in self.sets.items():
            about: dict[int, list[int]] = {}
            for question in [] if name == "scifact" else self.asked[name].tolist():
                about.setdefault(one.answers[question][0], one.questions[question])
            for at in self.some(one.size, count):
                sentence = int(self.random.choice(one.span(at)))
                choices = [one.sentences[sentence], one.titles[at], about.get(at, [])]
                kept = [text for text in choices if text]
                short.append(kept[self.random.integers(len(kept))][:64])
                long.append(one.document(at)[:192])
        return short, long

    def some(self, size: int, count: int) -> list[int]:
        """Return a few different numbers below `size`."""
        return [int(at) for at in self.random.permutation(size)[:count]]


class Trainer:
    """One training run over one choice of held-out questions."""

    def __init__(
        self,
        sets: dict[str, TokenisedSet],
        base: Weights,
        *,
        recipe: Recipe,
        held_out: dict[str, Ints],
        seed: int,
        device: str,
    ) -> None:
        import torch

        torch.manual_seed(seed)
        self.recipe, self.base, self.device = recipe, base, device
        self.examples = Examples(sets, held_out, recipe, seed)
        self.encoder = Encoder(base, recipe, seed, device)
        self.scifact = sets["scifact"]
        self.abstracts = self.scifact.all_documents()
        self.keywords = spread(torch.from_numpy(self.scifact.bm25).to(device))
        self.short, self.long = self.examples.anchors(1000)
        self.short_before = encode_all(base, self.short, device)
        self.long_before = encode_all(base, self.long, device)
        near = (self.long_before @ self.long_before.T).topk(NEIGHBOURS).indices
        self.near = near.cpu().numpy()
        self.bank: Tensor = None
        self.hard: dict[int, list[int]] = {}

    def refresh(self) -> None:
        """Encode every abstract anew, and find for each claim the wrong ones ranked highest."""
        import torch

        weights = {name: value.detach() for name, value in self.encoder.weights().items()}
        self.bank = encode_all(weights, self.abstracts, self.device)
        claims = self.examples.asked["scifact"].tolist()
        texts = [self.scifact.questions[at] for at in claims]
        near = encode_all(weights, texts, self.device) @ self.bank.T
        depth = self.recipe.hard_depth
        by_meaning = torch.topk(near, depth).indices.tolist()
        by_words = torch.topk(self.keywords[claims], depth).indices.tolist()
        for claim, *found in zip(claims, by_meaning, by_words, strict=True):
            wrong = {*found[0], *found[1]} - set(self.scifact.answers[claim])
            self.hard[claim] = sorted(wrong)

    def run(self) -> Adapter:
        """Train, and return what was learned."""
        import torch

        recipe = self.recipe
        optimiser = torch.optim.AdamW(self.encoder.groups(), betas=(0.9, 0.98))
        warm = max(1, recipe.steps // 10)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimiser,
            lambda step: min((step + 1) / warm, max(0.02, 1 - step / recipe.steps)),
        )
        trained = [one for group in optimiser.param_groups for one in group["params"]]
        for step in range(recipe.steps):
            if step % recipe.refresh == 0:
                self.refresh()
            loss = self.loss()
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimiser.step()
            schedule.step()
        encoder = self.encoder
        return Adapter(
            low={
                name: (a.detach() * recipe.scale, b.detach())
                for name, (a, b) in encoder.low.items()
            },
            full={name: value.detach() - self.base[name] for name, value in encoder.full.items()},
        )

    def loss(self) -> Tensor:
        """Draw one batch of each kind and return what they cost together."""
        recipe = self.recipe
        weights = halved(self.encoder.weights(), self.device)
        pairs = recipe.pair_weight * self.pair_loss(weights)
        anchors = recipe.anchor_weight * self.anchor_loss(weights)
        return self.claim_loss(weights) + pairs + anchors

    def encode(self, weights: Weights, texts: Sequence[Sequence[int]]) -> Tensor:
        """Encode with gradients."""
        return encode(weights, texts, self.device, self.recipe.dropout)

    def claim_loss(self, weights: Weights) -> Tensor:
        """Each claim must find its abstract among all others; only those drawn are fresh."""
        import torch
        from torch.nn import functional

        recipe, examples = self.recipe, self.examples
        claims = examples.claims(recipe.claims)
        golds = [examples.gold(claim) for claim in claims]
        wrong = {
            int(at)
            for claim in claims
            for at in examples.random.choice(self.hard[claim], recipe.hard, replace=False)
        } - {document for document, _ in golds}
        drawn = [document for document, _ in golds] + sorted(wrong)
        texts = [text for _, text in golds] + [self.abstracts[at] for at in sorted(wrong)]
        asked = self.encode(weights, [self.scifact.questions[at] for at in claims])
        found = self.encode(weights, texts)
        stale = asked @ self.bank.T
        fresh = asked @ found.T
        hidden = np.zeros((len(claims), self.scifact.size), np.bool_)
        for row, claim in enumerate(claims):
            hidden[row, self.scifact.answers[claim]] = True
        own = hidden[:, drawn]
        own[np.arange(len(claims)), np.arange(len(claims))] = False
        hidden[:, drawn] = True
        scores = torch.cat([fresh, stale], dim=1)
        refused = torch.from_numpy(np.concatenate([own, hidden], axis=1)).to(self.device)
        target = torch.arange(len(claims), device=self.device)
        logits = (scores / recipe.temperature).masked_fill(refused, -1e4)
        return functional.cross_entropy(logits, target)

    def pair_loss(self, weights: Weights) -> Tensor:
        """Each question must find its passage among those drawn, and the other way round."""
        import torch
        from torch.nn import functional

        pairs = self.examples.pairs(self.recipe.pairs)
        left = self.encode(weights, pairs.left)
        right = self.encode(weights, pairs.right)
        clash = torch.from_numpy(pairs.clash).to(self.device)
        logits = ((left @ right.T).float() / self.recipe.temperature).masked_fill(clash, -1e4)
        target = torch.arange(len(left), device=self.device)
        return (
            functional.cross_entropy(logits, target) + functional.cross_entropy(logits.T, target)
        ) / 2

    def anchor_loss(self, weights: Weights) -> Tensor:
        """Keep which texts the base model finds alike, and where it puts them."""
        import torch
        from torch.nn import functional

        seeds = self.examples.some(len(self.long), self.recipe.anchors // NEIGHBOURS)
        chosen = np.unique(self.near[seeds]).tolist()
        index = torch.tensor(chosen, device=self.device)
        before = torch.cat([self.short_before[index], self.long_before[index]])
        after = torch.cat(
            [
                self.encode(weights, [self.short[at] for at in chosen]),
                self.encode(weights, [self.long[at] for at in chosen]),
            ]
        )
        itself = torch.eye(len(after), dtype=torch.bool, device=self.device)

        def likeness(vectors: Tensor) -> Tensor:
            return (vectors @ vectors.T / 0.05).masked_fill(itself, -1e4).log_softmax(dim=1)

        kept = functional.kl_div(
            likeness(after), likeness(before), log_target=True, reduction="batchmean"
        )
        return kept + 1 - (after * before).sum(1).mean()


def spread(scores: Tensor) -> Tensor:
    """Put each row's best thousand scores between 0 and 1, as the fusion does."""
    top = scores.topk(min(FUSION_DEPTH, scores.shape[1]), dim=1).values
    low, high = top[:, -1:], top[:, :1]
    return ((scores - low) / (high - low + 1e-9)).clamp(min=0)


def ndcg(scores: Tensor, answers: Sequence[Sequence[int]], depth: int = 10) -> Floats:
    ranked = scores.topk(depth, dim=1).indices.cpu().numpy()
    gains = 1 / np.log2(np.arange(2, depth + 2))
    values = [
        float((np.isin(row, right) * gains).sum() / gains[: min(depth, len(right))].sum())
        for row, right in zip(ranked, answers, strict=True)
    ]
    return np.array(values, np.float32)


class Scale:
    """Measures a model on every set; the texts are put together once."""

    def __init__(self, sets: dict[str, TokenisedSet], device: str) -> None:
        self.sets = {name: sets[name] for name in MEASURED}
        self.documents = {name: one.all_documents() for name, one in self.sets.items()}
        self.device = device

    def measure(self, weights: Weights, asked: dict[str, Ints]) -> Measured:
        """Return nDCG@10 of each question, by meaning alone and half and half with BM25."""
        import torch

        found: Measured = {}
        for name, one in self.sets.items():
            chosen = asked.get(name, np.arange(len(one.questions)))
            documents = encode_all(weights, self.documents[name], self.device)
            questions = encode_all(weights, [one.questions[at] for at in chosen], self.device)
            dense = questions @ documents.T
            words = torch.from_numpy(one.bm25[chosen]).to(self.device)
            answers = [one.answers[at] for at in chosen]
            found[name] = {
                "dense": ndcg(dense, answers),
                "fused": ndcg((spread(dense) + spread(words)) / 2, answers),
            }
        return found


def fold_of(groups: Sequence[str], *, seed: int = 0) -> Ints:
    """Deal the groups, shuffled, to the folds; members of one group stay together."""
    names = sorted(set(groups))
    np.random.default_rng(seed).shuffle(names)
    sizes = {name: groups.count(name) for name in names}
    loads = [0] * FOLDS
    fold: dict[str, int] = {}
    for name in sorted(names, key=lambda one: -sizes[one]):
        fold[name] = loads.index(min(loads))
        loads[fold[name]] += sizes[name]
    return np.array([fold[name] for name in groups], np.int64)


def trained(
    sets: dict[str, TokenisedSet],
    base: Weights,
    recipe: Recipe,
    held_out: dict[str, Ints],
    device: str,
) -> Adapter:
    """Return the mean of one training run for each seed."""
    return average(
        [
            Trainer(sets, base, recipe=recipe, held_out=held_out, seed=seed, device=device).run()
            for seed in recipe.seeds
        ]
    )


def report(label: str, found: Measured) -> None:
    means = {
        name: {kind: round(float(values.mean()), 4) for kind, values in kinds.items()}
        for name, kinds in found.items()
    }
    print(json.dumps({"run": label, "ndcg@10": means}), flush=True)


def cross_validate(
    folder: Path, split: str, folds: Sequence[int], strengths: Sequence[float], to: Path
) -> None:
    """Add to a file, for each fold and strength, the quality of every held-out question."""
    device = fast_device()
    sets, base, recipe = load_sets(folder), load_base(folder, device), Recipe()
    scale = Scale(sets, device)
    dealt = {name: fold_of(sets[name].groups) for name in HELD_OUT}
    if split == "random":
        dealt["scifact"] = fold_of([str(at) for at in range(len(sets["scifact"].questions))])
    for fold in folds:
        held_out = {name: np.flatnonzero(of == fold) for name, of in dealt.items()}
        adapter = trained(sets, base, recipe, held_out, device)
        for strength in (0.0, *strengths):
            found = scale.measure(adapter.applied(base, strength), held_out)
            report(f"{split} fold {fold} strength {strength}", found)
            row = {"split": split, "fold": fold, "strength": strength, "ndcg@10": found}
            with to.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(row, default=lambda values: values.tolist()) + "\n")


def summarise(files: Sequence[Path]) -> None:
    """Print base, adapted and gain over all folds, with the standard error of the gain."""
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    for split, strength in sorted({(row["split"], row["strength"]) for row in rows}):
        for name in MEASURED:
            for kind in ("dense", "fused"):
                base, adapted = (
                    np.array(
                        [
                            value
                            for row in sorted(rows, key=lambda row: int(row["fold"]))
                            if row["split"] == split and row["strength"] == wanted
                            for value in row["ndcg@10"][name][kind]
                        ]
                    )
                    for wanted in (0.0, strength)
                )
                gain = adapted - base
                error = gain.std() / math.sqrt(len(gain))
                print(
                    f"{split:8} {strength:4.2f} {name:9} {kind} {base.mean():.4f} -> "
                    f"{adapted.mean():.4f} ({gain.mean():+.4f} ± {error:.4f})"
                )


def train(folder: Path, to: Path) -> None:
    """Write the adapter trained on every question, and print what it does elsewhere."""
    device = fast_device()
    sets, base, recipe = load_sets(folder), load_base(folder, device), Recipe()
    adapter = trained(sets, base, recipe, {}, device)
    stored: dict[str, npt.NDArray[np.float16]] = {}
    for name, (a, b) in sorted(adapter.low.items()):
        stored[f"{name}.a"] = a.cpu().numpy().astype(np.float16)
        stored[f"{name}.b"] = (recipe.strength * b).cpu().numpy().astype(np.float16)
    for name, difference in sorted(adapter.full.items()):
        replaced = base[name] + recipe.strength * difference
        stored[f"{name}.full"] = replaced.cpu().numpy().astype(np.float16)
    np.savez(to, **stored)  # type: ignore[arg-type]
    digest = hashlib.sha256(to.read_bytes()).hexdigest()
    print(json.dumps({"file": to.name, "bytes": to.stat().st_size, "sha256": digest}))
    scale = Scale(sets, device)
    for strength in (0.0, recipe.strength):
        report(f"all strength {strength}", scale.measure(adapter.applied(base, strength), {}))


def fast_device() -> str:
    import torch

    torch.set_float32_matmul_precision("high")
    return "cuda" if torch.cuda.is_available() else "cpu"


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the adapter of the built-in embedder.")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("pack")
    add_data_option(one)
    one.add_argument("--model", type=Path, required=True, help="folder with onnx/ and tokenizer")
    one.add_argument("--to", type=Path, required=True)
    one = commands.add_parser("cross-validate")
    one.add_argument("--pack", type=Path, required=True)
    one.add_argument("--split", choices=("grouped", "random"), default="grouped")
    one.add_argument("--folds", type=int, nargs="+", default=list(range(FOLDS)))
    one.add_argument("--strengths", type=float, nargs="+", default=[1.0])
    one.add_argument("--to", type=Path, required=True, help="file of results to add to")
    one = commands.add_parser("summarise")
    one.add_argument("files", type=Path, nargs="+")
    one = commands.add_parser("train")
    one.add_argument("--pack", type=Path, required=True)
    one.add_argument("--to", type=Path, required=True)
    asked = parser.parse_args()
    if asked.command == "pack":
        pack(asked.data, asked.model, asked.to)
    elif asked.command == "cross-validate":
        cross_validate(asked.pack, asked.split, asked.folds, asked.strengths, asked.to)
    elif asked.command == "summarise":
        summarise(asked.files)
    else:
        train(asked.pack, asked.to)


if __name__ == "__main__":
    main()
