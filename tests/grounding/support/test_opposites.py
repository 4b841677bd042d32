"""Opposite things are told from the same thing said otherwise."""

import pytest

from salon.grounding.support.opposites import opposed


@pytest.mark.parametrize(
    ("claim", "text", "word"),
    [
        ("The tax was not lowered.", "The tax was lowered in spring.", "negation"),
        ("He approved of the law.", "He did not approve of the law.", "negation"),
        ("He never approved of it.", "He approved of it.", "negation"),
        ("They didn\u2019t approve it.", "They approve it.", "negation"),
        ("Prices rose in spring.", "Prices fell in spring.", "comparison"),
        ("More ships came.", "Fewer ships came.", "comparison"),
        ("Wages were higher.", "Wages were lower.", "comparison"),
        ("It was signed before the war.", "It was signed after the war.", "comparison"),
        ("Iron is heavier than zinc.", "Zinc is heavier than iron.", "comparison"),
        ("The drug inhibits growth of cells.", "The drug promotes cells.", "comparison"),
    ],
)
def test_opposites_are_found(claim: str, text: str, word: str) -> None:
    reasons = opposed(claim, text)
    assert reasons
    assert reasons[0].startswith(word)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The tax was not lowered.", "The tax was never lowered."),
        ("He approved of it.", "He approved of it, but not of the rest."),
        ("He approved of it.", "He not only approved of it."),
        ("Prices rose.", "Prices rose and then fell."),
        ("It was signed before the war.", "The war came after it was signed."),
        ("Iron is heavier than zinc.", "Zinc is lighter than iron."),
        ("Iron is heavier than zinc.", "Iron is heavier than zinc by far."),
        ("No", "Yes"),
        ("It did not", "It did"),
    ],
)
def test_the_same_said_otherwise_is_no_opposite(claim: str, text: str) -> None:
    assert opposed(claim, text) == []
