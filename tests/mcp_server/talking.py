"""Talking to a server in this process with the SDK's own client, in either era."""

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import anyio
from mcp.client import Client
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent, TextResourceContents

T = TypeVar("T")
ERAS = ("legacy", "auto")
"""The handshake of 2025-11-25, and whatever both sides know best: 2026-07-28."""


def talk(
    server: Server[Any] | str, era: str, what: Callable[[Client], Awaitable[T]], **client: Any
) -> T:
    """Connect a client, do something with it, and return what comes of it."""
    made = partial(Client, server, mode=era, **client)

    async def main() -> T | MCPError:
        async with made() as connected:
            try:
                return await what(connected)
            except MCPError as error:  # outside it would arrive wrapped in groups
                return error

    found = anyio.run(main)
    if isinstance(found, MCPError):
        raise found
    return found


def call(server: Server[Any], name: str, era: str = ERAS[0], **arguments: Any) -> CallToolResult:
    """Call one tool."""
    return talk(server, era, lambda client: client.call_tool(name, arguments))


def text_of(result: CallToolResult) -> str:
    """Return the text of a result that is one text."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def error_of(result: CallToolResult) -> dict[str, Any]:
    """Return the error that a call ended with."""
    assert result.is_error
    assert result.structured_content is None
    error: dict[str, Any] = json.loads(text_of(result))["error"]
    return error


def read(server: Server[Any], uri: str, era: str = ERAS[0]) -> str:
    """Read a resource that is text."""
    (content,) = talk(server, era, lambda client: client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text
