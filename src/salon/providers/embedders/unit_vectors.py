"""Rows made ready to leave an embedder: finite, of length one, 32 bits.

Every embedder hands its vectors out through here, so nothing else has to ask whether a vector is
what it should be.
"""

import numpy as np
import numpy.typing as npt

from salon.core.embedding import Vector, Vectors
from salon.core.errors import ProviderFailed

_SHORTEST = 1e-12


def unit_vectors(rows: npt.NDArray[np.floating], maker: str) -> Vectors:
    """Return `rows` scaled to length one, or raise `ProviderFailed` where that cannot be."""
    # 64 bits for the lengths: a server may send numbers whose squares 32 bits do not hold.
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    if not np.isfinite(lengths).all():
        raise ProviderFailed(
            f"{maker} made a vector that holds something other than numbers",
            hint="the model or its server is broken; try another embedder",
        )
    if (lengths < _SHORTEST).any():
        raise ProviderFailed(
            f"{maker} made a vector of length zero",
            hint="the model or its server is broken; try another embedder",
        )
    return np.ascontiguousarray(rows / lengths[:, None], dtype=np.float32)


def wordless_vector(dimensions: int) -> Vector:
    """Return the vector that stands for a text without a single word.

    Models that average words have nothing to average then. All such texts are alike; their
    direction means nothing.
    """
    vector = np.ones(dimensions, dtype=np.float32)
    vector[1::2] = -1
    return vector / np.float32(np.sqrt(dimensions))
