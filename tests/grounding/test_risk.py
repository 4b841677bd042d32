"""Thresholds that keep a promise about wrong answers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.grounding.risk import Judged, find_threshold, risk_curve, upper_bound

JUDGED = st.lists(
    st.builds(Judged, score=st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]), is_right=st.booleans()),
    max_size=80,
)


def _asked(*parts: tuple[float, bool, int]) -> list[Judged]:
    return [Judged(score=score, is_right=right) for score, right, n in parts for _ in range(n)]


def test_without_mistakes_a_bound_is_where_chance_would_hide_them() -> None:
    assert upper_bound(0, 22, 0.1) == pytest.approx(1 - 0.1 ** (1 / 22))
    assert upper_bound(0, 0) == upper_bound(5, 5) == 1.0


@given(st.integers(0, 40), st.integers(1, 60))
def test_a_bound_lies_above_the_rate_and_grows_with_mistakes(wrong: int, right: int) -> None:
    answered = wrong + right
    assert wrong / answered < upper_bound(wrong, answered) <= 1
    assert upper_bound(wrong, answered) <= upper_bound(wrong + 1, answered) + 1e-9
    assert upper_bound(wrong, answered, 0.5) <= upper_bound(wrong, answered, 0.05)


@given(JUDGED)
def test_the_curve_answers_more_and_more(judged: list[Judged]) -> None:
    curve = risk_curve(judged)
    assert [one.threshold for one in curve] == sorted({one.score for one in judged}, reverse=True)
    for point in curve:
        given_answers = [one for one in judged if one.score >= point.threshold]
        assert point.answered == len(given_answers)
        assert point.wrong == sum(not one.is_right for one in given_answers)
    assert not curve or curve[-1].coverage == 1


@given(JUDGED)
def test_a_threshold_keeps_its_bound(judged: list[Judged]) -> None:
    found = find_threshold(judged, alpha=0.3)
    assert found is None or upper_bound(found.wrong, found.answered) <= 0.3


def test_the_loosest_threshold_that_holds_is_found() -> None:
    judged = _asked((0.9, True, 60), (0.6, True, 50), (0.6, False, 1), (0.2, False, 80))
    found = find_threshold(judged)
    assert found is not None
    assert (found.threshold, found.answered, found.wrong) == (0.6, 111, 1)
    assert found.coverage == pytest.approx(111 / 191)
    assert found.risk == pytest.approx(1 / 111)


def test_nothing_is_promised_on_too_little() -> None:
    fewest = math.ceil(math.log(0.1 / 3) / math.log(0.9))
    assert find_threshold(_asked((0.9, True, fewest - 1))) is None
    assert find_threshold(_asked((0.9, True, fewest))) is not None
    assert find_threshold([]) is None
    assert find_threshold(_asked((0.9, False, 50), (0.5, True, 500))) is None


def test_the_promise_holds_on_new_questions_as_often_as_it_says() -> None:
    random = np.random.default_rng(0)

    def ask(count: int) -> list[Judged]:
        scores = random.random(count)
        return [
            Judged(score=float(score), is_right=bool(random.random() < score)) for score in scores
        ]

    found = [find_threshold(ask(1_000), alpha=0.2) for _ in range(100)]
    promised = [one for one in found if one is not None]
    # At a threshold t, an answer is wrong with the mean of 1 - score above it.
    broken = [one for one in promised if (1 - one.threshold) / 2 > 0.2]
    assert len(promised) > 90
    assert len(broken) <= 10
    assert np.median([one.threshold for one in promised]) < 0.7
