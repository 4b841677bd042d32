"""Products of half floats: the same as NumPy's, whatever the numbers are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from salon.retrieval.dense.halves import BLOCK, dots, widened

halves = st.floats(width=16, allow_nan=False, allow_infinity=False)


@given(arrays(np.float16, (5, 7), elements=halves))
def test_every_finite_half_is_widened_exactly(
    numbers: "np.ndarray[tuple[int, int], np.dtype[np.float16]]",
) -> None:
    wide = widened(numbers)
    assert wide.dtype == np.float32
    np.testing.assert_array_equal(wide, numbers.astype(np.float32))
    np.testing.assert_array_equal(np.signbit(wide), np.signbit(numbers))


def test_products_over_several_blocks_are_right() -> None:
    random = np.random.default_rng(1)
    rows = random.normal(scale=0.05, size=(2 * BLOCK + 3, 40)).astype(np.float16)
    query = random.normal(size=40).astype(np.float32)
    expected = rows.astype(np.float32) @ query
    np.testing.assert_allclose(dots(rows, query), expected, rtol=1e-4, atol=1e-6)
    picked = random.permutation(len(rows))[: BLOCK + 5]
    np.testing.assert_allclose(dots(rows, query, picked), expected[picked], rtol=1e-4, atol=1e-6)
    assert dots(rows[:0], query).shape == (0,)


def test_equal_rows_have_equal_products_wherever_they_stand() -> None:
    random = np.random.default_rng(2)
    row = random.normal(scale=0.05, size=(1, 384)).astype(np.float16)
    query = random.normal(size=384).astype(np.float32)
    alone = dots(row, query)[0]
    for count in (1, 2, 3, 7, 64, BLOCK + 45):
        same = np.repeat(row, count, axis=0)
        assert set(dots(same, query).tolist()) == {float(alone)}
        assert set(np.vecdot(widened(same), query).tolist()) == {float(alone)}
