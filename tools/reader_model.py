"""MiniLM for training with small heads: the model as functions, a low-rank addition, its file.

Not for the package, which runs the model with ONNX. Names are those of the ONNX initializers.
Invariant: before the first step the adapted model is the base model.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Tensor: TypeAlias = Any
"""A torch tensor; torch is absent where the types are checked."""
Weights: TypeAlias = dict[str, Tensor]

LAYERS = 6
ATTENTION_HEADS = 12
WIDTH = 384
WORDS = ".model.embeddings.word_embeddings.weight"
PLACES = ".model.embeddings.position_embeddings.weight"
KINDS = ".model.embeddings.token_type_embeddings.weight"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Texts side by side: token ids, which half of a pair each is in, where there are tokens."""

    ids: Tensor
    types: Tensor
    mask: Tensor


def side_by_side(rows: Sequence[tuple[list[int], list[int]]], device: str) -> Batch:
    """Pad (ids, types) to one rectangle."""
    import torch

    width = -(-max(len(ids) for ids, _ in rows) // 8) * 8
    ids, types = np.zeros((2, len(rows), width), np.int64)
    mask = np.zeros((len(rows), width), np.bool_)
    for at, (row, kinds) in enumerate(rows):
        ids[at, : len(row)] = row
        types[at, : len(row)] = kinds
        mask[at, : len(row)] = True
    return Batch(
        ids=torch.from_numpy(ids).to(device),
        types=torch.from_numpy(types).to(device),
        mask=torch.from_numpy(mask).to(device),
    )


def hidden(weights: Weights, batch: Batch, dropout: float = 0.0) -> Tensor:
    """Return what the last layer makes of each token, of shape (texts, tokens, width)."""
    import torch
    from torch.nn import functional

    def norm(x: Tensor, name: str) -> Tensor:
        gain, shift = weights[f"{name}.weight"], weights[f"{name}.bias"]
        return functional.layer_norm(x, (WIDTH,), gain, shift, 1e-12)

    def linear(x: Tensor, *names: str) -> Tensor:
        weight = torch.cat([weights[f"{name}.MatMul.weight"] for name in names], dim=1)
        bias = torch.cat([weights[f"{name}.Add.bias"] for name in names])
        return torch.addmm(bias, x, weight)

    def drop(x: Tensor) -> Tensor:
        return functional.dropout(x, dropout) if dropout else x

    x = weights[WORDS][batch.ids] + weights[PLACES][: batch.ids.shape[1]]
    x = drop(norm(x + weights[KINDS][batch.types], "model.layers.-1.embeddings_norm_layernorm"))
    count, width, _ = x.shape
    x = x.reshape(count * width, WIDTH)
    for layer in range(LAYERS):
        at = f"model.layers.{layer}"
        q, k, v = (
            linear(x, *(f"{at}.attn.{part}_proj" for part in "qkv"))
            .view(count, width, 3, ATTENTION_HEADS, WIDTH // ATTENTION_HEADS)
            .permute(2, 0, 3, 1, 4)
        )
        mixed = functional.scaled_dot_product_attention(
            q, k, v, attn_mask=batch.mask[:, None, None]
        )
        mixed = mixed.transpose(1, 2).reshape(count * width, WIDTH)
        x = norm(
            x + drop(linear(mixed, f"{at}.attn.o_proj")), f"{at}.attention_output_norm_layernorm"
        )
        grown = functional.gelu(linear(x, f"{at}.mlp.fc1"))
        x = norm(x + drop(linear(grown, f"{at}.mlp.fc2")), f"{at}.mlp_output_norm_layernorm")
    return x.view(count, width, WIDTH).float()


def pooled(states: Tensor, mask: Tensor) -> Tensor:
    """Return unit vectors: the direction of the mean over the tokens, as the embedder has it."""
    from torch.nn import functional

    kept = mask[..., None].float()
    return functional.normalize((states * kept).sum(1), dim=-1)


class Adapted:
    """The base model with a low-rank addition to each matrix, its vectors free, and heads."""

    def __init__(
        self, base: Weights, heads: dict[str, int], *, rank: int, seed: int, device: str
    ) -> None:
        import torch

        generator = torch.Generator().manual_seed(seed)
        self.base = base
        self.low: dict[str, tuple[Tensor, Tensor]] = {}
        self.full: Weights = {}
        self.heads: Weights = {}
        for name, weight in base.items():
            if name.endswith("MatMul.weight"):
                rows, columns = weight.shape
                a = torch.randn(rows, rank, generator=generator) / math.sqrt(rows)
                b = torch.zeros(rank, columns)
                self.low[name] = (a.to(device).requires_grad_(), b.to(device).requires_grad_())
            elif weight.ndim == 1 or name == KINDS:
                self.full[name] = weight.clone().requires_grad_()
        for name, outputs in heads.items():
            first = torch.randn(WIDTH, outputs, generator=generator) * 0.02
            self.heads[f"{name}.weight"] = first.to(device).requires_grad_()
            self.heads[f"{name}.bias"] = torch.zeros(outputs, device=device).requires_grad_()

    def weights(self) -> Weights:
        """Return the tensors of the model as it stands, in half precision where that is fast."""
        import torch

        low = {name: self.base[name] + 2.0 * (a @ b) for name, (a, b) in self.low.items()}
        found = {**self.base, **low, **self.full}
        if self.base[WORDS].is_cuda:
            return {name: value.to(torch.bfloat16) for name, value in found.items()}
        return found

    def head(self, name: str, x: Tensor) -> Tensor:
        """Return the outputs of a head."""
        return x @ self.heads[f"{name}.weight"] + self.heads[f"{name}.bias"]

    def groups(self, rate: float) -> list[dict[str, Any]]:
        """Return what is trained, and how fast."""
        low = [one for pair in self.low.values() for one in pair]
        return [
            {"params": low, "lr": rate, "weight_decay": 0.01},
            {"params": list(self.full.values()), "lr": rate / 3, "weight_decay": 0.0},
            {"params": list(self.heads.values()), "lr": rate * 3, "weight_decay": 0.01},
        ]

    def stored(self) -> dict[str, npt.NDArray[np.float16]]:
        """Return the arrays of the adapter's file, and those of the heads under `head.…`."""
        found: dict[str, npt.NDArray[np.float16]] = {}
        for name, (a, b) in sorted(self.low.items()):
            found[f"{name}.a"] = half(a)
            found[f"{name}.b"] = half(2.0 * b)
        for name, value in sorted(self.full.items()):
            found[f"{name}.full"] = half(value)
        for name, value in sorted(self.heads.items()):
            found[f"head.{name}"] = half(value)
        return found


def half(value: Tensor) -> npt.NDArray[np.float16]:
    found: npt.NDArray[np.float16] = value.detach().float().cpu().numpy().astype(np.float16)
    return found


def optimise(
    model: Adapted, batches: Sequence[Any], loss: Any, *, rate: float, floor: float = 0.0
) -> None:
    """Take one step for each batch; the rate rises over the first tenth, then falls."""
    import torch

    optimiser = torch.optim.AdamW(model.groups(rate), betas=(0.9, 0.98))
    total = len(batches)
    warm = max(1, total // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / warm, max(floor, 1 - step / total))
    )
    trained = [one for group in optimiser.param_groups for one in group["params"]]
    for batch in batches:
        cost = loss(batch)
        optimiser.zero_grad(set_to_none=True)
        cost.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        schedule.step()


def load_base(path: Path, device: str) -> Weights:
    import torch

    with np.load(path) as file:
        return {
            name: torch.from_numpy(file[name].astype(np.float32)).to(device) for name in file.files
        }


def fast_device() -> str:
    import torch

    torch.set_float32_matmul_precision("high")
    return "cuda" if torch.cuda.is_available() else "cpu"
