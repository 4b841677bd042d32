"""One committed state of the flat index, as arrays over its files.

A snapshot never changes: files only grow, and it looks no further than its manifest said. What is
slow to work out (the order of ids, the names of cards, rows as float32) is done when first needed
and taken further from one snapshot to the next.
"""

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from salon.core.embedding import EmbeddingModel, Vectors
from salon.core.hashing import CardHash
from salon.core.indexes import PassageId
from salon.retrieval.dense.flat_files import Kind, Manifest, damaged, path_of
from salon.retrieval.dense.halves import Halves, Rows, widened
from salon.retrieval.dense.sketches import BLOCK, Sketcher, Sketches

Longs: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]
IdOrder: TypeAlias = tuple[Longs, Longs]
"""Ids in order and the row of each; of equal ids the latest comes last."""


class Generation:
    """What snapshots of one generation share, growing with its files."""

    def __init__(self, folder: Path, name: str, model: EmbeddingModel) -> None:
        self.folder = folder
        self.name = name
        self.sketcher = Sketcher(model.dimensions)
        self._lock = threading.Lock()
        self._ordinals: dict[CardHash, int] = {}
        self._card_bytes = 0
        self._wide: Vectors = np.empty((0, model.dimensions), dtype=np.float32)
        self._widened = 0

    def path(self, kind: Kind) -> Path:
        """Return where a file is."""
        return path_of(self.folder, self.name, kind)

    def ordinals(self, card_bytes: int) -> dict[CardHash, int]:
        """Return the numbers of the cards; later cards may be in it too."""
        with self._lock:
            if self._card_bytes < card_bytes:
                with self.path("cards").open("rb") as file:
                    file.seek(self._card_bytes)
                    lines = file.read(card_bytes - self._card_bytes).decode().split()
                first = len(self._ordinals)
                fresh = ((CardHash(card), number) for number, card in enumerate(lines, first))
                self._ordinals.update(fresh)
                self._card_bytes = card_bytes
            return self._ordinals

    def wide(self, vectors: Halves) -> Vectors:
        """Return the vectors as float32."""
        with self._lock:
            count = len(vectors)
            if len(self._wide) < count:
                # Half as much again, so that row after row is not copied over and over.
                grown = np.empty((count + count // 2, vectors.shape[1]), dtype=np.float32)
                grown[: self._widened] = self._wide[: self._widened]
                self._wide = grown
            if self._widened < count:
                widened(vectors[self._widened :], self._wide[self._widened : count])
                self._widened = count
            return self._wide[:count]


class Snapshot:
    """The committed rows at one moment."""

    def __init__(
        self, generation: Generation, manifest: Manifest, before: "Snapshot | None" = None
    ) -> None:
        self.generation = generation
        self.manifest = manifest
        self.rows = manifest.rows
        dimensions = manifest.model.dimensions
        self.vectors: Halves = self._mapped("vectors", "<f2", (self.rows, dimensions))
        passages: Longs = self._mapped("passages", "<i8", (self.rows, 2))
        self.ids, self.owners = passages[:, 0], passages[:, 1]
        self.dead: Longs = self._mapped("dead", "<i8", (manifest.dead,))
        blocks, words = -(-manifest.sketched // BLOCK), generation.sketcher.words
        self.sketches: Sketches = self._mapped("sketches", "<u8", (blocks, words, BLOCK))
        self._alive: Mask | None = None
        self._order: IdOrder | None = None
        self._order_before = before.known_order if before else None

    @property
    def count(self) -> int:
        """Return how many rows are alive."""
        return self.rows - self.manifest.dead

    @property
    def alive(self) -> Mask:
        """Return which rows are neither removed nor replaced."""
        if self._alive is None:
            alive = np.ones(self.rows, dtype=np.bool_)
            alive[self.dead] = False
            self._alive = alive
        return self._alive

    @property
    def known_order(self) -> IdOrder | None:
        """Return the order of ids if somebody needed it, or as far as it was known before."""
        return self._order or self._order_before

    @property
    def order(self) -> IdOrder:
        """Return the rows in the order of their ids."""
        if self._order is None:
            none = np.empty(0, dtype=np.int64)
            in_order, order = self._order_before or (none, none)
            fresh = np.argsort(self.ids[len(order) :], kind="stable") + len(order)
            fresh_ids = self.ids[fresh]
            places = np.searchsorted(in_order, fresh_ids, side="right")
            self._order = np.insert(in_order, places, fresh_ids), np.insert(order, places, fresh)
        return self._order

    def wide(self) -> Vectors:
        """Return all vectors as float32, in memory."""
        return self.generation.wide(self.vectors)

    def ordinals_of(self, cards: Iterable[CardHash]) -> list[int]:
        """Return the numbers of those of these cards that were ever here."""
        known, end = self.generation.ordinals(self.manifest.card_bytes), self.manifest.cards
        return [ordinal for card in cards if (ordinal := known.get(card, end)) < end]

    def rows_of(self, cards: Iterable[CardHash]) -> Rows:
        """Return the live rows of these cards."""
        chosen = np.zeros(self.manifest.cards, dtype=np.bool_)
        chosen[self.ordinals_of(cards)] = True
        rows = np.flatnonzero(chosen[self.owners])
        return rows[self.alive[rows]]

    def find_rows(self, ids: Longs) -> tuple[Longs, Mask]:
        """Return a row for each id, and for which ids it is theirs and alive."""
        if not (self.rows and len(ids)):
            return np.zeros(len(ids), dtype=np.int64), np.zeros(len(ids), dtype=np.bool_)
        in_order, order = self.order
        places = np.searchsorted(in_order, ids, side="right") - 1
        rows = order[places]
        return rows, (in_order[places] == ids) & self.alive[rows]

    def find_vectors(self, ids: Sequence[PassageId]) -> tuple[list[PassageId], Vectors]:
        """Return the vectors of those passages that are here, in the order they are asked for."""
        wanted = np.asarray(ids, dtype=np.int64)
        rows, found = self.find_rows(wanted)
        return wanted[found].tolist(), widened(self.vectors[rows[found]])

    def _mapped(self, kind: Kind, numbers: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        if not shape[0]:
            return np.empty(shape, dtype=numbers)
        path = self.generation.path(kind)
        try:
            return np.asarray(np.memmap(path, dtype=numbers, mode="r", shape=shape))
        except ValueError as error:
            raise damaged(f"{path} is shorter than its manifest says") from error
