"""Titles and headings: which only name, and which say something."""

import pytest

from salon.council.heading_claims import Saying, is_made_of, is_said_by, saying

NAMES = """\
Aid thereof
Controversies and question
Conditions and limits
Equal length
Commerce and instrument
What the rules say, for I and 0
What seat III found
The well, after the refinement
The will of the people
Last will and testament
Treaty of May 1905
Might and right
The United States and Cuba
Banks of the United States
Ships built in 1905
Land granted to settlers
Troops killed at Manila
Questions asked by the House
Taxes and the people
Taxes each year
Needs of a navy
Money well spent
Would-be settlers
The haves and have-nots
US Army
The steamers Maine and Texas
Was die Quellen sagen
Der Brunnen von Lindental
Origins"""

CLAIMS = """\
The well is poisoned and Ruth Alder killed a man
The council finds the mayor guilty of murder
Ruth Alder killed a man
Spain attacked Cuba
Roosevelt betrays Cuba
The mayor stole the money
The bank cannot pay
The fleet will sail
The well wasn\u2019t dug by hand
THE MAYOR IS GUILTY"""


@pytest.mark.parametrize("text", NAMES.splitlines())
def test_a_name_is_not_taken_for_a_claim(text: str) -> None:
    assert saying(text) is Saying.NAME


@pytest.mark.parametrize("text", CLAIMS.splitlines())
def test_what_could_be_false_is_a_claim(text: str) -> None:
    assert saying(text) is Saying.STATE


@pytest.mark.parametrize(
    "text",
    ["Why the mayor poisoned the well", "Men who were paid by the town", "Views the Court took"],
)
def test_what_is_taken_for_granted_is_a_clause(text: str) -> None:
    assert saying(text) is Saying.CLAUSE


def test_a_heading_in_the_words_of_its_quotes_is_theirs() -> None:
    quotes = ["In 1874 the well was dug, by the people."]
    assert is_said_by("The well was dug", quotes)
    assert not is_said_by("The well was dug by hand", quotes)
    assert is_made_of("Why people digging wells were paid", [*quotes, "what they paid, digging"])
    assert not is_made_of("Why the mayor poisoned the well", quotes)
    assert is_made_of("How it is kept", ()), "too little to be false"
