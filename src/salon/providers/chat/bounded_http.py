"""The HTTP client that all model libraries are given: it goes where it was sent, and no further.

Redirects are not followed and proxies not used, so a key reaches the configured server alone. An
answer is read up to a size and only as it is: packed ones could unfold to any length. Of its
headers only the few that are needed are passed on.
"""

import ssl
from collections.abc import AsyncIterator

import certifi
import httpx2

MOST_BYTES = 8_000_000
# What the OpenAI library sends of its owner's account, to whichever server it is pointed at.
_OF_ACCOUNT = ("openai-organization", "openai-project")
# What is needed of an answer's headers; libraries log the rest, whatever a server puts there.
_HEADERS = ("content-type", "content-length", "retry-after", "retry-after-ms")


class AnswerRefusedError(Exception):
    """An answer that is not read to its end, whatever it is."""


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, most_bytes: int) -> None:
        self._inner = inner
        self._most_bytes = most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._inner:
            size += len(piece)
            if size > self._most_bytes:
                raise AnswerRefusedError(f"more than {self._most_bytes} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Transport(httpx2.AsyncBaseTransport):
    def __init__(self, *, is_own_account: bool, most_bytes: int, is_secure: bool) -> None:
        self._inner = httpx2.AsyncHTTPTransport(
            verify=_ssl_context() if is_secure else False, trust_env=False
        )
        self._is_own_account = is_own_account
        self._most_bytes = most_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if not self._is_own_account:
            for name in _OF_ACCOUNT:
                request.headers.pop(name, None)
        response = await self._inner.handle_async_request(request)
        packing = response.headers.get("content-encoding", "identity").lower()
        if packing != "identity":
            await response.aclose()
            raise AnswerRefusedError("a packed answer, though none was asked for")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        return httpx2.Response(
            response.status_code,
            headers=[
                (name, response.headers[name]) for name in _HEADERS if name in response.headers
            ],
            stream=_Bounded(response.stream, self._most_bytes),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


def open_client(
    url: str | None, *, timeout_s: float, is_own_account: bool, most_bytes: int = MOST_BYTES
) -> httpx2.AsyncClient:
    """Return a client for the server at `url`; without one it has to be a provider's own."""
    transport = _Transport(
        is_own_account=is_own_account,
        most_bytes=most_bytes,
        is_secure=url is None or url.startswith("https:"),
    )
    return httpx2.AsyncClient(
        transport=transport,
        timeout=httpx2.Timeout(timeout_s, connect=min(timeout_s, 10.0)),
        headers={"Accept-Encoding": "identity"},
        follow_redirects=False,
        trust_env=False,
    )


def _ssl_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
