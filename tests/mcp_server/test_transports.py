"""The ways to a server, over real pipes and real HTTP."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp.client import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCMessage, TextContent, jsonrpc_message_adapter
from pydantic import ValidationError

from salon.mcp_server import transports
from salon.mcp_server.transports import AnsweringMalformed, allowed_hosts, http_app, serve_stdio
from tests.conformance.fixture_server import fixture_server
from tests.mcp_server.serving import served
from tests.mcp_server.talking import ERAS

ROOT = Path(__file__).resolve().parents[2]
FIXTURE = ["-m", "tests.conformance.fixture_server", "stdio"]
SAID = "This is a simple text response for testing."
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


async def _ask(client: Client) -> str:
    result = await client.call_tool("test_simple_text", {})
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    names = {name: fixture_server() for name in ("one", "two")}
    with served(http_app(names, allowed_hosts("127.0.0.1", ("salon.example",)))) as url:
        yield url


@pytest.mark.parametrize("era", ERAS)
def test_a_stock_client_talks_over_stdio(era: str) -> None:
    async def main() -> tuple[str, str]:
        parameters = StdioServerParameters(command=sys.executable, args=FIXTURE, cwd=ROOT)
        async with Client(stdio_client(parameters), mode=era) as client:
            return client.protocol_version, await _ask(client)

    version = "2025-11-25" if era == "legacy" else "2026-07-28"
    assert anyio.run(main) == (version, SAID)


def test_stdio_answers_malformed_lines_and_goes_on() -> None:
    lines = ["this is no JSON", '{"jsonrpc": "2.0", "neither": true}', json.dumps(INITIALIZE)]
    done = subprocess.run(
        [sys.executable, *FIXTURE],
        input="\n".join(lines) + "\n",
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["id"] for one in answers] == [None, None, 1]
    assert [one["error"]["code"] for one in answers[:2]] == [-32700, -32600]
    assert answers[2]["result"]["serverInfo"]["name"] == "salon-conformance"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", ["one", "two"])
def test_each_server_has_its_own_address_over_http(address: str, name: str, era: str) -> None:
    async def main() -> str:
        async with Client(f"{address}/mcp/{name}", mode=era) as client:
            return await _ask(client)

    assert anyio.run(main) == SAID


def test_a_server_also_speaks_in_server_sent_events(address: str) -> None:
    async def main() -> str:
        async with Client(sse_client(f"{address}/mcp/two/sse"), mode="legacy") as client:
            return await _ask(client)

    assert anyio.run(main) == SAID


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:80", "salon.example.evil"]
)
@pytest.mark.parametrize("path", ["/mcp/one", "/mcp/one/sse"])
def test_a_forged_host_is_refused(address: str, path: str, host: str) -> None:
    method = "GET" if path.endswith("sse") else "POST"
    body = None if method == "GET" else INITIALIZE
    refused = httpx.request(
        method, f"{address}{path}", json=body, headers=HEADERS | {"host": host}, timeout=10
    )
    assert refused.status_code == 421


def test_a_foreign_origin_is_refused_and_an_allowed_name_is_not(address: str) -> None:
    url = f"{address}/mcp/one"
    foreign = httpx.post(
        url, json=INITIALIZE, headers=HEADERS | {"origin": "https://evil.example"}, timeout=10
    )
    assert foreign.status_code == 403
    for host in ("salon.example", "salon.example:9000"):
        allowed = httpx.post(url, json=INITIALIZE, headers=HEADERS | {"host": host}, timeout=10)
        assert allowed.status_code == 200


def test_too_much_at_once_is_refused(address: str) -> None:
    body = json.dumps(INITIALIZE | {"padding": "x" * 5_000_000})
    refused = httpx.post(f"{address}/mcp/one", content=body, headers=HEADERS, timeout=30)
    assert refused.status_code == 413


def test_every_interface_is_no_name_a_client_may_use() -> None:
    everywhere = allowed_hosts("0.0.0.0").allowed_hosts
    assert "0.0.0.0" not in everywhere
    assert "localhost:*" in everywhere
    assert "[fe80::1]:*" in allowed_hosts("fe80::1").allowed_hosts


def test_parameters_that_travel_as_headers_are_checked(address: str) -> None:
    async def main() -> str:
        async with Client(f"{address}/mcp/one", mode="auto") as client:
            await client.list_tools()
            result = await client.call_tool("test_custom_headers", {"region": "zürich"})
            (block,) = result.content
            assert isinstance(block, TextContent)
            return block.text

    assert anyio.run(main) == "region zürich"


def test_a_pipe_that_closes_ends_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as over real pipes, with the streams in hand."""

    async def main() -> list[JSONRPCMessage]:
        to_server, messages = anyio.create_memory_object_stream[SessionMessage | Exception](9)
        answers, from_server = anyio.create_memory_object_stream[SessionMessage](9)

        @asynccontextmanager
        async def pipes() -> AsyncIterator[Any]:
            async with messages, answers:
                yield messages, answers

        monkeypatch.setattr(transports, "stdio_server", pipes)
        await to_server.send(ValueError("broken before it was JSON"))
        for line in ("this is no JSON", '{"jsonrpc": "2.0"}'):
            try:
                jsonrpc_message_adapter.validate_json(line)
            except ValidationError as error:
                await to_server.send(error)
        hello = jsonrpc_message_adapter.validate_python(INITIALIZE)
        await to_server.send(SessionMessage(hello))
        await to_server.aclose()
        await serve_stdio(fixture_server())
        async with from_server:
            return [one.message async for one in from_server]

    answers = anyio.run(main)
    codes = [one.error.code for one in answers if isinstance(one, JSONRPCError)]
    assert codes[:3] == [-32700, -32700, -32600]


def test_a_stream_that_answers_can_be_walked() -> None:
    async def main() -> int:
        send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](3)
        out, answers = anyio.create_memory_object_stream[SessionMessage](3)
        message = SessionMessage(jsonrpc_message_adapter.validate_python(INITIALIZE))
        await send.send(message)
        await send.send(ValueError("broken"))
        await send.aclose()
        async with out, answers, AnsweringMalformed(receive, out) as stream:
            assert stream.last_context is None
            walked = [one async for one in stream]
            assert walked == [message]
            return answers.statistics().current_buffer_used

    assert anyio.run(main) == 1
