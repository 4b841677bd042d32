"""The headers that every answer carries, so that a browser lets nothing in that is not ours."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; font-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""For the page: its own files and this server, nothing inline, nothing from elsewhere."""
DATA_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
)
"""For everything else: data that a browser may show and never run."""

ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
IF_NOT_SAID = {"content-security-policy": DATA_POLICY, "cache-control": "no-store"}


class HeadAsGet:
    """Answers HEAD wherever there is a GET; the server underneath sends no body then."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on one request; a stream of events has no end, so it is not asked for."""
        is_head = scope["type"] == "http" and scope["method"] == "HEAD"
        if is_head and not scope["path"].endswith("/events"):
            scope = {**scope, "method": "GET"}
        await self._app(scope, receive, send)


class SafeHeaders:
    """Puts the headers on every HTTP answer, also on refusals."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on one request, and add to its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(ALWAYS)
                for name, value in IF_NOT_SAID.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, sending)
