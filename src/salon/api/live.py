"""Who listens to which session, and what waits for each: events are offered, nobody is waited for.

Invariant: a listener gets each event of its session once, in the order of their ids, or is dropped.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import anyio

from salon.api.errors import SESSION_GONE, TOO_SLOW, CloseCode
from salon.api.limits import Limits
from salon.api.mailbox import Mailbox
from salon.core.errors import LimitReached
from salon.steps.wire_shapes import WireEvent

AT_ONCE = "salon.at_once"
"""The extension of ASGI under which a server offers an `AtOnce`."""


@dataclass(slots=True, kw_only=True)
class AtOnce:
    """A short way between a socket and the application, for what needs no waiting and no task."""

    send: Callable[[str], bool]
    """Sends a text, and tells whether it did; what it does not send goes the usual way."""
    take: Callable[[str], bool] | None = None
    """Takes a text that has come, and tells whether it did; set by the application."""


class Letter(NamedTuple):
    """An event, with its text where that was made once for everybody."""

    event: WireEvent
    text: str | None = None


class Listener:
    """One connection, as those who have something to tell see it."""

    def __init__(self, outgoing: int) -> None:
        self.events: Mailbox[Letter] = Mailbox(outgoing)
        self.send_at_once: Callable[[Letter], bool] | None = None
        """Sends where that needs no waiting, and tells whether it did; only some servers can."""
        self.scope = anyio.CancelScope()
        """What is cancelled when the connection must end."""
        self.close_code: CloseCode | None = None

    def offer(self, event: WireEvent, text: str | None = None) -> None:
        """Put an event before the client; one that does not read is dropped."""
        letter = Letter(event, text)
        # Where nothing waits, nothing can be overtaken.
        if self.send_at_once is not None and self.events.is_awaited and self.send_at_once(letter):
            return
        if not self.events.put(letter):
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

    def tell(self, session: str, letters: Iterable[Letter]) -> None:
        """Offer events to everybody who listens to a session."""
        told = tuple(self._listeners.get(session, ()))
        for event, text in letters:
            for listener in told:
                listener.offer(event, text)

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
