import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.retrieval.ranking.calibration import Curve, as_probabilities, curve_between, fit_curve


def _drawn(
    start: float, slopes: list[float], size: int = 20_000
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return evidence, outcomes drawn from a known curve, and equal importance."""
    random = np.random.default_rng(7)
    evidence = random.normal(size=(size, len(slopes)))
    chances = as_probabilities(start + evidence @ np.array(slopes))
    return evidence, (random.random(size) < chances).astype(float), np.ones(size)


def test_fitting_recovers_the_curve_that_outcomes_were_drawn_from() -> None:
    found = fit_curve(*_drawn(-1.0, [2.0, 0.5]))

    assert found.start == pytest.approx(-1.0, abs=0.08)
    assert found.slopes == pytest.approx((2.0, 0.5), abs=0.08)


def test_evidence_that_speaks_against_relevance_gets_no_slope() -> None:
    found = fit_curve(*_drawn(0.0, [1.0, -1.0]))

    assert found.slopes[1] == 0.0
    assert found.slopes[0] > 0.5


def test_without_useful_evidence_the_curve_is_flat_at_the_rate_of_outcomes() -> None:
    evidence, _, importance = _drawn(0.0, [1.0])
    outcomes = (evidence[:, 0] < -0.5).astype(float)

    found = fit_curve(evidence, outcomes, importance)

    assert found.slopes == (0.0,)
    assert as_probabilities(np.array([found.start]))[0] == pytest.approx(outcomes.mean(), abs=1e-4)


def test_importance_counts_as_repetition_does() -> None:
    evidence, outcomes, _ = _drawn(-0.5, [1.5], size=300)
    twice = np.arange(300) % 3 == 0

    weighed = fit_curve(evidence, outcomes, np.where(twice, 2.0, 1.0))
    repeated = fit_curve(
        np.concatenate([evidence, evidence[twice]]),
        np.concatenate([outcomes, outcomes[twice]]),
        np.ones(300 + twice.sum()),
    )

    assert weighed.start == pytest.approx(repeated.start, abs=1e-5)
    assert weighed.slopes == pytest.approx(repeated.slopes, abs=1e-5)


def test_outcomes_without_exception_give_a_steep_and_finite_curve() -> None:
    evidence = np.linspace(0, 1, 50)[:, None]
    outcomes = (evidence[:, 0] > 0.6).astype(float)

    found = fit_curve(evidence, outcomes, np.ones(50))

    assert np.isfinite([found.start, *found.slopes]).all()
    assert found.slopes[0] > 20


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_probabilities_lie_between_0_and_1_and_keep_the_order(log_odds: list[float]) -> None:
    found = as_probabilities(np.sort(np.array(log_odds)))

    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found) >= 0).all()


def test_the_curve_of_an_alpha_in_between_is_in_between() -> None:
    curves = (Curve(start=-2.0, slopes=(1.0, 0.0)), Curve(start=-4.0, slopes=(3.0, 8.0)))

    found = curve_between((0.0, 0.5), curves, 0.25)

    assert found == Curve(start=-3.0, slopes=(2.0, 4.0))
    assert curve_between((0.0, 0.5), curves, 0.0) == curves[0]
    assert curve_between((0.0, 0.5), curves, 0.5) == curves[1]
