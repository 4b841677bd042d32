"""A turn with an assistant over MCP: forms where the client shows them, text where it does not."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client import Client
from mcp.server import Server

from salon.app import Salon
from salon.core.errors import InvalidInput
from salon.mcp_server.avatar_server import build_avatar_server
from salon.parts.assistant import DEFAULT_ASSISTANT
from salon.settings import load_settings
from tests.mcp_server.talking import ERAS, call, talk

both_eras = pytest.mark.parametrize("era", ERAS)
Filled = types.ElicitResult | types.ErrorData
CASE = (
    "My employee Dana did not come to work on Monday and Tuesday and did not call in.",
    "She has been away since Monday, and I have called her once without an answer.",
)
"""What a person says until the assistant may offer."""
ANSWERS = {
    "accept": "yes",
    "start": "the first one",
    "employee_name": "Dana Mills",
    "employee_phone": "+1 555 010 7788",
}


class Person:
    """Somebody who fills in forms by a table, and keeps what was shown."""

    def __init__(self, answer: Callable[[dict[str, Any], str], Filled]) -> None:
        self.shown: list[types.ElicitRequestFormParams] = []
        self._answer = answer

    async def __call__(self, context: Any, params: types.ElicitRequestParams) -> Filled:
        assert isinstance(params, types.ElicitRequestFormParams)
        self.shown.append(params)
        return self._answer(dict(params.requested_schema["properties"]), params.message)


def fill(properties: dict[str, Any], _: str) -> Filled:
    content: dict[str, Any] = {}
    for name in properties:
        content[name] = True if name == "approve" else ANSWERS.get(name, "Call about the absence")
    return types.ElicitResult(action="accept", content=content)


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    home = tmp_path_factory.mktemp("assistant")
    with Salon(load_settings(home=home, environment={})) as salon:
        salon.ensure_assistant()
        yield salon


@pytest.fixture(scope="module")
def server(salon: Salon) -> Server[Any]:
    return build_avatar_server(salon, DEFAULT_ASSISTANT)


def hold(server: Server[Any], era: str, session: str, **client: Any) -> list[dict[str, Any]]:
    """Say everything of the case, one call after the other."""

    async def say(connected: Client) -> list[dict[str, Any]]:
        found = []
        for message in CASE:
            result = await connected.call_tool(
                "assist", {"message": message, "session_id": session}
            )
            assert not result.is_error, result.content
            found.append(dict(result.structured_content or {}))
        return found

    return talk(server, era, say, **client)


def events_of(salon: Salon) -> set[Path]:
    return set((salon.settings.home / "actions").rglob("*.ics"))


@pytest.fixture
def booked(salon: Salon) -> Callable[[], int]:
    """Say how many events were made in this test."""
    before = events_of(salon)
    return lambda: len(events_of(salon) - before)


@both_eras
def test_the_offer_the_fields_and_the_approval_travel_as_forms(
    server: Server[Any], booked: Callable[[], int], era: str
) -> None:
    person = Person(fill)
    turns = hold(server, era, f"with-forms-{era}", elicitation_callback=person)
    assert turns[0]["gate"]["action"] is None
    assert person.shown, "nothing was put to the person"
    assert "approve" in person.shown[-1].requested_schema["properties"]
    assert turns[-1]["flow"] is None
    assert turns[-1]["order"]["state"] == "done"
    assert booked() == 1
    assert all(one["ai_label"] for one in turns)


@both_eras
def test_a_client_without_forms_gets_the_question_as_text(
    server: Server[Any], booked: Callable[[], int], era: str
) -> None:
    last = hold(server, era, f"without-forms-{era}")[-1]
    assert last["flow"]["step"]
    assert last["flow"]["asks"] in last["response"]
    assert booked() == 0


@both_eras
def test_what_is_declined_is_not_done(
    server: Server[Any], booked: Callable[[], int], era: str
) -> None:
    person = Person(lambda *_: types.ElicitResult(action="decline"))
    last = hold(server, era, f"declined-{era}", elicitation_callback=person)[-1]
    assert len(person.shown) == 1
    assert last["flow"] is None
    assert last["order"] is None
    assert booked() == 0


@both_eras
def test_a_draft_that_is_not_approved_is_not_done(
    server: Server[Any], booked: Callable[[], int], era: str
) -> None:
    def refuse(properties: dict[str, Any], message: str) -> Filled:
        if "approve" in properties:
            return types.ElicitResult(action="accept", content={"approve": False})
        return fill(properties, message)

    person = Person(refuse)
    last = hold(server, era, f"refused-{era}", elicitation_callback=person)[-1]
    assert "approve" in person.shown[-1].requested_schema["properties"]
    assert last["order"] is None
    assert booked() == 0


def test_a_form_that_is_put_away_leaves_the_flow_waiting(salon: Salon, server: Server[Any]) -> None:
    person = Person(lambda *_: types.ElicitResult(action="cancel"))
    last = hold(server, "legacy", "put-away", elicitation_callback=person)[-1]
    assert last["flow"]["step"]
    assert salon.flow_request("put-away") is not None


def test_an_assistant_assists_and_a_companion_has_no_server(
    salon: Salon, server: Server[Any]
) -> None:
    listed = talk(server, "legacy", lambda client: client.list_tools())
    names = {tool.name for tool in listed.tools}
    assert "assist" in names
    assert "generate_response" not in names, "it answers in a session, where its gate counts"
    assert set(salon.avatar_info(DEFAULT_ASSISTANT).tools) == names
    salon.ensure_companion()
    with pytest.raises(InvalidInput, match="mina is a companion") as refused:
        build_avatar_server(salon, "mina")
    assert "salon companion --avatar mina" in str(refused.value.hint)
    assert salon.avatar_info("mina").tools == ()


def test_the_tool_says_that_it_reaches_outside(server: Server[Any]) -> None:
    listed = talk(server, "legacy", lambda client: client.list_tools())
    tool = next(one for one in listed.tools if one.name == "assist")
    assert tool.annotations is not None
    assert tool.annotations.open_world_hint
    assert not tool.annotations.read_only_hint


def test_an_empty_message_is_refused(server: Server[Any]) -> None:
    assert call(server, "assist", message="").is_error
