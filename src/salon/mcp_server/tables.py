"""What an MCP server offers, written down as data: tools, resources and prompts.

The factory turns these tables into a server; nothing here knows how. Every tool says all four
things that a client wants to know before it lets a model call it, so none can be forgotten.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from mcp.server import ServerRequestContext
from mcp_types import (
    CallToolResult,
    GetPromptResult,
    InputRequiredResult,
    InputResponseRequestParams,
    PromptMessage,
)

from salon.parts.shapes import Arguments as Arguments  # noqa: PLC0414 - part of the tables
from salon.parts.shapes import Result as Result  # noqa: PLC0414

CALL_SECONDS = 30.0
"""How long a call may take; DESIGN section 5 row 24 and every surface share this cap."""
ONE_DAY_MS = 86_400_000
FIVE_MINUTES_MS = 300_000


class Reporting(Protocol):
    """Tells the client how far a call is; does nothing if the client did not ask."""

    def __call__(self, done: float, total: float | None = None, message: str = "") -> None:
        """Report from the thread in which a tool works."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request under way: what it came with, and the way back to the client."""

    context: ServerRequestContext[Any, Any]
    params: InputResponseRequestParams
    report: Reporting
    is_over: Callable[[], bool] = lambda: False
    """Tells whether the client has its answer already: the call took too long."""


Answer: TypeAlias = Result | CallToolResult | InputRequiredResult
Run: TypeAlias = Callable[[Call, Any], Answer | Awaitable[Answer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool: its arguments, its result, what calling it does to the world, and the function.

    A plain function runs in a thread, a coroutine in the loop. `result` is `None` only for tools
    that answer in content blocks of their own.
    """

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    result: type[Result] | None
    run: Run
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool
    seconds: float = CALL_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a resource holds, where only reading it shows of what type it is."""

    data: str | bytes
    mime_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Something that can be read at one address."""

    uri: str
    name: str
    title: str
    description: str
    mime_type: str
    read: Callable[[], str | bytes | Content]
    fresh_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceTemplate:
    """A family of addresses, RFC 6570; the parts found in an address are handed to `read`."""

    uri_template: str
    name: str
    title: str
    description: str
    mime_type: str | None
    """`None` where the addresses of the family hold different types."""
    read: Callable[[Mapping[str, str]], str | bytes | Content]
    fresh_ms: int = 0


PromptAnswer: TypeAlias = Sequence[PromptMessage] | GetPromptResult | InputRequiredResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt for clients that compose themselves. All its arguments are text, says MCP."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Call, Any], PromptAnswer]


def nothing_more() -> Sequence[Resource]:
    """Return no resources beyond those in the table."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPlan:
    """Everything that a server announces and offers."""

    name: str
    title: str
    version: str
    description: str
    instructions: str
    tools: tuple[Tool, ...] = ()
    resources: tuple[Resource, ...] = ()
    more_resources: Callable[[], Sequence[Resource]] = nothing_more
    """Resources that come and go, looked up whenever somebody lists or reads."""
    templates: tuple[ResourceTemplate, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    lists_fresh_ms: int = field(default=FIVE_MINUTES_MS)
    malformed: str | None = None
    """What a call with wrong arguments is answered, word for word. Errors are then structured
    content too, with their reason, and every output schema allows for them."""
