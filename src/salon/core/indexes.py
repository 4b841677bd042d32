"""The interfaces of the two indexes behind search: words and vectors of passages.

An index knows a passage by its id and the card it is in, and holds nothing that cannot be built
again. It ranks; it does not read text from the archive, apply thresholds or explain.

Invariants that every backend keeps: adding an id again replaces it; what was added or removed
before `commit` returned survives a kill at any later moment, and a kill before it leaves the index
as it was or with a part of the change, never broken; a search sees whole commits and never waits
for a writer (a store outside without transactions says so, and shows new passages before old ones
go); ranks are best first with ties broken by id.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, NewType, Protocol, TypeAlias

from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.core.hashing import CardHash

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PassageId = NewType("PassageId", int)
"""A number below 2**63, made from the card and the span alone: the same on every machine."""

Cards: TypeAlias = "Collection[CardHash] | None"
"""The cards whose passages may be found; `None` stands for all of them."""


def passage_id(card: CardHash, start: int, end: int) -> PassageId:
    """Return the id of a span of a card."""
    digest = hashlib.sha256(f"{card}:{start}:{end}".encode()).digest()
    return PassageId(int.from_bytes(digest[:8], "big") >> 1)


class IndexedText(NamedTuple):
    """A passage as the lexical index takes it in."""

    id: PassageId
    card: CardHash
    text: str


class Ranking(NamedTuple):
    """Passages and their scores, best first; what a score means is the index's own affair."""

    ids: "npt.NDArray[np.int64]"
    scores: "npt.NDArray[np.float32]"


class LexicalIndex(Protocol):
    """Finds passages by their words."""

    @property
    def fingerprint(self) -> str:
        """Return how text is read; when that changes, the index must be built again."""

    @property
    def needs_rebuild_to_compact(self) -> bool:
        """Tell whether words of removed passages are left that only building anew takes away."""

    def add(self, passages: Iterable[IndexedText]) -> None:
        """Take in passages, in place of those with the same ids."""

    def remove(self, cards: Iterable[CardHash]) -> None:
        """Forget every passage of these cards."""

    def commit(self) -> None:
        """Make what was added and removed durable and visible."""

    def search(self, query: str, limit: int, *, cards: Cards = None) -> Ranking:
        """Rank the passages with any of the query's words by BM25.

        Words in double quotes are a phrase that must occur; a word that ends in `*` stands for
        every word that begins so. Nothing else in a query has a meaning of its own.
        """

    def frequencies(self, query: str) -> "tuple[int, list[int]]":
        """Return how many passages there are, and how many have each word of a query."""

    def count(self) -> int:
        """Return how many passages are visible."""

    def clear(self) -> None:
        """Forget everything."""

    def compact(self) -> None:
        """Make sure that nothing of what was removed is left in the files."""

    def close(self) -> None:
        """Let go of the files."""


class VectorIndex(Protocol):
    """Finds passages by the vectors of one model."""

    @property
    def model(self) -> EmbeddingModel:
        """Return the model whose vectors these are; a backend refuses those of another."""

    def add(self, ids: Sequence[PassageId], cards: Sequence[CardHash], vectors: Vectors) -> None:
        """Take in the vectors of passages, in place of those with the same ids."""

    def remove(self, cards: Iterable[CardHash]) -> None:
        """Forget every passage of these cards."""

    def commit(self) -> None:
        """Make what was added and removed durable and visible."""

    def search(self, vector: Vector, limit: int, *, cards: Cards = None) -> Ranking:
        """Rank passages by cosine similarity; `limit` best, exact or with recall above 0.99."""

    def vectors(self, ids: Sequence[PassageId]) -> "tuple[list[PassageId], Vectors]":
        """Return the vectors of those of these passages that are here, with their ids."""

    def count(self) -> int:
        """Return how many passages are visible."""

    def clear(self) -> None:
        """Forget everything."""

    def compact(self) -> None:
        """Make sure that nothing of what was removed is left in the files."""

    def close(self) -> None:
        """Let go of the files."""
