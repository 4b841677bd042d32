"""How evidence adds up."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from salon.steps.bayes import (
    PRIOR,
    loosen,
    ranked,
    shares,
    update_belief,
    update_counts,
    variance_of,
)
from salon.steps.feature_values import Belief

share = some.floats(min_value=0, max_value=1)


def test_precisions_add_as_the_source_has_it() -> None:
    after = update_belief(PRIOR, 0.9, 0.8)
    precision = 1 / 0.7 + 1 / 0.2
    assert after.mean == pytest.approx((0.5 / 0.7 + 0.9 / 0.2) / precision, abs=1e-6)
    assert after.confidence == pytest.approx(1 - 1 / precision, abs=1e-6)


def test_no_evidence_is_surer_than_the_least_variance() -> None:
    assert variance_of(1.0) == 1e-3
    assert variance_of(0.3) == 0.7


@given(share, share, some.floats(min_value=0.01, max_value=1))
def test_a_reading_moves_the_mean_toward_itself_and_never_loosens(
    value: float, confidence: float, weight: float
) -> None:
    after = update_belief(PRIOR, value, confidence, weight=weight)
    low, high = sorted((PRIOR.mean, value))
    assert low - 1e-6 <= after.mean <= high + 1e-6
    assert after.confidence >= PRIOR.confidence


def test_a_hundred_weak_readings_are_worth_less_than_one_statement() -> None:
    weak = PRIOR
    for number in range(100):
        weak = update_belief(weak, 0.9, 0.3, weight=0.04 / (number + 1))
    assert weak.confidence < update_belief(PRIOR, 0.9, 0.8).confidence
    assert weak.confidence < 0.5


def test_a_belief_about_what_moves_loosens_but_not_below_the_prior() -> None:
    sure = Belief(mean=0.8, confidence=0.9)
    assert loosen(sure, 0.1) == Belief(mean=0.8, confidence=0.8)
    assert loosen(sure, 5.0).confidence == PRIOR.confidence


def test_evidence_for_another_option_halves_what_was_there_and_throws_nothing_away() -> None:
    once = update_counts({}, "yes", 0.9)
    changed = update_counts(once, "no", 0.9)
    assert once == {"yes": 9.0}
    assert changed == {"yes": 4.5, "no": 9.0}
    assert ranked(shares(changed, ("no", "sometimes", "yes")))[0] == "no"


def test_of_a_mixture_nothing_fades() -> None:
    assert update_counts({"hugs": 3.0}, "time", 0.5, is_mixed=True) == {"hugs": 3.0, "time": 1.0}


@given(some.lists(some.tuples(some.sampled_from(["a", "b", "c"]), share), max_size=12))
def test_shares_are_probabilities_whatever_was_seen(seen: list[tuple[str, float]]) -> None:
    counts: dict[str, float] = {}
    for option, confidence in seen:
        counts = update_counts(counts, option, confidence)
    found = shares(counts, ("a", "b", "c"))
    assert sum(found.values()) == pytest.approx(1, abs=1e-5)
    assert min(found.values()) > 0


def test_one_statement_is_about_as_sure_as_its_confidence() -> None:
    found = shares(update_counts({}, "vegan", 0.9), ("omnivore", "vegetarian", "vegan", "other"))
    assert found["vegan"] == pytest.approx(0.925)
