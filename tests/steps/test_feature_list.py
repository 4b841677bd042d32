"""The 42 features, as data."""

import pytest

from salon.steps.feature_list import (
    FEATURE_LIST,
    FEATURES_BY_NAME,
    MBTI_TYPES,
    NAMES,
    SENSITIVE,
    label_of,
)


@pytest.mark.requirement("companion/features/forty-two")
def test_there_are_exactly_the_42_features_of_the_published_list() -> None:
    assert len(NAMES) == len(set(NAMES)) == len(FEATURE_LIST) == 42
    assert NAMES[0] == "age"
    assert NAMES[10] == "background_religion"
    assert NAMES[24:30] == (
        "mbti_type", "mbti_confidence", "mbti_ei", "mbti_sn", "mbti_tf", "mbti_jp",
    )  # fmt: skip
    assert NAMES[-4:] == (
        "relationship_status",
        "relationship_type",
        "sentiment_label",
        "can_advance",
    )


def test_the_sensitive_ones_are_marked() -> None:
    assert {"sex", "orientation", "lifestyle_drugs", "background_religion"} == SENSITIVE


def test_there_are_sixteen_types() -> None:
    assert len(set(MBTI_TYPES)) == 16
    assert {"INFP", "ESTJ", "ENTP"} <= set(MBTI_TYPES)


@pytest.mark.parametrize(
    ("feature", "value", "label"),
    [
        ("mbti_tf", 0.6, "thinking"),
        ("mbti_tf", 0.4, "feeling"),
        ("mbti_jp", 0.6, "judging"),
        ("mbti_jp", 0.4, "perceiving"),
        ("mbti_ei", 0.6, "extravert"),
        ("mbti_sn", 0.6, "intuition"),
        ("big_five_openness", 0.32, "low"),
        ("big_five_openness", 0.33, "medium"),
        ("big_five_openness", 1.0, "high"),
        ("interest_food", 0.1, "none"),
        ("age", 24, "18-24"),
        ("age", 30, "25-30"),
        ("age", 31, "30-35"),
        ("age", 77, "50+"),
        ("lifestyle_diet", "vegan", "vegan"),
    ],
)
def test_a_value_has_the_label_of_the_part_it_lies_in(
    feature: str, value: float | str, label: str
) -> None:
    assert label_of(FEATURES_BY_NAME[feature], value) == label


def test_numbers_have_one_cut_less_than_labels() -> None:
    for one in FEATURE_LIST:
        assert not one.cuts or len(one.cuts) == len(one.labels) - 1, one.name
