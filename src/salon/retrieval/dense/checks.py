"""What every vector index refuses, in the same words: what is no unit vector, and another model.

A vector of nothing but zeros passes: some models give it for a text without words.
"""

from collections.abc import Sequence

import numpy as np

from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.core.errors import InvalidInput, ModelMismatch
from salon.core.hashing import CardHash
from salon.core.indexes import PassageId

LONGEST = 1.01
"""A unit vector is not longer than this, however coarsely it was rounded."""


def require_rows(
    model: EmbeddingModel, ids: Sequence[PassageId], cards: Sequence[CardHash], vectors: Vectors
) -> Vectors:
    """Return the vectors of an addition as float32 rows, or raise `InvalidInput`."""
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    if not len(ids) == len(cards) == len(rows):
        raise InvalidInput(f"{len(ids)} ids, {len(cards)} cards and {len(rows)} vectors")
    if len(rows):
        _require_numbers(model, rows, rows.shape[1:])
    return rows.reshape(len(rows), model.dimensions)


def require_query(model: EmbeddingModel, vector: Vector, limit: int) -> Vector:
    """Return the vector of a search as float32, or raise `InvalidInput`."""
    if limit < 1:
        raise InvalidInput(f"a search for {limit} passages finds nothing", hint="ask for 1 up")
    query = np.ascontiguousarray(vector, dtype=np.float32)
    _require_numbers(model, query, query.shape)
    return query


def refuse_other_model(wanted: EmbeddingModel, held: EmbeddingModel) -> None:
    """Raise `ModelMismatch` where an index holds vectors of another model than wanted."""
    if wanted != held:
        raise ModelMismatch(
            f"the index holds vectors of {held} ({held.dimensions} dimensions),"
            f" not of {wanted} ({wanted.dimensions})",
            hint="go back to the model it was built with, or build it again",
            wanted=str(wanted),
            held=str(held),
        )


def _require_numbers(model: EmbeddingModel, numbers: Vectors, shape: tuple[int, ...]) -> None:
    if shape != (model.dimensions,):
        raise InvalidInput(
            f"a vector of shape {shape} where {model} makes {model.dimensions} numbers"
        )
    longest = float(np.sqrt(np.einsum("...i,...i->...", numbers, numbers).max()))
    if not longest <= LONGEST:  # not a number is not below anything either
        raise InvalidInput(
            f"a vector of length {longest:.3g} where {model} makes unit vectors",
            hint="divide vectors by their lengths, or their products are no similarities",
        )
