"""Fetching a page from the public web, and from nowhere else.

One GET, by hand: http and https only, no credentials, no proxy, no cookies; every hop of a
redirect is checked like the first; the body is bounded as it arrives and again as it is
unpacked. Where a connection may lead is decided in `salon.corpus.dialing`. This module reads no
HTML and does not look at robots.txt: a person asked for this one page.
"""

import ssl
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from email.message import Message
from ipaddress import IPv6Address
from urllib.parse import quote, urljoin, urlsplit

import certifi
import httpcore

from salon import __version__
from salon.core.errors import FetchFailed, ForbiddenAddress
from salon.corpus.addresses import Address
from salon.corpus.dialing import CheckedBackend, Deadline, Dial, Resolver, SystemResolver, dial_tcp

_PORTS = {"http": 80, "https": 443}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SAFE_IN_TARGET = "/%:@!$&'()*+,;=~-._?[]"
_PIECE = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """What fetching one page may take, and where it may lead.

    `allow_private` lists addresses that are reached although they are not public. It is for
    tests against a server on this machine; no setting leads here.
    """

    body_bytes: int = 50_000_000
    total_s: float = 30.0
    redirects: int = 5
    ports: frozenset[int] = frozenset({80, 443})
    allow_private: frozenset[Address] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A page: what was asked for, where it was found, what it is said to be, and its bytes."""

    url: str
    final_url: str
    media_type: str | None
    charset: str | None
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """A URL, taken apart once; nothing parses it a second time in another way."""

    scheme: str
    host: str
    port: int
    path: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


class Fetcher:
    """Fetches pages within limits. Stateless: every fetch opens and closes its own connection."""

    def __init__(
        self,
        limits: FetchLimits | None = None,
        *,
        resolver: Resolver | None = None,
        dial: Dial = dial_tcp,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self.limits = limits or FetchLimits()
        self._resolver = resolver or SystemResolver()
        self._dial = dial
        self._ssl_context = ssl_context

    def fetch(self, url: str) -> Fetched:
        """Return the page at `url`, or raise `ForbiddenAddress` or `FetchFailed`."""
        deadline = Deadline(self.limits.total_s)
        target = _parse(url, self.limits)
        for _ in range(self.limits.redirects + 1):
            found = self._get(target, deadline)
            if isinstance(found, Fetched):
                return replace(found, url=url)
            following = _parse(urljoin(str(target), found), self.limits)
            if (target.scheme, following.scheme) == ("https", "http"):
                raise ForbiddenAddress(
                    f"{target} redirects from https to http ({following})",
                    hint="a page that gives up encryption on the way is not fetched",
                )
            target = following
        raise FetchFailed(
            f"{url} redirects more than {self.limits.redirects} times",
            hint="open it in a browser and use the address it ends at",
        )

    def _get(self, target: _Target, deadline: Deadline) -> Fetched | str:
        """Return the page, or the address that it redirects to."""
        backend = CheckedBackend(
            resolver=self._resolver,
            dial=self._dial,
            deadline=deadline,
            allowed=self.limits.allow_private,
        )
        origin = httpcore.Origin(target.scheme.encode(), target.host.encode(), target.port)
        try:
            with (
                httpcore.HTTPConnection(
                    origin, ssl_context=self._context(target), network_backend=backend
                ) as connection,
                connection.stream("GET", _httpcore_url(target), headers=_headers(target)) as answer,
            ):
                return self._receive(answer, target)
        except httpcore.TimeoutException as error:
            raise FetchFailed(
                f"{target} did not answer within {self.limits.total_s:g} s",
                hint="try again later, or save the page and ingest the file",
            ) from error
        except (httpcore.NetworkError, httpcore.ProtocolError, ssl.SSLError) as error:
            raise FetchFailed(
                f"{target} could not be fetched: {error}",
                hint="check that it opens in a browser; if it does, save it and ingest the file",
            ) from error

    def _context(self, target: _Target) -> ssl.SSLContext | None:
        if target.scheme == "https" and self._ssl_context is None:
            self._ssl_context = ssl.create_default_context()
            self._ssl_context.load_verify_locations(certifi.where())
        return self._ssl_context

    def _receive(self, answer: httpcore.Response, target: _Target) -> Fetched | str:
        headers = {name.lower(): value for name, value in answer.headers}
        location = headers.get(b"location")
        if answer.status in _REDIRECTS and location:
            return location.decode("latin-1")
        if answer.status != 200:
            raise FetchFailed(
                f"{target} answered with status {answer.status}",
                hint="open it in a browser to see what it wants",
                status=answer.status,
            )
        content = b"".join(_body(answer, headers, target, self.limits.body_bytes))
        media_type, charset = _content_type(headers.get(b"content-type", b""))
        return Fetched(
            url=str(target),
            final_url=str(target),
            media_type=media_type,
            charset=charset,
            content=content,
        )


def fetch(url: str, *, limits: FetchLimits | None = None) -> Fetched:
    """Return the page at `url`, or raise `ForbiddenAddress` or `FetchFailed`."""
    return Fetcher(limits).fetch(url)


def _parse(url: str, limits: FetchLimits) -> _Target:
    if any(character <= " " or character in "\\\x7f" for character in url):
        raise ForbiddenAddress(f"{url!r} is not a URL", hint="remove spaces and backslashes")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ForbiddenAddress(f"{url!r} is not a URL: {error}") from error
    scheme = parts.scheme.lower()
    if scheme not in _PORTS or not host:
        raise ForbiddenAddress(
            f"{url!r} is not an http or https address",
            hint="only web pages are fetched; name files by their path",
        )
    if parts.username is not None or parts.password is not None:
        raise ForbiddenAddress(
            f"the address of {host} contains a user name or password",
            hint="remove what stands before the @; protected pages have to be saved by hand",
        )
    port = port or _PORTS[scheme]
    if port not in limits.ports:
        raise ForbiddenAddress(
            f"{url} uses port {port}", hint="only the web's own ports 80 and 443 are reached"
        )
    path = quote(parts.path or "/", safe=_SAFE_IN_TARGET)
    query = f"?{quote(parts.query, safe=_SAFE_IN_TARGET)}" if parts.query else ""
    return _Target(scheme=scheme, host=_ascii_host(host), port=port, path=path + query)


def _ascii_host(host: str) -> str:
    if "%" in host:
        raise ForbiddenAddress(f"{host!r} names a network of this machine, not a host")
    if ":" in host:
        try:
            return str(IPv6Address(host))
        except ValueError as error:
            raise ForbiddenAddress(f"[{host}] is not an IPv6 address") from error
    try:
        return host.encode("idna").decode()
    except UnicodeError as error:
        raise ForbiddenAddress(f"{host!r} is not a host name") from error


def _httpcore_url(target: _Target) -> httpcore.URL:
    return httpcore.URL(
        scheme=target.scheme.encode(),
        host=target.host.encode(),
        port=target.port,
        target=target.path.encode(),
    )


def _headers(target: _Target) -> list[tuple[bytes, bytes]]:
    return [
        (b"Host", target.authority.encode()),
        (b"User-Agent", f"Salon/{__version__}".encode()),
        (b"Accept", b"text/html, application/pdf, text/plain, */*;q=0.5"),
        (b"Accept-Encoding", b"gzip"),
        (b"Connection", b"close"),
    ]


def _content_type(value: bytes) -> tuple[str | None, str | None]:
    if not value:
        return None, None
    message = Message()
    message["content-type"] = value.decode("latin-1")
    charset = message.get_content_charset()
    return message.get_content_type(), charset


def _body(
    answer: httpcore.Response, headers: dict[bytes, bytes], target: _Target, most: int
) -> Iterator[bytes]:
    declared = headers.get(b"content-length", b"")
    if declared.isdigit() and int(declared) > most:
        raise _too_large(target, most)
    encoding = headers.get(b"content-encoding", b"identity").decode("latin-1").strip().lower()
    received = _bounded(answer.iter_stream(), target, most)
    if encoding in {"gzip", "x-gzip"}:
        yield from _bounded(_gunzip(received, target), target, most)
    elif encoding in {"identity", ""}:
        yield from received
    else:
        raise FetchFailed(
            f"{target} came packed as {encoding!r}, which was not asked for",
            hint="save the page and ingest the file",
        )


def _bounded(pieces: Iterable[bytes], target: _Target, most: int) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            raise _too_large(target, most)
        yield piece


def _gunzip(pieces: Iterable[bytes], target: _Target) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        for piece in pieces:
            rest = piece
            while rest and not unpacker.eof:  # what follows the end is padding
                yield unpacker.decompress(rest, _PIECE)
                rest = unpacker.unconsumed_tail
        yield unpacker.flush()
    except zlib.error as error:
        raise FetchFailed(f"{target} came damaged: {error}", hint="try again") from error
    if not unpacker.eof:
        raise FetchFailed(f"{target} came incomplete", hint="try again")


def _too_large(target: _Target, most: int) -> FetchFailed:
    return FetchFailed(
        f"{target} has more than {most} bytes", hint="download it and ingest the file"
    )
