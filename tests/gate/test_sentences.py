"""Splitting sentences where punctuation misleads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.gate.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two? Three!", ["One.", "Two?", "Three!"]),
        ("Ask Dr. Smith at 3.5 p.m. today.", ["Ask Dr. Smith at 3.5 p.m. today."]),
        ("Thanks.Would it help?I can call.", ["Thanks.", "Would it help?", "I can call."]),
        ("Write to a.b@example.org now.", ["Write to a.b@example.org now."]),
        ("First:\n1. Call them.\n2. Wait.", ["First:", "1. Call them.", "2. Wait."]),
        ('Say "why?" and wait.', ['Say "why?" and wait.']),
        ('He said "Go." Then he left.', ['He said "Go."', "Then he left."]),
        ("Really?! Yes…", ["Really?!", "Yes…"]),
        ("Wait... there is more.", ["Wait... there is more."]),
        ("no stop at the end", ["no stop at the end"]),
        ("   \n ", []),
        ("J. Roth called.", ["J. Roth called."]),
    ],
)
def test_sentences_end_where_they_should(text: str, parts: list[str]) -> None:
    assert [text[one.start : one.end] for one in split_sentences(text)] == parts


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("Is it? It is.", [True, False]),
        ('Ask "can you come?" today.', [False]),
        ("You called twice? And then?", [True, True]),
        ("Is that so ?", [True]),
    ],
)
def test_a_quoted_question_mark_is_not_the_sentences_own(text: str, questions: list[bool]) -> None:
    assert [one.is_question for one in split_sentences(text)] == questions


@given(st.text(alphabet="ab .?!\n\"'A1é…”", max_size=60))
def test_every_character_that_counts_is_in_exactly_one_sentence(text: str) -> None:
    inside = [at for one in split_sentences(text) for at in range(one.start, one.end)]
    assert len(inside) == len(set(inside))
    assert {at for at, one in enumerate(text) if not one.isspace()} <= set(inside)
