"""The embedder of the steps: each text once, and always the same vector for it.

Several steps look at the same message, and at the same earlier ones turn after turn. A text is
embedded on its own, never in a batch, since padding moves the last digits of a vector; so what a
step reads from a message does not depend on what else was embedded, and a replay reads the same.

It is for models that make one vector of a text, whether it is asked or told, as MiniLM does.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from salon.core.embedding import Embedder, EmbeddingModel, Vector, Vectors

MOST_TEXTS = 4_096


class SharedEmbedder:
    """An embedder that remembers the latest texts; opened when first needed.

    May be used by many threads at once.
    """

    def __init__(self, opened: Callable[[], Embedder], *, most: int = MOST_TEXTS) -> None:
        self._opened = opened
        self._most = most
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Future[Vector]] = OrderedDict()

    @property
    def model(self) -> EmbeddingModel:
        """Return which model this is."""
        return self._opened().model

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, in order."""
        import numpy as np  # noqa: PLC0415 - heavy: only where vectors are made

        if not texts:
            return np.zeros((0, self.model.dimensions), dtype=np.float32)
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a text."""
        with self._lock:
            known = self._known.get(text)
            if known is None:
                mine = self._known[text] = Future()
                while len(self._known) > self._most:
                    self._known.popitem(last=False)
            else:
                self._known.move_to_end(text)
        if known is not None:
            return known.result()  # somebody else is at it, or was
        try:
            vector = self._opened().embed_query(text)
        except BaseException as error:
            with self._lock:
                self._known.pop(text, None)
            mine.set_exception(error)
            raise
        vector.flags.writeable = False
        mine.set_result(vector)
        return vector

    def close(self) -> None:
        """Leave the embedder open: it belongs to whoever made it."""
