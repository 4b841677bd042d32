"""A few words changed in a sentence that the text holds."""

import pytest

from salon.grounding.support.edits import edits
from salon.grounding.support.words import read_words

SENTENCE = "After the flood of 1874 the council raised the dues of the upper farms by 12 percent."


def kinds(claim: str, sentence: str = SENTENCE) -> list[str]:
    return [kind for kind, _ in edits(read_words(claim), read_words(sentence))]


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("After", "Before", "comparison"),
        ("raised", "reduced", "comparison"),
        ("raised", "never raised", "negation"),
        ("1874", "1875", "number"),
        ("12", "twenty", "number"),
    ],
)
def test_a_change_that_turns_the_sentence_is_found(old: str, new: str, kind: str) -> None:
    assert kinds(SENTENCE.replace(old, new)) == [kind]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("council", "assembly"),
        ("upper ", ""),
        ("raised", "not only raised"),
        ("12", "twelve"),
        (" by 12 percent", ""),
        ("After the flood of 1874 the", "The"),
    ],
)
def test_a_change_that_turns_nothing_is_none(old: str, new: str) -> None:
    assert kinds(SENTENCE.replace(old, new)) == []


def test_a_negation_that_is_taken_out_is_found() -> None:
    denied = SENTENCE.replace("raised", "has not raised")
    assert kinds(SENTENCE.replace("raised", "has raised"), denied) == ["negation"]


def test_other_sentences_are_not_laid_beside_each_other() -> None:
    assert kinds("Nobody reduced anything before 1875.") == []
    assert kinds("") == []
    assert kinds("never " + "so " * 200, "so " * 200) == []


def test_what_is_said_to_be_false_is_not_said() -> None:
    claim = "The council raised the dues."
    assert kinds(claim, "It is not true that the council raised the dues.") == ["negation"]
    assert kinds(claim, "Nobody believes that the council raised the dues.") == ["negation"]
    assert kinds(claim, "It is known that the council raised the dues.") == []
    assert kinds(claim, "Though it was not rich, the council raised the dues.") == []
