"""Answered items: read off in words, and what they say with a promise."""

import pytest

from salon.steps.conformal import WITHDRAW_AT, martingale
from salon.steps.feature_list import ATTACHMENT_STYLES, FEATURES_BY_NAME
from salon.steps.questionnaire_items import (
    ITEMS,
    ITEMS_BY_ID,
    answer_on_scale,
    find_item_asked,
)
from salon.steps.questionnaires import answer_p_values, load_questionnaires, read_answers


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("Yes, definitely!", 5),
        ("Absolutely", 5),
        ("hmm, yes", 4),
        ("I do, most of the time", 4),
        ("Sometimes.", 3),
        ("Well, it depends", 3),
        ("not really", 2),
        ("No, I don\u2019t think I do", 2),
        ("I don't think so, no", 2),
        ("Not at all.", 1),
        ("never", 1),
        ("4", 4),
        ("2 out of 5", 2),
    ],
)
def test_agreement_in_words_has_a_place_on_the_scale(text: str, scale: int) -> None:
    assert answer_on_scale(text) == scale


@pytest.mark.parametrize(
    "text",
    [
        "Yes, but only with people I know well",
        "The weather was lovely",
        "no idea",
        "Nobody asked me that before",
        "Do you?",
        "always have breakfast first",
        "yes " + "and so on " * 30,
        "",
    ],
)
def test_what_is_no_plain_answer_is_none(text: str) -> None:
    assert answer_on_scale(text) is None


def test_an_item_is_asked_only_word_for_word() -> None:
    item = ITEMS[0]
    assert find_item_asked(f"That is good to hear. {item.question}") == item
    assert find_item_asked("Are you afraid that people might leave you?") is None
    both = f"{ITEMS[3].question} Or rather: {item.question}"
    assert find_item_asked(both) == item, "the last one is the one that is answered"


def test_the_items_are_those_that_the_models_were_fitted_for() -> None:
    for name, one in load_questionnaires().items():
        assert one.items == tuple(item.column for item in ITEMS if item.questionnaire == name)
        for feature, models in one.label_models.items():
            assert set(models) == set(range(1, 2 ** len(one.items)))
            assert one.labels[feature] == FEATURES_BY_NAME[feature].labels
    assert len({item.question for item in ITEMS}) == len(ITEMS) == len(ITEMS_BY_ID)


@pytest.mark.requirement("companion/features/prediction-sets")
def test_each_answer_makes_the_set_tighter_or_leaves_it() -> None:
    answers: dict[str, int] = {}
    sizes = []
    for column, answer in (("Q8", 5), ("Q18", 5), ("Q16", 4), ("Q9", 1), ("Q17", 1), ("Q35", 5)):
        answers[f"attachment.{column}"] = answer
        reading = read_answers(answers)["attachment_style"]
        assert set(reading.prediction_set) <= set(ATTACHMENT_STYLES)
        assert reading.prediction_set
        sizes.append(len(reading.prediction_set))
    assert reading.value == "anxious"
    assert reading.prediction_set == ("anxious",)
    assert sizes[0] > sizes[-1]


def test_scores_follow_the_answers_and_say_how_much_they_explain() -> None:
    calm = read_answers({"big_five_neuroticism.N1": 1, "big_five_neuroticism.N8": 1})
    tense = read_answers({"big_five_neuroticism.N1": 5, "big_five_neuroticism.N8": 5})
    low, high = calm["big_five_neuroticism"], tense["big_five_neuroticism"]
    assert isinstance(low.value, float)
    assert isinstance(high.value, float)
    assert low.value < 0.33
    assert high.value > 0.67
    assert 0.5 < low.confidence < 0.9
    one = read_answers({"big_five_neuroticism.N1": 5})["big_five_neuroticism"]
    assert one.confidence < high.confidence
    assert set(calm) == {"big_five_neuroticism"}, "other traits have no items answered"


def test_an_item_against_its_trait_counts_the_other_way() -> None:
    at_the_edge = read_answers({"big_five_extraversion.E4": 5})["big_five_extraversion"]
    in_the_middle = read_answers({"big_five_extraversion.E4": 1})["big_five_extraversion"]
    assert at_the_edge.value < in_the_middle.value  # type: ignore[operator]


ODD = {"Q8": 1, "Q18": 5, "Q16": 5, "Q9": 5, "Q17": 1, "Q35": 1}
USUAL = {"Q8": 4, "Q18": 4, "Q16": 3, "Q9": 2, "Q17": 2, "Q35": 4}


def test_answers_like_nobodys_take_the_promise_back() -> None:
    one = load_questionnaires()["attachment"]
    values = answer_p_values(one, ODD)
    assert len(values) == 6
    assert all(0 < value <= 1 for value in values)
    assert martingale(values) > WITHDRAW_AT > martingale(answer_p_values(one, USUAL))
    reading = read_answers({f"attachment.{name}": one for name, one in ODD.items()})
    assert reading["attachment_style"].prediction_set == ATTACHMENT_STYLES
    assert not reading["attachment_style"].is_exchangeable
    usual = read_answers({f"attachment.{name}": one for name, one in USUAL.items()})
    assert usual["attachment_style"].is_exchangeable
