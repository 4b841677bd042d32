"""What people say about themselves, and what they do not."""

import pytest

from salon.steps.feature_list import FEATURES_BY_NAME
from salon.steps.features_from_text import observe_message


def _found(text: str) -> dict[str, float | str]:
    return {one.feature: one.value for one in observe_message(text, turn=1)}


@pytest.mark.parametrize(
    ("text", "feature", "value"),
    [
        ("I'm 29 and new here", "age", 29.0),
        ("I turned thirty-two last week", "age", 32.0),
        ("As a 45-year-old I know better", "age", 45.0),
        ("I\u2019m twenty-nine, how about you?", "age", 29.0),
        ("I'm vegan", "lifestyle_diet", "vegan"),
        ("I don't eat meat", "lifestyle_diet", "vegetarian"),
        ("I eat everything", "lifestyle_diet", "omnivore"),
        ("I don't smoke", "lifestyle_smokes", "no"),
        ("I quit smoking in May", "lifestyle_smokes", "no"),
        ("I'm a heavy smoker", "lifestyle_smokes", "yes"),
        ("I don't drink.", "lifestyle_drinks", "not_at_all"),
        ("I only drink socially", "lifestyle_drinks", "socially"),
        ("I'm studying for my master's", "background_education", "masters"),
        ("I have a PhD in botany", "background_education", "phd"),
        ("I dropped out of college", "background_education", "some_college"),
        ("I love hiking", "interest_outdoors", 0.9),
        ("I don't really like sports", "interest_sports", 0.1),
        ("I hate camping", "interest_outdoors", 0.1),
        ("I play the guitar in the evening", "interest_music", 0.75),
        ("I read a lot", "interest_books", 0.75),
        ("I love to cook", "interest_food", 0.85),
        ("I'm looking for something serious", "relationship_goals", "serious"),
        ("I'm not looking for anything serious", "relationship_goals", "casual"),
        ("I'm just here for friendship", "relationship_goals", "friendship"),
        ("I'm a bit shy", "big_five_extraversion", 0.2),
        ("I'm not very organised", "big_five_conscientiousness", 0.18),
        ("I worry too much", "big_five_neuroticism", 0.78),
        ("I feel loved when somebody gives me a hug", "primary_love_language", "physical_touch"),
        ("I need quality time", "primary_love_language", "quality_time"),
        ("I'm a woman", "sex", "f"),
        ("I'm gay", "orientation", "gay"),
        ("I'm a Buddhist", "background_religion", "buddhist"),
        ("I don't do drugs", "lifestyle_drugs", "never"),
        ("I'm 29 and vegan", "lifestyle_diet", "vegan"),
        ("I'm shy, tired and very curious", "big_five_openness", 0.83),
        ("haha good one", "communication_style", "humorous"),
    ],
)
def test_a_plain_statement_is_observed(text: str, feature: str, value: float | str) -> None:
    assert _found(text)[feature] == value


@pytest.mark.parametrize(
    "text",
    [
        "My brother is vegan",
        "My brother is 29",
        "I'm sad and my brother is vegan",
        "My mum says I'm shy",
        'She told me "I\'m a Muslim" yesterday',
        "If I were 30 I'd be rich",
        "I wish I was vegan",
        "I'm not vegan",
        "I used to smoke",
        "I'm 15 minutes away",
        "I'm 20 pages in",
        "Do you think I'm shy?",
        "I'm quiet today",
        "I like you and your music",
        "My sister loves hiking",
        "I don't drink coffee",
        "Back when I was young I'm sure I love painting was said",
        "I am 7",
        "Is a vegan a vegetarian?",
        "I like my friend who loves football",
    ],
)
def test_what_is_said_of_others_or_not_meant_is_passed_over(text: str) -> None:
    assert _found(text) == {}


def test_not_being_religious_leaves_open_what_one_is_instead() -> None:
    found = observe_message("I'm not religious", turn=1)
    assert {one.value for one in found} == {"atheist", "agnostic"}
    assert all(one.confidence == 0.5 for one in found)


def test_an_observation_names_its_words() -> None:
    text = "Hello there! I\u2019m vegan, by the way."
    (seen,) = observe_message(text, turn=4)
    assert text[seen.start : seen.end] == seen.quote == "I\u2019m vegan"
    assert (seen.turn, seen.source) == (4, "message")


def test_letters_that_grow_in_lower_case_move_no_span() -> None:
    text = "İzmir is far. I'm vegan."
    (seen,) = observe_message(text, turn=1)
    assert seen.quote == "i'm vegan"


def test_a_type_somebody_names_speaks_for_the_traits_behind_it() -> None:
    found = _found("I'm an INFP")
    assert found["big_five_extraversion"] == 0.28
    assert found["big_five_openness"] == 0.72
    assert found["big_five_agreeableness"] == 0.65
    assert found["big_five_conscientiousness"] == 0.35
    assert _found("My sister says I'm an INFP") == {}


def test_every_observation_is_of_a_known_feature_with_a_known_value() -> None:
    text = "I'm a man. I drink every day. I'm agnostic. I keep kosher. I love jazz and sushi."
    for one in observe_message(text, turn=1):
        feature = FEATURES_BY_NAME[one.feature]
        assert not isinstance(one.value, str) or one.value in feature.labels
        assert 0 < one.confidence < 1
