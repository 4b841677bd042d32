"""The model of whoever calls: an MCP client that lends its own.

Salon has no such model; it has a client for the length of one call. Whoever serves the call says
how to reach it with `lent_by`; outside of such a call this model fails, and replies are made of
quotes. What it writes is checked like anybody's text.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from salon.core.chat import ChatRequest
from salon.core.errors import ProviderFailed
from salon.providers.chat.backend import Written
from salon.providers.chat.metered import MeteredChat
from salon.providers.chat.options import ChatOptions

ADDRESS = "client:sampling"
LONGEST = 20_000
"""Characters that are taken from a client; a reply is a few sentences."""

Lend: TypeAlias = Callable[[ChatRequest], Written]
"""Has the client's model write, or raises `ProviderFailed`, or `NotWrittenYet`."""

_lending: ContextVar[Lend | None] = ContextVar("lending", default=None)


class NotWrittenYet(Exception):
    """No error: the client is asked first, and calls again with what its model wrote."""

    def __init__(self, request: ChatRequest) -> None:
        super().__init__("the client writes before it calls again")
        self.request = request


@contextmanager
def lent_by(lend: Lend | None) -> Iterator[None]:
    """Let the model of a client write within the block; `None` where it lends none."""
    token = _lending.set(lend)
    try:
        yield
    finally:
        _lending.reset(token)


class _ClientModel:
    """The backend: whatever client there is now."""

    address = ADDRESS

    def complete(self, request: ChatRequest) -> Written:
        """Return what the client's model writes."""
        lend = _lending.get()
        if lend is None:
            raise ProviderFailed(
                f"{ADDRESS} is the model of an MCP client, and no client here lends one",
                hint="connect a client that declares sampling, or set another chat.model",
            )
        written = lend(request)
        if not written.text.strip():
            raise ProviderFailed("the client's model wrote nothing")
        if len(written.text) > LONGEST:
            raise ProviderFailed(f"the client's model wrote more than {LONGEST} characters")
        return written

    def stream(self, request: ChatRequest) -> Generator[str, None, Written]:
        """Give everything at once: clients do not stream."""
        written = self.complete(request)
        yield written.text
        return written

    def close(self) -> None:
        """Hold nothing."""


def open_client(options: ChatOptions) -> MeteredChat:
    """Return the model of whichever client calls."""
    return MeteredChat(_ClientModel(), options)
