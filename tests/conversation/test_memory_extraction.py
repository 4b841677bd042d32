"""What a message states about the user, and what it does not."""

import pytest

from salon.conversation.memory.extraction import (
    find_events,
    find_moments,
    find_statements,
    same_value,
)
from salon.conversation.memory.sentences import sentence_spans
from tests.conversation.memory_talk import said


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("I live in Lyon with my cat.", "lives_in", "Lyon"),
        ("i live in new york now", "lives_in", "new york"),
        ("I've just moved to Ghent", "lives_in", "Ghent"),
        ("I\u2019m from the Netherlands", "comes_from", "the Netherlands"),
        ("My name is Anna Berg.", "name", "Anna Berg"),
        ("I turned 40 last week", "age", "40"),
        ("I'm a nurse and it is hard", "works_as", "nurse"),
        ("I work at the city hospital", "works_at", "city hospital"),
        ("I'm studying law at night", "studies", "law at night"),
        ("I'm vegan", "diet", "vegan"),
        ("I am allergic to peanuts", "allergic_to", "peanuts"),
        ("I really love hiking", "likes", "hiking"),
        ("I can't stand mushrooms", "dislikes", "mushrooms"),
        ("My favourite colour is green", "favourite colour", "green"),
        ("I have a dog called Rex", "pet", "dog called Rex"),
        ("I have two sisters", "family", "two sisters"),
        ("I'm scared of heights", "afraid_of", "heights"),
        ("I gave up smoking", "gave_up", "smoking"),
        ("I'd love to visit Japan", "wants_to", "visit Japan"),
        ("We got married in June", "relationship", "married"),
    ],
)
def test_a_fact_is_found_with_the_words_that_say_it(text: str, attribute: str, value: str) -> None:
    found = [one for one in find_statements(said(text)) if one.attribute == attribute]
    assert [one.value for one in found] == [value]
    quoted = text[found[0].start : found[0].end]
    assert value.casefold() in quoted.casefold()


@pytest.mark.parametrize(
    "text",
    [
        "My sister lives in Oslo",
        "He works as a nurse",
        "If I lived in Paris I would be happy",
        "Imagine I live in Rome",
        "I used to live in Rome",
        'He said "I live in Rome" and laughed',
        "She thinks I'm a teacher",
        "Do I live in Lyon?",
        "I live in fear",
        "I live in a small flat",
        "I like it",
        "I wish I lived by the sea",
        "I never lived in Berlin",
    ],
)
def test_what_is_not_said_about_the_user_as_a_fact_is_none(text: str) -> None:
    assert find_statements(said(text)) == []


def test_what_is_no_longer_so_is_a_statement_that_negates() -> None:
    found = find_statements(said("I don't live in Lyon anymore"))
    assert [(one.attribute, one.value, one.negates) for one in found] == [
        ("lives_in", "Lyon", True)
    ]


def test_a_lost_job_negates_whatever_the_work_was() -> None:
    found = find_statements(said("I lost my job yesterday"))
    assert {(one.attribute, one.value, one.negates) for one in found} == {
        ("works_as", "", True),
        ("works_at", "", True),
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I got the job at the bakery!", ["I got the job at the bakery!"]),
        ("It rained. My grandmother passed away in May.", ["My grandmother passed away in May."]),
        ("Did I get the job?", []),
        ("If I got promoted I would be glad", []),
        ("The bus was late", []),
    ],
)
def test_what_happened_in_the_users_life_is_an_event(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in find_events(said(text))] == expected


def test_sentences_with_private_data_are_left_out_of_a_moment() -> None:
    text = "I walked by the river today. My card is 4111 1111 1111 1111. The trees were golden red."
    start = text.index("4111")
    spans = find_moments(said(text), [(start, start + 19)])
    assert [text[one:other] for one, other in spans] == [
        "I walked by the river today.",
        "The trees were golden red.",
    ]


@pytest.mark.parametrize(
    "text", ["ok", "How was your day?", "/analyze-relationship now please", ""]
)
def test_small_talk_questions_and_commands_are_no_moments(text: str) -> None:
    assert find_moments(said(text)) == []


def test_a_long_message_becomes_several_moments_of_whole_sentences() -> None:
    text = " ".join(f"Sentence number {n} tells about garden {n} and house {n}." for n in range(20))
    spans = find_moments(said(text))
    assert len(spans) > 1
    assert all(text[start:end].endswith(".") for start, end in spans)


def test_values_are_the_same_whatever_their_case_and_endings() -> None:
    assert same_value("Hiking", "hiking")
    assert same_value("cats", "cat")
    assert not same_value("Lyon", "Ghent")
    assert not same_value("the", "a")


def test_sentences_keep_decimal_points_and_drop_empty_ones() -> None:
    text = "It cost 3.50 euros! ... Fine\nNext line"
    assert [text[start:end] for start, end in sentence_spans(text)] == [
        "It cost 3.50 euros!",
        "Fine",
        "Next line",
    ]
