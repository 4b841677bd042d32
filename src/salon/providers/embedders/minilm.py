"""The embedded model: all-MiniLM-L6-v2 on the processor, without a server and without torch.

Work is divided by texts, not inside a text: each thread computes a small batch from beginning to
end, which keeps a batch in the processor's cache and costs no waiting between threads. A query
is computed by the thread that asks. So any number of threads may use one embedder, and its
weights are in memory once.
"""

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from salon.core.closing import Closable
from salon.core.embedding import EmbeddingModel, TokenVectors, Vector, Vectors
from salon.providers.embedders.adapter import Adapter, changed_weights, load_adapter
from salon.providers.embedders.minilm_files import (
    DIMENSIONS,
    MiniLmFiles,
    find_minilm_files,
    minilm_fingerprint,
)
from salon.providers.embedders.options import EmbedderOptions
from salon.providers.embedders.tokens import PaddedBatch, TokenReader, Tokens, pad, plan_batches
from salon.providers.embedders.unit_vectors import unit_vectors

if TYPE_CHECKING:
    import onnxruntime

# Measured: from 256 to 512 tokens a batch is about equally fast, below it waits for memory more
# often than it computes, above it no longer fits in the cache.
_BATCH_TOKENS = 384
# For a handful of texts whose tokens are wanted: here time is lost by filling up short texts.
_FEW_TOKENS = 96
# Texts are sorted by length within a window, so that memory does not grow with their number.
_WINDOW = 512
_LOWEST_PRIORITY = 19


class MiniLmEmbedder(Closable):
    """Embeds with MiniLM, changed by an adapter if there is one."""

    def __init__(
        self,
        address: str,
        files: MiniLmFiles,
        *,
        adapter: Adapter | None = None,
        threads: int | None = None,
        background: bool = False,
    ) -> None:
        files.check_what_is_parsed()
        with ThreadPoolExecutor(1) as checking:
            # The weights are only numbers, so they may be loaded while they are being checked;
            # nobody gets to use them before the check is over, and if loading fails, files that
            # are not the known ones are the reason to tell.
            verdict = checking.submit(files.check_weights)
            try:
                self._reader = TokenReader(files.tokenizer)
                self._session = open_session(files, adapter)
            finally:
                verdict.result()
        self._model = EmbeddingModel(
            address=address,
            fingerprint=minilm_fingerprint(adapter.sha256 if adapter else None),
            dimensions=DIMENSIONS,
        )
        self._threads = ThreadPoolExecutor(
            threads or _processors(),
            thread_name_prefix="salon-embed",
            initializer=_step_back if background else None,
        )

    @property
    def model(self) -> EmbeddingModel:
        """Return which model this is."""
        return self._model

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, in order."""
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for start in range(0, len(texts), _WINDOW):
            window = texts[start : start + _WINDOW]
            tokens = list(self._threads.map(self._reader.read, window))
            batches = plan_batches([len(text) for text in tokens], _BATCH_TOKENS)
            computed = self._threads.map(
                self._compute, ([tokens[position] for position in batch] for batch in batches)
            )
            for batch, rows in zip(batches, computed, strict=True):
                vectors[start + np.array(batch)] = rows
        return vectors

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question."""
        vector: Vector = self._compute([self._reader.read(text)])[0]
        return vector

    def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the vectors of each text's tokens, in order; those after 256 are left out."""
        read = [self._reader.read_with_spans(text) for text in texts]
        batches = plan_batches([len(tokens) for tokens, _ in read], _FEW_TOKENS)
        computed = self._threads.map(
            self._hidden, (pad([read[position][0] for position in batch]) for batch in batches)
        )
        found: dict[int, TokenVectors] = {}
        for batch, hidden in zip(batches, computed, strict=True):
            for row, position in enumerate(batch):
                tokens, spans = read[position]
                # The first and the last token stand for no characters.
                rows = hidden[row, 1 : len(tokens) - 1]
                whole = hidden[row, : len(tokens)].sum(axis=0, keepdims=True)
                found[position] = TokenVectors(
                    spans=spans,
                    vectors=unit_vectors(rows, self._model.address),
                    whole=unit_vectors(whole, self._model.address)[0],
                )
        return [found[position] for position in range(len(texts))]

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(cancel_futures=True)

    def _compute(self, texts: Sequence[Tokens]) -> Vectors:
        batch = pad(texts)
        hidden = self._hidden(batch)
        if not batch.is_full:
            hidden *= batch.mask[:, :, None]
        # The sum points where the mean points, and only the direction is kept. No product of
        # matrices here: numpy would start threads of its own for it.
        return unit_vectors(hidden.sum(axis=1), self._model.address)

    def _hidden(self, batch: PaddedBatch) -> npt.NDArray[np.float32]:
        """Return what the last layer makes of each token."""
        feed = {
            "input_ids": batch.ids,
            "attention_mask": batch.mask,
            "token_type_ids": np.zeros_like(batch.ids),
        }
        hidden: npt.NDArray[np.float32] = self._session.run(None, feed)[0]
        return hidden


def open_minilm(name: str, options: EmbedderOptions) -> MiniLmEmbedder:
    """Return the embedded model `minilm`, or `salon`, which is `minilm` with Salon's adapter."""
    return MiniLmEmbedder(
        f"embedded:{name}",
        find_minilm_files(),
        adapter=load_adapter() if name == "salon" else None,
        threads=options.threads,
        background=options.background,
    )


def open_session(files: MiniLmFiles, adapter: Adapter | None) -> "onnxruntime.InferenceSession":
    """Load the model, with the adapter's changes; a session may be used by many threads."""
    # Imported only here, so that the check of the weights runs meanwhile.
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    settings.inter_op_num_threads = 1
    settings.log_severity_level = 3
    changed: dict[str, Any] = {}
    if adapter is not None:
        changed = {
            name: onnxruntime.OrtValue.ortvalue_from_numpy(weight)
            for name, weight in changed_weights(adapter, files).items()
        }
        settings.add_external_initializers(list(changed), list(changed.values()))
    return onnxruntime.InferenceSession(
        str(files.graph), settings, providers=["CPUExecutionProvider"]
    )


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _step_back() -> None:
    """Let every other thread go first. Only Linux gives a thread a priority of its own."""
    if hasattr(os, "sched_getaffinity"):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOWEST_PRIORITY)
