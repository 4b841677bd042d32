"""JSON over HTTP to a server that a person has configured.

One request, one answer of a declared shape, before one deadline and within one size. A server
that is busy or not there yet is asked again a few times; whatever else goes wrong is one
`ProviderFailed` that says what the server said. Redirects are not followed and proxies not used:
the key goes to the address in the settings and nowhere else, and never into a message.

Unlike `salon.corpus.fetch` this reaches private addresses: model servers live there.
"""

import json
import math
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

import certifi
import httpcore
from pydantic import BaseModel, ConfigDict, ValidationError

from salon import __version__
from salon.core.closing import Closable
from salon.core.errors import InvalidSettings, ProviderFailed
from salon.corpus.timed_stream import TimedStream

_PORTS = {"http": 80, "https": 443}
_TRY_AGAIN = frozenset({429, 502, 503, 504})
_LONGEST_WAIT_S = 20.0
_EXPLANATION_BYTES = 65_536
_EXPLANATION_CHARACTERS = 300
_HINTS: Mapping[int, str] = {
    400: "the server does not accept the request; see what it says",
    401: "check the API key",
    403: "check the API key and what it is allowed to do",
    404: "check the base URL and the name of the model",
    413: "the texts are too long for this server",
    429: "the server has had enough for now; try later or raise its limits",
}
_NETWORK_FAILURES = (httpcore.NetworkError, httpcore.RemoteProtocolError)

Shape = TypeVar("Shape", bound="Answer")


