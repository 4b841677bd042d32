"""Names are found by their capital letters, and known again in other forms."""

import pytest

from salon.grounding.support.names import NameBook, read_names, unknown_names
from salon.grounding.support.words import shipped_tellingness


def names(text: str) -> list[str]:
    return [name.text for name in read_names(text, shipped_tellingness())]


def unknown(claim: str, text: str) -> list[str]:
    found = read_names(claim, shipped_tellingness())
    return [name.text for name in unknown_names(found, NameBook.of(text))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("They met Marta Solano in Lyon.", ["Marta Solano", "Lyon"]),
        ("Marta Solano met them.", ["Marta Solano"]),
        ("Napoleon left.", ["Napoleon"]),
        ("Taxes rose.", []),
        ("When Lincoln spoke, I listened.", ["Lincoln"]),
        ("On Monday in June the President came.", []),
        ("A HEADING ABOUT LYON", []),
        ("The Lyon-built ship sank.", ["Lyon-built"]),
        ("", []),
    ],
)
def test_names_are_words_with_a_capital_letter_that_none_is_due(
    text: str, found: list[str]
) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("They met Marta Solano.", "Solano came, and M. too; Solano's first name was Marta."),
        ("They live in Canada.", "These Canadians live there."),
        ("They live in France.", "They speak French at home."),
        ("It joined the United Nations.", "It joined the UN."),
        ("It joined the UN.", "It joined the United Nations."),
        ("It is in the USA.", "It is in the United States of America."),
        ("He met the Smiths.", "He met Mr. Smith."),
    ],
)
def test_a_name_is_known_in_another_form(claim: str, text: str) -> None:
    assert unknown(claim, text) == []


@pytest.mark.parametrize(
    ("claim", "text", "missing"),
    [
        ("They met Marta Solano.", "They met Pedro Ruiz.", ["Marta Solano"]),
        ("They met Marta Solano.", "They met Marta Ruiz.", ["Marta Solano"]),
        ("They live in Canada.", "They live in Peru.", ["Canada"]),
        ("Napoleon lost.", "Wellington won.", ["Napoleon"]),
    ],
)
def test_a_name_that_is_not_there_is_missing(claim: str, text: str, missing: list[str]) -> None:
    assert unknown(claim, text) == missing
