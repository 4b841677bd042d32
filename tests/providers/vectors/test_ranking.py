"""Rankings of what stores find: best first, equals by id, however the store orders them."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from salon.providers.vectors.ranking import MOST_EQUALS, as_ranking, rank_with_equals

scores = st.sampled_from([0.5, 0.25, 0.125, -0.5])


@given(
    held=st.dictionaries(st.integers(0, 2**62), scores, max_size=60),
    limit=st.integers(1, 70),
    seed=st.randoms(use_true_random=False),
)
def test_the_lowest_ids_of_equals_are_found_in_whatever_order_they_come(
    held: dict[int, float], limit: int, seed: Random
) -> None:
    shuffled = list(held.items())
    seed.shuffle(shuffled)
    shuffled.sort(key=lambda pair: -pair[1])
    found = rank_with_equals(lambda count: shuffled[:count], limit)
    best = sorted(held.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]
    assert list(zip(found.ids.tolist(), found.scores.tolist(), strict=True)) == best


def test_a_store_is_asked_once_where_there_are_no_equals_at_the_limit() -> None:
    asked: list[int] = []

    def find(count: int) -> list[tuple[int, float]]:
        asked.append(count)
        return [(number, -float(number)) for number in range(count)]

    assert rank_with_equals(find, 5).ids.tolist() == [0, 1, 2, 3, 4]
    assert asked == [6]


def test_the_search_for_equals_ends() -> None:
    asked: list[int] = []

    def find(count: int) -> list[tuple[int, float]]:
        asked.append(count)
        return [(10**9 - number, 1.0) for number in range(count)]

    assert len(rank_with_equals(find, 3).ids) == 3
    assert asked[-1] <= 4 * MOST_EQUALS + 4


def test_nothing_found_is_an_empty_ranking() -> None:
    empty = as_ranking([], 4)
    assert (empty.ids.shape, empty.scores.shape) == ((0,), (0,))
