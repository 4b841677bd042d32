"""all-MiniLM-L6-v2 as functions over named tensors, and the adapter that changes them.

Not for the package: it runs the model with ONNX. Names are those of the ONNX initializers.
Invariant: an adapter applied with strength 0 is the base model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from tools.adapter_data import MAX_TOKENS

Tensor: TypeAlias = Any
"""A torch tensor; torch is absent where the types are checked."""
Weights: TypeAlias = dict[str, Tensor]

LAYERS = 6
HEADS = 12
WIDTH = 384
CLS, SEP = 101, 102
TOKENS_AT_ONCE = 2**17


def load_base(folder: Path, device: str) -> Weights:
    import torch

    with np.load(folder / "base.npz") as file:
        return {
            name: torch.from_numpy(file[name].astype(np.float32)).to(device) for name in file.files
        }


def padded(texts: Sequence[Sequence[int]], device: str) -> tuple[Tensor, Tensor]:
    import torch

    rows = [[CLS, *text[: MAX_TOKENS - 2], SEP] for text in texts]
    lengths = np.array([len(row) for row in rows])
    width = -(-int(lengths.max()) // 8) * 8
    mask = np.arange(width)[None] < lengths[:, None]
    ids = np.zeros((len(rows), width), np.int32)
    ids[mask] = list(chain.from_iterable(rows))
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)


def encode(
    weights: Weights, texts: Sequence[Sequence[int]], device: str, dropout: float = 0.0
) -> Tensor:
    """Return one unit vector per text: the mean over its tokens of the last layer."""
    import torch
    from torch.nn import functional

    ids, mask = padded(texts, device)

    def norm(x: Tensor, name: str) -> Tensor:
        gain, shift = weights[f"{name}.weight"], weights[f"{name}.bias"]
        return functional.layer_norm(x, (x.shape[-1],), gain, shift, 1e-12)

    def linear(x: Tensor, *names: str) -> Tensor:
        weight = torch.cat([weights[f"{name}.MatMul.weight"] for name in names], dim=1)
        bias = torch.cat([weights[f"{name}.Add.bias"] for name in names])
        return torch.addmm(bias, x, weight)

    def drop(x: Tensor) -> Tensor:
        return functional.dropout(x, dropout) if dropout else x

    x = weights[".model.embeddings.word_embeddings.weight"][ids]
    x = x + weights[".model.embeddings.position_embeddings.weight"][: ids.shape[1]]
    x = x + weights[".model.embeddings.token_type_embeddings.weight"][0]
    x = drop(norm(x, "model.layers.-1.embeddings_norm_layernorm"))
    count, width, wide = x.shape
    x = x.view(count * width, wide)
    for layer in range(LAYERS):
        at = f"model.layers.{layer}"
        q, k, v = (
            linear(x, *(f"{at}.attn.{part}_proj" for part in "qkv"))
            .view(count, width, 3, HEADS, wide // HEADS)
            .permute(2, 0, 3, 1, 4)
        )
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None])
        mixed = mixed.transpose(1, 2).reshape(count * width, wide)
        x = x + drop(linear(mixed, f"{at}.attn.o_proj"))
        x = norm(x, f"{at}.attention_output_norm_layernorm")
        grown = functional.gelu(linear(x, f"{at}.mlp.fc1"))
        x = norm(x + drop(linear(grown, f"{at}.mlp.fc2")), f"{at}.mlp_output_norm_layernorm")
    x = x.view(count, width, wide)
    kept = mask[..., None].to(torch.float32)
    return functional.normalize((x.float() * kept).sum(1) / kept.sum(1), dim=-1)


def encode_all(weights: Weights, texts: Sequence[Sequence[int]], device: str) -> Tensor:
    """Encode many texts without gradients, longest first, in batches of equal work."""
    import torch

    order = sorted(range(len(texts)), key=lambda at: -len(texts[at]))
    vectors = torch.zeros(len(texts), WIDTH, device=device)
    start = 0
    with torch.no_grad():
        while start < len(order):
            width = min(len(texts[order[start]]) + 2, MAX_TOKENS)
            chosen = order[start : start + max(1, TOKENS_AT_ONCE // width)]
            vectors[torch.tensor(chosen, device=device)] = encode(
                weights, [texts[at] for at in chosen], device
            )
            start += len(chosen)
    return vectors


def halved(weights: Weights, device: str) -> Weights:
    """Return the weights in bfloat16 where that is fast."""
    import torch

    if device == "cpu":
        return weights
    return {name: value.to(torch.bfloat16) for name, value in weights.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """What was learned, apart from the base: low-rank additions and small differences."""

    low: dict[str, tuple[Tensor, Tensor]]
    full: Weights

    def applied(self, base: Weights, strength: float = 1.0) -> Weights:
        """Return the adapted model, or one on the way there."""
        adapted = dict(base)
        for name, (a, b) in self.low.items():
            adapted[name] = base[name] + strength * (a @ b)
        for name, difference in self.full.items():
            adapted[name] = base[name] + strength * difference
        return adapted


def average(adapters: Sequence[Adapter]) -> Adapter:
    """Return the mean of several adapters: exact, since ranks add up."""
    import torch

    share = 1 / len(adapters)
    return Adapter(
        low={
            name: (
                torch.cat([one.low[name][0] for one in adapters], dim=1),
                torch.cat([one.low[name][1] * share for one in adapters], dim=0),
            )
            for name in adapters[0].low
        },
        full={name: sum(one.full[name] for one in adapters) * share for name in adapters[0].full},
    )
