"""Probabilities along the graph: those of ordinary search, made to fall."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from salon.retrieval.hopping import falling

PROBABILITIES = st.lists(st.floats(0, 1), max_size=30)


@given(PROBABILITIES)
def test_what_falls_already_stays_as_it_is(values: list[float]) -> None:
    ordered = np.array(sorted(values, reverse=True), np.float64)
    assert falling(ordered).tolist() == ordered.tolist()


@given(PROBABILITIES)
def test_values_never_rise_and_keep_their_sum(values: list[float]) -> None:
    made = falling(np.array(values, np.float64))
    assert len(made) == len(values)
    assert np.all(np.diff(made) <= 1e-12)
    assert np.isclose(made.sum(), sum(values))


def test_neighbours_in_the_wrong_order_share_their_mean() -> None:
    made = falling(np.array([0.9, 0.2, 0.6, 0.1]))
    assert made.tolist() == [0.9, 0.4, 0.4, 0.1]
