"""The whole way with a real model, the small one inside Salon. Opt in with LIVE_LOCAL=1."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.core.chat import ChatMessage, ChatRequest, Speaker, ask
from salon.providers.chat import ChatLimits, ChatOptions, open_chat
from salon.providers.chat.metered import MeteredChat
from tests.experts.valley import open_valley

pytestmark = pytest.mark.skipif(
    os.environ.get("LIVE_LOCAL") != "1", reason="a real model: opt in with LIVE_LOCAL=1"
)
LIMITS = ChatLimits(requests=200, tokens=200_000)


@pytest.fixture(scope="module")
def model() -> Iterator[MeteredChat]:
    """Return the model; that its packages are missing is a failure here, not a reason to skip."""
    with open_chat("local:smollm2", ChatOptions(timeout_s=300, limits=LIMITS)) as chat:
        yield chat


def test_a_real_model_completes(model: MeteredChat) -> None:
    answer = model.complete(ask("You are a helpful assistant.", (), "Write one sentence on rain."))
    assert len(answer.text.split()) > 2
    assert answer.model == "smollm2"
    assert answer.usage.requests == 1
    assert answer.usage.input_tokens > 0
    assert answer.usage.output_tokens > 0
    assert answer.usage.cost_usd is None


def test_a_real_model_streams(model: MeteredChat) -> None:
    request = ask("You are a helpful assistant.", (), "Count from one to ten in words.")
    pieces = list(model.stream(ChatRequest(messages=request.messages, max_tokens=60)))
    assert len(pieces) > 5
    assert "".join(pieces).strip()


def test_a_real_model_knows_what_was_said_before(model: MeteredChat) -> None:
    history = (
        ChatMessage(speaker=Speaker.USER, content="My name is Ada."),
        ChatMessage(speaker=Speaker.ASSISTANT, content="Hello Ada!"),
    )
    alone = model.complete(ask("Be brief.", (), "What is my name?"))
    told = model.complete(ask("Be brief.", history, "What is my name?"))
    assert told.usage.input_tokens > alone.usage.input_tokens + 8


def test_a_stream_of_a_real_model_can_be_left(model: MeteredChat) -> None:
    answer = model.stream(ask("You are a poet.", (), "Write a long poem about the sea."))
    assert next(answer)
    del answer
    assert model.complete(ask("Be brief.", (), "Say yes.")).text.strip()


QUESTIONS = (
    "When was the bridge over the Alder built?",
    "What is the toll for a loaded cart?",
    "Who decides the rules of the garden?",
    "What happens to a member who does not water the bed?",
    "How many members does the garden have?",
    "Who painted the chapel ceiling?",
)


def test_whatever_a_real_model_writes_nothing_unsupported_comes_out(
    model: MeteredChat, tmp_path: Path
) -> None:
    written = []
    with open_valley(tmp_path) as salon:
        salon.__dict__["chat"] = model.for_session()
        for question in QUESTIONS:
            reply = salon.respond("ada-berg", question)
            report = salon.verify_response(reply.response, reply.citations, avatar="ada-berg")
            assert report.holds, reply
            written.append(reply.composer)
        assert salon.__dict__["chat"].usage.requests >= 4
        salon.__dict__.pop("chat")
    assert len(written) == len(QUESTIONS)
