"""Limits of the front door, and the bucket that counts messages."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one client may ask of a server."""

    rate: float = 20.0
    """Messages a second in one session, in the long run."""
    burst: int = 100
    """Messages at once, after a pause."""
    body_bytes: int = 1_000_000
    """Largest body of an HTTP request; an import of data is a command, not a request."""
    frame_bytes: int = 500_000
    """Largest frame of a WebSocket: the longest message, with room for escapes."""
    malformed: int = 100
    """Frames that are no message before a connection is closed."""
    outgoing: int = 256
    """Events that wait for a client that does not read."""
    incoming: int = 8
    """Messages that wait while a turn of this connection is taken."""
    send_s: float = 30.0
    """How long sending one event may take."""
    connections: int = 2_000
    connections_per_session: int = 16
    threads: int = 8
    """Turns that are taken at the same time."""
    readers: int = 2
    """Clients that look back at the same time: a storm of them leaves the threads of turns free."""


class Buckets:
    """Tokens by session: each message takes one, and they come back with time.

    Only the sessions that spoke last are remembered; a forgotten one starts full, which after so
    many others it would be anyway.
    """

    REMEMBERED = 10_000

    def __init__(self, limits: Limits, now: Callable[[], float]) -> None:
        self._limits = limits
        self._now = now
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, session: str) -> float:
        """Take a token and return 0, or return how many seconds are missing until there is one."""
        now = self._now()
        level, since = self._levels.pop(session, (float(self._limits.burst), now))
        level = min(self._limits.burst, level + (now - since) * self._limits.rate)
        missing = max(0.0, 1.0 - level)
        self._levels[session] = (level if missing else level - 1.0, now)
        if len(self._levels) > self.REMEMBERED:
            self._levels.popitem(last=False)
        return missing / self._limits.rate
