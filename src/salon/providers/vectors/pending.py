"""What waits for a commit, boiled down to the least that a store has to do.

Stores outside get nothing of a change before `commit`, so that a transaction over there is short
and a kill before it leaves no trace. The price is that the vectors between two commits are held
in memory.

Invariant: doing a `Change` leaves what the calls one after another would have left, and doing it
twice leaves the same, so it may be tried again when nobody knows how far it came.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from salon.core.embedding import Vector, Vectors
from salon.core.hashing import CardHash
from salon.core.indexes import PassageId


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """First forget the passages of `removed_cards` and `removed_ids`, then hold these rows."""

    removed_cards: list[CardHash]
    removed_ids: list[PassageId]
    ids: list[PassageId]
    cards: list[CardHash]
    rows: Vectors

    def added_again(self) -> list[PassageId]:
        """Return the passages of removed cards that are to stay."""
        removed = set(self.removed_cards)
        return [
            number for number, card in zip(self.ids, self.cards, strict=True) if card in removed
        ]


class PendingChanges:
    """The additions and removals since the last commit."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._added: dict[PassageId, tuple[CardHash, Vector]] = {}
        self._removed_cards: set[CardHash] = set()
        self._removed_ids: set[PassageId] = set()

    def __bool__(self) -> bool:
        return bool(self._added or self._removed_cards or self._removed_ids)

    def add(self, ids: Sequence[PassageId], cards: Sequence[CardHash], rows: Vectors) -> None:
        """Note rows, the last of equal ids."""
        # Whoever made the rows may use their memory again before the commit.
        self._added.update(zip(ids, zip(cards, rows.copy(), strict=True), strict=True))
        self._removed_ids.difference_update(ids)

    def remove(self, cards: Iterable[CardHash]) -> None:
        """Note that cards go, with whatever was added of them before."""
        going = set(cards)
        self._removed_cards |= going
        gone = [number for number, (card, _) in self._added.items() if card in going]
        for number in gone:
            del self._added[number]
        # The store may hold such an id under another card, which its addition replaced.
        self._removed_ids.update(gone)

    def forget(self) -> None:
        """Start anew."""
        self._added.clear()
        self._removed_cards.clear()
        self._removed_ids.clear()

    def boiled_down(self) -> Change:
        """Return what is to be done, ordered by id."""
        ids = sorted(self._added)
        rows = [self._added[number][1] for number in ids]
        return Change(
            removed_cards=sorted(self._removed_cards),
            removed_ids=sorted(self._removed_ids),
            ids=ids,
            cards=[self._added[number][0] for number in ids],
            rows=np.array(rows, dtype=np.float32).reshape(len(ids), self._dimensions),
        )
