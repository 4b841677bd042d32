"""The interface of an embedder: text in, unit vectors out, and which model made them.

Vectors of two models never meet: everything that stores a vector stores its `EmbeddingModel`
beside it, and everything that compares vectors refuses to compare across models.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Vector: TypeAlias = "npt.NDArray[np.float32]"
"""One unit vector, of shape (dimensions,)."""
Vectors: TypeAlias = "npt.NDArray[np.float32]"
"""Unit vectors as rows, of shape (count, dimensions)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """Which model made a vector.

    `address` is how a person names it (`kind:name`); `fingerprint` tells apart two models behind
    one address: a digest of the weights where we hold them, what the server says where we do not.
    """

    address: str
    fingerprint: str
    dimensions: int

    def __str__(self) -> str:
        return f"{self.address}@{self.fingerprint[:12]}"


class Embedder(Protocol):
    """Turns text into vectors whose dot product is their cosine similarity."""

    @property
    def model(self) -> EmbeddingModel:
        """Return which model this is; may ask a server the first time."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, in order; texts may be of any number and length."""

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question."""

    def close(self) -> None:
        """Let go of threads, files and connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenVectors:
    """A text as the vectors of its tokens, each with the characters it stands for."""

    spans: tuple[tuple[int, int], ...]
    vectors: Vectors
    """Unit vectors, one for each span."""
    whole: Vector
    """The unit vector of the text as `Embedder` gives it."""


class TokenEmbedder(Protocol):
    """Turns text into a vector for each token, as its neighbours make it."""

    @property
    def model(self) -> EmbeddingModel:
        """Return which model this is."""

    def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the vectors of each text's tokens; the end of a long text may be left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageReading:
    """What was seen when a question and a passage were read together; all are odds (logits)."""

    sentences: tuple[float, ...]
    """For each sentence, that it answers the question or decides the claim."""
    passage: float
    """That the passage answers or decides at all."""
    support: float
    """That the passage bears the claim out."""


class PassageReader(Protocol):
    """Reads a question or a claim together with passages: slower than comparing, and closer."""

    @property
    def fingerprint(self) -> str:
        """Return which model this is: a digest of its weights."""

    def read(
        self, asked: str, passages: Sequence[Sequence[str]], *, is_claim: bool
    ) -> list[PassageReading]:
        """Return what each passage, given as its sentences in order, says about what is asked."""

    def close(self) -> None:
        """Let go of threads and memory."""
