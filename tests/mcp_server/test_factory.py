"""The rules of the house, on a server that has nothing to do with avatars."""

import base64
import logging
import threading
from collections.abc import Mapping
from dataclasses import replace

import anyio
import mcp_types as types
import pytest
from mcp.client import Client
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import BlobResourceContents, PromptMessage, TextContent
from pydantic import Field

from salon.core.errors import CardNotFound, HandleMoved, StorageFull
from salon.mcp_server import calls
from salon.mcp_server.factory import build_server
from salon.mcp_server.paging import PAGE
from salon.mcp_server.tables import (
    Arguments,
    Call,
    Content,
    Prompt,
    Resource,
    ResourceTemplate,
    Result,
    Run,
    ServerPlan,
    Tool,
)
from tests.mcp_server.talking import ERAS, call, error_of, read, talk, text_of

SECRET = "a password in an exception"
both_eras = pytest.mark.parametrize("era", ERAS)


class Place(Arguments):
    street: str
    number: int


class Doubling(Arguments):
    number: int = Field(description="What to double", ge=0)
    times: int = 2
    label: str = ""
    places: list[Place] = Field(default_factory=list)
    ratio: float = 1.0


class Doubled(Result):
    number: int
    label: str | None


def _double(_: Call, given: Doubling) -> Doubled:
    return Doubled(number=given.number * given.times, label=given.label or None)


def _tool(name: str, run: Run, seconds: float = 30.0) -> Tool:
    return Tool(
        name=name,
        title="A tool",
        description="Does something.",
        arguments=Doubling,
        result=Doubled,
        run=run,
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
        seconds=seconds,
    )


def _raising(error: Exception) -> Run:
    def run(_: Call, __: Doubling) -> Doubled:
        raise error

    return run


async def _slowly(_: Call, __: Doubling) -> Doubled:
    await anyio.sleep(60)
    raise AssertionError


LET_GO = threading.Event()


def _stuck(_: Call, __: Doubling) -> Doubled:
    LET_GO.wait(20)
    return Doubled(number=0, label=None)


def _resource(number: int) -> Resource:
    return Resource(
        uri=f"thing://{number}",
        name=str(number),
        title=str(number),
        description="A thing",
        mime_type="text/plain",
        read=lambda: f"thing {number}",
        fresh_ms=1000,
    )


def _found(parts: Mapping[str, str]) -> str | bytes | Content:
    match parts["what"]:
        case "bytes":
            return b"\xff"
        case "typed":
            return Content(data="{}", mime_type="application/json")
        case "gone":
            raise CardNotFound("no such card", hint="look elsewhere")
        case "full":
            raise StorageFull("the disk is full")
        case "protocol":
            raise MCPError(-32001, "an error of the protocol itself")
        case _:
            raise RuntimeError(SECRET)


class Greeting(Arguments):
    name: str = Field(description="Whom to greet")
    tone: str = Field("kind", description="How")


def _greet(_: Call, given: Greeting) -> list[PromptMessage]:
    if given.name == "nobody":
        raise RuntimeError(SECRET)
    return [PromptMessage(role="user", content=TextContent(text=f"{given.name}, {given.tone}"))]


PLAN = ServerPlan(
    name="thing-server",
    title="Things",
    version="7.1",
    description="Offers things.",
    instructions="Mind the label.",
    tools=(
        _tool("double", _double),
        _tool("moved", _raising(HandleMoved("it moved", hint="look again", at=3))),
        _tool("defect", _raising(RuntimeError(SECRET))),
        _tool("impatient", _raising(TimeoutError(SECRET))),
        _tool("slow", _slowly, seconds=0.1),
        _tool("stuck", _stuck, seconds=0.1),
    ),
    resources=(_resource(0),),
    more_resources=lambda: [_resource(number) for number in range(1, PAGE + 20)],
    templates=(
        ResourceTemplate(
            uri_template="any://{what}",
            name="any",
            title="Any",
            description="Anything",
            mime_type=None,
            read=_found,
        ),
    ),
    prompts=(
        Prompt(
            name="greet", title="Greet", description="A greeting", arguments=Greeting, run=_greet
        ),
    ),
)


