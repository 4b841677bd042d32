"""Ways to a server: standard input and output, streamable HTTP, and server-sent events.

Standard output carries protocol messages and nothing else. Over HTTP every avatar has an address
of its own in one process, and a request whose Host is not ours is refused (421), so that no page in
a browser reaches a server on this machine under a name of its choice.
"""

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, Protocol, Self

from anyio import EndOfStream
from mcp.server import Server
from mcp.server.sse import SseServerTransport
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http import EventStore
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import (
    TransportSecurityMiddleware,
    TransportSecuritySettings,
)
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Receive, Scope, Send

log = logging.getLogger(__name__)

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Door(Protocol):
    """An app with a lifetime of its own that lets in whom it will."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Live while the app runs."""
        ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        ...


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client on standard input and output until it closes them."""
    async with stdio_server() as (messages, answers):
        reading = AnsweringMalformed(messages, answers)
        await server.run(reading, answers, server.create_initialization_options())


class AnsweringMalformed:
    """Reads messages; a line that is none gets an error, where the SDK would keep silent."""

    def __init__(
        self, inner: ReadStream[SessionMessage | Exception], answers: WriteStream[SessionMessage]
    ) -> None:
        self._inner = inner
        self._answers = answers

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message that is one."""
        while True:
            item = await self._inner.receive()
            if not isinstance(item, Exception):
                return item
            await self._answers.send(SessionMessage(_malformed(item)))

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()

    @property
    def last_context(self) -> Any:
        """Return the context in which the latest message was sent."""
        return getattr(self._inner, "last_context", None)

    def __aiter__(self) -> "AnsweringMalformed":
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        await self.aclose()
        return None


def _malformed(error: Exception) -> JSONRPCError:
    is_json = isinstance(error, ValidationError) and all(
        one["type"] != "json_invalid" for one in error.errors(include_url=False)
    )
    said = (
        ErrorData(code=INVALID_REQUEST, message="this is no JSON-RPC 2.0 message")
        if is_json
        else ErrorData(code=PARSE_ERROR, message="this line is not JSON")
    )
    return JSONRPCError(jsonrpc="2.0", id=None, error=said)


def allowed_hosts(host: str, more: tuple[str, ...] = ()) -> TransportSecuritySettings:
    """Return which names a request may use: this machine's, the bound one, and those given."""
    bracketed = f"[{host}]" if ":" in host and not host.startswith("[") else host
    bound = () if bracketed in {"0.0.0.0", "[::]"} else (bracketed,)  # noqa: S104 - not binding
    names = tuple(dict.fromkeys((*LOOPBACK, *bound, *more)))
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*names, *(f"{name}:*" for name in names)],
        allowed_origins=[
            address
            for name in names
            for scheme in ("http", "https")
            for address in (f"{scheme}://{name}", f"{scheme}://{name}:*")
        ],
    )


def http_app(
    servers: Mapping[str, Server[Any]],
    security: TransportSecuritySettings,
    *,
    prefix: str = "/mcp",
    event_store: EventStore | None = None,
    retry_ms: int | None = None,
    doors: Mapping[str, Door] | None = None,
) -> Starlette:
    """Return an app that serves each at `prefix/NAME`, and server-sent events at `…/sse`.

    `doors` have names of their own, and decide themselves who comes in; a server of the same name
    stands behind.
    """
    open_doors = dict(doors or {})
    managers = {
        name: StreamableHTTPSessionManager(
            server,
            security_settings=security,
            event_store=event_store,
            retry_interval=retry_ms,
        )
        for name, server in servers.items()
    }

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for manager in managers.values():
                await stack.enter_async_context(manager.run())
            for door in open_doors.values():
                await stack.enter_async_context(door.running())
            yield

    routes: list[BaseRoute] = [
        Route(f"{prefix}/{name}", endpoint=door) for name, door in open_doors.items()
    ]
    for name, server in servers.items():
        place = f"{prefix}/{name}"
        routes.append(Route(place, endpoint=StreamableHTTPASGIApp(managers[name])))
        routes += _sse_routes(server, place, security)
    return Starlette(routes=routes, lifespan=running)


def _sse_routes(
    server: Server[Any], place: str, security: TransportSecuritySettings
) -> list[BaseRoute]:
    transport = SseServerTransport(f"{place}/messages/", security_settings=security)

    async def connect(request: Request) -> Response:
        # The transport raises where it refuses; asked beforehand, it answers.
        if refusal := await TransportSecurityMiddleware(security).validate_request(request):
            return refusal
        send = request._send  # noqa: SLF001 - the transport is an ASGI app, the route is not
        async with transport.connect_sse(request.scope, request.receive, send) as (read, write):
            await server.run(read, write, server.create_initialization_options())
        return Response()

    return [
        Route(f"{place}/sse", endpoint=connect, methods=["GET"]),
        Mount(f"{place}/messages/", app=transport.handle_post_message),
    ]
