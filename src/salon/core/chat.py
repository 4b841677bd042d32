"""The interface of chat models: what a model is asked, and what it gives back.

A model makes replies fluent, never true: whatever it writes is verified like anybody's text. The
call is synchronous, because what decides is; a server runs it in a thread.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Speaker(StrEnum):
    """Who says a message to a model."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message to a model."""

    speaker: Speaker
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What a model is asked, and how much it may write."""

    messages: tuple[ChatMessage, ...]
    max_tokens: int = 800
    temperature: float = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatUsage:
    """What one or several calls have used; a cost that is not known is `None`, never 0."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAnswer:
    """What a model wrote, by which model, and what it used."""

    text: str
    model: str
    usage: ChatUsage


class ChatModel(Protocol):
    """A model that answers; `address` is `kind:name`, as it was asked for."""

    address: str

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Return the whole answer, or raise `ProviderFailed` or `LimitReached`."""
        ...

    def stream(self, request: ChatRequest) -> Iterator[str]:
        """Walk the answer piece by piece; what was used is in `usage` afterwards."""
        ...

    @property
    def usage(self) -> ChatUsage:
        """Return what all calls through this object have used so far."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


def ask(system: str, history: Sequence[ChatMessage], question: str) -> ChatRequest:
    """Return a request: what the model is, what was said, and what is asked now."""
    return ChatRequest(
        messages=(
            ChatMessage(speaker=Speaker.SYSTEM, content=system),
            *history,
            ChatMessage(speaker=Speaker.USER, content=question),
        )
    )
