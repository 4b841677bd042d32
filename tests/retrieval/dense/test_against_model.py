"""Every vector index against a dictionary that is searched by brute force."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from salon.core.embedding import Vector
from salon.core.indexes import PassageId, VectorIndex
from tests.archive.scratch import scratch_folder
from tests.retrieval.dense.backends import BACKENDS, Place, card, unit_rows

CARDS = 6
# Few vectors, so that equal scores are common; of those kinds no two score within a float16's
# rounding of each other, so that the right order is known.
POOL = unit_rows(7, seed=3)
QUERIES = [
    query for query in unit_rows(60, seed=12) if np.diff(np.sort(POOL @ query)).min() > 0.02
][:4]


@dataclass(slots=True)
class BruteForce:
    """The right answers."""

    held: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Passage to its card and its vector in the pool."""

    def remove(self, cards: list[int]) -> None:
        self.held = {n: where for n, where in self.held.items() if where[0] not in cards}

    def search(self, query: Vector, limit: int, cards: list[int] | None) -> list[int]:
        scores = (POOL @ query).tolist()
        allowed = [n for n, (owner, _) in self.held.items() if cards is None or owner in cards]
        return sorted(allowed, key=lambda n: (-scores[self.held[n][1]], n))[:limit]


passages = st.tuples(st.integers(0, 40), st.integers(0, CARDS - 1), st.integers(0, len(POOL) - 1))
some_cards = st.lists(st.integers(0, CARDS), max_size=4)
steps = st.one_of(
    st.tuples(st.just("add"), st.lists(passages, max_size=12)),
    st.tuples(st.just("remove"), some_cards),
    st.tuples(st.just("compact"), st.none()),
    st.tuples(st.just("clear"), st.none()),
    st.tuples(st.just("reopen"), st.none()),
    st.tuples(
        st.just("search"),
        st.tuples(st.integers(0, len(QUERIES) - 1), st.integers(1, 50), st.none() | some_cards),
    ),
)


@pytest.mark.parametrize("name", sorted(n for n, found in BACKENDS.items() if found.exact))
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(script=st.lists(steps, min_size=3, max_size=14))
def test_any_sequence_of_changes_is_answered_as_by_brute_force(
    name: str, script: list[tuple[str, object]]
) -> None:
    with scratch_folder() as folder:
        place = Place(name, folder)
        try:
            for index, model in _play(place, script):
                _compare(index, model)
        finally:
            place.close()


def _play(
    place: Place, script: list[tuple[str, object]]
) -> Iterator[tuple[VectorIndex, BruteForce]]:
    """Do each step to both, and yield them after each commit."""
    index, model = place.open(), BruteForce()
    for what, how in script:
        if what == "search":
            _search(index, model, *how)  # type: ignore[misc]
            continue
        if what == "reopen":
            index.close()
            index = place.open()
        elif what == "clear":
            index.clear()
            model.held.clear()
        elif what == "compact":
            index.compact()
        elif what == "remove":
            index.remove([card(n) for n in how])  # type: ignore[attr-defined]
            model.remove(how)  # type: ignore[arg-type]
        else:
            _add(index, model, how)  # type: ignore[arg-type]
        index.commit()
        yield index, model


def _add(index: VectorIndex, model: BruteForce, rows: list[tuple[int, int, int]]) -> None:
    vectors = POOL[[kind for _, _, kind in rows]].reshape(len(rows), POOL.shape[1])
    index.add([PassageId(n) for n, _, _ in rows], [card(owner) for _, owner, _ in rows], vectors)
    model.held.update({n: (owner, kind) for n, owner, kind in rows})


def _search(
    index: VectorIndex, model: BruteForce, query: int, limit: int, cards: list[int] | None
) -> None:
    allowed = None if cards is None else [card(n) for n in cards]
    found = index.search(QUERIES[query], limit, cards=allowed)
    assert found.ids.tolist() == model.search(QUERIES[query], limit, cards)


def _compare(index: VectorIndex, model: BruteForce) -> None:
    assert index.count() == len(model.held)
    for number in range(len(QUERIES)):
        _search(index, model, number, 5, None)
        _search(index, model, number, 50, [0, 2, 3])
    found, rows = index.vectors([PassageId(n) for n in range(41)])
    assert sorted(found) == sorted(model.held)
    expected = POOL[[model.held[n][1] for n in found]].reshape(rows.shape)
    np.testing.assert_allclose(rows, expected, atol=2e-3)
