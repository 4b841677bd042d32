"""How much one caller may ask for: a bucket for each address, and what a request costs.

Whoever is above the limit is told how long to wait, before any work is done for them; others have
buckets of their own and notice nothing. Messages of a session are counted by the session as well.
"""

import ipaddress
import re
import time
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from salon.api.access import refuse
from salon.api.limits import Buckets, Limits
from salon.core.errors import LimitReached

COUNTED = ("/api/", "/mcp/", "/ws/")
ASKING = re.compile(
    r"POST (?:/api/(?:avatars/|gather|verify|search|audit/verify|rounds)|/mcp/|"
    r"/api/sessions/[^/]+/replay)|"
    r"GET /api/(?:graph|rounds/[^/]+/verify)"
)
"""What has a search, an answer, a check or a round done, by method and path."""
_NETWORK_BITS = 64
"""Of an IPv6 address: a household has all addresses below one such prefix."""


class Patience:
    """Refuses callers that ask for too much, and hands on the rest."""

    def __init__(
        self, app: ASGIApp, limits: Limits, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._app = app
        self._limits = limits
        self._buckets = Buckets(rate=limits.caller_rate, burst=limits.caller_burst, now=now)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count one request or connection."""
        if scope["type"] not in {"http", "websocket"} or not scope["path"].startswith(COUNTED):
            await self._app(scope, receive, send)
            return
        missing = self._buckets.take(caller_of(scope), self._cost(scope))
        if missing:
            await refuse(scope, send, too_fast(missing))
        else:
            await self._app(scope, receive, send)

    def _cost(self, scope: Scope) -> float:
        is_asking = ASKING.match(f"{scope.get('method')} {scope['path']}")
        return self._limits.ask_cost if is_asking else 1.0


def too_fast(missing: float) -> LimitReached:
    """Return what a caller is told that must wait so many seconds."""
    return LimitReached(
        "requests come too fast", hint=f"wait {missing:.1f} s", retry_after_s=round(missing, 3)
    )


def caller_of(scope: Scope) -> str:
    """Return the name under which a caller is counted: the address, or its network."""
    host = (scope.get("client") or ("", 0))[0]
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if address.version == 4:
        return str(address)
    network = ipaddress.ip_network((address, _NETWORK_BITS), strict=False)
    return str(network)
