"""Measures of rankings, calibration error and the bootstrap: by hand, and by what always holds."""

from math import log2
from random import Random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.evaluation.metrics import (
    Binning,
    average_precision,
    judged_share,
    ndcg,
    paired_bootstrap,
    percentile,
    recall,
    reciprocal_rank,
    reliability,
)

BINNINGS: tuple[Binning, ...] = get_args(Binning)
GRADES = {"a": 2, "b": 1, "c": 1, "d": 0, "e": -1}

names = st.sampled_from([f"d{number}" for number in range(12)])
rankings = st.lists(names, unique=True)
judgements = st.dictionaries(names, st.integers(-2, 3))
shares = st.floats(0, 1)
pairs = st.lists(st.tuples(shares, st.booleans()), min_size=1, max_size=60)


def test_ndcg_is_that_of_trec_eval_by_hand() -> None:
    ideal = 2 / log2(2) + 1 / log2(3) + 1 / log2(4)
    assert ndcg(["a", "b", "c"], GRADES, 10) == 1.0
    assert ndcg(["x", "b", "a"], GRADES, 10) == pytest.approx((1 / log2(3) + 2 / log2(4)) / ideal)
    assert ndcg(["d", "e", "x"], GRADES, 10) == 0.0
    # The cut counts for the ideal ranking too.
    assert ndcg(["b"], GRADES, 1) == pytest.approx(1 / 2)
    assert ndcg(["a"], GRADES, 2) == pytest.approx(2 / (2 + 1 / log2(3)))


def test_recall_reciprocal_rank_and_average_precision_by_hand() -> None:
    ranking = ["x", "b", "d", "a", "y"]
    assert recall(ranking, GRADES, 2) == pytest.approx(1 / 3)
    assert recall(ranking, GRADES, 10) == pytest.approx(2 / 3)
    assert reciprocal_rank(ranking, GRADES, 10) == 1 / 2
    assert reciprocal_rank(ranking, GRADES, 1) == 0.0
    assert average_precision(ranking, GRADES) == pytest.approx((1 / 2 + 2 / 4) / 3)
    assert judged_share(ranking, GRADES, 4) == 3 / 4
    assert judged_share([], GRADES, 4) == 0.0


def test_a_query_without_a_relevant_document_scores_nothing() -> None:
    for grades in ({}, {"a": 0, "b": -1}):
        assert ndcg(["a"], grades, 10) == 0.0
        assert recall(["a"], grades, 10) == 0.0
        assert reciprocal_rank(["a"], grades, 10) == 0.0
        assert average_precision(["a"], grades) == 0.0


@given(rankings, judgements, st.integers(1, 15))
def test_every_measure_lies_between_zero_and_one(
    ranking: list[str], grades: dict[str, int], depth: int
) -> None:
    for value in (
        ndcg(ranking, grades, depth),
        recall(ranking, grades, depth),
        reciprocal_rank(ranking, grades, depth),
        average_precision(ranking, grades),
        judged_share(ranking, grades, depth),
    ):
        assert 0 <= value <= 1 + 1e-12


@given(judgements.filter(lambda grades: any(grade > 0 for grade in grades.values())))
def test_the_ranking_by_grade_is_perfect(grades: dict[str, int]) -> None:
    best = sorted(grades, key=lambda name: -grades[name])
    assert ndcg(best, grades, 10) == pytest.approx(1)
    assert average_precision(best, grades) == pytest.approx(1)
    assert reciprocal_rank(best, grades, 10) == 1
    assert recall(best, grades, len(best)) == 1


@given(rankings.filter(lambda ranking: len(ranking) > 1), judgements, st.data())
def test_moving_a_better_document_up_never_lowers_ndcg(
    ranking: list[str], grades: dict[str, int], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(ranking) - 2))
    one, two = ranking[place], ranking[place + 1]
    if max(grades.get(two, 0), 0) < max(grades.get(one, 0), 0):
        one, two = two, one
    worse = [*ranking[:place], one, two, *ranking[place + 2 :]]
    better = [*ranking[:place], two, one, *ranking[place + 2 :]]
    for depth in (place + 1, 10):
        assert ndcg(better, grades, depth) >= ndcg(worse, grades, depth) - 1e-12


@given(rankings, judgements, st.integers(1, 10), st.integers(0, 10))
def test_a_deeper_look_never_lowers_recall(
    ranking: list[str], grades: dict[str, int], depth: int, more: int
) -> None:
    assert recall(ranking, grades, depth + more) >= recall(ranking, grades, depth)


