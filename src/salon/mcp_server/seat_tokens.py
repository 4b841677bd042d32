"""The way to the council over HTTP: one address, and the token decides in which seat one sits.

Each seat has a server and sessions of its own, so a session of one seat means nothing in another.
Without a token that counts there is 401 and nothing else, whatever the request was. The token is
checked again with every request, so one that was revoked opens nothing more.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio.to_thread
from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import (
    TransportSecurityMiddleware,
    TransportSecuritySettings,
)
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from salon.core.errors import Unauthorised
from salon.council.seats import Seat

BODY_BYTES = 1_000_000
"""Largest request of a seat: the longest draft, with room for escapes."""
SESSIONS = 100
"""Sessions that one seat may have open."""


class SeatDoor:
    """An ASGI app that lets whoever has a seat's token speak to that seat's server."""

    def __init__(
        self,
        servers: Mapping[Seat, Server[Any]],
        security: TransportSecuritySettings,
        seat_of_token: Callable[[str], Seat | None],
    ) -> None:
        self._security = TransportSecurityMiddleware(security)
        self._seat_of_token = seat_of_token
        self._managers = {
            seat: StreamableHTTPSessionManager(
                server,
                security_settings=security,
                max_request_body_size=BODY_BYTES,
                max_sessions=SESSIONS,
            )
            for seat, server in servers.items()
        }

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the sessions of all seats while the app runs."""
        async with AsyncExitStack() as stack:
            for manager in self._managers.values():
                await stack.enter_async_context(manager.run())
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        if refusal := await self._security.validate_request(request):
            await refusal(scope, receive, send)
            return
        token = _bearer(Headers(scope=scope))
        seat = await anyio.to_thread.run_sync(self._seat_of_token, token) if token else None
        if seat not in self._managers:
            await _refuse(scope, receive, send)
            return
        await self._managers[seat].handle_request(scope, receive, send)


def _bearer(headers: Headers) -> str:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    error = Unauthorised(
        "this token stands for no seat of the council",
        hint="send Authorization: Bearer TOKEN; `salon council token --seat II` makes one",
    )
    headers = {"www-authenticate": 'Bearer error="invalid_token"'}
    await JSONResponse(error.as_json(), 401, headers)(scope, receive, send)
