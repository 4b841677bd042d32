"""What all embedders behind a server have in common: portions, prefixes, and checks.

A server is asked for a few texts at a time and its answer is believed only if it holds one
vector per text, all of the length that the first one had. Texts without a word are not sent:
servers disagree about them.
"""

import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from salon.core.closing import Closable
from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.core.errors import ProviderFailed
from salon.core.text import require_text
from salon.providers.embedders.pinned_files import fingerprint_of
from salon.providers.embedders.unit_vectors import unit_vectors, wordless_vector

# Passages have about a thousand characters; this is what every common model takes in.
LONGEST_TEXT = 8000
_TEXTS_AT_ONCE = 64


class Prefixes(NamedTuple):
    """What a model expects to find before a question and before a passage."""

    query: str
    passage: str


NO_PREFIXES = Prefixes("", "")
# By a part of the model's name, as the makers of the models ask for it.
_PREFIXES = {"nomic-embed-text": Prefixes("search_query: ", "search_document: ")}


class EmbeddingServer(Protocol):
    """A server as far as it differs from others."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return what the server answers for these texts."""

    def digest(self) -> str | None:
        """Return a digest of the model's weights if the server knows one."""

    def close(self) -> None:
        """Close the connections."""


class RemoteEmbedder(Closable):
    """Embeds by asking a server. May be used by many threads at once."""

    def __init__(
        self, address: str, server: EmbeddingServer, *, dimensions: int | None = None
    ) -> None:
        self._address = address
        self._server = server
        self._wanted_dimensions = dimensions
        self._prefixes = prefixes_for(address)
        self._asking_once = threading.Lock()
        self._model: EmbeddingModel | None = None

    @property
    def model(self) -> EmbeddingModel:
        """Return which model this is; asks the server the first time."""
        with self._asking_once:
            if self._model is None:
                self._model = self._ask_for_model()
            return self._model

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, in order."""
        return self._embed(texts, self._prefixes.passage)

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question."""
        vector: Vector = self._embed([text], self._prefixes.query)[0]
        return vector

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        dimensions = self.model.dimensions
        vectors = np.empty((len(texts), dimensions), dtype=np.float32)
        said = [_sayable(text) for text in texts]
        with_words = [row for row, text in enumerate(said) if text]
        for rows in _portions(with_words):
            answered = self._server.embed([prefix + said[row] for row in rows])
            vectors[rows] = self._checked(answered, len(rows), dimensions)
        vectors[[row for row, text in enumerate(said) if not text]] = wordless_vector(dimensions)
        return vectors

    def _ask_for_model(self) -> EmbeddingModel:
        answered = self._server.embed(["dimensions"])
        dimensions = self._wanted_dimensions or (len(answered[0]) if answered else 0)
        self._checked(answered, 1, dimensions)
        return EmbeddingModel(
            address=self._address,
            fingerprint=fingerprint_of(
                [
                    self._address,
                    self._server.digest() or "unknown weights",
                    str(dimensions),
                    *self._prefixes,
                ]
            ),
            dimensions=dimensions,
        )

    def _checked(self, answered: Sequence[Sequence[float]], count: int, dimensions: int) -> Vectors:
        if len(answered) != count:
            raise ProviderFailed(
                f"{self._address} answered with {len(answered)} vectors for {count} texts",
                hint="the server does not do what its interface promises; try another",
            )
        lengths = {len(row) for row in answered}
        if lengths != {dimensions} or dimensions == 0:
            raise ProviderFailed(
                f"{self._address} answered with vectors of {sorted(lengths)} dimensions,"
                f" not {dimensions}",
                hint="the model cannot make vectors of this length, or was changed meanwhile",
            )
        return unit_vectors(np.array(answered, dtype=np.float64), self._address)


def prefixes_for(address: str) -> Prefixes:
    """Return the prefixes that the model at `address` was trained with."""
    found = (prefixes for part, prefixes in _PREFIXES.items() if part in address.lower())
    return next(found, NO_PREFIXES)


def _sayable(text: str) -> str:
    """Return what of a text is sent: its beginning, without what ends a string in C."""
    return require_text(text, "a text to embed")[:LONGEST_TEXT].replace("\0", " ").strip()


def _portions(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(rows), _TEXTS_AT_ONCE):
        yield rows[start : start + _TEXTS_AT_ONCE]
