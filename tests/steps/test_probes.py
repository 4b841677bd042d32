"""Probes: questions for what is not sure, never intrusive and never twice."""

from itertools import pairwise

import pytest

from salon.blackboard.slots import Past
from salon.blackboard.triggers import Holds
from salon.blackboard.view import BoardView, declared
from salon.core.absent import Absent
from salon.steps.feature_list import FEATURES_BY_NAME, NAMES, SENSITIVE
from salon.steps.feature_update import report
from salon.steps.feature_values import Features, FeatureState
from salon.steps.features import FEATURES
from salon.steps.given import HISTORY
from salon.steps.probe_questions import FOLLOW_UPS, QUESTIONS
from salon.steps.probes import MOST, PROBES, STEP, SURE, Probes, choose, is_unsure, priority
from salon.steps.questionnaire_items import ITEMS
from tests.steps.trait_talk import Talk


def _features(**confidences: float) -> Features:
    values, sure, sets, observed = report(FeatureState())
    return Features(
        predicted_features=values,
        feature_confidences={**dict.fromkeys(sure, 0.9), **confidences},
        conformal_result=sets,
        observed=observed,
    )


def _suggested(talk: Talk) -> list[Probes]:
    found = [board[PROBES] for board in talk.boards]
    return [one for one in found if not isinstance(one, Absent)]


@pytest.mark.requirement("companion/probes/trigger")
def test_it_runs_in_the_turns_in_which_a_confidence_is_below_06() -> None:
    assert isinstance(STEP.when, Holds)
    assert STEP.when.slot == FEATURES
    assert STEP.when.latest
    assert is_unsure(_features(age=0.59))
    assert not is_unsure(_features(age=0.6))
    talk = Talk()
    talk.until(8)
    ran = [board.turn for board in talk.boards if "probes" in board.times]
    assert ran == [3, 4, 5, 6, 7, 8], "there are confidences from turn 3 on"


@pytest.mark.requirement("companion/probes/reads")
def test_it_reads_features_and_the_conversation() -> None:
    assert {FEATURES, HISTORY} <= {one for one in STEP.reads if not isinstance(one, Past)}


@pytest.mark.requirement("companion/probes/output", "companion/probes/priority")
def test_a_probe_has_a_feature_its_confidence_a_question_and_a_priority() -> None:
    talk = Talk()
    talk.until(3)
    found = talk.latest(PROBES)
    assert 1 <= len(found.items) <= MOST
    for one in found.items:
        assert one.feature in NAMES
        assert one.current_confidence == talk.latest(FEATURES).feature_confidences[one.feature]
        assert one.current_confidence < SURE
        assert one.probe_question in QUESTIONS[one.feature]
        assert 1 <= one.priority <= 5


@pytest.mark.parametrize("feature", sorted(QUESTIONS))
@pytest.mark.parametrize("confidence", [0.0, 0.3, 0.45, 0.599])
def test_priorities_are_whole_numbers_from_1_to_5(feature: str, confidence: float) -> None:
    assert priority(feature, confidence) in range(1, 6)


def test_the_less_is_known_the_more_useful_is_a_question() -> None:
    assert priority("interest_food", 0.3) < priority("interest_food", 0.55)
    assert priority("big_five_openness", 0.3) == 1


def test_no_question_comes_twice_in_sixty_turns() -> None:
    talk = Talk()
    talk.until(60)
    questions = [probe.probe_question for one in _suggested(talk) for probe in one.items]
    assert len(questions) == len(set(questions)) > 50


def test_a_question_that_was_asked_by_chance_is_not_suggested() -> None:
    first = choose(_features(age=0.3), used=frozenset(), resting=frozenset())
    second = choose(
        _features(age=0.3), used=frozenset({first[0].probe_question}), resting=frozenset()
    )
    assert second[0].probe_question != first[0].probe_question
    talk = Talk()
    talk.say("Hello.", reply=f"Hello. {QUESTIONS['big_five_openness'][0]}")
    talk.until(12)
    questions = [probe.probe_question for one in _suggested(talk) for probe in one.items]
    assert QUESTIONS["big_five_openness"][0] not in questions


def test_when_every_question_was_suggested_it_says_so() -> None:
    everything = frozenset(one for some in QUESTIONS.values() for one in some)
    assert choose(_features(age=0.1), used=everything, resting=frozenset()) == ()
    talk = Talk()
    talk.say("Hello.", reply=" ".join(sorted(everything)))
    talk.until(3)
    found = talk.boards[-1][PROBES]
    assert isinstance(found, Absent)
    assert "suggested" in found.reason


def test_nobody_is_asked_about_sensitive_things() -> None:
    assert not SENSITIVE & set(QUESTIONS)
    unsure = _features(**dict.fromkeys(SENSITIVE, 0.1))
    assert choose(unsure, used=frozenset(), resting=frozenset()) == ()
    talk = Talk()
    talk.until(40)
    assert not [p for one in _suggested(talk) for p in one.items if p.feature in SENSITIVE]


def test_there_is_a_follow_up_only_where_the_person_raised_it() -> None:
    talk = Talk()
    talk.say("I'm not religious.")
    talk.until(3)
    features = talk.latest(FEATURES)
    assert "background_religion" in features.observed
    everything = frozenset(one for some in QUESTIONS.values() for one in some)
    (found,) = choose(features, used=everything, resting=frozenset())
    assert found.feature == "background_religion"
    assert found.probe_question in FOLLOW_UPS["background_religion"]
    assert found.priority == 5


def test_nobody_is_asked_how_they_love_in_the_first_turns() -> None:
    talk = Talk()
    talk.until(8)
    early = {probe.feature for one in _suggested(talk) for probe in one.items}
    assert not early & {"attachment_anxiety", "attachment_avoidance", "primary_love_language"}
    talk.until(20)
    later = {probe.feature for one in _suggested(talk) for probe in one.items}
    assert "attachment_anxiety" in later


def test_an_item_is_suggested_only_where_it_is_likely_to_be_asked() -> None:
    talk = Talk()
    talk.until(40)
    items = {item.question for item in ITEMS}
    suggested = [[probe.probe_question for probe in one.items] for one in _suggested(talk)]
    assert len({one[0] for one in suggested} & items) > 12
    assert not {question for one in suggested for question in one[1:]} & items


def test_a_feature_is_left_in_peace_for_some_turns() -> None:
    talk = Talk()
    talk.until(30)
    seen = [{probe.feature for probe in one.items} for one in _suggested(talk)]
    for before, after in pairwise(seen):
        assert not before & after


def test_questions_are_our_own_and_those_of_items_come_first() -> None:
    for item in ITEMS:
        assert item.question in QUESTIONS[item.feature]
    every = [one for some in (*QUESTIONS.values(), *FOLLOW_UPS.values()) for one in some]
    assert len(every) == len(set(every))
    assert set(QUESTIONS) <= set(FEATURES_BY_NAME)


def test_without_features_there_is_nothing_to_ask() -> None:
    found = STEP.run(BoardView(3, declared(STEP), {}, {}))
    assert isinstance(found, Absent)
    assert "no features" in found.reason
