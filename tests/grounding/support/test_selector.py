"""The selector: the sentence that answers comes first, and no answer scores low."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.grounding.support import Selector, load_selector
from salon.grounding.support import selector as selector_module
from salon.grounding.support.answering import Asked
from salon.providers.embedders.minilm import MiniLmEmbedder

SENTENCES = [
    "The village of Torres lies in a dry valley.",
    "In 1874 it divided its water among 1,200 farms.",
    "Anna Keller kept the records because the council trusted her.",
    "The canal was dug in Murcia, two days away.",
    "Harvests increased once the fields were watered.",
]


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("When did the village divide its water?", 1),
        ("How many farms shared the water?", 1),
        ("Who kept the records?", 2),
        ("Where was the canal dug?", 3),
        ("Why did Anna Keller keep the records?", 2),
        ("What happened to the harvests?", 4),
        ("Watered fields gave larger harvests.", 4),
    ],
)
def test_the_sentence_that_answers_scores_highest(
    selector: Selector, question: str, place: int
) -> None:
    scores = selector.scores(question, SENTENCES)
    assert max(range(len(scores)), key=scores.__getitem__) == place
    assert all(0 < score < 1 for score in scores)


def test_a_question_about_something_else_scores_low(selector: Selector) -> None:
    answered = max(selector.scores("Who kept the records?", SENTENCES))
    unanswered = max(selector.scores("Which rocket engine burns methane?", SENTENCES))
    assert unanswered < selector.threshold < 0.9
    assert unanswered < answered / 2


def test_no_sentences_have_no_scores(selector: Selector) -> None:
    assert selector.scores("Who?", []) == []
    assert len(selector.scores("", ["One sentence."])) == 1
    assert len(selector.scores("Who?", ["", "?"])) == 2


@given(st.text(max_size=60), st.lists(st.text(max_size=80), max_size=5))
def test_every_sentence_gets_a_probability(question: str, sentences: list[str]) -> None:
    scores = load_selector(None).scores(question, sentences)
    assert len(scores) == len(sentences)
    assert all(0 < score < 1 for score in scores)


def test_of_many_sentences_only_the_likely_ones_are_compared_by_meaning(
    encoder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selector_module, "MOST_COMPARED", 2)
    scores = load_selector(encoder).scores("Who kept the records?", SENTENCES)
    assert scores[2] == max(scores)
    assert sorted(scores)[-3] <= sorted(scores)[-2]
    assert len(scores) == len(SENTENCES)


@pytest.mark.parametrize(
    ("question", "kind", "form"),
    [
        ("How many came?", "number", "question"),
        ("In what year did it end?", "time", "question"),
        ("Whose was it?", "person", "question"),
        ("Which city is it?", "place", "question"),
        ("Why?", "reason", "question"),
        ("Is it so?", "thing", "question"),
        ("It is so.", "none", "statement"),
    ],
)
def test_a_question_says_what_it_wants(question: str, kind: str, form: str) -> None:
    asked = Asked.read(question)
    assert (asked.kind, asked.form) == (kind, form)
