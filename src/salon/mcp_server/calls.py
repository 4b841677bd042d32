"""Running one call: in a thread, within its time, with signs of life, and honest when it fails.

Invariant: whatever a tool does, the client gets a result or one error in Salon's shape, and never a
traceback. A tool that does not come back is abandoned; it keeps its place among the threads until
it ends, so that calls which hang cannot pile up without bound.
"""

import asyncio
import inspect
import json
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolResult,
    InputRequiredResult,
    InputResponseRequestParams,
    TextContent,
)

from salon.core.errors import SalonError, TimedOut
from salon.mcp_server.tables import Answer, Call, Result, Tool

log = logging.getLogger(__name__)

T = TypeVar("T")
THREADS = 16
SECONDS_BETWEEN_SIGNS = 1.0
INTERNAL = {
    "error": {
        "code": "internal_error",
        "message": "something inside Salon failed",
        "hint": "this is a defect of Salon; the server's log says more",
        "details": {},
    }
}


class Progress:
    """Reports of one call: those of the tool, or else a sign of life every second."""

    def __init__(self, context: ServerRequestContext[Any, Any], seconds: float) -> None:
        self._send = context.session.report_progress
        self._seconds = seconds
        self._is_over = False
        self._has_own_reports = False
        self._signs: asyncio.Task[None] | None = None
        # A timer and not a task: nearly all calls are over before the first sign is due.
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(SECONDS_BETWEEN_SIGNS, self._begin, loop.time())

    def report(self, done: float, total: float | None = None, message: str = "") -> None:
        """Report from the thread in which a tool works; late reports are dropped."""
        if not self._is_over:
            self._has_own_reports = True
            anyio.from_thread.run(self._send, done, total, message or None)

    def is_over(self) -> bool:
        """Tell whether the client has its answer."""
        return self._is_over

    def end(self) -> None:
        """Take no more reports."""
        self._is_over = True
        self._timer.cancel()
        if self._signs is not None:
            self._signs.cancel()

    def _begin(self, began: float) -> None:
        self._signs = asyncio.create_task(self._show_life(began))
        # A client that went away takes no signs, and its call ends by itself.
        self._signs.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _show_life(self, began: float) -> None:
        while not self._has_own_reports:
            passed = asyncio.get_running_loop().time() - began
            await self._send(round(passed, 1), self._seconds, "still working")
            await asyncio.sleep(SECONDS_BETWEEN_SIGNS)


class Calls:
    """Runs the calls of one server in at most `THREADS` threads."""

    def __init__(self, threads: int = THREADS, *, structured_errors: bool = False) -> None:
        self._limiter = anyio.CapacityLimiter(threads)
        self._structured_errors = structured_errors

    async def tool(
        self,
        tool: Tool,
        arguments: Any,
        context: ServerRequestContext[Any, Any],
        params: InputResponseRequestParams,
    ) -> CallToolResult | InputRequiredResult:
        """Run a tool whose arguments are checked, and shape what comes of it."""
        progress = Progress(context, tool.seconds)
        call = Call(
            context=context,
            params=params,
            report=progress.report,
            is_over=progress.is_over,
        )
        try:
            with anyio.move_on_after(tool.seconds):
                answer: Answer = await self.run(partial(tool.run, call, arguments))
                return _shaped(answer)
        except Exception as error:  # noqa: BLE001 - the top of this edge
            return failed(tool.name, error, structured=self._structured_errors)
        finally:
            progress.end()
        late = too_slow(tool.name, tool.seconds)
        return error_result(late, structured=self._structured_errors)

    async def run(self, work: Callable[[], T | Awaitable[T]]) -> T:
        """Run a function in a thread, or a coroutine function where it stands."""
        if inspect.iscoroutinefunction(getattr(work, "func", work)):
            coroutine = work()
            assert inspect.isawaitable(coroutine)
            return await coroutine
        return await anyio.to_thread.run_sync(
            work,  # type: ignore[arg-type]  # not a coroutine function
            abandon_on_cancel=True,
            limiter=self._limiter,
        )


def too_slow(name: str, seconds: float) -> TimedOut:
    """Return the error of a call that ran out of time."""
    return TimedOut(
        f"{name} took longer than {seconds:g} s",
        hint="ask for less at once, or try again when the machine is less busy",
    )


def failed(name: str, error: Exception, *, structured: bool = False) -> CallToolResult:
    """Return what the client may know of an error; raise what belongs to the protocol."""
    if isinstance(error, SalonError):
        return error_result(error, structured=structured)
    if isinstance(error, MCPError):
        raise error
    log.error("%s failed", name, exc_info=error)
    return _error(INTERNAL, structured=structured)


def error_result(
    error: SalonError, *, structured: bool = False, text: str | None = None
) -> CallToolResult:
    """Return an error of Salon's tree as the result of a call, worded as `text` where given."""
    return _error(error.as_json(), structured=structured, text=text)


def _error(shape: dict[str, Any], *, structured: bool, text: str | None = None) -> CallToolResult:
    # Structured content must fit the tool's output schema, also when it failed.
    return CallToolResult(
        content=[_text(shape) if text is None else TextContent(text=text)],
        structured_content=shape if structured else None,
        is_error=True,
    )


def _shaped(answer: Answer) -> CallToolResult | InputRequiredResult:
    if not isinstance(answer, Result):
        return answer
    values = answer.model_dump(mode="json")
    return CallToolResult(content=[_text(values)], structured_content=values)


def _text(values: dict[str, Any]) -> TextContent:
    return TextContent(text=json.dumps(values, ensure_ascii=False))
