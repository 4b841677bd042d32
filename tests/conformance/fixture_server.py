"""`python -m tests.conformance.fixture_server PORT|stdio`: a server to be examined.

It is built by our own factory. The conformance suite calls tools, resources and prompts of fixed
names; this server has them all and nothing else. What it proves is the factory and the transports,
which real avatars share.
"""

import json
import sys
import warnings
from collections.abc import Mapping
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server import Server, ServerRequestContext
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.server.subscriptions import ListenHandler

from salon.mcp_server.factory import build_server
from salon.mcp_server.tables import (
    Arguments,
    Call,
    Prompt,
    Resource,
    ResourceTemplate,
    ServerPlan,
)
from salon.mcp_server.transports import allowed_hosts, http_app, serve_stdio
from tests.conformance.fixture_rounds import ROUND_PROMPT, ROUNDS
from tests.conformance.fixture_tools import BUS, IMAGE, PNG, TOOLS, NoArguments, embedded

Context = ServerRequestContext[Any, Any]


class TwoWords(Arguments):
    arg1: str
    arg2: str


class Address(Arguments):
    resourceUri: str  # noqa: N815 - the suite's name


def _user(content: types.ContentBlock | str) -> types.PromptMessage:
    block = types.TextContent(text=content) if isinstance(content, str) else content
    return types.PromptMessage(role="user", content=block)


def _words(_: Call, given: TwoWords) -> list[types.PromptMessage]:
    return [_user(f"Prompt with arguments: arg1='{given.arg1}', arg2='{given.arg2}'")]


def _embedding(_: Call, given: Address) -> list[types.PromptMessage]:
    resource = embedded(given.resourceUri, "text/plain", "Embedded resource content for testing.")
    return [_user(resource), _user("Please process the embedded resource above.")]


def _prompt(name: str, run: Any, arguments: type[Arguments] = NoArguments) -> Prompt:
    return Prompt(
        name=name,
        title=name.replace("_", " "),
        description="For the conformance suite.",
        arguments=arguments,
        run=run,
    )


PROMPTS = (
    _prompt("test_simple_prompt", lambda *_: [_user("This is a simple prompt for testing.")]),
    _prompt("test_prompt_with_arguments", _words, TwoWords),
    _prompt("test_prompt_with_embedded_resource", _embedding, Address),
    _prompt(
        "test_prompt_with_image",
        lambda *_: [_user(IMAGE), _user("Please analyze the image above.")],
    ),
    ROUND_PROMPT,
)


def _resource(uri: str, mime_type: str, content: str | bytes) -> Resource:
    return Resource(
        uri=uri,
        name=uri.removeprefix("test://"),
        title=uri.removeprefix("test://"),
        description="For the conformance suite.",
        mime_type=mime_type,
        read=lambda: content,
    )


RESOURCES = (
    _resource(
        "test://static-text", "text/plain", "This is the content of the static text resource."
    ),
    _resource("test://static-binary", "image/png", PNG),
    _resource("test://watched-resource", "text/plain", "Watched resource content"),
)


def _by_id(parts: Mapping[str, str]) -> str:
    id_ = parts["id"]
    return json.dumps({"id": id_, "templateTest": True, "data": f"Data for ID: {id_}"})


TEMPLATE = ResourceTemplate(
    uri_template="test://template/{id}/data",
    name="template",
    title="A template",
    description="For the conformance suite.",
    mime_type="application/json",
    read=_by_id,
)

PLAN = ServerPlan(
    name="salon-conformance",
    title="Salon under examination",
    version="1.0.0",
    description="Test-only.",
    instructions="Test-only.",
    tools=(*TOOLS, *ROUNDS),
    resources=RESOURCES,
    templates=(TEMPLATE,),
    prompts=PROMPTS,
)


class KeptEvents(EventStore):
    """Keeps every event in memory, for clients that come back to a closed stream."""

    def __init__(self) -> None:
        self._events: list[tuple[str, types.JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: types.JSONRPCMessage | None) -> str:
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        last = int(last_event_id)
        if not 0 < last <= len(self._events):
            return None
        stream = self._events[last - 1][0]
        for number, (of_stream, message) in enumerate(self._events[last:], last + 1):
            if of_stream == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


def fixture_server() -> Server[Any]:
    """Return the server with the deprecated and optional methods that real avatars do not have."""

    async def nothing(_: Context, __: Any) -> types.EmptyResult:
        return types.EmptyResult()

    async def complete(_: Context, __: types.CompleteRequestParams) -> types.CompleteResult:
        return types.CompleteResult(completion=types.Completion(values=["paris", "park"], total=2))

    server = build_server(PLAN)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, nothing)
    server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, nothing)
    server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, nothing)
    server.add_request_handler("completion/complete", types.CompleteRequestParams, complete)
    server.add_request_handler(
        "subscriptions/listen", types.SubscriptionsListenRequestParams, ListenHandler(BUS)
    )
    return server


def main() -> None:
    """Serve at /mcp/fixture until killed, or on standard input and output until they close."""
    warnings.simplefilter("ignore")
    if sys.argv[1] == "stdio":
        anyio.run(serve_stdio, fixture_server())
        return
    app = http_app(
        {"fixture": fixture_server()},
        allowed_hosts("127.0.0.1"),
        event_store=KeptEvents(),
        retry_ms=100,
    )
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")


if __name__ == "__main__":
    main()
