"""What every vector index does alike: what it takes in, finds, forgets and refuses."""

import numpy as np
import pytest

from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.core.errors import InvalidInput, ModelMismatch
from salon.core.indexes import PassageId, Ranking, VectorIndex
from tests.retrieval.dense.backends import (
    DIMENSIONS,
    MODEL,
    RETRAINED,
    WIDER,
    Place,
    card,
    fill,
    unit_rows,
)

QUERY = unit_rows(1, seed=99)[0]
ROUNDING = 2e-3
"""How far a score may be from the exact one: vectors may be kept as float16."""


def nearest(rows: Vectors, query: Vector) -> list[int]:
    return [int(n) for n in np.argsort(-(rows @ query), kind="stable")]


def in_place(index: VectorIndex, ids: list[int]) -> dict[int, Vector]:
    found, rows = index.vectors([PassageId(n) for n in ids])
    assert rows.shape == (len(found), index.model.dimensions)
    assert rows.dtype == np.float32
    return dict(zip(found, rows, strict=True))


def assert_ranked(rows: Vectors, found: Ranking, best: list[int]) -> None:
    """Passages whose scores are apart by no more than rounding may be in either order."""
    scores = rows @ QUERY
    assert len(set(found.ids.tolist())) == len(best)
    np.testing.assert_allclose(scores[found.ids], scores[best], atol=ROUNDING)


def assert_nothing(found: Ranking) -> None:
    assert found.ids.shape == found.scores.shape == (0,)


@pytest.mark.requirement("cap/flow/vector-store", "sdk/connection/postgres-store")
def test_a_search_ranks_by_cosine_best_first(index: VectorIndex) -> None:
    rows = fill(index, 50)
    found = index.search(QUERY, 10)
    assert found.ids.dtype == np.int64
    assert found.scores.dtype == np.float32
    assert_ranked(rows, found, nearest(rows, QUERY)[:10])
    np.testing.assert_allclose(found.scores, (rows @ QUERY)[found.ids], atol=ROUNDING)
    assert (np.diff(found.scores) <= 0).all()


def test_a_limit_beyond_the_count_returns_all(index: VectorIndex) -> None:
    rows = fill(index, 7)
    assert_ranked(rows, index.search(QUERY, 1000), nearest(rows, QUERY))


def test_an_empty_index_finds_nothing(index: VectorIndex) -> None:
    assert index.count() == 0
    assert_nothing(index.search(QUERY, 5))
    assert_nothing(index.search(QUERY, 5, cards=[card(1)]))
    assert in_place(index, [1, 2]) == {}
    index.commit()
    index.compact()
    assert index.count() == 0


def test_an_addition_of_nothing_changes_nothing(index: VectorIndex) -> None:
    index.add([], [], np.empty((0, DIMENSIONS), dtype=np.float32))
    index.remove([])
    index.commit()
    assert index.count() == 0


def test_equal_scores_are_ordered_by_id(index: VectorIndex) -> None:
    ids = [9, 3, 2**62 + 5, 7, 1, 8]
    same = np.repeat(unit_rows(1, seed=3), len(ids), axis=0)
    index.add([PassageId(n) for n in ids], [card(n % 5) for n in ids], same)
    index.commit()
    assert index.search(QUERY, 10).ids.tolist() == sorted(ids)


def test_of_equal_scores_at_the_limit_the_lowest_ids_stay(place: Place) -> None:
    if not place.backend.exact:
        pytest.skip("an approximate engine may return any of the equals")
    index = place.open()
    same = np.repeat(unit_rows(1, seed=3), 200, axis=0)
    ids = np.random.default_rng(4).permutation(200).tolist()
    index.add([PassageId(n) for n in ids], [card(n % 5) for n in ids], same)
    index.commit()
    assert index.search(QUERY, 4).ids.tolist() == [0, 1, 2, 3]
    assert index.search(QUERY, 3, cards=[card(2), card(4)]).ids.tolist() == [2, 4, 7]


def test_adding_an_id_again_replaces_it(index: VectorIndex) -> None:
    fill(index, 10)
    changed = unit_rows(1, seed=42)
    index.add([PassageId(4)], [card(77)], changed)
    index.commit()
    assert index.count() == 10
    np.testing.assert_allclose(in_place(index, [4])[4], changed[0], atol=ROUNDING)
    assert index.search(changed[0], 1).ids.tolist() == [4]
    assert index.search(QUERY, 10, cards=[card(77)]).ids.tolist() == [4]
    assert index.search(QUERY, 10, cards=[card(2)]).ids.tolist() == [5]


