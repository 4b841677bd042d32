"""Who listens to which session, and what waits for each: events are offered, nobody is waited for.

Invariant: a listener gets each event of its session once, in the order of their ids, or is dropped.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import anyio

from salon.api.errors import SESSION_GONE, TOO_SLOW, CloseCode
from salon.api.limits import Limits
from salon.api.mailbox import Mailbox
from salon.core.errors import LimitReached
from salon.steps.wire_shapes import WireEvent


class Listener:
    """One connection, as those who have something to tell see it."""

    def __init__(self, outgoing: int) -> None:
        self.events: Mailbox[WireEvent] = Mailbox(outgoing)
        self.scope = anyio.CancelScope()
        """What is cancelled when the connection must end."""
        self.close_code: CloseCode | None = None

    def offer(self, event: WireEvent) -> None:
        """Put an event before the client; one that does not read is dropped."""
        if not self.events.put(event):
            self.end(TOO_SLOW)

    def mention(self, event: WireEvent) -> None:
        """Offer what the client can do without, if there is plenty of room."""
        if len(self.events) < self.events.most / 2:
            self.offer(event)

    def end(self, why: CloseCode) -> None:
        """Have the connection closed."""
        if self.close_code is None:
            self.close_code = why
            self.scope.cancel()

    def finish(self, why: CloseCode) -> None:
        """Have the connection closed after what waits for it was sent."""
        self.close_code = self.close_code or why
        self.events.close()

    def close(self) -> None:
        """Take nothing more."""
        self.events.close()


class Live:
    """The listeners of all sessions."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._listeners: dict[str, list[Listener]] = {}
        self._count = 0

    @contextmanager
    def listening(self, session: str) -> Iterator[Listener]:
        """Listen to a session, or raise `LimitReached` where too many do."""
        here = self._listeners.get(session, ())
        if self._count >= self._limits.connections:
            raise LimitReached("this server holds as many connections as it may", hint="try later")
        if len(here) >= self._limits.connections_per_session:
            raise LimitReached(
                "this session has as many connections as it may", hint="close one of them"
            )
        listener = Listener(self._limits.outgoing)
        self._listeners.setdefault(session, []).append(listener)
        self._count += 1
        try:
            yield listener
        finally:
            self._count -= 1
            self._listeners[session].remove(listener)
            if not self._listeners[session]:
                del self._listeners[session]
            listener.close()

    def tell(self, session: str, events: Iterable[WireEvent]) -> None:
        """Offer events to everybody who listens to a session."""
        told = tuple(self._listeners.get(session, ()))
        for event in events:
            for listener in told:
                listener.offer(event)

    def mention(self, session: str, event: WireEvent) -> None:
        """Offer a part of a reply to everybody who listens; the whole reply follows anyway."""
        for listener in tuple(self._listeners.get(session, ())):
            listener.mention(event)

    @property
    def count(self) -> int:
        """Return how many connections there are."""
        return self._count

    def end_session(self, session: str) -> None:
        """Close the connections of a session that is gone."""
        for listener in tuple(self._listeners.get(session, ())):
            listener.end(SESSION_GONE)
