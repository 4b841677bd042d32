"""What embedders that look at one text after the other have in common."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from salon.core.closing import Closable
from salon.core.embedding import EmbeddingModel, Vector, Vectors


class OneByOne(Closable):
    """An embedder to which a passage is nothing else than a question."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model

    @property
    def model(self) -> EmbeddingModel:
        """Return which model this is."""
        return self._model

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, in order."""
        vectors = np.empty((len(texts), self._model.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self.embed_query(text)
        return vectors

    @abstractmethod
    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question."""
