"""What a paragraph is about, as far as its opening says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.retrieval.graph.entities import find_mentions
from salon.retrieval.graph.subjects import with_subjects


def _subjects(text: str) -> list[str]:
    found = with_subjects(text, find_mentions(text))
    return [mention.name for mention in found if mention.is_subject]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("La Yuma is a 2009 drama film directed by Florence Jaugey.", ["La Yuma"]),
        ("Teutberga( died 875) was a queen of Lotharingia.", ["Teutberga"]),
        ("Rip, Sew and Stitch is a short film.", ["Rip, Sew and Stitch"]),
        ("John II, Duke of Cleves (1458 \u2013 1521) was a son.", ["John II, Duke of Cleves"]),
        ('"By the Beautiful Sea" is a popular song.', ["By the Beautiful Sea"]),
        ("How Moscha Came Back is a 1914 silent film.", ["How Moscha Came Back"]),
        ("Once More Without Haste is a film.", ["Once More Without Haste"]),
        ("45 Calibre Echo is a 1932 film.", ["45 Calibre Echo"]),
        ("The Path of the Lonely Oak may refer to:", ["The Path of the Lonely Oak"]),
        ("# Ostrom\n\nElinor Ostrom was an economist.", ["Elinor Ostrom"]),
        ("Steno, the artistic name of a man, was a director.", ["Steno"]),
    ],
)
def test_a_paragraph_that_says_what_something_is_is_about_it(
    text: str, expected: list[str]
) -> None:
    assert _subjects(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Samuel Cook (born 1931), known professionally as Sam Cooke, was a singer.",
            ["Samuel Cook", "Sam Cooke"],
        ),
        (
            "The King of Kreuzberg (German: Der König von Kreuzberg) is a film.",
            ["The King of Kreuzberg", "König von Kreuzberg"],
        ),
        ("Rona Shambrook, née Green (born 1911), was a writer.", ["Rona Shambrook", "Green"]),
        (
            "BMW M GmbH, formerly known as BMW Motorsport GmbH, is a maker of cars.",
            ["BMW M GmbH", "BMW Motorsport GmbH"],
        ),
    ],
)
def test_other_names_of_the_subject_are_subjects_too(text: str, expected: list[str]) -> None:
    assert _subjects(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "It was Michael Faraday who taught James Maxwell.",
        "In 1990 Ostrom was a professor.",
        "In this chapter Ostrom is a guest.",
        "The dog is asleep.",
        "There we met Ada Lovelace and Charles Babbage.",
        "They say that nothing is lost.",
        "He is a king.",
        "Nothing here says what it might",
        "Hurrah! Ada Lovelace was a countess.",
        "Smith (1990) argues that prices fall.\n\nBut there is more.",
        f"{'Very ' * 20}Long Name is a name.",
        f"Ada ({'x' * 500}) was a countess.",
        "",
    ],
)
def test_other_openings_say_nothing(text: str) -> None:
    assert _subjects(text) == []


def test_each_paragraph_may_have_its_own_subject() -> None:
    text = "Ada Lovelace was a countess.\n\nCharles Babbage was an engineer. Ada is not here."
    assert _subjects(text) == ["Ada Lovelace", "Charles Babbage"]


def test_a_subject_takes_the_place_of_the_names_inside_it() -> None:
    text = "Rip, Sew and Stitch is a short film by Jules White."
    assert [mention.name for mention in with_subjects(text, find_mentions(text))] == [
        "Rip, Sew and Stitch",
        "Jules White",
    ]


@given(st.text(alphabet='AB cd.,;()\n"is was known as', max_size=200))
def test_mentions_stay_in_order_and_apart_and_hold_their_names(text: str) -> None:
    end = 0
    for mention in with_subjects(text, find_mentions(text)):
        assert end <= mention.start < mention.end <= len(text)
        assert " ".join(text[mention.start : mention.end].split()) == " ".join(mention.name.split())
        end = mention.end
