"""Dot products straight from float16 rows, without a float32 copy of them.

NumPy converts half floats one at a time, which costs more than the product. Here a half is widened
by integer steps on whole blocks: its bits are put where a float32 has them, which gives the right
number but for a factor of 2**-112, and the query carries the factor that takes it back. Exact for
every finite half, subnormal ones too. Not a general conversion: infinities come out as numbers.

Products are made row by row (`vecdot`), not as one of a matrix: equal rows get equal products
wherever they stand, and no second thread is waited for, which on a busy machine takes longer than
the whole product.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from salon.core.embedding import Vector, Vectors

Halves: TypeAlias = npt.NDArray[np.float16]
"""Vectors as rows of half floats."""
Rows: TypeAlias = npt.NDArray[np.intp]
"""Numbers of rows."""

BLOCK = 256
"""Rows widened at a time: they stay in the processor's cache until they are multiplied."""
_FACTOR = np.float32(2.0**112)
_BITS_OF_A_HALF = np.array(0x8FFFE000, dtype=np.uint32).view(np.int32)


def dots(vectors: Halves, query: Vector, rows: Rows | None = None) -> Vector:
    """Return the dot product of the query with each of these rows, or with all."""
    count = len(vectors) if rows is None else len(rows)
    scaled = query * _FACTOR
    found = np.empty(count, dtype=np.float32)
    room = np.empty((min(BLOCK, count), vectors.shape[1]), dtype=np.int32)
    for start in range(0, count, BLOCK):
        stop = min(start + BLOCK, count)
        block = vectors[start:stop] if rows is None else vectors[rows[start:stop]]
        np.vecdot(_shifted(block, room[: stop - start]), scaled, out=found[start:stop])
    return found


def widened(vectors: Halves, out: "Vectors | None" = None) -> Vectors:
    """Return the rows as float32."""
    wide = np.empty(vectors.shape, dtype=np.float32) if out is None else out
    for start in range(0, len(vectors), BLOCK):
        room = wide[start : start + BLOCK]
        _shifted(vectors[start : start + BLOCK], room.view(np.int32))
        room *= _FACTOR
    return wide


def _shifted(block: Halves, room: npt.NDArray[np.int32]) -> Vectors:
    room[...] = block.view(np.int16)  # as signed numbers, so that the sign fills the upper bits
    room <<= 13
    room &= _BITS_OF_A_HALF
    return room.view(np.float32)