def test_calibration_error_by_hand() -> None:
    probabilities = [0.25] * 4 + [0.85] * 4
    outcomes = [True, False, False, False, True, True, False, False]
    expected = (4 * 0.0 + 4 * 0.35) / 8
    for binning in BINNINGS:
        found = reliability(probabilities, outcomes, binning=binning)
        assert found is not None
        assert found.error == pytest.approx(expected)
        assert [(one.count, one.observed) for one in found.bins] == [(4, 0.25), (4, 0.5)]
    wide = reliability(probabilities, outcomes, binning="equal_width")
    assert wide is not None
    assert [(one.lower, one.upper) for one in wide.bins] == [(0.2, 0.3), (0.8, 0.9)]


def test_the_edges_of_equal_width_bins_are_where_they_look() -> None:
    found = reliability([0.0, 0.3, 0.7, 1.0], [False, False, True, True], binning="equal_width")
    assert found is not None
    assert [one.lower for one in found.bins] == [0.0, 0.3, 0.7, 0.9]


def test_equal_mass_bins_hold_equally_many() -> None:
    probabilities = [number / 100 for number in range(100)]
    found = reliability(probabilities, [True] * 100, binning="equal_mass")
    assert found is not None
    assert [one.count for one in found.bins] == [10] * 10


def test_there_is_no_calibration_error_without_predictions() -> None:
    assert reliability([], [], binning="equal_mass") is None


def test_what_is_no_probability_is_refused() -> None:
    for wrong in (1.01, -0.01, float("nan")):
        with pytest.raises(ValueError, match="between 0 and 1"):
            reliability([wrong], [True], binning="equal_width")
    with pytest.raises(ValueError, match="2 predictions for 1"):
        reliability([0.1, 0.2], [True], binning="equal_width")


@given(pairs, st.randoms(), st.sampled_from(BINNINGS))
def test_calibration_error_is_a_share_that_no_order_changes(
    found: list[tuple[float, bool]], random: Random, binning: Binning
) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)
    first, second = (
        reliability([p for p, _ in some], [y for _, y in some], binning=binning)
        for some in (found, shuffled)
    )
    assert first is not None
    assert second is not None
    assert 0 <= first.error <= 1
    assert first.error == pytest.approx(second.error, abs=1e-9)
    assert sum(one.count for one in first.bins) == len(found)
    assert all(one.lower <= one.predicted + 1e-9 for one in first.bins)
    assert all(one.predicted <= one.upper + 1e-9 for one in first.bins)


@given(shares, st.lists(st.booleans(), min_size=1, max_size=40))
def test_a_constant_probability_errs_by_its_distance_to_the_base_rate(
    probability: float, outcomes: list[bool]
) -> None:
    rate = sum(outcomes) / len(outcomes)
    found = reliability([probability] * len(outcomes), outcomes, binning="equal_mass")
    assert found is not None
    assert found.error == pytest.approx(abs(probability - rate), abs=1e-9)


def test_a_clear_difference_is_beyond_noise_and_a_small_one_is_not() -> None:
    ours = [0.8, 0.9, 0.7, 0.85] * 10
    theirs = [value - 0.1 for value in ours]
    clear = paired_bootstrap(ours, theirs)
    assert clear.verdict == "better"
    assert clear.mean == pytest.approx(0.1)
    assert clear.p == pytest.approx(2 / 10_001)
    assert paired_bootstrap(theirs, ours).verdict == "worse"
    noisy = paired_bootstrap([0.0, 1.0] * 10, [1.0, 0.0] * 10)
    assert (noisy.verdict, noisy.mean) == ("within noise", 0.0)
    assert noisy.low < 0 < noisy.high
    assert noisy.p > 0.5


def test_the_interval_is_about_that_of_the_normal_approximation() -> None:
    ours = [1.0] * 60 + [0.0] * 40
    found = paired_bootstrap(ours, [0.0] * 100)
    half = 1.96 * (0.6 * 0.4 / 100) ** 0.5
    assert found.low == pytest.approx(0.6 - half, abs=0.015)
    assert found.high == pytest.approx(0.6 + half, abs=0.015)


@given(st.lists(st.tuples(shares, shares), min_size=1, max_size=30))
def test_the_bootstrap_is_deterministic_and_antisymmetric(
    scores: list[tuple[float, float]],
) -> None:
    ours, theirs = [one for one, _ in scores], [two for _, two in scores]
    found = paired_bootstrap(ours, theirs, resamples=300)
    assert found == paired_bootstrap(ours, theirs, resamples=300)
    turned = paired_bootstrap(theirs, ours, resamples=300)
    assert turned.mean == pytest.approx(-found.mean)
    assert turned.low == pytest.approx(-found.high, abs=1e-9)
    assert found.low <= found.high
    assert 0 < found.p <= 1


def test_equal_systems_do_not_differ() -> None:
    same = paired_bootstrap([0.3, 0.4], [0.3, 0.4])
    assert (same.mean, same.low, same.high, same.p) == (0, 0, 0, 1)
    assert same.verdict == "within noise"


def test_percentiles_lie_between_their_neighbours() -> None:
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([0.0, 10.0], 0.99) == pytest.approx(9.9)