@pytest.fixture
def server() -> Server[object]:
    return build_server(PLAN)


@both_eras
def test_a_server_says_who_it_is(server: Server[object], era: str) -> None:
    async def ask(client: Client) -> None:
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.version) == ("thing-server", "7.1")
        assert client.instructions == "Mind the label."

    talk(server, era, ask)


@both_eras
def test_a_tool_is_listed_with_both_schemas_and_all_four_annotations(
    server: Server[object], era: str
) -> None:
    listed = talk(server, era, lambda client: client.list_tools()).tools
    tool = listed[0]
    assert tool.name == "double"
    assert tool.input_schema["additionalProperties"] is False
    assert tool.input_schema["required"] == ["number"]
    assert tool.input_schema["properties"]["number"] == {
        "type": "integer",
        "minimum": 0,
        "description": "What to double",
    }
    assert tool.output_schema is not None
    assert set(tool.output_schema["required"]) == {"number", "label"}
    for one in listed:
        assert one.annotations is not None
        assert one.annotations.read_only_hint is True
        assert one.annotations.destructive_hint is False
        assert one.annotations.idempotent_hint is True
        assert one.annotations.open_world_hint is False


@both_eras
def test_a_result_comes_typed_and_as_text(server: Server[object], era: str) -> None:
    result = call(server, "double", era, number=4, label="zwölf")
    assert result.structured_content == {"number": 8, "label": "zwölf"}
    assert text_of(result) == '{"number": 8, "label": "zwölf"}'
    assert not result.is_error


@pytest.mark.parametrize(
    ("arguments", "message", "argument"),
    [
        ({"label": "x"}, "double needs `number`", "number"),
        ({"numbr": 3}, "`numbr` is not an argument of double; did you mean `number`?", "numbr"),
        ({"number": 3, "lable": "x"},
         "`lable` is not an argument of double; did you mean `label`?", "lable"),
        ({"number": 3, "zzz": "x"}, "`zzz` is not an argument of double", "zzz"),
        ({"number": "3"}, "`number`: input should be a valid integer", "number"),
        ({"number": True}, "`number`: input should be a valid integer", "number"),
        ({"number": 3.0}, "`number`: input should be a valid integer", "number"),
        ({"number": -1}, "`number`: input should be greater than or equal to 0", "number"),
        ({"number": 1, "label": None}, "`label`: input should be a valid string", "label"),
        ({"number": 1, "places": "[]"}, "`places`: input should be a valid list", "places"),
        ({"number": 1, "places": [{"street": "a", "numero": 1, "number": 2}]},
         "`places[0].numero` is not an argument of double; did you mean `number`?",
         "places[0].numero"),
        ({"number": 1, "places": [{"street": "a"}]}, "double needs `places[0].number`",
         "places[0].number"),
    ],
)  # fmt: skip
def test_arguments_are_taken_as_they_are_or_refused_by_name(
    server: Server[object], arguments: dict[str, object], message: str, argument: str
) -> None:
    error = error_of(talk(server, "legacy", lambda client: client.call_tool("double", arguments)))
    assert error["message"] == message
    assert error["code"] == "invalid_input"
    assert error["details"] == {"argument": argument}
    assert "number" in error["hint"]


def test_a_whole_number_is_a_number(server: Server[object]) -> None:
    assert not call(server, "double", number=1, ratio=2).is_error


@both_eras
def test_an_error_of_salon_keeps_its_shape(server: Server[object], era: str) -> None:
    assert error_of(call(server, "moved", era, number=1)) == {
        "code": "handle_moved",
        "message": "it moved",
        "hint": "look again",
        "details": {"at": 3},
    }


