"""The embedded models on an NVIDIA GPU, through torch.

The same files, the same tokens, the same arithmetic in 32 bits; only where it is computed
differs. The vectors still count as another model's: the last digits depend on the machine.
"""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from salon.core.closing import Closable
from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.core.errors import UnknownProvider
from salon.providers.embedders.adapter import Adapter, changed_weights, load_adapter
from salon.providers.embedders.minilm_files import (
    DIMENSIONS,
    MiniLmFiles,
    find_minilm_files,
    minilm_fingerprint,
)
from salon.providers.embedders.tokens import PaddedBatch, TokenReader, pad, plan_batches
from salon.providers.embedders.unit_vectors import unit_vectors

_LAYERS = 6
_HEADS = 12
_EPSILON = 1e-12
# Enough to keep a large GPU busy, and under one GB of its memory.
_BATCH_TOKENS = 65_536
_WINDOW = 16_384


class GpuEmbedder(Closable):
    """Embeds with MiniLM on a torch device. May be used by many threads at once."""

    def __init__(
        self, address: str, files: MiniLmFiles, *, adapter: Adapter | None = None, device: str
    ) -> None:
        files.check_what_is_parsed()
        files.check_weights()
        changed = changed_weights(adapter, files) if adapter else {}
        weights = {
            name: changed.get(name, tensor.view(files.weights))
            for name, tensor in files.layout.items()
        }
        self._reader = TokenReader(files.tokenizer)
        self._encoder = _TorchMiniLm(weights, device)
        self._one_at_a_time = threading.Lock()
        self._model = EmbeddingModel(
            address=address,
            fingerprint=minilm_fingerprint(adapter.sha256 if adapter else None),
            dimensions=DIMENSIONS,
        )

    @property
    def model(self) -> EmbeddingModel:
        """Return which model this is."""
        return self._model

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, in order."""
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for start in range(0, len(texts), _WINDOW):
            tokens = [self._reader.read(text) for text in texts[start : start + _WINDOW]]
            for batch in plan_batches([len(text) for text in tokens], _BATCH_TOKENS):
                rows = self._compute(pad([tokens[position] for position in batch]))
                vectors[start + np.array(batch)] = rows
        return vectors

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question."""
        vector: Vector = self._compute(pad([self._reader.read(text)]))[0]
        return vector

    def _compute(self, batch: PaddedBatch) -> Vectors:
        with self._one_at_a_time:
            return unit_vectors(self._encoder.sums(batch), self._model.address)


def open_gpu(name: str) -> GpuEmbedder:
    """Return the model `minilm` or `salon` on the GPU, or raise `UnknownProvider` without one."""
    import torch  # type: ignore[import-not-found, unused-ignore]

    if not torch.cuda.is_available():
        raise UnknownProvider(
            f"gpu:{name} needs a GPU that torch can use, and there is none",
            hint=f"use embedded:{name}, or install torch with CUDA",
        )
    adapter = load_adapter() if name == "salon" else None
    return GpuEmbedder(f"gpu:{name}", find_minilm_files(), adapter=adapter, device="cuda")


class _TorchMiniLm:
    """The forward pass of MiniLM, from the weights of the ONNX file."""

    def __init__(self, weights: Mapping[str, npt.NDArray[np.float32]], device: str) -> None:
        import torch

        self._torch: Any = torch
        self._device = device
        self._weights = {
            name: torch.tensor(weight, device=device) for name, weight in weights.items()
        }

    def sums(self, batch: PaddedBatch) -> npt.NDArray[np.float32]:
        """Return, for each text, the sum of what the last layer makes of its tokens."""
        torch = self._torch
        with torch.inference_mode():
            ids = torch.from_numpy(batch.ids).to(self._device)
            mask = torch.from_numpy(batch.mask).to(self._device)
            hidden = self._embeddings(ids)
            # Of shape (texts, 1, 1, tokens): no token looks at a place that holds none.
            visible = None if batch.is_full else mask[:, None, None, :].bool()
            for number in range(_LAYERS):
                hidden = self._layer(f"model.layers.{number}", hidden, visible)
            sums: npt.NDArray[np.float32] = (hidden * mask[:, :, None]).sum(dim=1).cpu().numpy()
        return sums

    def _embeddings(self, ids: Any) -> Any:
        table = self._weights
        words = table[".model.embeddings.word_embeddings.weight"][ids]
        places = table[".model.embeddings.position_embeddings.weight"][: ids.shape[1]]
        kind = table[".model.embeddings.token_type_embeddings.weight"][0]
        return self._norm("model.layers.-1.embeddings_norm_layernorm", words + places + kind)

    def _layer(self, layer: str, hidden: Any, visible: Any) -> Any:
        functional = self._torch.nn.functional
        query, key, value = (
            self._linear(f"{layer}.attn.{part}_proj", hidden)
            .unflatten(-1, (_HEADS, DIMENSIONS // _HEADS))
            .transpose(1, 2)
            for part in "qkv"
        )
        seen = functional.scaled_dot_product_attention(query, key, value, attn_mask=visible)
        seen = self._linear(f"{layer}.attn.o_proj", seen.transpose(1, 2).flatten(-2))
        hidden = self._norm(f"{layer}.attention_output_norm_layernorm", hidden + seen)
        inner = functional.gelu(self._linear(f"{layer}.mlp.fc1", hidden))
        outer = self._linear(f"{layer}.mlp.fc2", inner)
        return self._norm(f"{layer}.mlp_output_norm_layernorm", hidden + outer)

    def _linear(self, name: str, hidden: Any) -> Any:
        return hidden @ self._weights[f"{name}.MatMul.weight"] + self._weights[f"{name}.Add.bias"]

    def _norm(self, name: str, hidden: Any) -> Any:
        return self._torch.nn.functional.layer_norm(
            hidden,
            (DIMENSIONS,),
            self._weights[f"{name}.weight"],
            self._weights[f"{name}.bias"],
            _EPSILON,
        )
