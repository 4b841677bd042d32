"""Writing the files of a generation of the flat index: rows at their ends, then all to the disk.

What is written counts only once a manifest says so; until then it may be written again in place.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from salon.core.hashing import CardHash
from salon.retrieval.dense.flat_files import (
    KINDS,
    Kind,
    Manifest,
    path_of,
    remove_other_generations,
    replace_manifest,
)
from salon.retrieval.dense.flat_snapshot import Longs, Snapshot
from salon.retrieval.dense.halves import Halves, widened
from salon.retrieval.dense.sketches import BLOCK, Sketcher, take

_NUMBER = 8
_HALF = 2


class GenerationWriter:
    """Adds to the files of one generation; `manifest` says what they hold by now."""

    def __init__(self, folder: Path, manifest: Manifest, sketcher: Sketcher) -> None:
        self.manifest = manifest
        self._folder = folder
        self._sketcher = sketcher
        self._unsynced: set[Kind] = set()
        self._descriptors = {
            kind: os.open(path_of(folder, manifest.generation, kind), os.O_RDWR | os.O_CREAT, 0o600)
            for kind in KINDS
        }

    def append_rows(self, ids: Longs, owners: Longs, vectors: Halves) -> None:
        """Write passages with the numbers of their cards, and their vectors."""
        rows = self.manifest.rows
        passages = np.stack([ids, owners], axis=1)
        self._write("passages", rows * 2 * _NUMBER, passages.astype("<i8", copy=False))
        halves = np.ascontiguousarray(vectors, dtype="<f2")
        self._write("vectors", rows * halves.shape[1] * _HALF, halves)
        self.manifest = replace(self.manifest, rows=rows + len(ids))

    def append_cards(self, cards: Sequence[CardHash]) -> None:
        """Write the names of cards; their numbers go on from those that are there."""
        lines = "".join(f"{card}\n" for card in cards).encode()
        self._write("cards", self.manifest.card_bytes, np.frombuffer(lines, dtype=np.uint8))
        self.manifest = replace(
            self.manifest,
            cards=self.manifest.cards + len(cards),
            card_bytes=self.manifest.card_bytes + len(lines),
        )

    def append_sketches(self, sketches: npt.NDArray[np.uint64]) -> None:
        """Write sketches of the next rows: word by word within each block."""
        words, done = self._sketcher.words, self.manifest.sketched
        end = done + len(sketches)
        for start in _starts(done, end):
            block, place = divmod(start, BLOCK)
            piece = sketches[start - done : (block + 1) * BLOCK - done].astype("<u8", copy=False)
            for word in range(words):
                column = (block * words + word) * BLOCK + place
                self._write("sketches", column * _NUMBER, np.ascontiguousarray(piece[:, word]))
        blocks = -(-end // BLOCK)
        os.ftruncate(self._descriptors["sketches"], blocks * words * BLOCK * _NUMBER)
        self.manifest = replace(self.manifest, sketched=end)

    def sketch_the_rest(self) -> None:
        """Make and write the sketches of the rows that have none."""
        rows, width = self.manifest.rows, self.manifest.model.dimensions
        for start in _starts(self.manifest.sketched, rows):
            count = min(rows, (start // BLOCK + 1) * BLOCK) - start
            stored = os.pread(
                self._descriptors["vectors"], count * width * _HALF, start * width * _HALF
            )
            vectors = np.frombuffer(stored, dtype="<f2").reshape(count, width)
            self.append_sketches(self._sketcher.sketch(widened(vectors)))

    def commit(self, dead: Longs) -> None:
        """Bring everything to the disk and make it count, with these rows dead."""
        self._write("dead", self.manifest.dead * _NUMBER, dead.astype("<i8", copy=False))
        for kind in self._unsynced:
            os.fsync(self._descriptors[kind])
        manifest = replace(self.manifest, dead=self.manifest.dead + len(dead))
        replace_manifest(self._folder, manifest)
        self.manifest = manifest

    def close(self) -> None:
        """Let go of the files."""
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])

    def _write(self, kind: Kind, offset: int, content: npt.NDArray[np.generic]) -> None:
        self._unsynced.add(kind)
        rest = memoryview(content.tobytes())
        while rest:
            written = os.pwrite(self._descriptors[kind], rest, offset)
            rest, offset = rest[written:], offset + written


def rewrite(base: Snapshot) -> None:
    """Write the live rows as a new generation, commit it, and delete the old one."""
    generation, model = base.generation, base.manifest.model
    fresh = Manifest.of_nothing(model)
    live = np.flatnonzero(base.alive)
    cards = list(generation.ordinals(base.manifest.card_bytes))[: base.manifest.cards]
    used = np.zeros(len(cards), dtype=np.bool_)
    used[base.owners[live]] = True
    renumbered = np.cumsum(used) - 1
    writer = GenerationWriter(generation.folder, fresh, generation.sketcher)
    try:
        writer.append_cards([cards[ordinal] for ordinal in np.flatnonzero(used)])
        for start in range(0, len(live), BLOCK):
            rows = live[start : start + BLOCK]
            writer.append_rows(base.ids[rows], renumbered[base.owners[rows]], base.vectors[rows])
            sketched = rows[rows < base.manifest.sketched]
            if len(sketched):
                writer.append_sketches(take(base.sketches, sketched))
        writer.commit(np.empty(0, dtype=np.int64))
    finally:
        writer.close()
    remove_other_generations(generation.folder, fresh.generation)


def is_lean(base: Snapshot) -> bool:
    """Tell whether the files hold nothing but live rows."""
    manifest, path = base.manifest, base.generation.path("vectors")
    stored = path.stat().st_size if path.exists() else 0
    return not manifest.dead and stored == manifest.rows * manifest.model.dimensions * _HALF


def _starts(first: int, end: int) -> list[int]:
    """Return where pieces of rows begin that each lie in one block."""
    if first >= end:
        return []
    return [first, *range((first // BLOCK + 1) * BLOCK, end, BLOCK)]
