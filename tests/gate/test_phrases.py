"""Finding phrases by their first words finds what a plain search finds."""

import re

import pytest

from salon.gate.phrases import Phrases, Words, first_words
from salon.gate.tables import expand, language_table
from tests.gate.test_matrix import ADVICE
from tests.gate.test_rules import EXAMPLES
from tests.gate.test_signals import CALENDAR, EMAIL

TABLE = language_table("en")
TEXTS = sorted(
    {
        *(one[0].lower() for one in (*CALENDAR, *EMAIL)),
        *(text.lower() for texts, _ in EXAMPLES.values() for text in texts),
        ADVICE.lower(),
    }
)
NOT_AT_A_START = {
    "not_names",
    "clause_breaks",
    "third_person_fillers",
    "addresses",
    "negations_behind",
    "past_behind",
}
NAMES = [name for name, value in TABLE if isinstance(value, tuple) and name not in NOT_AT_A_START]


@pytest.mark.parametrize(
    ("phrase", "words"),
    [
        ("call", {"call"}),
        ("(would|do) you", {"would", "do"}),
        ("(please )?call", {"please", "call"}),
        ("e-?mail", {"e", "email"}),
        ("i('d| would)?( also)? suggest", {"i"}),
        ("organi[sz]e", {"organise", "organize"}),
        ("(re)?book", {"rebook", "book"}),
        ("(my|our)(?! (view|guess))", {"my", "our"}),
        ("call{0,2}s", {"cals", "calls"}),
        ("\\w+ ago", {"\0"}),
        ("[^x]y", {"\0"}),
        (".x", {"\0"}),
        ("(a|\\d+) day", {"\0"}),
    ],
)
def test_the_first_words_of_a_phrase_are_known(phrase: str, words: set[str]) -> None:
    assert first_words(expand(phrase, {})) == words


@pytest.mark.parametrize("name", NAMES)
def test_every_table_finds_what_one_large_expression_finds(name: str) -> None:
    phrases = [expand(one, TABLE.macros) for one in getattr(TABLE, name)]
    plain = re.compile(rf"\b(?:{'|'.join(phrases)})(?!\w)")
    quick = Phrases([("found", phrases)], behind=r"(?!\w)")
    for text in TEXTS:
        expected = [one.span() for one in plain.finditer(text)]
        assert [one.span() for one in quick.finditer(Words(text))] == expected, text


def test_a_search_stays_between_its_ends() -> None:
    quick = Phrases([("act", ["call them"]), ("verb", ["call"])], behind=r"(?!\w)")
    words = Words("call them and call")
    assert [one.lastgroup for one in quick.finditer(words)] == ["act", "verb"]
    assert quick.search(words, 5) is not None
    assert quick.search(words, 5, 12) is None
    limited = quick.search(words, 0, 6)
    assert limited is not None
    assert limited.group() == "call"
