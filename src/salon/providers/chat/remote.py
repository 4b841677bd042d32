"""Chat models behind a server, through pydantic-ai.

Each request is one call of the library in a thread that has an event loop. What comes back to the
caller is an answer or a `Failure`, never an exception of a library: those hold headers and bodies.
"""

import queue
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from salon.core.chat import ChatRequest
from salon.core.closing import Closable
from salon.providers.chat.backend import Tokens, Written
from salon.providers.chat.failures import CLOSED, EMPTY, Explainer, Failure
from salon.providers.chat.log_masking import mask, unmask
from salon.providers.chat.loop_thread import LoopThread
from salon.providers.chat.requests import to_messages
from salon.providers.chat.retrying import RetryPolicy

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.messages import ModelResponse, ModelResponseStreamEvent
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

_LONGEST_NAME = 200
_NOT_TEXT = Failure(
    what="answered with something that is not text",
    hint="the server does not do what its interface promises; try another",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An open way to a model: the library's object for it and the client that this one uses."""

    model: "Model"
    client: "httpx2.AsyncClient"
    secret: str | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a server is asked. `break_marks` where it joins messages into one marked-up text."""

    timeout_s: float
    retries: RetryPolicy
    explainer: Explainer
    break_marks: bool = False
    sleep: Callable[[float], None] = time.sleep


class RemoteChat(Closable):
    """One model of one server. May be used by many threads at once."""

    def __init__(
        self,
        address: str,
        open_link: Callable[[], Link],
        manner: Manner,
        *,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        self.address = address
        self._open_link = open_link
        self._manner = manner
        self._on_close = on_close
        self._lock = threading.Lock()
        self._link: Link | None = None
        self._is_closed = False
        self._loop = LoopThread(f"chat model {address}")

    def complete(self, request: ChatRequest) -> Written:
        """Return the whole answer, asking again where that can help."""
        attempt = 0
        while True:
            outcome = self._once(request)
            if isinstance(outcome, Written):
                return outcome
            self._wait(outcome, attempt)
            attempt += 1

    def stream(self, request: ChatRequest) -> Generator[str, None, Written]:
        """Walk the answer; asks again only while nothing of it has arrived."""
        attempt = 0
        while True:
            outcome = yield from self._stream_once(request)
            if isinstance(outcome, Written):
                return outcome
            self._wait(outcome, attempt)
            attempt += 1

    def close(self) -> None:
        """End requests under way and close the connections."""
        with self._lock:
            link, self._link, self._is_closed = self._link, None, True
        if link is not None:
            with suppress(CancelledError):
                self._loop.run(link.client.aclose())
            if link.secret:
                unmask(link.secret)
        self._loop.close()
        self._on_close()

    def _once(self, request: ChatRequest) -> Written | Failure:
        link = self._linked()
        try:
            return self._loop.run(self._ask(link, request))
        except CancelledError:
            return CLOSED

    async def _ask(self, link: Link, request: ChatRequest) -> Written | Failure:
        from pydantic_ai.direct import model_request

        try:
            response = await model_request(
                link.model,
                to_messages(request, break_marks=self._manner.break_marks),
                model_settings=self._settings(request),
            )
            return self._written(response, response.text or "")
        except Exception as error:  # noqa: BLE001 - a malformed answer breaks libraries in any way
            return self._manner.explainer.explain(error)

    def _stream_once(self, request: ChatRequest) -> Generator[str, None, Written | Failure]:
        link = self._linked()
        arriving: queue.SimpleQueue[str | Written | Failure] = queue.SimpleQueue()
        future = self._loop.start(self._pump(link, request, arriving.put))
        has_begun = False
        try:
            while True:
                arrived = arriving.get()
                if isinstance(arrived, Failure):
                    return replace(arrived, has_begun=has_begun)
                if isinstance(arrived, Written):
                    return arrived
                has_begun = True
                yield arrived
        finally:
            future.cancel()

    async def _pump(
        self, link: Link, request: ChatRequest, put: Callable[[str | Written | Failure], None]
    ) -> None:
        from pydantic_ai.direct import model_request_stream

        outcome: Written | Failure = CLOSED
        pieces: list[str] = []
        try:
            async with model_request_stream(
                link.model,
                to_messages(request, break_marks=self._manner.break_marks),
                model_settings=self._settings(request),
            ) as stream:
                async for event in stream:
                    for piece in _text_in(event):
                        if not _is_text(piece):
                            outcome = _NOT_TEXT
                            return
                        pieces.append(piece)
                        put(piece)
                outcome = self._written(stream.get(), "".join(pieces))
        except Exception as error:  # noqa: BLE001 - as above
            outcome = self._manner.explainer.explain(error)
        finally:
            put(outcome)

    def _written(self, response: "ModelResponse", text: str) -> Written | Failure:
        if not _is_text(text):
            return _NOT_TEXT
        if not text.strip():
            return EMPTY
        used = response.usage
        told = used.input_tokens > 0 or used.output_tokens > 0
        tokens = Tokens(read=max(used.input_tokens, 0), written=max(used.output_tokens, 0))
        return Written(text=text, model=self._model_name(response), tokens=tokens if told else None)

    def _model_name(self, response: "ModelResponse") -> str:
        """Return the model's name as the server tells it, if that is a name at all."""
        name = response.model_name or ""
        asked = self.address.partition(":")[2]
        return name if name and name.isprintable() and len(name) <= _LONGEST_NAME else asked

    def _settings(self, request: ChatRequest) -> "ModelSettings":
        return {
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "timeout": self._manner.timeout_s,
            "request_timeout": self._manner.timeout_s,
            "max_retries": 0,  # retrying is done here, for all servers alike
        }

    def _wait(self, failure: Failure, attempt: int) -> None:
        """Wait before asking again, or raise what went wrong."""
        wait_s = self._manner.retries.wait_s(failure, attempt)
        if wait_s is None or self._is_closed:
            raise failure.as_error(self.address)
        self._manner.sleep(wait_s)

    def _linked(self) -> Link:
        with self._lock:
            if self._is_closed:
                raise CLOSED.as_error(self.address)
            if self._link is None:
                self._link = self._open_link()
                # Models that choose their own temperature are not asked for one; that is well.
                warnings.filterwarnings("ignore", r"Sampling parameters \['temperature'\]")
                if self._link.secret:
                    mask(self._link.secret)
            return self._link


def _text_in(event: "ModelResponseStreamEvent") -> Iterator[str]:
    """Walk the text of an event; thoughts and tool calls are not text."""
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        piece = event.part.content
    elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        piece = event.delta.content_delta
    else:
        return
    if piece:
        yield piece


def _is_text(piece: str) -> bool:
    try:
        piece.encode()
    except UnicodeEncodeError:
        return False
    return True
