"""No vector leaves that is not finite and of length one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from salon.core.errors import ProviderFailed
from salon.providers.embedders.unit_vectors import unit_vectors, wordless_vector

NUMBERS = st.floats(1e-8, 1e8) | st.floats(-1e8, -1e-8) | st.just(0.0)
NO_NUMBERS = st.sampled_from([float("nan"), float("inf"), -float("inf")])
ROWS = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 5), st.integers(1, 9)),
    elements=st.one_of(NUMBERS, NUMBERS, NUMBERS, NO_NUMBERS),
)


@given(rows=ROWS)
def test_rows_become_unit_vectors_or_an_error(
    rows: "np.ndarray[tuple[int, int], np.dtype[np.float64]]",
) -> None:
    is_usable = bool(np.isfinite(rows).all() and rows.any(axis=1).all())
    try:
        vectors = unit_vectors(rows, "a test")
    except ProviderFailed:
        assert not is_usable
    else:
        assert is_usable
        assert vectors.dtype == np.float32
        assert np.allclose(np.linalg.norm(vectors.astype(np.float64), axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ([1.0, float("nan")], "something other than numbers"),
        ([float("inf"), 0.0], "something other than numbers"),
        ([1e200, 1e200], "something other than numbers"),
        ([0.0, 0.0], "length zero"),
    ],
)
def test_what_cannot_be_a_unit_vector_is_an_error_that_names_the_maker(
    row: list[float], what: str
) -> None:
    with pytest.raises(ProviderFailed, match=f"a test made a vector .*{what}"):
        unit_vectors(np.array([[3.0, 4.0], row]), "a test")


def test_no_rows_are_no_rows() -> None:
    assert unit_vectors(np.empty((0, 3), dtype=np.float32), "a test").shape == (0, 3)


@pytest.mark.parametrize("dimensions", [1, 7, 256])
def test_the_vector_of_a_text_without_words_has_length_one(dimensions: int) -> None:
    assert np.isclose(np.linalg.norm(wordless_vector(dimensions)), 1)
