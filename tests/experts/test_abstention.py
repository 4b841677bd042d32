"""When to answer: the shipped model and its thresholds."""

import pytest

from salon.experts.abstention import Abstention, shipped
from salon.experts.evidence import Signs


def _signs(best: float, passage: float = 0.5) -> Signs:
    return Signs(
        best=best, second=best / 2, passage=passage, next_passage=passage / 2, covered=best
    )


def test_better_signs_make_an_answer_more_probable() -> None:
    model = shipped()
    weak, strong = (model.probability(_signs(best, best)) for best in (0.05, 0.95))
    assert 0 < weak < strong < 1


def test_extreme_signs_are_still_probabilities() -> None:
    assert 0 <= shipped().probability(_signs(0.0, 0.0)) <= 1
    assert 0 <= shipped().probability(_signs(1.0, 1.0)) <= 1


def test_a_stricter_promise_needs_a_higher_threshold() -> None:
    model = shipped()
    alphas = sorted(model.thresholds)
    values = [model.thresholds[alpha] for alpha in alphas]
    assert values == sorted(values, reverse=True)
    assert 0.1 in alphas


@pytest.mark.parametrize(("alpha", "threshold"), [(0.1, 0.8), (0.15, 0.8), (0.2, 0.6), (0.05, 1.0)])
def test_an_alpha_that_is_not_known_takes_the_next_stricter(alpha: float, threshold: float) -> None:
    model = Abstention(weights={}, thresholds={0.1: 0.8, 0.2: 0.6}, fitted_on="a test")
    assert model.threshold(alpha) == threshold
