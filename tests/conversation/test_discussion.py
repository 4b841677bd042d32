"""Discussions: who said what, within bounds."""

import pytest

from salon.conversation.discussion import (
    LONGEST_UTTERANCE,
    MOST_UTTERANCES,
    Utterance,
    make_discussion,
)
from salon.core.errors import InvalidInput

SAID = [
    Utterance(role="Alice", content="We need bike storage."),
    Utterance(role="Bob", content="First come, first served?"),
    Utterance(role="Alice", content="Late shifts lose out."),
]


@pytest.mark.requirement("cap/context/conversation")
def test_participants_come_in_the_order_of_their_first_words() -> None:
    discussion = make_discussion(SAID, topic="Storage")
    assert discussion.participants == ("Alice", "Bob")
    assert [one.content for one in discussion.said_by("alice")] == [
        "We need bike storage.",
        "Late shifts lose out.",
    ]
    assert discussion.topic == "Storage"


@pytest.mark.parametrize(
    "said",
    [
        [SAID[0]] * (MOST_UTTERANCES + 1),
        [Utterance(role="A", content="x" * (LONGEST_UTTERANCE + 1))],
        [Utterance(role="\ud800", content="x")],
        [Utterance(role="A", content="\udfff")],
    ],
    ids=["too many", "too long", "no name", "no text"],
)
def test_what_is_no_discussion_is_refused(said: list[Utterance]) -> None:
    with pytest.raises(InvalidInput):
        make_discussion(said)
