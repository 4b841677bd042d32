"""Sketches: their distances follow the similarity as the theory says, for any kind of vectors."""

import numpy as np
import numpy.typing as npt
import pytest

from salon.core.embedding import Vector, Vectors
from salon.retrieval.dense.sketches import BLOCK, Sketcher, Sketches, take
from tests.retrieval.dense.backends import unit_rows


def in_blocks(sketches: npt.NDArray[np.uint64]) -> Sketches:
    count, words = sketches.shape
    blocks = np.zeros((-(-count // BLOCK), words, BLOCK), dtype=np.uint64)
    for start in range(0, count, BLOCK):
        piece = sketches[start : start + BLOCK]
        blocks[start // BLOCK, :, : len(piece)] = piece.T
    return blocks


def at_similarity(query: Vector, similarity: float, count: int) -> Vectors:
    """Return unit vectors that all have this similarity with the query, and are random else."""
    others = unit_rows(count, seed=7, dimensions=len(query)).astype(np.float64)
    others -= np.outer(others @ query, query)
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    found: Vectors = (similarity * query + np.sqrt(1 - similarity**2) * others).astype(np.float32)
    return found


def distances(sketcher: Sketcher, query: Vector, vectors: Vectors) -> npt.NDArray[np.uint16]:
    return sketcher.distances(query, in_blocks(sketcher.sketch(vectors)), len(vectors))


@pytest.mark.parametrize("dimensions", [16, 100, 384, 1024])
@pytest.mark.parametrize("similarity", [0.1, 0.4, 0.7])
def test_nearly_all_vectors_of_a_similarity_are_within_reach(
    dimensions: int, similarity: float
) -> None:
    sketcher = Sketcher(dimensions)
    query = unit_rows(1, seed=1, dimensions=dimensions)[0]
    near = distances(sketcher, query, at_similarity(query, similarity, 3000))
    assert (near <= sketcher.reach(similarity)).mean() > 0.96
    far = distances(sketcher, query, unit_rows(3000, seed=8, dimensions=dimensions))
    assert near.mean() < far.mean()
    assert sketcher.reach(similarity) < sketcher.reach(similarity - 0.1)


def test_the_reach_is_no_wider_than_it_has_to_be() -> None:
    sketcher = Sketcher(384)
    query = unit_rows(1, seed=1, dimensions=384)[0]
    unrelated = distances(sketcher, query, unit_rows(3000, seed=8, dimensions=384))
    assert (unrelated <= sketcher.reach(0.5)).mean() < 0.01


def test_vectors_with_few_numbers_other_than_zero_are_sketched_as_well() -> None:
    random = np.random.default_rng(3)
    rows = np.zeros((4000, 384), dtype=np.float32)
    for row in rows:
        row[random.choice(384, 12, replace=False)] = random.choice([-1, 1], 12)
    rows[:, :8] = np.where(random.random((4000, 8)) < 0.5, 1, rows[:, :8])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    query = np.zeros(384, dtype=np.float32)
    query[:8] = np.float32(8**-0.5)
    sketcher = Sketcher(384)
    found, similarity = distances(sketcher, query, rows), rows @ query
    top = np.argsort(-similarity)[:200]
    assert (found[top] <= sketcher.reach(float(similarity[top[-1]]))).mean() > 0.96


def test_sketches_are_compared_across_blocks_and_taken_out_of_them() -> None:
    sketcher = Sketcher(64)
    rows = unit_rows(BLOCK + 100, seed=4, dimensions=64)
    query = unit_rows(1, seed=5, dimensions=64)[0]
    sketches = sketcher.sketch(rows)
    blocks = in_blocks(sketches)
    together = sketcher.distances(query, blocks, len(rows))
    last = sketcher.distances(query, in_blocks(sketches[-100:]), 100)
    np.testing.assert_array_equal(together[-100:], last)
    picked = np.array([0, BLOCK - 1, BLOCK, BLOCK + 99])
    np.testing.assert_array_equal(take(blocks, picked), sketches[picked])


def test_the_sketch_of_a_vector_never_changes() -> None:
    # Files hold sketches: another rotation would make every one of them wrong.
    vector = np.sqrt(np.arange(2, 12, dtype=np.float32))[np.newaxis]
    assert Sketcher(10).sketch(vector).tobytes().hex() == "61e650da7c341adb5b5b654201818b19"
