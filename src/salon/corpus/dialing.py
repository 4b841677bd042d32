"""Connections that go exactly where they were checked to go.

`CheckedBackend` is httpcore's network layer with one addition: it resolves the host itself,
refuses the host if any of its addresses is not public, and connects to an address it checked,
never to a name. There is no second look-up that could answer differently. Everything, from the
look-up to the last byte, happens before one deadline.
"""

import socket
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias

import httpcore

from salon.core.errors import FetchFailed, ForbiddenAddress
from salon.corpus.addresses import Address, parse_address, why_not_public
from salon.corpus.timed_stream import TimedStream

Dial: TypeAlias = Callable[[str, int, float], httpcore.NetworkStream]


class Resolver(Protocol):
    """Whatever knows the addresses of a host."""

    def resolve(self, host: str, port: int) -> Sequence[str]:
        """Return every address of `host`, or raise `OSError`."""


class SystemResolver:
    """The machine's own resolver."""

    def resolve(self, host: str, port: int) -> Sequence[str]:
        """Return every address of `host`, or raise `OSError`."""
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(info[4][0]) for info in found))


class Deadline:
    """A moment that everything has to be done by."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left, or raise `httpcore.ReadTimeout`."""
        left = self._at - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left


def dial_tcp(address: str, port: int, timeout: float) -> httpcore.NetworkStream:
    """Connect to an address."""
    return httpcore.SyncBackend().connect_tcp(address, port, timeout=timeout)


class CheckedBackend(httpcore.NetworkBackend):
    """A network layer that only reaches public addresses, and `allowed` ones."""

    def __init__(
        self,
        *,
        resolver: Resolver,
        dial: Dial,
        deadline: Deadline,
        allowed: frozenset[Address] = frozenset(),
    ) -> None:
        self._resolver = resolver
        self._dial = dial
        self._deadline = deadline
        self._allowed = allowed

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the deadline is stricter
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        """Resolve `host`, check every address, connect to the first that answers."""
        problem: Exception | None = None
        addresses = self._checked_addresses(host, port)
        for untried, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
            try:
                # A share of the time each: an address that never answers leaves some for others.
                stream = self._dial(str(address), port, self._deadline.left() / untried)
                return TimedStream(stream, self._deadline)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                problem = error
        raise problem or httpcore.ConnectError(f"{host} has no address")

    def _checked_addresses(self, host: str, port: int) -> list[Address]:
        addresses = [parse_address(text) for text in self._resolve(host, port)]
        for address in addresses:
            kind = None if address in self._allowed else why_not_public(address)
            if kind:
                raise ForbiddenAddress(
                    f"{host} leads to {address}, which is {kind}",
                    hint="only public addresses are fetched; save the page and ingest the file",
                    host=host,
                    address=str(address),
                )
        return addresses

    def _resolve(self, host: str, port: int) -> Sequence[str]:
        # getaddrinfo knows no time limit, so it gets a thread that may be left behind.
        found: list[Sequence[str]] = []
        problems: list[OSError] = []

        def look_up() -> None:
            try:
                found.append(self._resolver.resolve(host, port))
            except (OSError, UnicodeError) as error:
                problems.append(OSError(str(error)))

        thread = threading.Thread(target=look_up, daemon=True)
        thread.start()
        thread.join(self._deadline.left())
        if problems:
            raise FetchFailed(
                f"{host} cannot be found: {problems[0]}", hint="check the address for typos"
            ) from problems[0]
        if not found:
            raise httpcore.ConnectTimeout(f"looking up {host} took too long")
        return found[0]
