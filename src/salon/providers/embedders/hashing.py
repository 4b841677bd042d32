"""The hashing embedder: words thrown into N places by their hash.

For tests, demonstrations and documentation. It needs no weights, is the same everywhere and for
ever, and knows which words two texts share; it knows nothing of what they mean.
"""

import hashlib
import re

import numpy as np

from salon.core.embedding import EmbeddingModel, Vector
from salon.core.errors import UnknownProvider
from salon.core.text import require_text
from salon.providers.embedders.one_by_one import OneByOne
from salon.providers.embedders.pinned_files import fingerprint_of
from salon.providers.embedders.unit_vectors import unit_vectors, wordless_vector

FEWEST, MOST = 8, 4096
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"[1-9][0-9]{0,3}")


class HashingEmbedder(OneByOne):
    """Adds one for or against a place chosen by the hash of each word."""

    def __init__(self, dimensions: int) -> None:
        super().__init__(
            EmbeddingModel(
                address=f"hashing:{dimensions}",
                fingerprint=fingerprint_of(["signed words, blake2b", str(dimensions)]),
                dimensions=dimensions,
            )
        )

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question."""
        require_text(text, "a text to embed")
        counts = np.zeros(self._model.dimensions, dtype=np.float32)
        for word in _WORD.findall(text.lower()):
            number = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
            place, is_against = divmod(number, 2)
            counts[place % self._model.dimensions] += -1 if is_against else 1
        if not counts.any():  # no word, or words that cancel each other
            return wordless_vector(self._model.dimensions)
        vector: Vector = unit_vectors(counts[None, :], self._model.address)[0]
        return vector


def open_hashing(name: str) -> HashingEmbedder:
    """Return the embedder with as many dimensions as `name` says."""
    if not _NUMBER.fullmatch(name) or not FEWEST <= int(name) <= MOST:
        raise UnknownProvider(
            f"there is no embedder 'hashing:{name}'",
            hint=f"hashing takes a number of dimensions from {FEWEST} to {MOST}: 'hashing:256'",
        )
    return HashingEmbedder(int(name))
