"""Which features are likely to change: the source's numbers, and probabilities that stay such."""

from itertools import product

import pytest

from salon.blackboard.slots import Past
from salon.blackboard.triggers import Every
from salon.blackboard.view import BoardView, declared
from salon.core.absent import Absent
from salon.steps.emotion import EMOTION
from salon.steps.feature_changes import TRANSITIONS
from salon.steps.feature_list import BIG_FIVE, STATUSES
from salon.steps.features import FEATURES
from salon.steps.memory_write import MEMORY_WRITE
from salon.steps.relationship import RELATIONSHIP
from salon.steps.transitions import CHANGE_PROBS, STEP, change_probability, predict_changes
from tests.steps.trait_talk import Talk, feeling

TRENDS = ("improving", "declining", "stable")


def _chance(feature: str, trend: str = "stable", status: str | None = None) -> float:
    return change_probability(feature, trend=trend, status=status, memory=False)


@pytest.mark.requirement("companion/transitions/base-personality")
def test_personality_hardly_changes() -> None:
    assert all(_chance(one) == 0.02 for one in BIG_FIVE)
    assert _chance("mbti_type") == 0.01


@pytest.mark.requirement("companion/transitions/base-trust")
def test_trust_changes_most() -> None:
    assert _chance("trust_score") == 0.70
    assert _chance("trust_velocity") == 0.60


@pytest.mark.requirement("companion/transitions/base-attachment")
def test_attachment_changes_slowly() -> None:
    assert _chance("attachment_anxiety") == 0.15
    assert _chance("attachment_avoidance") == 0.10


@pytest.mark.requirement("companion/transitions/base-love-languages")
def test_love_languages_are_moderately_stable() -> None:
    assert _chance("primary_love_language") == 0.05
    assert _chance("secondary_love_language") == 0.08


@pytest.mark.requirement("companion/transitions/probabilities", "companion/transitions/directions")
@pytest.mark.parametrize(
    ("trend", "status", "memory"), list(product(TRENDS, (None, *STATUSES), (True, False)))
)
def test_whatever_is_adjusted_a_probability_stays_one(
    trend: str, status: str | None, memory: bool
) -> None:
    found = predict_changes(trend=trend, status=status, memory=memory, velocity=-0.1)
    assert set(found.change_probability) == set(CHANGE_PROBS)
    assert all(0 <= one <= 1 for one in found.change_probability.values())
    assert set(found.predicted_direction.values()) <= {"+", "-", "0"}
    assert set(found.predicted_direction) == set(found.likely_to_change)


@pytest.mark.requirement("companion/transitions/likely-or-stable", "companion/transitions/output")
def test_a_feature_is_likely_to_change_or_stable_never_both() -> None:
    found = predict_changes(trend="declining", status="crush", memory=True)
    assert not set(found.likely_to_change) & set(found.stable_features)
    assert set(found.likely_to_change) | set(found.stable_features) == set(CHANGE_PROBS)
    assert found.change_probability["trust_score"] == 1.0, "0.95 times 1.3 is cut"


def test_adjustments_are_those_of_the_source() -> None:
    assert _chance("trust_score", "improving") == 0.9
    assert _chance("trust_score", "declining") == 0.95
    assert _chance("sentiment_label", "improving") == 0.7
    assert _chance("attachment_anxiety", status="dating") == 0.25
    assert _chance("relationship_status", status="committed") == 0.05
    with_memory = change_probability("mbti_type", trend="stable", status=None, memory=True)
    assert with_memory == 0.013


def test_directions_follow_the_trend_and_then_the_history() -> None:
    up = predict_changes(trend="improving", status=None, memory=False)
    assert up.predicted_direction["trust_score"] == "+"
    down = predict_changes(trend="declining", status=None, memory=False)
    assert down.predicted_direction["sentiment_label"] == "-"
    level = predict_changes(trend="stable", status=None, memory=False, velocity=-0.2)
    assert level.predicted_direction["trust_score"] == "-"
    assert level.predicted_direction["sentiment_label"] == "0"
    still = predict_changes(trend="stable", status=None, memory=False)
    assert still.predicted_direction["trust_velocity"] == "0"
    rising = predict_changes(trend="stable", status=None, memory=False, velocity=0.1)
    assert rising.predicted_direction["trust_velocity"] == "+"


@pytest.mark.parametrize(("status", "sign"), [("crush", "+"), ("dating", "-")])
def test_anxiety_falls_once_two_are_together(status: str, sign: str) -> None:
    found = predict_changes(trend="stable", status=status, memory=True)
    assert found.predicted_direction["attachment_anxiety"] == sign


@pytest.mark.requirement("companion/transitions/reads", "companion/transitions/rules-only")
def test_it_reads_what_the_source_names_and_no_model() -> None:
    now = {one for one in STEP.reads if not isinstance(one, Past)}
    past = {one.slot for one in STEP.reads if isinstance(one, Past)}
    assert now == {FEATURES, EMOTION}
    assert past == {FEATURES, EMOTION, RELATIONSHIP, MEMORY_WRITE}


@pytest.mark.requirement("companion/transitions/trigger", "companion/transitions/emotion-trend")
def test_it_runs_every_third_turn_on_the_features_of_that_turn() -> None:
    assert STEP.when == Every(3)
    talk = Talk()
    for turn, valence in enumerate((-0.5, 0.0, 0.5), 1):
        talk.say(f"Turn {turn}", felt=feeling("joy", valence))
    board = talk.boards[-1]
    found = board[TRANSITIONS]
    assert not isinstance(found, Absent)
    assert found.change_probability["trust_score"] == 0.9, "feelings improve"
    begun = board.times
    assert begun["transitions"].began_s >= begun["features"].began_s + begun["features"].took_s


def test_memory_that_was_just_written_makes_change_likelier() -> None:
    quiet, busy = Talk(), Talk()
    quiet.until(6)
    busy.until(4)
    busy.say("Hm.", wrote="store")
    busy.until(6)
    before, after = quiet.latest(TRANSITIONS), busy.latest(TRANSITIONS)
    assert after.change_probability["mbti_ei"] > before.change_probability["mbti_ei"]


def test_without_features_there_is_nothing_to_change() -> None:
    found = STEP.run(BoardView(3, declared(STEP), {}, {}))
    assert isinstance(found, Absent)
    assert "features" in found.reason
