"""A chat model as others see it: a backend, with the meter of one session before it."""

from collections.abc import Iterator
from dataclasses import replace

from salon.core.chat import ChatAnswer, ChatRequest, ChatUsage
from salon.core.closing import Closable
from salon.providers.chat.backend import Backend, Tokens
from salon.providers.chat.meter import Meter
from salon.providers.chat.options import ChatOptions
from salon.providers.chat.requests import check_request

_DEFAULTS = ChatOptions()


class MeteredChat(Closable):
    """Asks a backend as long as the limits of its session allow."""

    def __init__(
        self, backend: Backend, options: ChatOptions = _DEFAULTS, *, owns_backend: bool = True
    ) -> None:
        self.address = backend.address
        self._backend = backend
        self._options = options
        self._meter = Meter(options.limits, options.prices)
        self._owns_backend = owns_backend

    def __repr__(self) -> str:
        return f"<chat model {self.address}>"

    @property
    def usage(self) -> ChatUsage:
        """Return what this session has used so far."""
        return self._meter.usage

    def for_session(self) -> "MeteredChat":
        """Return the same model for another session: limits anew, connections shared."""
        return MeteredChat(self._backend, self._options, owns_backend=False)

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Return the whole answer."""
        check_request(request)
        allowed = self._let_in(request)
        tokens: Tokens | None = Tokens(read=0, written=0)  # what failed is counted as a request
        text = ""
        try:
            written = self._backend.complete(replace(request, max_tokens=allowed))
            tokens, text = written.tokens, written.text
        finally:
            usage = self._meter.settle(allowed, tokens=tokens, most=_most(request, text))
        return ChatAnswer(text=text, model=written.model, usage=usage)

    def stream(self, request: ChatRequest) -> Iterator[str]:
        """Walk the answer piece by piece."""
        check_request(request)
        allowed = self._let_in(request)
        tokens: Tokens | None = Tokens(read=0, written=0)
        pieces: list[str] = []
        answer = self._backend.stream(replace(request, max_tokens=allowed))
        try:
            while True:
                try:
                    piece = next(answer)
                except StopIteration as end:
                    tokens = end.value.tokens
                    return
                tokens = None  # unknown from here on, unless the end tells
                pieces.append(piece)
                yield piece
        finally:
            answer.close()
            self._meter.settle(allowed, tokens=tokens, most=_most(request, "".join(pieces)))

    def close(self) -> None:
        """Let go of connections, unless they belong to another session."""
        if self._owns_backend:
            self._backend.close()

    def _let_in(self, request: ChatRequest) -> int:
        return self._meter.let_in(min(request.max_tokens, self._options.max_tokens))


def _most(request: ChatRequest, text: str) -> Tokens:
    """Return the most tokens that a request and its answer can be: one for each byte."""
    read = sum(len(message.content.encode()) for message in request.messages)
    return Tokens(read=read, written=len(text.encode()))
