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
        ("La Garza is a 2009 drama film directed by Marta Solano.", ["La Garza"]),
        ("Wilmara( died 875) was a queen of Westmark.", ["Wilmara"]),
        ("Cut, Fold and Glue is a short film.", ["Cut, Fold and Glue"]),
        ("Henry IV, Duke of Norden (1458 \u2013 1521) was a son.", ["Henry IV, Duke of Norden"]),
        ('"By the Quiet Harbour" is a popular song.', ["By the Quiet Harbour"]),
        ("How Benno Went Home is a 1914 silent film.", ["How Benno Went Home"]),
        ("Once More Without Haste is a film.", ["Once More Without Haste"]),
        ("Who's Your Neighbour? is a 1919 film.", ["Who's Your Neighbour?"]),
        ("45 Paces North is a 1932 film.", ["45 Paces North"]),
        ("The Path of the Lonely Oak may refer to:", ["The Path of the Lonely Oak"]),
        ("# Ostrom\n\nElinor Ostrom was an economist.", ["Elinor Ostrom"]),
        ("Lapo, the artistic name of a man, was a director.", ["Lapo"]),
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
            "Samuel Hart (born 1931), known professionally as Sam Harte, was a singer.",
            ["Samuel Hart", "Sam Harte"],
        ),
        (
            "The Ruler of Lindau (German: Der Herr von Lindau) is a film.",
            ["The Ruler of Lindau", "Herr von Lindau"],
        ),
        ("Nora Whitfield, née Brown (born 1911), was a writer.", ["Nora Whitfield", "Brown"]),
        (
            "Nordwerk GmbH, formerly known as Nordwerk Motoren GmbH, is a maker of cars.",
            ["Nordwerk GmbH", "Nordwerk Motoren GmbH"],
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
    text = "Cut, Fold and Glue is a short film by Jules White."
    assert [mention.name for mention in with_subjects(text, find_mentions(text))] == [
        "Cut, Fold and Glue",
        "Jules White",
    ]


@given(st.text(alphabet='AB cd.,;()\n"is was known as', max_size=200))
def test_mentions_stay_in_order_and_apart_and_hold_their_names(text: str) -> None:
    end = 0
    for mention in with_subjects(text, find_mentions(text)):
        assert end <= mention.start < mention.end <= len(text)
        assert " ".join(text[mention.start : mention.end].split()) == " ".join(mention.name.split())
        end = mention.end
