"""Limits of the front door, and the buckets that count messages and requests."""

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
    askers: int = 4
    """Searches, answers and checks outside sessions that run at the same time."""
    caller_rate: float = 200.0
    """What one address may ask for in a second in the long run, in units of a plain look."""
    caller_burst: int = 2_000
    """The same at once, after a pause."""
    ask_cost: float = 10.0
    """What a search, an answer or a check weighs beside a plain look."""


class Buckets:
    """Tokens by name: each message or request takes some, and they come back with time.

    Only the names that came last are remembered; a forgotten one starts full, which after so many
    others it would be anyway.
    """

    REMEMBERED = 10_000

    def __init__(self, *, rate: float, burst: float, now: Callable[[], float]) -> None:
        self._rate = rate
        self._burst = burst
        self._now = now
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, cost: float = 1.0) -> float:
        """Take tokens and return 0, or return how many seconds are missing until they are there."""
        now = self._now()
        level, since = self._levels.pop(name, (self._burst, now))
        level = min(self._burst, level + (now - since) * self._rate)
        # What costs more than the bucket holds is let through once it is full.
        missing = max(0.0, min(cost, self._burst) - level)
        self._levels[name] = (level if missing else level - cost, now)
        if len(self._levels) > self.REMEMBERED:
            self._levels.popitem(last=False)
        return missing / self._rate
