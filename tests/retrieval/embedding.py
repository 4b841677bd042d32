"""An embedder for tests: words hashed into a few dimensions, and a count of what it was asked."""

import hashlib
from collections.abc import Sequence

import numpy as np

from salon.core.embedding import EmbeddingModel, Vector, Vectors

DIMENSIONS = 32


class CountingEmbedder:
    """Texts that share words have similar vectors; nothing else is promised."""

    def __init__(self, name: str = "test:words") -> None:
        self.model = EmbeddingModel(address=name, fingerprint=name, dimensions=DIMENSIONS)
        self.embedded: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        vector = np.full(DIMENSIONS, 1e-3, np.float32)
        for word in text.lower().split():
            digest = hashlib.sha256(word.strip(".,?").encode()).digest()
            vector[digest[0] % DIMENSIONS] += 1 if digest[1] % 2 else -1
        return vector / np.float32(np.linalg.norm(vector))

    def close(self) -> None:
        pass
