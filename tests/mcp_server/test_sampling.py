"""The client's own model as composer: only where it is set up and declared, and always checked."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client import Client
from mcp.server import Server

from salon.app import Salon
from salon.experts.replies import Reply
from salon.mcp_server import sampling
from salon.mcp_server.avatar_server import build_avatar_server
from salon.mcp_server.transports import allowed_hosts, http_app
from salon.settings import load_settings
from tests.mcp_server.homes import AVATAR, make_home
from tests.mcp_server.serving import served
from tests.mcp_server.talking import ERAS, call, error_of, talk

QUESTION = "What happens to a canal that everyone uses and nobody mends?"
HELD = "A canal that everyone uses and nobody mends will silt within three winters. [1]"
MADE_UP = "A canal silts within seven winters [1]."
both_eras = pytest.mark.parametrize("era", ERAS)
Sampled = types.CreateMessageResult | types.ErrorData


class Writer:
    """A client's model that writes what it is told to, and keeps what it was asked."""

    def __init__(self, says: str | Sampled) -> None:
        self.says = says
        self.asked: list[types.CreateMessageRequestParams] = []

    async def __call__(self, context: Any, params: types.CreateMessageRequestParams) -> Sampled:
        self.asked.append(params)
        if not isinstance(self.says, str):
            return self.says
        return types.CreateMessageResult(
            role="assistant", content=types.TextContent(text=self.says), model="of-the-client"
        )


def _salon(home: Path, model: str | None) -> Salon:
    environment = {} if model is None else {"SALON_CHAT__MODEL": model}
    return Salon(load_settings(home=home, environment=environment))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_home(tmp_path_factory.mktemp("home")).home


@pytest.fixture(scope="module")
def salon(home: Path) -> Iterator[Salon]:
    with _salon(home, "client:sampling") as salon:
        yield salon


@pytest.fixture(scope="module")
def server(salon: Salon) -> Server[Any]:
    return build_avatar_server(salon, AVATAR)


def _ask(server: Any, era: str, writer: Writer | None) -> dict[str, Any]:
    result = talk(
        server,
        era,
        lambda one: one.call_tool("generate_response", {"question": QUESTION}),
        sampling_callback=writer,
    )
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content
    return found


@both_eras
def test_a_client_that_samples_composes(server: Server[Any], era: str) -> None:
    writer = Writer(HELD)
    found = _ask(server, era, writer)
    assert found["response"] == HELD
    (asked,) = writer.asked
    assert "Ida Weir" in (asked.system_prompt or "")
    (message,) = asked.messages
    assert isinstance(message.content, types.TextContent)
    assert QUESTION in message.content.text
    assert asked.include_context is None


@both_eras
def test_a_client_that_declares_nothing_is_not_asked(server: Server[Any], era: str) -> None:
    found = _ask(server, era, None)
    assert "I wrote: “A canal that everyone uses" in found["response"]


@both_eras
@pytest.mark.parametrize("says", [MADE_UP, "NOTHING.", "I am a person, not an AI."])
def test_what_the_corpus_does_not_bear_out_is_cut(server: Server[Any], era: str, says: str) -> None:
    found = _ask(server, era, Writer(says))
    assert says not in found["response"]
    assert "I wrote: “A canal that everyone uses" in found["response"]


@both_eras
def test_only_the_sentence_that_does_not_hold_is_cut(server: Server[Any], era: str) -> None:
    found = _ask(server, era, Writer(f"{MADE_UP} {HELD}"))
    assert found["response"] == HELD


@both_eras
@pytest.mark.parametrize(
    "says",
    [
        types.CreateMessageResult(
            role="assistant",
            content=types.ImageContent(data="AAAA", mime_type="image/png"),
            model="of-the-client",
        ),
        " ",
        "much too long " * 2_000,
    ],
    ids=["a picture", "nothing", "too much"],
)
def test_what_is_no_reply_leaves_the_quotes(
    server: Server[Any], era: str, says: str | Sampled
) -> None:
    assert "I wrote: “A canal" in _ask(server, era, Writer(says))["response"]


REFUSAL = types.ErrorData(code=-1, message="the person said no")


def test_a_client_that_refuses_gets_quotes(server: Server[Any]) -> None:
    writer = Writer(REFUSAL)
    assert "I wrote: “A canal" in _ask(server, "legacy", writer)["response"]
    assert len(writer.asked) == 1


def test_a_client_that_takes_too_long_gets_quotes(
    server: Server[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(Writer):
        async def __call__(self, context: Any, params: types.CreateMessageRequestParams) -> Sampled:
            self.asked.append(params)
            await anyio.sleep_forever()
            raise AssertionError

    monkeypatch.setattr(sampling, "SECONDS", 0.05)
    slow = Slow(HELD)
    assert "I wrote: “A canal" in _ask(server, "legacy", slow)["response"]
    assert len(slow.asked) == 1


def test_a_client_that_calls_again_empty_handed_gets_quotes(server: Server[Any]) -> None:
    async def refuse(client: Client) -> Any:
        first = await client.session.call_tool(
            "generate_response", {"question": QUESTION}, allow_input_required=True
        )
        assert isinstance(first, types.InputRequiredResult)
        assert set(first.input_requests or {}) == {"reply"}
        return await client.session.call_tool(
            "generate_response", {"question": QUESTION}, request_state=first.request_state
        )

    result = talk(server, "auto", refuse, sampling_callback=Writer(HELD))
    assert "I wrote: “A canal" in result.structured_content["response"]


def test_nobody_is_asked_unless_it_is_set_up(home: Path) -> None:
    writer = Writer(HELD)
    with _salon(home, None) as plain:
        server = build_avatar_server(plain, AVATAR)
        for era in ERAS:
            assert "I wrote: “A canal" in _ask(server, era, writer)["response"]
    assert writer.asked == []


@both_eras
def test_it_works_over_http(salon: Salon, era: str) -> None:
    app = http_app({AVATAR: build_avatar_server(salon, AVATAR)}, allowed_hosts("127.0.0.1"))
    with served(app) as address:
        assert _ask(f"{address}/mcp/{AVATAR}", era, Writer(HELD))["response"] == HELD


def test_an_avatar_that_insists_on_a_model_says_that_none_was_lent(
    tmp_path: Path,
) -> None:
    make_home(tmp_path, {"salon": {"grounding": {"threshold": 0.1, "composer": "chat"}}})
    with _salon(tmp_path, "client:sampling") as salon:
        server = build_avatar_server(salon, AVATAR)
        result = call(server, "generate_response", "auto", question=QUESTION)
    error = error_of(result)
    assert error["code"] == "provider_failed"
    assert "declares sampling" in error["hint"]


def test_outside_of_mcp_there_is_no_client_and_quotes_answer(salon: Salon) -> None:
    reply = salon.respond(AVATAR, QUESTION)
    assert reply.composer == "extractive"


def test_the_reply_names_the_client_as_composer(
    server: Server[Any], salon: Salon, monkeypatch: pytest.MonkeyPatch
) -> None:
    composers = []
    respond = salon.respond

    def note(*args: Any, **more: Any) -> Reply:
        reply = respond(*args, **more)
        composers.append(reply.composer)
        return reply

    monkeypatch.setattr(salon, "respond", note)
    _ask(server, "auto", Writer(HELD))
    assert composers == ["client:sampling"]
