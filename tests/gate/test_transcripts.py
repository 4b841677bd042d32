"""Reading transcripts in both layouts, and the verdict on each reply."""

import json

import pytest

from salon.core.errors import InvalidInput
from salon.gate.policy import make_policy
from salon.gate.transcripts import explain, read_transcript
from salon.gate.verdicts import Side

LINES = """Manager: My employee is absent
ERA: Have you contacted them?
Manager: Yes, called twice
and left a message
ERA: Would you like me to schedule that call?
"""


def test_lines_are_read_with_what_goes_on_below_them() -> None:
    transcript = read_transcript(LINES)
    assert transcript.said[2].text == "Yes, called twice\nand left a message"
    verdicts = [(one.index, one.verdict.action) for one in explain(transcript, make_policy())]
    assert verdicts == [(1, None), (3, "calendar")]


def test_json_may_say_which_flow_a_message_belongs_to() -> None:
    entries = [
        {"role": "user", "content": "My employee is absent"},
        {"role": "assistant", "content": "Have you contacted them?"},
        {"role": "user", "content": "Yes"},
        {"role": "assistant", "content": "I can schedule a call.", "flow": "calendar"},
    ]
    last = list(explain(read_transcript(json.dumps(entries)), make_policy()))[-1]
    assert last.verdict.rule == "flow_active"


@pytest.mark.parametrize(
    ("text", "assistant", "sides"),
    [
        ("Mia: Hi\nTom: Hello", None, "pa"),
        ("Mia: Hi\nTom: Hello", "Mia", "ap"),
        ("Bot: Hi\nMia: Hello\nTom: Hey", None, "app"),
    ],
)
def test_the_assistant_is_named_usual_or_second(
    text: str, assistant: str | None, sides: str
) -> None:
    found = read_transcript(text, assistant=assistant).said
    assert "".join("a" if one.side is Side.ASSISTANT else "p" for one in found) == sides


@pytest.mark.parametrize(
    ("text", "assistant", "says"),
    [
        ("", None, "empty"),
        ("no names here", None, "line 1"),
        ("A: x\nB: y\nC: z", None, "not clear"),
        ("A: x\nB: y", "Z", "nobody"),
        ("[1]", None, "transcript at 0"),
        ('[{"role": "a", "content": ""}]', None, "0.content"),
        ('[{"role": "a", "text": "x"}]', None, "0"),
        ("[", None, "not JSON"),
        ("x" * 2_000_001, None, "too long"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, assistant: str | None, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        read_transcript(text, assistant=assistant)
