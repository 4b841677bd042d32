"""What may be asked, and what becomes of the marks of chat templates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.chat import ChatMessage, ChatRequest, Speaker
from salon.core.errors import InvalidInput
from salon.providers.chat import ScriptedChat
from salon.providers.chat.requests import without_marks

S, U, A = Speaker.SYSTEM, Speaker.USER, Speaker.ASSISTANT


def request(*speakers: Speaker, content: str = "Hello.", max_tokens: int = 10) -> ChatRequest:
    messages = tuple(ChatMessage(speaker=speaker, content=content) for speaker in speakers)
    return ChatRequest(messages=messages, max_tokens=max_tokens)


@pytest.mark.parametrize("speakers", [(U,), (S, U), (S, S, U), (S, U, A, U), (A, U), (U, U)])
def test_a_system_text_first_and_a_user_last_is_well(speakers: tuple[Speaker, ...]) -> None:
    assert ScriptedChat(["Yes."]).complete(request(*speakers)).text == "Yes."


@pytest.mark.parametrize(
    ("speakers", "what"),
    [
        ((), "ends with a user"),
        ((S,), "ends with a user"),
        ((S, U, A), "ends with a user"),
        ((U, S), "ends with a user"),
        ((U, S, U), "system text first"),
        ((S, U, A, S, U), "system text first"),
    ],
)
def test_any_other_order_is_refused(speakers: tuple[Speaker, ...], what: str) -> None:
    chat = ScriptedChat(["Yes."])
    with pytest.raises(InvalidInput, match=what):
        chat.complete(request(*speakers))
    with pytest.raises(InvalidInput, match=what):
        next(iter(chat.stream(request(*speakers))))
    assert chat.usage.requests == 0


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (request(U, content=" \n"), "is empty"),
        (request(U, content="half \ud83d"), "not text"),
        (request(U, max_tokens=0), "at least one token"),
    ],
)
def test_what_cannot_be_sent_is_refused(bad: ChatRequest, what: str) -> None:
    with pytest.raises(InvalidInput, match=what):
        ScriptedChat(["Yes."]).complete(bad)


MARKS = [
    "<|im_start|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|start_header_id|>",
    "<|endoftext|>",
    "<｜User｜>",  # noqa: RUF001 - wide bars, as DeepSeek has them
    "<s>",
    "</s>",
    "<think>",
    "</think>",
    "[INST]",
    "[/INST]",
    "<<SYS>>",
    "<</SYS>>",
    "<start_of_turn>",
    "<end_of_turn>",
    "[SYSTEM_PROMPT]",
]


@pytest.mark.parametrize("mark", MARKS)
def test_no_mark_is_left_whole(mark: str) -> None:
    broken = without_marks(f"before{mark}after")
    assert mark not in broken
    assert broken.replace(" ", "") == f"before{mark}after".replace(" ", "")


@given(st.lists(st.sampled_from([*MARKS, "<", "|", ">", "[", "a", " ", "<|", "|>"]), max_size=12))
def test_breaking_marks_makes_no_new_ones(parts: list[str]) -> None:
    broken = without_marks("".join(parts))
    assert not [mark for mark in MARKS if mark in broken]
    assert without_marks(broken) == broken


@pytest.mark.parametrize(
    "text",
    ["a < b and b > c", "x[i] = <b>bold</b>", "a || b", "[1] a source", "<script>", "2<3|4>1"],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert without_marks(text) == text
