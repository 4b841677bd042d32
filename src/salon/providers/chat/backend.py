"""What a chat model is underneath: something that writes, and may tell how many tokens it took.

A backend knows nothing of limits or prices; `MeteredChat` adds them and is what others see.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

from salon.core.chat import ChatRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """How many tokens an answer took, as its model counts them."""

    read: int
    written: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One whole answer; `tokens` is `None` where the model does not tell."""

    text: str
    model: str
    tokens: Tokens | None


class Backend(Protocol):
    """Something that writes. May be used by many threads at once."""

    address: str

    def complete(self, request: ChatRequest) -> Written:
        """Return the whole answer, or raise `ProviderFailed`."""
        ...

    def stream(self, request: ChatRequest) -> Generator[str, None, Written]:
        """Walk the answer piece by piece, and return it whole at the end."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...
