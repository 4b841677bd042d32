"""What all stores outside have in common: changes are noted, and done when they are committed."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager

from salon.core.closing import Closable
from salon.core.embedding import EmbeddingModel, Vectors
from salon.core.hashing import CardHash
from salon.core.indexes import PassageId
from salon.providers.vectors.pending import PendingChanges
from salon.retrieval.dense.checks import require_rows


class NotingIndex(Closable):
    """The half of a vector index that waits for the commit."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model
        self._pending = PendingChanges(model.dimensions)

    @property
    def model(self) -> EmbeddingModel:
        """Return the model whose vectors these are."""
        return self._model

    def add(self, ids: Sequence[PassageId], cards: Sequence[CardHash], vectors: Vectors) -> None:
        """Note vectors for the next commit."""
        rows = require_rows(self._model, ids, cards, vectors)
        self._find_own()
        with self._turn():
            self._pending.add(ids, cards, rows)

    def remove(self, cards: Iterable[CardHash]) -> None:
        """Note for the next commit that cards go."""
        self._find_own()
        with self._turn():
            self._pending.remove(cards)

    @abstractmethod
    def _find_own(self) -> object:
        """Find this model's vectors, and refuse a store that holds another model's."""

    @abstractmethod
    def _turn(self) -> AbstractContextManager[object]:
        """Return what writers hold while they write."""