@both_eras
@pytest.mark.parametrize("name", ["defect", "impatient"])
def test_a_defect_is_logged_and_says_nothing_to_the_client(
    server: Server[object], era: str, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        result = call(server, name, era, number=1)
    error = error_of(result)
    assert error["code"] == "internal_error"
    assert SECRET not in text_of(result)
    assert SECRET in caplog.text


@pytest.mark.parametrize("name", ["slow", "stuck"])
def test_a_call_ends_when_its_time_is_over(server: Server[object], name: str) -> None:
    LET_GO.clear()
    try:
        error = error_of(call(server, name, number=1))
    finally:
        LET_GO.set()
    assert error["code"] == "timed_out"
    assert "0.1 s" in error["message"]


def test_an_unknown_tool_is_an_error_of_the_protocol(server: Server[object]) -> None:
    with pytest.raises(MCPError, match="did you mean `double`") as caught:
        call(server, "doubel")
    assert caught.value.error.code == types.INVALID_PARAMS


@both_eras
def test_a_long_call_shows_that_it_lives(
    server: Server[object], era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "SECONDS_BETWEEN_SIGNS", 0.02)
    signs: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        signs.append((progress, total, message))

    talk(
        server,
        era,
        lambda client: client.call_tool("slow", {"number": 1}, progress_callback=on_progress),
    )
    assert len(signs) > 1
    assert signs[0][1:] == (0.1, "still working")
    assert [one[0] for one in signs] == sorted(one[0] for one in signs)


def test_a_tool_that_reports_itself_is_not_talked_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "SECONDS_BETWEEN_SIGNS", 0.3)
    reporters = []

    def run(call: Call, _: Doubling) -> Doubled:
        reporters.append(call.report)
        call.report(1, 2, "half")
        threading.Event().wait(0.7)
        call.report(2, 2)
        return Doubled(number=1, label=None)

    seen: list[tuple[float, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, message))

    server = build_server(
        ServerPlan(
            name="s", title="S", version="1", description="", instructions="",
            tools=(_tool("report", run),),
        )
    )  # fmt: skip
    result = talk(
        server,
        "auto",
        lambda client: client.call_tool("report", {"number": 1}, progress_callback=on_progress),
    )
    assert not result.is_error
    assert seen == [(1, "half"), (2, None)]
    reporters[0](3)  # too late: dropped, not raised


@both_eras
def test_resources_are_listed_page_by_page(server: Server[object], era: str) -> None:
    async def walk(client: Client) -> list[str]:
        first = await client.list_resources()
        assert len(first.resources) == PAGE
        second = await client.list_resources(cursor=first.next_cursor)
        assert second.next_cursor is None
        return [one.uri for one in (*first.resources, *second.resources)]

    assert talk(server, era, walk) == [f"thing://{number}" for number in range(PAGE + 20)]


@pytest.mark.parametrize("cursor", ["zzz", "LTE=", base64.b64encode(b"x").decode()])
def test_a_cursor_from_elsewhere_is_refused(server: Server[object], cursor: str) -> None:
    with pytest.raises(MCPError, match="cursor"):
        talk(server, "legacy", lambda client: client.list_resources(cursor=cursor))


@both_eras
def test_resources_are_read_as_text_as_bytes_or_as_they_say(
    server: Server[object], era: str
) -> None:
    assert read(server, "thing://0", era) == "thing 0"
    assert read(server, "thing://7", era) == "thing 7"
    (blob,) = talk(server, era, lambda client: client.read_resource("any://bytes")).contents
    assert isinstance(blob, BlobResourceContents)
    assert base64.b64decode(blob.blob) == b"\xff"
    (typed,) = talk(server, era, lambda client: client.read_resource("any://typed")).contents
    assert typed.mime_type == "application/json"
    templates = talk(server, era, lambda client: client.list_resource_templates())
    assert [one.uri_template for one in templates.resource_templates] == ["any://{what}"]


