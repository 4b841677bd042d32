"""Model answers are recorded and said again; a replay that asks something else is told so."""

import pytest

from salon.blackboard.recording import (
    RecordingChat,
    ReplayedChat,
    as_model_record,
    read_model_record,
    request_digest,
)
from salon.core.chat import ChatRequest, ask
from salon.core.errors import IntegrityFailed, InvalidDocument, ProviderFailed
from salon.providers.chat.scripted import ScriptedChat


def _asks(question: str) -> ChatRequest:
    return ask("You are short.", (), question)


def _replay(chat: RecordingChat) -> ReplayedChat:
    return ReplayedChat(chat.address, read_model_record(as_model_record(chat.record())))


def test_answers_are_said_again_in_the_order_they_came() -> None:
    chat = RecordingChat(ScriptedChat(["One.", "Two.", "Three."]))
    first = [chat.complete(_asks("a")), chat.complete(_asks("a")), chat.complete(_asks("b"))]
    again = _replay(chat)
    assert [again.complete(_asks(one)) for one in ("a", "a", "b")] == first
    assert again.address == chat.address == "scripted:code"
    assert chat.usage.requests == again.usage.requests == 3
    chat.close()
    again.close()


def test_a_streamed_answer_is_said_again_whole() -> None:
    chat = RecordingChat(ScriptedChat(["Good morning to you."]))
    pieces = list(chat.stream(_asks("a")))
    assert len(pieces) > 1
    assert list(_replay(chat).stream(_asks("a"))) == ["".join(pieces)]


def test_a_model_that_failed_fails_again() -> None:
    chat = RecordingChat(ScriptedChat([ProviderFailed("it is away"), ProviderFailed("gone")]))
    with pytest.raises(ProviderFailed, match="away"):
        chat.complete(_asks("a"))
    with pytest.raises(ProviderFailed, match="gone"):
        list(chat.stream(_asks("a")))
    again = _replay(chat)
    with pytest.raises(ProviderFailed, match="away"):
        again.complete(_asks("a"))


def test_another_question_gets_no_answer() -> None:
    chat = RecordingChat(ScriptedChat(["One."]))
    chat.complete(_asks("a"))
    again = _replay(chat)
    with pytest.raises(IntegrityFailed, match=request_digest(_asks("b"))[:16]):
        again.complete(_asks("b"))
    again.complete(_asks("a"))
    with pytest.raises(IntegrityFailed):
        again.complete(_asks("a"))


def test_a_record_that_was_damaged_is_refused() -> None:
    with pytest.raises(InvalidDocument, match="cannot be read"):
        read_model_record({"digest": [{"answer": 3}]})