def test_the_last_of_equal_ids_in_one_addition_counts(index: VectorIndex) -> None:
    rows = unit_rows(3, seed=8)
    index.add([PassageId(1), PassageId(2), PassageId(1)], [card(1), card(1), card(3)], rows)
    index.add([PassageId(2)], [card(4)], rows[:1])
    index.commit()
    assert index.count() == 2
    held = in_place(index, [1, 2])
    np.testing.assert_allclose(held[1], rows[2], atol=ROUNDING)
    np.testing.assert_allclose(held[2], rows[0], atol=ROUNDING)
    assert_nothing(index.search(QUERY, 5, cards=[card(1)]))


def test_a_removed_card_is_not_found_any_more(index: VectorIndex) -> None:
    rows = fill(index, 40)
    index.remove([card(0), card(3), card(12345)])
    index.commit()
    gone = {0, 1, 6, 7}
    assert index.count() == 36
    left = [n for n in nearest(rows, QUERY) if n not in gone]
    assert_ranked(rows, index.search(QUERY, 100), left)
    assert set(in_place(index, list(range(8)))) == {2, 3, 4, 5}
    assert_nothing(index.search(QUERY, 5, cards=[card(0)]))


def test_a_removed_card_may_come_back(index: VectorIndex) -> None:
    rows = fill(index, 10)
    index.remove([card(1)])
    index.add([PassageId(2)], [card(1)], rows[2:3])
    index.commit()
    assert index.search(QUERY, 10, cards=[card(1)]).ids.tolist() == [2]
    index.remove([card(1)])
    index.commit()
    index.add([PassageId(3)], [card(1)], rows[3:4])
    index.commit()
    assert index.search(QUERY, 10, cards=[card(1)]).ids.tolist() == [3]
    assert index.count() == 9


def test_what_is_added_and_removed_before_a_commit_never_was(index: VectorIndex) -> None:
    fill(index, 4)
    index.add([PassageId(50)], [card(50)], unit_rows(1, seed=1))
    index.remove([card(50)])
    index.commit()
    assert index.count() == 4
    assert in_place(index, [50]) == {}


