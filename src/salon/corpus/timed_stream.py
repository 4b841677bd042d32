"""A connection on which everything ends by a deadline, however slowly the other side speaks."""

import ssl
from typing import Any, Protocol

import httpcore


class HasTimeLeft(Protocol):
    """A moment that everything has to be done by."""

    def left(self) -> float:
        """Return the seconds that are left, or raise `httpcore.ReadTimeout`."""
        ...


class TimedStream(httpcore.NetworkStream):
    """A connection whose every operation ends at the deadline."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: HasTimeLeft) -> None:
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        """Read what is there."""
        return self._inner.read(max_bytes, self._deadline.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        """Write all of it."""
        self._inner.write(buffer, self._deadline.left())

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        """Go on encrypted, under the same deadline."""
        secured = self._inner.start_tls(ssl_context, server_hostname, self._deadline.left())
        return TimedStream(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        """Return what the connection knows of itself."""
        return self._inner.get_extra_info(info)