@both_eras
@pytest.mark.parametrize(
    ("uri", "code", "salon_code"),
    [
        ("thing://999", types.INVALID_PARAMS, "not_found"),
        ("any://gone", types.INVALID_PARAMS, "card_not_found"),
        ("any://full", types.INTERNAL_ERROR, "storage_full"),
        ("any://defect", types.INTERNAL_ERROR, "internal_error"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_names_it(
    server: Server[object], era: str, uri: str, code: int, salon_code: str
) -> None:
    with pytest.raises(MCPError) as caught:
        read(server, uri, era)
    error = caught.value.error
    assert error.code == code
    assert error.data["uri"] == uri
    assert error.data["error"]["code"] == salon_code
    assert SECRET not in str(error)


def test_reading_ends_when_its_time_is_over(
    server: Server[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salon.mcp_server.factory.CALL_SECONDS", 0.05)
    hanging = threading.Event()
    plan = ServerPlan(
        name="s", title="S", version="1", description="", instructions="",
        more_resources=lambda: [_resource(1)] * hanging.wait(5),
    )  # fmt: skip
    try:
        with pytest.raises(MCPError, match="took longer"):
            talk(build_server(plan), "legacy", lambda client: client.list_resources())
    finally:
        hanging.set()


@both_eras
def test_prompts_take_named_text_and_nothing_else(server: Server[object], era: str) -> None:
    (listed,) = talk(server, era, lambda client: client.list_prompts()).prompts
    assert listed.arguments is not None
    assert [(one.name, one.required) for one in listed.arguments] == [
        ("name", True),
        ("tone", False),
    ]
    found = talk(server, era, lambda client: client.get_prompt("greet", {"name": "Ada"}))
    assert found.messages[0].content == TextContent(text="Ada, kind")
    for arguments, message in (
        ({}, "greet needs `name`"),
        ({"nme": "Ada"}, "did you mean `name`"),
        ({"name": "Ada", "ton": "x"}, "did you mean `tone`"),
        ({"name": "nobody"}, "something inside Salon failed"),
    ):
        with pytest.raises(MCPError, match=message) as caught:
            talk(server, era, lambda client, given=arguments: client.get_prompt("greet", given))  # type: ignore[misc]
        assert SECRET not in str(caught.value.error)
    with pytest.raises(MCPError, match="did you mean `greet`"):
        talk(server, era, lambda client: client.get_prompt("great", {}))


def test_errors_of_the_protocol_pass_as_they_are() -> None:
    server = build_server(
        replace(PLAN, tools=(_tool("refuse", _raising(MCPError(-32001, "not here"))),))
    )
    for ask in (
        lambda client: client.call_tool("refuse", {"number": 1}),
        lambda client: client.read_resource("any://protocol"),
    ):
        with pytest.raises(MCPError) as caught:
            talk(server, "auto", ask)
        assert caught.value.error.code == -32001


def test_a_prompt_may_answer_in_the_words_of_the_protocol() -> None:
    whole = types.GetPromptResult(description="mine", messages=[])
    greet = replace(PLAN.prompts[0], run=lambda _, __: whole)
    server = build_server(replace(PLAN, prompts=(greet,)))
    found = talk(server, "legacy", lambda client: client.get_prompt("greet", {"name": "Ada"}))
    assert found.description == "mine"


def test_a_server_may_offer_nothing() -> None:
    empty = ServerPlan(name="s", title="S", version="1", description="", instructions="")

    async def ask(client: Client) -> int:
        tools, resources = await client.list_tools(), await client.list_resources()
        return len(tools.tools) + len(resources.resources)

    assert talk(build_server(empty), "auto", ask) == 0


def test_two_tools_of_one_name_are_a_defect() -> None:
    twice = ServerPlan(
        name="s", title="S", version="1", description="", instructions="",
        tools=(_tool("a", _double), _tool("a", _double)),
    )  # fmt: skip
    with pytest.raises(AssertionError):
        build_server(twice)


def test_lists_that_stay_may_be_kept_for_a_while(server: Server[object]) -> None:
    tools = talk(server, "auto", lambda client: client.list_tools())
    assert (tools.ttl_ms, tools.cache_scope) == (300_000, "public")
    thing = talk(server, "auto", lambda client: client.read_resource("thing://0"))
    assert (thing.ttl_ms, thing.cache_scope) == (1000, "private")
