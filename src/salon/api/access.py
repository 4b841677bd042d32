"""Who may come in: the Host a request names, the Origin of a page, the token, the size of a body.

A page in a browser can reach a server on this machine under a name of its choice and from an origin
of its choice; both are checked before anything else. What a page elsewhere loads without asking, as
an image say, names no origin, but browsers say that it comes from another site. A WebSocket is
refused before it is accepted. Origins that the settings name may use everything, as CORS has it.
"""

import hmac
import json
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from salon.api.errors import status_of, wait_of
from salon.core.errors import (
    ContentTooLarge,
    ForeignHost,
    ForeignOrigin,
    InvalidSettings,
    SalonError,
    Unauthorised,
)

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EVERY_INTERFACE = ("0.0.0.0", "::")  # noqa: S104 - not binding
OPEN_PATHS = ("/health", "/", "/page", "/mcp/council")
"""What needs no token: whoever watches a server has none, the page itself holds no data, and the
seats of the council have tokens of their own."""
PAGE_FILES = "/page/"
REMARKS = {401: {"www-authenticate": "Bearer"}}
_READABLE = "etag, location, retry-after"
_PREFLIGHT = {
    "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
    "access-control-allow-headers": "authorization, content-type, last-event-id, if-none-match, "
    "mcp-session-id, mcp-protocol-version",
    "access-control-max-age": "600",
}
SUBPROTOCOL = "salon"
BEARER_SUBPROTOCOL = "bearer."
"""Browsers cannot set headers on a WebSocket, so the token may come as an offered subprotocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Which names, origins and token a server accepts."""

    host: str = "127.0.0.1"
    origins: tuple[str, ...] = ()
    token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.host not in LOOPBACK and not self.token:
            raise InvalidSettings(
                f"{self.host} is an address that others reach, and there is no token",
                hint="set serve.token (SALON_SERVE__TOKEN), or stay on 127.0.0.1",
            )
        for one in self.origins:
            if urlsplit(one).scheme not in {"http", "https"} or not urlsplit(one).hostname:
                raise InvalidSettings(
                    f"{one!r} is no origin", hint="write it like https://salon.example"
                )

    @property
    def names(self) -> frozenset[str]:
        """Return the hosts that a request may name."""
        bound = () if self.host in _EVERY_INTERFACE else (self.host,)
        configured = (urlsplit(one).hostname or "" for one in self.origins)
        return frozenset((*LOOPBACK, *bound, *configured))


class Access:
    """Refuses what may not come in, and hands on the rest."""

    def __init__(self, app: ASGIApp, door: Door, *, body_bytes: int) -> None:
        self._app = app
        self._door = door
        self._origins = frozenset(one.rstrip("/").lower() for one in door.origins)
        self._names = door.names
        self._body_bytes = body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request or connection."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        send = self._for_guests(scope, send)
        refusal = self._refusal(scope)
        if refusal is not None:
            await refuse(scope, send, refusal)
        elif _is_preflight(scope):
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        elif _is_api(scope):
            await self._app(scope, self._bounded(receive), send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> SalonError | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if _name_of(host) not in self._names:
            return ForeignHost(
                "this server does not answer to that name",
                hint="use its own address, or add the name to serve.origins",
            )
        origin = headers.get("origin")
        if origin is not None and not self._is_ours(origin.lower(), host.lower()):
            return ForeignOrigin(
                "pages of that origin may not talk to this server",
                hint="add the origin to serve.origins",
            )
        is_open = _is_open(scope["path"])
        if origin is None and not is_open and headers.get("sec-fetch-site") == "cross-site":
            return ForeignOrigin(
                "a page elsewhere may not load this", hint="open it by its own address"
            )
        if self._door.token and not is_open and not self._has_token(headers, scope):
            return Unauthorised(
                "the token is missing or wrong", hint="send Authorization: Bearer TOKEN"
            )
        if _is_api(scope) and _length(headers) > self._body_bytes:
            return _too_large(self._body_bytes)
        return None

    def _is_ours(self, origin: str, host: str) -> bool:
        return origin in {f"http://{host}", f"https://{host}"} or origin in self._origins

    def _for_guests(self, scope: Scope, send: Send) -> Send:
        """Return what also tells the browser that a page of a named origin may read the answer."""
        origin = Headers(scope=scope).get("origin", "").lower()
        if scope["type"] != "http" or origin not in self._origins:
            return send

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["access-control-allow-origin"] = origin
                headers.add_vary_header("Origin")
                headers["access-control-expose-headers"] = _READABLE
                if _is_preflight(scope):
                    headers.update(_PREFLIGHT)
            await send(message)

        return sending

    def _has_token(self, headers: Headers, scope: Scope) -> bool:
        if _is_preflight(scope):
            return True  # browsers ask without one whether they may send one
        kind, _, given = headers.get("authorization", "").partition(" ")
        offered = [one.strip() for one in headers.get("sec-websocket-protocol", "").split(",")]
        given_as_protocol = (
            one.removeprefix(BEARER_SUBPROTOCOL)
            for one in offered
            if one.startswith(BEARER_SUBPROTOCOL)
        )
        tokens = [given] if kind.lower() == "bearer" else list(given_as_protocol)
        wanted = (self._door.token or "").encode()
        return any(hmac.compare_digest(one.strip().encode(), wanted) for one in tokens)

    def _bounded(self, receive: Receive) -> Receive:
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._body_bytes:
                # What reads the body turns any other exception into a 400.
                raise HTTPException(413, _too_large(self._body_bytes).message)
            return message

        return counted


def _is_preflight(scope: Scope) -> bool:
    asks = "access-control-request-method" in Headers(scope=scope)
    return scope["type"] == "http" and scope["method"] == "OPTIONS" and asks


def _is_api(scope: Scope) -> bool:
    return scope["type"] == "http" and str(scope["path"]).startswith("/api/")


def _is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith(PAGE_FILES)


def _length(headers: Headers) -> int:
    said = headers.get("content-length", "")
    return int(said) if said.isascii() and said.isdigit() else 0


def _too_large(most: int) -> ContentTooLarge:
    return ContentTooLarge(f"a request may hold {most:,} bytes", hint="send it in parts")


def _name_of(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


async def refuse(scope: Scope, send: Send, error: SalonError) -> None:
    """Answer a request or a handshake with an error, in the one shape."""
    status = status_of(error)
    prefix = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
    if prefix != "http.response" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008})
        return
    body = json.dumps(error.as_json()).encode()
    more = wait_of(error) | REMARKS.get(status, {})
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    headers += [(name.encode(), value.encode()) for name, value in more.items()]
    await send({"type": f"{prefix}.start", "status": status, "headers": headers})
    await send({"type": f"{prefix}.body", "body": body})
