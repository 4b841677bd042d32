"""What an assistant asks before it advises, and what a conversation is about."""

import pytest

from salon.gate.clarifying import FACTS, find_unknown, is_active, latest_case
from salon.gate.lexicon import lexicon_of
from salon.gate.policy import make_policy
from salon.gate.signals import read_reply
from salon.gate.topics import GENERAL, TOPICS, find_letter, topic_of

POLICY = make_policy()
LEXICON = lexicon_of(POLICY.actions, POLICY.language)


@pytest.mark.parametrize(
    ("texts", "unknown"),
    [
        (("My employee stays away.",), "since_when"),
        (("My employee stays away since Monday.",), "tried"),
        (("My employee stays away since Monday, I called twice.",), None),
        (("My employee stays away.", "For three days. Nothing so far."), None),
        (("Absent since Monday; I texted.",), "who"),
        (("Jordan is absent since Monday; I texted.",), None),
    ],
)
def test_the_first_fact_that_nobody_told_is_asked_for(
    texts: tuple[str, ...], unknown: str | None
) -> None:
    fact = find_unknown(texts, LEXICON)
    assert (fact.name if fact else None) == unknown


def test_every_question_is_one_that_the_gate_knows_as_asking() -> None:
    for fact in FACTS:
        reading = read_reply(fact.question, LEXICON)
        assert reading.asking, fact.question
        assert not reading.is_guiding, fact.question


def test_a_case_is_the_persons_own_by_their_latest_words_about_it() -> None:
    assert is_active(("My employee did not show up.",), LEXICON)
    assert not is_active(("What if an employee does not show up?",), LEXICON)
    assert is_active(("What if somebody is late?", "My employee Sam was late."), LEXICON)
    assert not is_active(("Good morning.",), LEXICON)


def test_what_was_asked_about_others_is_no_part_of_the_case() -> None:
    said = ("What if an employee is late?", "My employee Sam is late.", "Since May.")
    assert latest_case(said, LEXICON) == said[1:]
    assert latest_case(said[1:], LEXICON) == said[1:]


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("She has been absent for days.", "attendance"),
        ("He was a no-show on Friday.", "attendance"),
        ("He was late three times.", "tardiness"),
        ("I want to give a written warning.", "warning"),
        ("Her performance dropped.", "performance"),
        ("He is on medical leave.", "leave"),
        ("I think about dismissal.", "termination"),
        ("We need new chairs.", "general"),
    ],
)
def test_the_topic_is_found_by_its_words(text: str, topic: str) -> None:
    assert topic_of((text,)).name == topic


def test_the_latest_words_decide_on_the_topic() -> None:
    assert topic_of(("She was absent.", "And her performance dropped.")).name == "performance"
    assert GENERAL.title == "HR Discussion"
    assert len({one.name for one in TOPICS}) == len(TOPICS)


def test_a_letter_is_found_only_whole() -> None:
    assert find_letter("You should send an email.") == {}
    assert find_letter("Subject: A talk\n\nand nothing more") == {}
    found = find_letter("Hello Jo,\n\nplease come.\n\nThanks,\nMeg")
    assert found == {"body": "Hello Jo,\n\nplease come.\n\nThanks,\nMeg"}
