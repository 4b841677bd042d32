"""Looking ahead: the chain's arithmetic, and what it does not claim."""

import pytest

from salon.core.errors import InvalidInput
from salon.steps.feature_list import STATUSES
from salon.steps.outlook import look_ahead

STRANGER = {"stranger": 1.0}


def test_one_step_is_the_chance_itself() -> None:
    found = look_ahead(STRANGER, 0.3, from_turn=45, to_turn=50)
    assert found.steps == 1
    assert found.likeliest == "stranger"
    assert found.probabilities["acquaintance"] == 0.3


def test_nine_steps_follow_the_binomial_law() -> None:
    found = look_ahead(STRANGER, 0.3, from_turn=5, to_turn=50)
    assert found.steps == 9
    assert found.probabilities["stranger"] == pytest.approx(0.7**9, abs=1e-6)
    assert found.probabilities["acquaintance"] == pytest.approx(9 * 0.7**8 * 0.3, abs=1e-6)
    assert sum(found.probabilities.values()) == pytest.approx(1.0, abs=1e-5)


def test_the_set_holds_nine_tenths_and_no_status_too_many() -> None:
    found = look_ahead(STRANGER, 0.3, from_turn=5, to_turn=50)
    smallest = min(found.probabilities[one] for one in found.prediction_set)
    assert found.share >= 0.9
    assert found.share - smallest < 0.9
    assert list(found.prediction_set) == [one for one in STATUSES if one in found.prediction_set]


def test_doubt_grows_with_the_way_and_the_last_status_is_an_end() -> None:
    sizes = [
        len(look_ahead(STRANGER, 0.3, from_turn=turn, to_turn=50).prediction_set)
        for turn in (45, 35, 5)
    ]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    sure = look_ahead({"committed": 1.0}, 0.0, from_turn=5, to_turn=50)
    assert sure.prediction_set == ("committed",)


def test_other_chances_are_told_beside_the_present_ones() -> None:
    found = look_ahead(STRANGER, 0.3, from_turn=5, to_turn=50)
    assert found.otherwise == {
        "favourable": "committed",
        "usual": "committed",
        "unfavourable": "stranger",
    }


def test_a_spread_is_taken_as_it_is_and_made_whole() -> None:
    found = look_ahead({"stranger": 2.0, "dating": 2.0}, 0.3, from_turn=48, to_turn=50)
    assert found.probabilities["stranger"] == pytest.approx(0.35)
    assert found.probabilities["committed"] == pytest.approx(0.15)


def test_what_the_reading_rules_out_is_never_reached() -> None:
    minor = {"stranger": 0.6, "acquaintance": 0.4, "crush": 0.0, "dating": 0.0, "committed": 0.0}
    found = look_ahead(minor, 0.6, from_turn=5, to_turn=50)
    assert found.likeliest == "acquaintance"
    assert set(found.prediction_set) == {"acquaintance"}
    assert found.probabilities["crush"] == 0.0
    assert set(found.otherwise.values()) <= {"stranger", "acquaintance"}


def test_the_past_is_not_ahead() -> None:
    with pytest.raises(InvalidInput, match="not ahead"):
        look_ahead(STRANGER, 0.3, from_turn=50, to_turn=50)
