"""Requests for a topic, and which quotes name it."""

import pytest

from salon.core.documents import DocumentId
from salon.core.hashing import content_hash
from salon.experts.evidence import Evidence, Quote
from salon.experts.topics import on_topic, requested_topic


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("What do you say about labor and capital?", "labor and capital"),
        ("What did you think of the Panama Canal?", "the Panama Canal"),
        ("Tell me about immigration.", "immigration"),
        ("And what about the navy?", "the navy"),
        ("What are your views on trusts?", "trusts"),
        ("Can you talk about forests", "forests"),
    ],
)
def test_a_request_for_a_topic_is_seen(text: str, topic: str) -> None:
    assert requested_topic(text) == topic


@pytest.mark.parametrize(
    "text",
    [
        "Who built the Panama Canal?",
        "What do you think?",
        "What do you say about that?",
        "How many people live in Cuba?",
        "Do you agree with Bob about labor?",
        "",
    ],
)
def test_a_question_for_a_fact_is_none(text: str) -> None:
    assert requested_topic(text) is None


def _quote(text: str, *, derived: bool = False) -> Quote:
    return Quote(
        text=text,
        hash=content_hash(text.encode()),
        start=0,
        end=len(text),
        source="a text",
        document=DocumentId("doc"),
        derived=derived,
        passage_score=0.3,
        answers=0.1,
    )


def _named(topic: str, *texts: str) -> list[str] | None:
    found = on_topic(Evidence(quotes=tuple(map(_quote, texts)), passages=()), topic)
    return None if found is None else [one.text for one in found.quotes]


def test_only_quotes_that_name_the_topic_are_left_and_the_fullest_comes_first() -> None:
    one, both, none = "Capital is stored work.", "Labor is before capital.", "It rained."
    assert _named("labor and capital", one, none, both) == [both, one]
    assert _named("labor and capital", none) is None


def test_a_part_of_two_words_is_named_by_both_and_one_of_three_by_two() -> None:
    assert _named("the Panama Canal", "The canal was dug.") is None
    assert _named("the Panama Canal", "The canals of Panama were dug.") is not None
    relations = "foreign relations during the rebellion"
    assert _named(relations, "Foreign nations watched the rebellion.") is not None
    assert _named(relations, "The rebellion went on.") is None


def test_a_word_counts_from_its_beginning_and_derived_text_names_nothing() -> None:
    assert _named("labor", "They collaborated gladly.") is None
    derived = Evidence(quotes=(_quote("Labor came first.", derived=True),), passages=())
    assert on_topic(derived, "labor") is None
