"""The tools that the conformance suite wants to call, as tables for our factory."""

import base64
import struct
import zlib
from typing import Any

import anyio
import mcp_types as types
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types import MISSING_REQUIRED_CLIENT_CAPABILITY
from pydantic import Field

from salon.core.errors import InvalidInput
from salon.mcp_server.tables import Arguments, Call, Run, Tool

BUS = InMemorySubscriptionBus()


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


PNG = b"\x89PNG\r\n\x1a\n" + b"".join(
    (
        _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)),
        _chunk(b"IDAT", zlib.compress(b"\x00\xff\x00\x00")),
        _chunk(b"IEND", b""),
    )
)
WAV = b"RIFF" + struct.pack("<I", 38) + b"WAVEfmt " + struct.pack(
    "<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16
) + b"data" + struct.pack("<I", 2) + b"\x00\x00"  # fmt: skip
IMAGE = types.ImageContent(data=base64.b64encode(PNG).decode(), mime_type="image/png")
AUDIO = types.AudioContent(data=base64.b64encode(WAV).decode(), mime_type="audio/wav")


class NoArguments(Arguments):
    pass


class PromptText(Arguments):
    prompt: str


class MessageText(Arguments):
    message: str


class Region(Arguments):
    region: str = Field(json_schema_extra={"x-mcp-header": "Region"})


_ANYTHING_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


class Contact(Arguments):
    name: str | None = None
    address: dict[str, str] | None = None
    contactMethod: str | None = None  # noqa: N815 - the suite's name
    phone: str | None = None
    email: str | None = None

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
        return dict(_ANYTHING_2020_12)


def said(*content: types.ContentBlock | str) -> types.CallToolResult:
    blocks = [types.TextContent(text=one) if isinstance(one, str) else one for one in content]
    return types.CallToolResult(content=blocks)


def embedded(uri: str, mime_type: str, text: str) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return types.EmbeddedResource(resource=contents)


def tool(name: str, run: Run, arguments: type[Arguments] = NoArguments) -> Tool:
    return Tool(
        name=name,
        title=name.replace("_", " "),
        description="For the conformance suite.",
        arguments=arguments,
        result=None,
        run=run,
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
    )


async def _log(call: Call, text: str) -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        await call.context.session.send_log_message(
            "info", text, logger="fixture", related_request_id=call.context.request_id
        )


async def _with_logging(call: Call, _: NoArguments) -> types.CallToolResult:
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await _log(call, text)
        await anyio.sleep(0.05)
    return said("logged three times")


async def _with_progress(call: Call, _: NoArguments) -> types.CallToolResult:
    for done in (0, 50, 100):
        await call.context.session.report_progress(done, 100, f"{done} of 100")
        await anyio.sleep(0.05)
    return said("reported three times")


async def _reconnection(call: Call, _: NoArguments) -> types.CallToolResult:
    await _log(call, "before the stream closes")
    if call.context.close_sse_stream is not None:
        await call.context.close_sse_stream()
    await anyio.sleep(0.2)
    await _log(call, "after the client came back")
    return said("the stream was closed and came back")


def _fails(_: Call, __: NoArguments) -> types.CallToolResult:
    raise InvalidInput("This tool intentionally returns an error for testing")


async def _sampling(call: Call, given: PromptText) -> types.CallToolResult:
    request = types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[spoken(given.prompt)], max_tokens=100)
    )
    answer = await call.context.session.send_request(request, types.CreateMessageResult)
    content = answer.content
    return said(f"LLM response: {content.text if content.type == 'text' else content.type}")


def spoken(text: str) -> types.SamplingMessage:
    return types.SamplingMessage(role="user", content=types.TextContent(text=text))


async def _ask(session: ServerSession, message: str, schema: Any, call: Call) -> str:
    answer = await session.elicit_form(message, schema, call.context.request_id)
    return f"action={answer.action}, content={answer.content}"


def fields(required: bool = True, **properties: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema | ({"required": list(properties)} if required else {})


async def _elicitation(call: Call, given: MessageText) -> types.CallToolResult:
    schema = fields(
        username={"type": "string", "description": "User's response"},
        email={"type": "string", "description": "User's email address"},
    )
    answer = await _ask(call.context.session, given.message, schema, call)
    return said(f"User response: {answer}")


async def _defaults(call: Call, _: NoArguments) -> types.CallToolResult:
    schema = fields(
        required=False,
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    )
    answer = await _ask(call.context.session, "Who are you?", schema, call)
    return said(f"Elicitation completed: {answer}")


async def _enums(call: Call, _: NoArguments) -> types.CallToolResult:
    three = ["option1", "option2", "option3"]
    titled = [
        {"const": "value1", "title": "First Option"},
        {"const": "value2", "title": "Second Option"},
        {"const": "value3", "title": "Third Option"},
    ]
    schema = fields(
        required=False,
        untitledSingle={"type": "string", "enum": three},
        titledSingle={"type": "string", "oneOf": titled},
        legacyEnum={
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti={"type": "array", "items": {"type": "string", "enum": three}},
        titledMulti={"type": "array", "items": {"anyOf": titled}},
    )
    answer = await _ask(call.context.session, "Which ones?", schema, call)
    return said(f"Elicitation completed: {answer}")


def _missing_capability(call: Call, _: NoArguments) -> types.CallToolResult:
    capabilities = call.context.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        raise MCPError(
            MISSING_REQUIRED_CLIENT_CAPABILITY,
            "this tool needs sampling",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return said("the client can sample")


async def _logging_tool(call: Call, _: NoArguments) -> types.CallToolResult:
    await _log(call, "only for those who asked")
    return said("logged once")


async def _tools_change(_: Call, __: NoArguments) -> types.CallToolResult:
    await BUS.publish(ToolsListChanged())
    return said("told who listens")


async def _prompts_change(_: Call, __: NoArguments) -> types.CallToolResult:
    await BUS.publish(PromptsListChanged())
    return said("told who listens")


TOOLS: tuple[Tool, ...] = (
    tool("test_simple_text", lambda *_: said("This is a simple text response for testing.")),
    tool("test_image_content", lambda *_: said(IMAGE)),
    tool("test_audio_content", lambda *_: said(AUDIO)),
    tool(
        "test_embedded_resource",
        lambda *_: said(
            embedded("test://embedded-resource", "text/plain", "This is an embedded resource.")
        ),
    ),
    tool(
        "test_multiple_content_types",
        lambda *_: said(
            "Multiple content types test:",
            IMAGE,
            embedded("test://mixed-content-resource", "application/json", '{"test":"data"}'),
        ),
    ),
    tool("test_tool_with_logging", _with_logging),
    tool("test_tool_with_progress", _with_progress),
    tool("test_reconnection", _reconnection),
    tool("test_error_handling", _fails),
    tool("test_sampling", _sampling, PromptText),
    tool("test_elicitation", _elicitation, MessageText),
    tool("test_elicitation_sep1034_defaults", _defaults),
    tool("test_elicitation_sep1330_enums", _enums),
    tool("json_schema_2020_12_tool", lambda *_: said("any contact will do"), Contact),
    tool("test_custom_headers", lambda _, given: said(f"region {given.region}"), Region),
    tool("test_missing_capability", _missing_capability),
    tool("test_logging_tool", _logging_tool),
    tool("test_trigger_tool_change", _tools_change),
    tool("test_trigger_prompt_change", _prompts_change),
)
