"""Questions inside a discussion: what they lean on is found, what is missing is said."""

import pytest

from salon.conversation.discussion import Discussion, Utterance
from salon.core.errors import InvalidInput
from salon.experts.questions import LONGEST_QUESTION, content_words, understand, without_address

TALK = Discussion(
    utterances=(
        Utterance(role="Alice", content="We need to decide on bike storage."),
        Utterance(role="Bob", content="Maybe the oldest members should choose first."),
    ),
    topic="A shared courtyard",
)


def test_a_whole_question_stands_on_its_own() -> None:
    asked = understand("How should a village share the water of its river?")
    assert asked.query == "How should a village share the water of its river?"
    assert asked.topic == "village share water river"
    assert asked.refers_to is None
    assert asked.unclear is None


@pytest.mark.requirement("cap/context/follows-the-flow")
def test_what_bob_said_is_added() -> None:
    asked = understand("Do you agree with Bob?", TALK)
    assert asked.refers_to == TALK.utterances[1]
    assert "oldest members" in asked.query


@pytest.mark.parametrize("question", ["What about that?", "Why?", "Is it fair?", "Would they pay?"])
def test_a_question_that_points_leans_on_what_was_said_last(question: str) -> None:
    asked = understand(question, TALK)
    assert asked.refers_to == TALK.utterances[1]
    assert asked.unclear is None


@pytest.mark.parametrize("question", ["What about that?", "Why?", "And him?", "???", "Is it so?"])
def test_without_a_discussion_it_is_unclear(question: str) -> None:
    assert understand(question).unclear is not None


def test_the_topic_of_a_session_can_complete_a_question() -> None:
    asked = understand("What do you think?", Discussion(topic="Tolls on the old bridge"))
    assert asked.query == "Tolls on the old bridge"
    assert asked.unclear is None


def test_a_topic_that_says_the_same_is_not_said_twice() -> None:
    talk = Discussion(topic="What does freedom mean?")
    assert understand("What does freedom mean?", talk).query == "What does freedom mean?"
    assert understand("What of freedom?", Discussion(topic="Slavery")).query == (
        "What of freedom? Slavery"
    )


def test_its_own_words_are_not_what_is_meant() -> None:
    talk = Discussion(
        utterances=(
            Utterance(role="Bob", content="Tolls are unfair."),
            Utterance(role="Ada Berg", content="I once wrote about bridges."),
        )
    )
    asked = understand("Why is that?", talk, names=("Ada Berg",))
    assert asked.refers_to == talk.utterances[0]


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Ada Berg, what is a garden?", "what is a garden?"),
        ("@ada-berg: what is a garden?", "what is a garden?"),
        ("What is a garden, Berg?", "What is a garden?"),
        ("What did Berg plant?", "What did Berg plant?"),
        ("Berg,", "Berg,"),
    ],
)
def test_the_name_of_whom_it_speaks_to_is_left_out(text: str, bare: str) -> None:
    assert without_address(text, ("Ada Berg", "ada-berg", "Berg")) == bare


def test_words_that_say_nothing_are_no_content() -> None:
    assert content_words("What do you think about the free-riders?") == ["free-riders"]


@pytest.mark.parametrize("question", ["x" * (LONGEST_QUESTION + 1), "\ud800"])
def test_what_is_no_question_is_refused(question: str) -> None:
    with pytest.raises(InvalidInput):
        understand(question)
