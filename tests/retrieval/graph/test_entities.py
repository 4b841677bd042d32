"""Names and terms found by rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.retrieval.graph.entities import (
    EntityExtractor,
    RuleExtractor,
    entity_key,
    find_mentions,
)


def _names(text: str) -> list[str]:
    return [mention.name for mention in find_mentions(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met Elinor Ostrom in Los Angeles.", ["Elinor Ostrom", "Los Angeles"]),
        ("the Bank of England, at Indiana University", ["Bank of England", "Indiana University"]),
        ("at the University of the Arts", ["University of the Arts"]),
        ("It was Alice and Bob who did it.", ["Alice", "Bob"]),
        ("The dog barked. However, it slept.", []),
        ("She knew Ostrom's work and Ostrom\u2019s students.", ["Ostrom", "Ostrom"]),
        ("We asked J. R. Tolkien about NASA.", ["J. R. Tolkien", "NASA"]),
        ("On Monday in March we rested.", []),
        ("THE HISTORY OF ALL GREAT THINGS", []),
        ('He calls it "tragedy of the commons" here.', ["tragedy of the commons"]),
        ('He said "I will come tomorrow if I can, my friend." Then he left.', []),
        ("We saw Łódź and Österreich.", ["Łódź", "Österreich"]),
        ("see New\nYork today", ["New York"]),
        ("a son of John II, Duke of Cleves and Anna", ["John II, Duke of Cleves", "Anna"]),
        ("of Simon, 5th Earl of Leicester, here", ["Simon, 5th Earl of Leicester"]),
        ("with Harry, Duke, and Bob, 5th, there", ["Harry", "Duke", "Bob"]),
        ("it was Harry, Duke", ["Harry", "Duke"]),
        ("with King Hussein of Jordan there", ["Hussein of Jordan"]),
        ("made the Duke of Kent laugh", ["Duke of Kent"]),
        ("under Harun al-Rashid and un-named men", ["Harun al-Rashid"]),
        ("made by Frank Tuttle for Paramount Pictures", ["Frank Tuttle", "Paramount Pictures"]),
        ("the Society for Applied Optics", ["Society for Applied Optics"]),
        ("", []),
    ],
)
def test_names_are_found_where_a_reader_would_find_them(text: str, expected: list[str]) -> None:
    assert _names(text) == expected


def test_a_word_that_only_opens_sentences_is_no_name_but_one_seen_elsewhere_is() -> None:
    assert _names("Governing is hard. Ostrom wrote. We read Ostrom.") == ["Ostrom", "Ostrom"]


def test_a_term_of_ordinary_words_counts_once_it_is_repeated() -> None:
    once = "They studied packet switching at length."
    assert _names(once) == []
    text = f"{once} Then packet switching spread, and packet switching won."
    assert _names(text) == ["packet switching"] * 3


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("There we met Dr. Ostrom again.", "PERSON"),
        ("There we met Simon, Earl of Leicester.", "PERSON"),
        ("She taught at Indiana University then.", "ORGANIZATION"),
        ("They went to Los Angeles by train.", "OTHER"),
        ('We call this "polycentric governance" now.', "CONCEPT"),
    ],
)
def test_a_type_is_given_only_where_the_words_show_it(text: str, kind: str) -> None:
    (mention,) = find_mentions(text)
    assert mention.type == kind


def test_a_titled_person_is_parted_from_where_they_belong() -> None:
    assert _names("It was Dr. Smith of the Bank of England.") == ["Smith", "Bank of England"]


def test_the_rules_are_an_extractor() -> None:
    extractor: EntityExtractor = RuleExtractor()
    text = "We met Elinor Ostrom."
    assert extractor.extract(text) == find_mentions(text)
    assert extractor.fingerprint == RuleExtractor().fingerprint


def test_spellings_of_one_name_share_a_key() -> None:
    assert entity_key("Elinor  OSTROM") == entity_key(" elinor\nostrom ")
    assert entity_key("Cafe\u0301") == entity_key("CAFÉ")


@given(st.text(max_size=300))
def test_mentions_lie_in_the_text_in_order_and_apart(text: str) -> None:
    end = 0
    for mention in find_mentions(text):
        assert end <= mention.start < mention.end <= len(text)
        assert " ".join(text[mention.start : mention.end].split()) == " ".join(mention.name.split())
        end = mention.end
