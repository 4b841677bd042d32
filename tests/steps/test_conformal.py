"""Prediction sets: what they promise holds, and is withdrawn when it need not."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as some

from salon.steps.conformal import (
    WITHDRAW_AT,
    Score,
    group_quantiles,
    is_exchangeable,
    martingale,
    martingales,
    mean_size,
    p_value,
    prediction_set,
    quantile,
    scores_of,
    softmax,
)

LABELS = ("a", "b", "c")


def _people(count: int, rng: random.Random) -> list[tuple[list[float], int]]:
    """Return people whose label is drawn from probabilities, and a model that is somewhat off."""
    found = []
    for _ in range(count):
        true = softmax([rng.gauss(0, 1.5) for _ in LABELS])
        label = rng.choices(range(3), weights=true)[0]
        guess = softmax([math.log(one) * 1.6 + rng.gauss(0, 0.3) for one in true])
        found.append((guess, label))
    return found


@pytest.mark.requirement("companion/features/coverage-guarantee")
@pytest.mark.parametrize("score", ["lac", "aps"])
def test_sets_cover_nine_tenths_though_the_model_is_wrong(score: Score) -> None:
    rng = random.Random(5)
    covered = 0
    for _ in range(20):
        people = _people(600, rng)
        calibration, test = people[:300], people[300:]
        threshold = quantile([scores_of(one, score)[label] for one, label in calibration])
        covered += sum(
            LABELS[label] in prediction_set(LABELS, one, threshold, score) for one, label in test
        )
    assert covered / 6000 == pytest.approx(0.9, abs=0.02)


def test_the_quantile_is_corrected_for_a_finite_sample() -> None:
    assert quantile([float(one) for one in range(1, 100)], alpha=0.1) == 90.0
    assert quantile([1.0] * 8, alpha=0.1) == math.inf, "too few to promise anything"


def test_a_group_has_its_own_quantile_where_it_is_large_enough() -> None:
    scores = [0.1] * 60 + [0.9] * 60 + [0.5] * 5
    groups = ["early"] * 60 + ["late"] * 60 + ["rare"] * 5
    found = group_quantiles(scores, groups)
    assert found["early"] == 0.1
    assert found["late"] == 0.9
    assert "rare" not in found
    assert found[""] == 0.9


def test_a_set_is_never_empty() -> None:
    assert prediction_set(LABELS, [0.2, 0.5, 0.3], 0.01) == ("b",)
    assert prediction_set(LABELS, [0.2, 0.5, 0.3], math.inf) == LABELS


def test_aps_counts_all_that_is_at_least_as_probable() -> None:
    assert scores_of([0.2, 0.5, 0.3], "aps") == pytest.approx([1.0, 0.5, 0.8])


def test_the_p_value_counts_the_new_score_too() -> None:
    assert p_value(0.5, [0.1, 0.4, 0.5, 0.9]) == pytest.approx(3 / 5)
    assert p_value(9.0, [0.1] * 9) == pytest.approx(1 / 10)


def test_the_martingale_stays_low_for_usual_people_and_grows_for_strange_ones() -> None:
    rng = random.Random(3)
    assert martingale([]) == 1.0
    assert martingale([rng.random() for _ in range(50)]) < WITHDRAW_AT
    assert martingale([0.01] * 6) > WITHDRAW_AT
    assert is_exchangeable(())
    assert not is_exchangeable([0.01] * 6)


def test_the_martingale_of_a_beginning_does_not_depend_on_what_follows() -> None:
    values = [0.4, 0.02, 0.7, 0.01]
    assert martingales(values)[:2] == martingales(values[:2])
    assert martingale(values) == martingales(values)[-1]


def test_a_promise_that_was_withdrawn_is_not_given_again_in_the_same_conversation() -> None:
    assert not is_exchangeable([0.005] * 6 + [0.9] * 40)


def test_usual_conversations_lose_the_promise_in_at_most_one_of_twenty() -> None:
    rng = random.Random(11)
    lost = sum(not is_exchangeable([rng.random() for _ in range(12)]) for _ in range(200))
    assert lost / 200 <= 0.05


@given(some.lists(some.floats(min_value=-50, max_value=50), min_size=1, max_size=8))
def test_softmax_gives_probabilities(values: list[float]) -> None:
    assert sum(softmax(values)) == pytest.approx(1)


def test_the_mean_size_of_no_sets_is_none_at_all() -> None:
    assert mean_size({}) == 0
    assert mean_size({"x": ("a",), "y": ("a", "b")}) == 1.5
