"""Sketches of vectors: one bit a dimension, from which the best candidates are found by counting.

A sketch is the signs of a vector after a fixed random rotation. A query is rotated too and each of
its numbers rounded to -3, -1, 1 or 3, which is two planes of signs, 2a + b. So the product of a
sketch with a query is two bit counts, and what is returned, a `distance`, is

    (3 * bits - product) / 2 = 2 * (signs unlike plane a) + (signs unlike plane b)

Because the rotation is random, the distance of a passage with a given similarity is spread about
its mean as the normal distribution is, whatever the vectors are: `Sketcher.reach` says within which
distance nearly all passages of a similarity lie. It does not rank: what is within reach is to be
scored by its whole vector.
"""

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from salon.core.embedding import Vector, Vectors

Sketches: TypeAlias = npt.NDArray[np.uint64]
"""Sketches in blocks: of shape (blocks, words, BLOCK), so that one word of all lies together."""
Distances: TypeAlias = npt.NDArray[np.uint16]

BLOCK = 8192
"""Sketches to a block: one block and its counts stay in the processor's cache."""
WORD = 64
PART = 128
"""A rotation mixes this many numbers at once; vectors are filled up with zeros to whole parts."""
DEVIATIONS = 2.0
"""How many standard deviations beyond the mean the reach is: at a search's limit, where it matters
most, 2 in 100 passages lie beyond, and before it ever fewer."""

_SEED = 20261115
# For normally distributed x and y, and r the rounding of y to odd numbers with steps at 0 and STEP:
_STEP = 0.9816
_GAIN = math.sqrt(2 / math.pi) * 2 * (1 + 2 * math.exp(-(_STEP**2) / 2)) / math.sqrt(2 * math.pi)
"""The mean of sign(x) * r for a small correlation of x and y, divided by it."""
_POWER = 1 + 8 * math.erfc(_STEP / math.sqrt(2))
"""The mean square of r."""


class Sketcher:
    """Makes the sketches of vectors of one length, and compares them."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._parts = -(-dimensions // PART)
        self.bits = self._parts * PART
        self.words = self.bits // WORD
        self._mixing = _hadamard(PART)
        self._signs = _signs(2 * self.bits).reshape(2, self.bits)

    def sketch(self, vectors: Vectors) -> npt.NDArray[np.uint64]:
        """Return the sketches of vectors, one in each row."""
        return self._packed(self._rotated(vectors) > 0)

    def distances(self, query: Vector, sketches: Sketches, count: int) -> Distances:
        """Return the distance of the query to the first `count` sketches."""
        first, second = self._planes(query)
        found = np.empty(count, dtype=np.uint16)
        unlike = np.empty((self.words, BLOCK), dtype=np.uint64)
        counts = np.empty((self.words, BLOCK), dtype=np.uint8)
        sums = np.empty(BLOCK, dtype=np.uint16)
        for block, start in enumerate(range(0, count, BLOCK)):
            out = found[start : start + BLOCK]
            size = len(out)
            words, bits, ones = sketches[block, :, :size], unlike[:, :size], counts[:, :size]
            np.bitwise_count(np.bitwise_xor(words, first, out=bits), out=ones)
            np.add.reduce(ones, axis=0, dtype=np.uint16, out=out)
            out <<= 1
            np.bitwise_count(np.bitwise_xor(words, second, out=bits), out=ones)
            out += np.add.reduce(ones, axis=0, dtype=np.uint16, out=sums[:size])
        return found

    def reach(self, similarity: float) -> int:
        """Return the distance within which nearly all passages at least so similar lie."""
        gain = self.bits * _GAIN / 2
        # The rotation keeps the similarity itself, so only what is not explained by it varies.
        deviation = math.sqrt(self.bits * (_POWER - _GAIN**2)) / 2
        return math.ceil(1.5 * self.bits - gain * similarity + DEVIATIONS * deviation)

    def _planes(self, query: Vector) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        rotated = self._rotated(query[np.newaxis])
        signs = rotated > 0
        large = np.abs(rotated) > _STEP * math.sqrt(float(np.mean(rotated**2)))
        return self._packed(signs).T, self._packed(large == signs).T

    def _rotated(self, vectors: Vectors) -> Vectors:
        """Turn signs at random and mix, part by part, twice, dealing out the parts in between."""
        count = len(vectors)
        numbers = np.zeros((count, self.bits), dtype=np.float32)
        numbers[:, : self._dimensions] = vectors
        for signs in self._signs:
            numbers *= signs
            mixed = numbers.reshape(count * self._parts, PART) @ self._mixing
            dealt = mixed.reshape(count, self._parts, PART).transpose(0, 2, 1)
            numbers = np.ascontiguousarray(dealt).reshape(count, self.bits)
        return numbers

    def _packed(self, signs: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
        return np.packbits(signs, axis=1).view(np.uint64)


def take(sketches: Sketches, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.uint64]:
    """Return the sketches of these rows, one in each row."""
    picked: npt.NDArray[np.uint64] = sketches[rows // BLOCK, :, rows % BLOCK]
    return picked


def _hadamard(size: int) -> Vectors:
    """Return the orthogonal matrix of equal numbers with signs; `size` is a power of two."""
    matrix = np.ones((1, 1), dtype=np.float32)
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    scaled: Vectors = matrix / np.float32(math.sqrt(size))
    return scaled


def _signs(count: int) -> Vector:
    """Return signs that look random and are the same for ever."""
    # NumPy keeps the raw bits of a generator between versions, but not what it makes of them.
    bits = np.random.Philox(_SEED).random_raw(count) >> np.uint64(63)
    signs: Vector = bits.astype(np.float32) * 2 - 1
    return signs
