"""The feature step in a conversation: what it learns, what it keeps and what it promises."""

import pytest
from pydantic import TypeAdapter

from salon.blackboard.slots import Past
from salon.blackboard.triggers import Every
from salon.blackboard.view import BoardView, declared
from salon.core.absent import Absent
from salon.steps.bayes import PRIOR_CONFIDENCE
from salon.steps.emotion import EMOTION
from salon.steps.feature_list import (
    FEATURE_LIST,
    FEATURES_BY_NAME,
    LOVE_LANGUAGES,
    MBTI_TYPES,
    NAMES,
)
from salon.steps.feature_update import (
    UNKNOWN,
    Known,
    advance,
    attachment_style,
    infer_attachment,
    infer_mbti,
    report,
)
from salon.steps.feature_values import Features, FeatureState, Observation
from salon.steps.features import FEATURES, STEP, WINDOW
from salon.steps.given import HISTORY, MESSAGE
from salon.steps.memory_recall import MEMORIES
from salon.steps.questionnaire_items import ITEMS
from salon.steps.relationship import RELATIONSHIP
from tests.steps.trait_talk import STEPS, Talk, feeling, memory


def _after(*messages: str) -> Features:
    talk = Talk()
    for message in messages:
        talk.say(message)
    talk.until(-(-len(messages) // 3) * 3, "Hm.")
    return talk.latest(FEATURES)


@pytest.mark.requirement("companion/features/trigger")
def test_it_runs_every_third_turn() -> None:
    assert STEP.when == Every(3)
    talk = Talk()
    talk.go_on(7)
    ran = [board.turn for board in talk.boards if not isinstance(board[FEATURES], Absent)]
    assert ran == [3, 6]


@pytest.mark.requirement("companion/features/reads")
def test_it_reads_ten_turns_the_emotion_and_the_memories() -> None:
    assert {MESSAGE, HISTORY, EMOTION, MEMORIES} <= {
        one for one in STEP.reads if not isinstance(one, Past)
    }
    assert WINDOW == 10
    talk = Talk()
    talk.say("I'm vegan.")
    talk.go_on(11)
    talk.past[FEATURES.name] = ()  # as if it had failed until now
    talk.go_on(3)
    assert talk.latest(FEATURES).predicted_features["lifestyle_diet"] is None


@pytest.mark.requirement("companion/features/confidences")
def test_there_is_a_confidence_for_every_feature_and_the_prior_for_what_is_not_known() -> None:
    found = _after("Hello.", "How are you?", "Fine.")
    assert tuple(found.predicted_features) == tuple(found.feature_confidences) == NAMES
    assert all(0 <= one <= 1 for one in found.feature_confidences.values())
    assert found.predicted_features["lifestyle_diet"] is None
    assert found.feature_confidences["lifestyle_diet"] == PRIOR_CONFIDENCE
    assert set(found.observed) == {"trust_score", "trust_velocity", "trust_history"}


def test_statements_become_values() -> None:
    found = _after("I'm 29 and I'm vegan.", "I love hiking.", "My brother smokes, I don't smoke.")
    assert found.predicted_features["age"] == 29
    assert found.predicted_features["lifestyle_diet"] == "vegan"
    assert found.predicted_features["lifestyle_smokes"] == "no"
    outdoors = found.predicted_features["interest_outdoors"]
    assert isinstance(outdoors, float)
    assert outdoors > 0.75
    assert {one.quote for one in found.observations} >= {"I'm 29", "I'm vegan", "I love hiking"}


def test_what_is_not_observed_again_is_not_forgotten() -> None:
    talk = Talk()
    talk.say("I'm 29 and I'm vegan.")
    talk.until(3)
    first = talk.latest(FEATURES)
    talk.until(30)
    last = talk.latest(FEATURES)
    for name in ("age", "lifestyle_diet"):
        assert last.predicted_features[name] == first.predicted_features[name]
        assert last.feature_confidences[name] == first.feature_confidences[name]


def test_what_is_said_last_counts_most_and_earlier_words_leave_doubt() -> None:
    sure = _after("I'm a heavy smoker.")
    changed = _after("I'm a heavy smoker.", "Good news.", "I quit smoking.")
    assert sure.predicted_features["lifestyle_smokes"] == "yes"
    assert changed.predicted_features["lifestyle_smokes"] == "no"
    assert (
        changed.feature_confidences["lifestyle_smokes"]
        < _after("I quit smoking.").feature_confidences["lifestyle_smokes"]
    )
    assert _after("I'm 29.", "Tomorrow!", "I turned 30.").predicted_features["age"] == 30


@pytest.mark.requirement("companion/features/big-five")
def test_traits_are_numbers_in_0_to_1() -> None:
    found = _after("I'm outgoing and curious.", "I'm organised.", "I'm caring but I'm a worrier.")
    traits = {n: v for n, v in found.predicted_features.items() if n.startswith("big_five_")}
    assert len(traits) == 5
    for value in traits.values():
        assert isinstance(value, float)
        assert 0.5 < value <= 1


@pytest.mark.requirement(
    "companion/features/mbti",
    "companion/features/mbti-ei",
    "companion/features/mbti-sn",
    "companion/features/mbti-tf",
    "companion/features/mbti-jp",
)
def test_mbti_follows_the_traits_with_the_right_letters() -> None:
    values = _after("I'm outgoing and curious.", "I'm organised.", "I'm blunt.").predicted_features
    assert values["mbti_ei"] == values["big_five_extraversion"]
    assert values["mbti_sn"] == values["big_five_openness"]
    assert values["mbti_tf"] == pytest.approx(1 - values["big_five_agreeableness"])  # type: ignore[operator]
    assert values["mbti_jp"] == values["big_five_conscientiousness"]
    assert values["mbti_type"] == "ENTJ"
    assert values["mbti_type"] in MBTI_TYPES
    assert isinstance(values["mbti_confidence"], float)
    gentle = _after("I'm shy and traditional.", "I'm messy.", "I'm caring.").predicted_features
    assert gentle["mbti_type"] == "ISFP"


def test_a_type_needs_all_four_traits_behind_it() -> None:
    known = dict.fromkeys(
        ("big_five_extraversion", "big_five_openness", "big_five_agreeableness"),
        Known(value=0.9, confidence=0.8),
    ) | {"big_five_conscientiousness": UNKNOWN}
    assert set(infer_mbti(known)) == {"mbti_ei", "mbti_sn", "mbti_tf"}
    full = {**known, "big_five_conscientiousness": Known(value=0.2, confidence=0.6)}
    assert infer_mbti(full)["mbti_type"] == Known(value="ENFP", confidence=0.6)


@pytest.mark.requirement("companion/features/attachment")
def test_attachment_follows_the_traits_as_the_source_infers_it() -> None:
    known = {
        "big_five_neuroticism": Known(value=0.2, confidence=0.8),
        "big_five_agreeableness": Known(value=0.8, confidence=0.8),
        "big_five_extraversion": Known(value=0.7, confidence=0.8),
    }
    found = infer_attachment(known)
    assert found["attachment_anxiety"].value == 0.2
    assert found["attachment_avoidance"].value == pytest.approx(0.3)
    assert found["attachment_style"].value == "secure"
    assert found["attachment_style"].confidence == pytest.approx(0.56)
    assert infer_attachment(dict.fromkeys(known, UNKNOWN)) == {}


@pytest.mark.parametrize(
    ("traits", "style"),
    [
        ((0.3, 0.7, 0.5), "secure"),
        ((0.7, 0.3, 0.5), "anxious"),
        ((0.55, 0.5, 0.3), "avoidant"),
        ((0.5, 0.5, 0.5), "disorganized"),
    ],
)
def test_styles_are_told_apart(traits: tuple[float, float, float], style: str) -> None:
    assert attachment_style(*traits) == style


def test_wording_alone_names_no_style_and_no_type() -> None:
    found = _after(*["The train to work was late again and I read the paper twice."] * 12)
    assert isinstance(found.predicted_features["big_five_openness"], float)
    assert found.feature_confidences["big_five_openness"] < 0.5
    assert found.predicted_features["attachment_style"] is None
    assert found.predicted_features["mbti_type"] is None


@pytest.mark.requirement("companion/features/love-languages")
def test_the_two_love_languages_differ() -> None:
    found = _after("I need hugs.", "I love hugs and I crave hugs.", "I need quality time.")
    values = found.predicted_features
    assert values["primary_love_language"] == "physical_touch"
    assert values["secondary_love_language"] == "quality_time"
    assert values["primary_love_language"] in LOVE_LANGUAGES
    one = _after("I need hugs.").predicted_features
    assert one["secondary_love_language"] is None


@pytest.mark.requirement("companion/features/trust")
def test_trust_has_a_history_that_grows_and_a_speed() -> None:
    talk = Talk()
    talk.until(3, "Thank you, that means a lot to me.", felt=feeling("joy", 0.8))
    early = talk.latest(FEATURES).predicted_features
    talk.until(6, "Leave me alone, you're lying.", felt=feeling("anger", -0.8))
    late = talk.latest(FEATURES).predicted_features
    assert isinstance(early["trust_history"], tuple)
    assert isinstance(late["trust_history"], tuple)
    assert len(early["trust_history"]) == 3
    assert late["trust_history"][:3] == early["trust_history"]
    assert len(late["trust_history"]) == 6
    assert early["trust_velocity"] > 0 > late["trust_velocity"]  # type: ignore[operator]
    assert late["trust_score"] < early["trust_score"]  # type: ignore[operator]


@pytest.mark.requirement(
    "companion/features/prediction-sets", "companion/features/coverage-guarantee"
)
def test_without_calibration_a_set_is_the_whole_label_space_and_says_so() -> None:
    sets = _after("I'm vegan.").conformal_result
    labelled = {one.name: one.labels for one in FEATURE_LIST if one.labels}
    assert sets.prediction_sets == labelled
    assert sets.coverage_guarantee == 1.0
    assert not any(sets.calibrated.values())


@pytest.mark.requirement("companion/features/coverage-guarantee")
def test_an_answered_item_brings_a_calibrated_set() -> None:
    talk = Talk()
    item = next(one for one in ITEMS if one.column == "N1")
    talk.say("Hello.", reply=f"I see. {item.question}")
    talk.say("Yes, definitely.")
    talk.say("And you?", reply="Do you like tea?")
    found = talk.latest(FEATURES)
    sets = found.conformal_result
    assert found.state.answers == {item.id: 5}
    assert sets.coverage_guarantee == 0.9
    assert [name for name, one in sets.calibrated.items() if one] == ["big_five_neuroticism"]
    assert sets.prediction_sets["big_five_neuroticism"] == ("medium", "high")
    assert found.predicted_features["big_five_neuroticism"] > 0.6  # type: ignore[operator]
    talk.say("Not at all.")
    talk.until(6)
    assert talk.latest(FEATURES).state.answers == {item.id: 5}, "tea is no item"


def test_attachment_items_decide_over_what_traits_suggest() -> None:
    answers = {"attachment.Q8": 5, "attachment.Q18": 5, "attachment.Q9": 1, "attachment.Q17": 1}
    values, confidences, sets, _ = report(FeatureState(answers=answers))
    assert values["attachment_style"] == "anxious"
    assert confidences["attachment_style"] > 0.6
    assert sets.calibrated["attachment_style"]
    assert sets.calibrated["attachment_anxiety"]


@pytest.mark.requirement("companion/features/coverage-guarantee")
def test_a_guarantee_is_taken_back_when_answers_are_like_nobodys() -> None:
    odd = {"Q8": 1, "Q18": 5, "Q16": 5, "Q9": 5, "Q17": 1, "Q35": 1}
    _, _, sets, _ = report(FeatureState(answers={f"attachment.{n}": v for n, v in odd.items()}))
    assert not sets.calibrated["attachment_style"]
    assert sets.prediction_sets["attachment_style"] == FEATURES_BY_NAME["attachment_style"].labels
    assert sets.coverage_guarantee == 1.0
    assert "attachment_style" in sets.withdrawn


def test_memories_of_other_conversations_count_once() -> None:
    talk = Talk()
    recalled = (memory("I'm vegan"), memory("I love jazz", session="here"))
    talk.until(9, recalled=recalled)
    found = talk.latest(FEATURES)
    assert found.predicted_features["lifestyle_diet"] == "vegan"
    assert found.predicted_features["interest_music"] is None, "it was read when it was said"
    from_memory = [
        one
        for dated in talk.past[FEATURES.name]
        for one in dated.value.observations
        if one.source == "memory"
    ]
    assert [one.quote for one in from_memory] == ["I'm vegan"]
    assert from_memory[0].confidence < 0.95


@pytest.mark.requirement("companion/relationship/context-updates")
def test_what_the_relationship_step_found_is_among_the_features() -> None:
    talk = Talk()
    talk.until(6)
    values = talk.latest(FEATURES).predicted_features
    found = talk.latest(RELATIONSHIP)
    assert values["relationship_status"] == found.rel_status
    assert values["relationship_type"] == found.rel_type
    assert values["sentiment_label"] == found.sentiment
    assert (values["can_advance"] == "yes") is found.can_advance
    assert found.snapshot.rel_status == found.rel_status


def test_adding_nothing_changes_nothing() -> None:
    seen = [Observation(feature="age", value=30.0, confidence=0.9, source="message")]
    state = advance(FeatureState(), seen)
    assert advance(state, []) == state


def test_with_nothing_given_it_still_knows_nothing_and_says_so() -> None:
    found = STEP.run(BoardView(3, declared(STEP), {}, {}))
    assert isinstance(found, Features)
    assert found.predicted_features["age"] is None
    assert found.observations == ()


def test_a_value_survives_being_written_down() -> None:
    found = _after("I'm 29, vegan and shy.", "I love hiking.", "Thanks.")
    adapter = TypeAdapter(Features)
    assert adapter.validate_json(adapter.dump_json(found)) == found


def test_the_same_conversation_gives_the_same_features() -> None:
    words = ("I'm 29.", "I love hiking and I worry too much.", "Thank you so much.")
    assert _after(*words) == _after(*words)


@pytest.mark.requirement(
    "companion/features/time",
    "companion/relationship/time",
    "companion/milestones/time",
    "companion/probes/time",
)
def test_a_step_is_stopped_when_it_takes_longer_than_the_source_allows() -> None:
    allowed = {"features": 3.0, "relationship": 5.0, "milestones": 2.0, "probes": 1.0}
    for step in STEPS:
        assert step.timeout_s <= allowed.get(step.name, 1.0), step.name