def test_a_filter_returns_the_best_of_its_cards_and_no_other(index: VectorIndex) -> None:
    rows = fill(index, 200, per_card=4)
    for cards in ([card(3)], [card(n) for n in range(0, 50, 7)], [card(n) for n in range(50)]):
        allowed = {int(c, 16) for c in cards}
        best = [n for n in nearest(rows, QUERY) if n // 4 in allowed]
        assert_ranked(rows, index.search(QUERY, 10, cards=cards), best[:10])
        assert_ranked(rows, index.search(QUERY, 1000, cards=frozenset(cards)), best)


def test_a_filter_of_no_known_card_finds_nothing(index: VectorIndex) -> None:
    fill(index, 10)
    assert_nothing(index.search(QUERY, 5, cards=[]))
    assert_nothing(index.search(QUERY, 5, cards={card(999)}))
    assert len(index.search(QUERY, 5, cards={card(999), card(1)}).ids) == 2


def test_vectors_come_back_for_the_ids_that_are_here(index: VectorIndex) -> None:
    rows = fill(index, 20)
    held = in_place(index, [19, 500, 3, 2**62])
    assert set(held) == {3, 19}
    for number, row in held.items():
        np.testing.assert_allclose(row, rows[number], atol=ROUNDING)
    assert in_place(index, []) == {}


def test_nothing_is_seen_before_commit(place: Place) -> None:
    if not place.backend.whole_commits:
        pytest.skip("this engine shows parts of a change early")
    index = place.open()
    rows = fill(index, 10)
    index.add([PassageId(3), PassageId(90)], [card(60), card(61)], unit_rows(2, seed=6))
    index.remove([card(0)])
    assert index.count() == 10
    assert_ranked(rows, index.search(QUERY, 20), nearest(rows, QUERY))
    assert set(in_place(index, [0, 3, 90])) == {0, 3}
    index.commit()
    assert index.count() == 9
    assert set(in_place(index, [0, 3, 90])) == {3, 90}


def test_what_was_committed_is_there_when_opened_again(place: Place) -> None:
    index = place.open()
    rows = fill(index, 30)
    index.remove([card(2)])
    index.commit()
    index.close()
    again = place.open()
    assert again.model == MODEL
    assert again.count() == 28
    left = [n for n in nearest(rows, QUERY) if n not in {4, 5}]
    assert_ranked(rows, again.search(QUERY, 50), left)
    fill(again, 4, first=100, seed=2)
    assert again.count() == 32


def test_a_cleared_index_is_empty_and_takes_in_again(place: Place) -> None:
    index = place.open()
    fill(index, 30)
    index.clear()
    assert index.count() == 0
    assert_nothing(index.search(QUERY, 5))
    assert in_place(index, [1]) == {}
    rows = fill(index, 5, seed=3)
    assert_ranked(rows, index.search(QUERY, 50), nearest(rows, QUERY))
    index.close()
    assert place.open().count() == 5


def test_a_clearing_also_forgets_what_was_not_committed_yet(index: VectorIndex) -> None:
    index.add([PassageId(1)], [card(1)], unit_rows(1, seed=1))
    index.clear()
    index.commit()
    assert index.count() == 0


def test_compacting_keeps_all_that_is_left(place: Place) -> None:
    index = place.open()
    rows = fill(index, 60)
    index.remove([card(n) for n in range(10)])
    index.commit()
    before = index.search(QUERY, 100)
    index.compact()
    after = index.search(QUERY, 100)
    assert after.ids.tolist() == before.ids.tolist()
    assert index.count() == 40
    assert index.search(QUERY, 5, cards=[card(15)]).ids.tolist() == [
        n for n in nearest(rows, QUERY) if n in {30, 31}
    ]
    fill(index, 2, first=500, seed=9)
    index.close()
    assert place.open().count() == 42


@pytest.mark.parametrize("other", [RETRAINED, WIDER], ids=["retrained", "wider"])
def test_an_index_of_another_model_is_refused_until_it_is_cleared(
    place: Place, other: EmbeddingModel
) -> None:
    first = place.open()
    fill(first, 5)
    first.close()
    index = place.open(other)
    row = unit_rows(1, seed=1, dimensions=other.dimensions)
    with pytest.raises(ModelMismatch, match="of test:small@aaaa"):
        index.search(row[0], 1)
    with pytest.raises(ModelMismatch):
        index.vectors([PassageId(1)])
    with pytest.raises(ModelMismatch):
        index.add([PassageId(1)], [card(1)], row)
    with pytest.raises(ModelMismatch):
        index.remove([card(1)])
    with pytest.raises(ModelMismatch):
        index.count()
    assert place.open().count() == 5
    index.clear()
    index.add([PassageId(1)], [card(1)], row)
    index.commit()
    assert index.model == other
    assert index.search(row[0], 3).ids.tolist() == [1]
    index.close()
    with pytest.raises(ModelMismatch, match="not of test:small@aaaa"):
        place.open().search(QUERY, 1)


@pytest.mark.parametrize(
    "vector",
    [
        unit_rows(1, seed=1, dimensions=DIMENSIONS + 1)[0],
        unit_rows(1, seed=1),
        np.full(DIMENSIONS, np.nan, dtype=np.float32),
        np.full(DIMENSIONS, np.inf, dtype=np.float32),
        np.full(DIMENSIONS, 0.3, dtype=np.float32),
    ],
    ids=["too many", "a matrix", "not a number", "infinite", "longer than a unit"],
)
def test_what_is_no_vector_is_refused(index: VectorIndex, vector: Vector) -> None:
    fill(index, 3)
    with pytest.raises(InvalidInput):
        index.search(vector, 1)
    with pytest.raises(InvalidInput):
        index.add([PassageId(9)], [card(9)], vector[np.newaxis])
    index.commit()
    assert index.count() == 3


def test_a_search_for_no_passages_is_refused(index: VectorIndex) -> None:
    with pytest.raises(InvalidInput):
        index.search(QUERY, 0)


def test_unequal_numbers_of_ids_cards_and_vectors_are_refused(index: VectorIndex) -> None:
    with pytest.raises(InvalidInput):
        index.add([PassageId(1), PassageId(2)], [card(1), card(2)], unit_rows(1, seed=1))
    index.commit()
    assert index.count() == 0


def test_closing_twice_is_harmless(index: VectorIndex) -> None:
    fill(index, 3)
    index.close()
    index.close()