class Answer(BaseModel):
    """The part of a server's answer that is used; a server may say more."""

    model_config = ConfigDict(extra="ignore", frozen=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonServer:
    """Where a server is, how to speak to it, and what to tell a person when that fails.

    `hints` say more about a status than this module knows; `hint` is for a server that does not
    answer at all.
    """

    base_url: str
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 60.0
    answer_bytes: int = 64_000_000
    waits_s: tuple[float, ...] = (0.5, 1.0, 2.0)
    hint: str = "check the base URL, and that the server is running"
    hints: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    status: int
    content: bytes
    retry_after: str


class JsonClient(Closable):
    """Asks one server. May be used by many threads at once; connections are kept and shared."""

    def __init__(self, server: JsonServer, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self.server = server
        self._sleep = sleep
        self._base = _parse(server.base_url)
        self._headers = _headers(server)
        self._deadline = _Deadline()
        self._pool = httpcore.ConnectionPool(
            ssl_context=_ssl_context() if self._base.scheme == b"https" else None,
            max_connections=None,
            max_keepalive_connections=4,
            network_backend=_TimedBackend(self._deadline),
        )

    def get(self, path: str, shape: type[Shape]) -> Shape:
        """Return the answer to a GET of `path`, which continues the base URL."""
        return self._ask("GET", path, None, shape)

    def post(self, path: str, body: Mapping[str, object], shape: type[Shape]) -> Shape:
        """Return the answer to a POST of `body`. It may be sent more than once."""
        return self._ask("POST", path, json.dumps(body, ensure_ascii=False).encode(), shape)

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def _ask(self, method: str, path: str, content: bytes | None, shape: type[Shape]) -> Shape:
        reply = self._until_served(method, path, content)
        if not _is_served(reply.status):
            raise self._refused(path, reply)
        try:
            return shape.model_validate_json(reply.content)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"])) or "the answer"
            raise ProviderFailed(
                f"{self._name(path)} answered with something unexpected: {place}: {first['msg']}",
                hint="check that the base URL is that of this kind of server",
            ) from None  # the cause would repeat the whole answer

    def _until_served(self, method: str, path: str, content: bytes | None) -> _Reply:
        """Ask until the server is neither busy nor gone, or patience ends."""
        for wait_s in self.server.waits_s:
            try:
                reply = self._once(method, path, content)
            except _NETWORK_FAILURES:
                self._sleep(wait_s)
                continue
            if reply.status not in _TRY_AGAIN:
                return reply
            self._sleep(_wanted_wait(reply.retry_after, wait_s))
        try:
            return self._once(method, path, content)
        except _NETWORK_FAILURES as error:
            raise ProviderFailed(
                f"{self._name(path)} cannot be reached: {error}", hint=self.server.hint
            ) from error

    def _once(self, method: str, path: str, content: bytes | None) -> _Reply:
        url = httpcore.URL(
            scheme=self._base.scheme,
            host=self._base.host,
            port=self._base.port,
            target=self._base.target + path.encode(),
        )
        self._deadline.set(self.server.timeout_s)
        try:
            with self._pool.stream(method, url, headers=self._headers, content=content) as answer:
                return self._receive(path, answer)
        except httpcore.TimeoutException as error:
            raise ProviderFailed(
                f"{self._name(path)} did not answer within {self.server.timeout_s:g} s",
                hint="raise the timeout, or use a smaller model",
            ) from error

    def _receive(self, path: str, answer: httpcore.Response) -> _Reply:
        headers = {name.lower(): value.decode("latin-1") for name, value in answer.headers}
        is_served = _is_served(answer.status)
        most = self.server.answer_bytes if is_served else _EXPLANATION_BYTES
        pieces: list[bytes] = []
        size = 0
        for piece in answer.iter_stream():
            size += len(piece)
            if size > most:
                break
            pieces.append(piece)
        if size > most and is_served:
            raise ProviderFailed(
                f"{self._name(path)} answered with more than {most} bytes",
                hint="check that the base URL is that of this kind of server",
            )
        return _Reply(
            status=answer.status,
            content=b"".join(pieces),
            retry_after=headers.get(b"retry-after", ""),
        )

    def _refused(self, path: str, reply: _Reply) -> ProviderFailed:
        said = _explanation(reply.content, self.server.api_key)
        hints = {**_HINTS, **self.server.hints}
        return ProviderFailed(
            f"{self._name(path)} answered with status {reply.status}{said and f': {said}'}",
            hint=hints.get(reply.status, "see the log of the server"),
            status=reply.status,
            retry_after_s=_seconds(reply.retry_after),
        )

    def _name(self, path: str) -> str:
        return f"{self.server.base_url.rstrip('/')}{path}"


class _Deadline(threading.local):
    """The moment by which the request of the present thread has to be done."""

    at = math.inf

    def set(self, seconds: float) -> None:
        self.at = time.monotonic() + seconds

    def left(self) -> float:
        left = self.at - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left


class _TimedBackend(httpcore.NetworkBackend):
    """A network layer in which every operation ends at the deadline of its thread."""

    def __init__(self, deadline: _Deadline) -> None:
        self._deadline = deadline
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the deadline is stricter
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        stream = self._inner.connect_tcp(
            host, port, self._deadline.left(), local_address, socket_options
        )
        return TimedStream(stream, self._deadline)


def _parse(base_url: str) -> httpcore.URL:
    if "@" in base_url:
        raise InvalidSettings(
            "the URL of a server must not hold a user name or password",
            hint="set the key apart from the URL",
        )
    example = "for example http://127.0.0.1:11434"
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError as error:
        raise InvalidSettings(
            f"{base_url!r} is not the URL of a server: {error}", hint=example
        ) from error
    is_plain = base_url.isascii() and base_url.isprintable() and " " not in base_url
    if parts.scheme not in _PORTS or not parts.hostname or not is_plain:
        raise InvalidSettings(f"{base_url!r} is not the URL of a server", hint=example)
    if parts.query or parts.fragment:
        raise InvalidSettings(f"{base_url!r} goes on after its path", hint=example)
    return httpcore.URL(
        scheme=parts.scheme.encode(),
        host=parts.hostname.encode(),
        port=port or _PORTS[parts.scheme],
        target=parts.path.rstrip("/").encode(),
    )


def _headers(server: JsonServer) -> list[tuple[bytes, bytes]]:
    headers = [
        (b"Host", urlsplit(server.base_url).netloc.encode()),
        (b"User-Agent", f"Salon/{__version__}".encode()),
        (b"Accept", b"application/json"),
        (b"Accept-Encoding", b"identity"),
        (b"Content-Type", b"application/json"),
    ]
    if server.api_key is None:
        return headers
    if not server.api_key or not (server.api_key.isascii() and server.api_key.isprintable()):
        raise InvalidSettings(
            "the API key is empty or holds characters that no key has",
            hint="copy the key again, without line breaks",
        )
    return [*headers, (b"Authorization", f"Bearer {server.api_key}".encode())]


def _ssl_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _is_served(status: int) -> bool:
    return 200 <= status < 300


def _wanted_wait(retry_after: str, otherwise: float) -> float:
    """Return how long a busy server asks us to wait, within reason."""
    wanted = _seconds(retry_after)
    return otherwise if wanted is None else min(wanted, _LONGEST_WAIT_S)


def _seconds(retry_after: str) -> float | None:
    """Return what a server says in `Retry-After`, where it is a number."""
    return float(retry_after) if retry_after.isascii() and retry_after.isdigit() else None


def _explanation(content: bytes, secret: str | None) -> str:
    """Return what a server says about its refusal, as one short printable line."""
    text = content.decode("utf-8", "replace")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = text
    for key in ("error", "detail", "message"):
        if isinstance(said, dict) and key in said:
            said = said[key]
    line = " ".join(str(said).split())
    if secret:
        line = line.replace(secret, "[key]")
    printable = "".join(character if character.isprintable() else "?" for character in line)
    if len(printable) > _EXPLANATION_CHARACTERS:
        printable = f"{printable[:_EXPLANATION_CHARACTERS]}…"
    return printable
