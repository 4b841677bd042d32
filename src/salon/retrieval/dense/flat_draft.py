"""A change to the flat index that is not committed yet: rows are written, but do not count.

A draft holds the lock of the folder from the first change to its commit. Rows go to the end of the
files at once, so a draft may be larger than memory; which earlier rows they replace, and which were
removed meanwhile, is worked out when it is committed.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from salon.core.embedding import Vectors
from salon.core.hashing import CardHash
from salon.core.indexes import PassageId
from salon.retrieval.dense.flat_files import WriterLock, remove_other_generations
from salon.retrieval.dense.flat_snapshot import Longs, Mask, Snapshot
from salon.retrieval.dense.flat_writing import GenerationWriter


class Draft:
    """What one writer adds and removes until it commits."""

    def __init__(self, lock: WriterLock, base: Snapshot) -> None:
        self._lock = lock
        self._base = base
        generation = base.generation
        remove_other_generations(generation.folder, generation.name)
        self._writer = GenerationWriter(generation.folder, base.manifest, generation.sketcher)
        self._ids = [np.empty(0, dtype=np.int64)]
        self._owners = [np.empty(0, dtype=np.int64)]
        self._removed: dict[int, int] = {}
        """Cards by their numbers, and how many rows there were when each was last removed."""
        self._new_cards: dict[CardHash, int] = {}

    @property
    def rows(self) -> int:
        """Return how many rows there will be, dead ones too."""
        return self._writer.manifest.rows

    def add(self, ids: Sequence[PassageId], cards: Sequence[CardHash], vectors: Vectors) -> None:
        """Write rows behind those that are there."""
        numbers = np.asarray(ids, dtype=np.int64)
        owners = np.asarray(self._ensure_ordinals(cards), dtype=np.int64)
        self._writer.append_rows(numbers, owners, vectors.astype(np.float16))
        self._ids.append(numbers)
        self._owners.append(owners)

    def remove(self, cards: Iterable[CardHash]) -> None:
        """Take out the rows that these cards have by now."""
        wanted = list(cards)
        known = self._base.ordinals_of(wanted)
        known += [self._new_cards[card] for card in wanted if card in self._new_cards]
        self._removed.update(dict.fromkeys(known, self.rows))

    def commit(self, *, sketch: bool) -> None:
        """Make it count, and let the next writer in."""
        if sketch:
            self._writer.sketch_the_rest()
        self._writer.commit(self._dead_rows())
        self.close()

    def close(self) -> None:
        """Let go of the files; what was not committed never was."""
        self._writer.close()
        self._lock.release()

    def _ensure_ordinals(self, cards: Sequence[CardHash]) -> list[int]:
        known = self._base.generation.ordinals(self._base.manifest.card_bytes)
        first = self._writer.manifest.cards
        fresh = [c for c in dict.fromkeys(cards) if c not in known and c not in self._new_cards]
        self._writer.append_cards(fresh)
        self._new_cards.update((card, number) for number, card in enumerate(fresh, first))
        return [known[card] if card in known else self._new_cards[card] for card in cards]

    def _dead_rows(self) -> Longs:
        """Return the rows, old and new, that are dead by this change."""
        base, ids, owners = self._base, np.concatenate(self._ids), np.concatenate(self._owners)
        removed_at = np.zeros(self._writer.manifest.cards, dtype=np.int64)
        for ordinal, rows in self._removed.items():
            removed_at[ordinal] = rows
        old = removed_at[base.owners] > 0
        replaced, found = base.find_rows(ids)
        old[replaced[found]] = True
        new_rows = np.arange(base.rows, base.rows + len(ids))
        new = _has_successor(ids) | (new_rows < removed_at[owners])
        return np.concatenate([np.flatnonzero(old & base.alive), new_rows[new]])


def _has_successor(ids: Longs) -> Mask:
    """Tell which of the ids come again later."""
    order = np.argsort(ids, kind="stable")
    again = np.zeros(len(ids), dtype=np.bool_)
    again[order[:-1]] = ids[order][:-1] == ids[order][1:]
    return again
