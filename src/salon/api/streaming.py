"""Server-sent events: an answer in parts, for clients that ask for `text/event-stream`.

Parts are a preview and the last event, `reply`, is the whole; whoever reads slowly misses parts and
never the whole. The status waits for the first event, so that what fails at once is answered like
any other failure. A client that is gone costs nothing more; what was begun for it is finished.
"""

import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from salon.api.errors import error_response, internal
from salon.api.shapes import Responses
from salon.core.errors import SalonError

log = logging.getLogger(__name__)

MEDIA_TYPE = "text/event-stream"
KEEP_ALIVE_S = 15.0
"""After so long without an event a comment is sent, so that nothing in between hangs up."""
MOST_PARTS = 64
"""Parts that wait for a client that reads slowly; further ones are left out."""
_COMMENT = b": still at it\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event, as it goes over the wire."""

    name: str
    data: str

    def as_bytes(self) -> bytes:
        """Return the event in the form of the standard; JSON has no line breaks."""
        return f"event: {self.name}\ndata: {self.data}\n\n".encode()


Hear: TypeAlias = Callable[[str, BaseModel | dict[str, object]], None]
"""Takes the name and the data of a part; only to be called in the event loop."""
Work: TypeAlias = Callable[[Hear], Awaitable[BaseModel]]


def wants_events(request: Request) -> bool:
    """Tell whether a client asked for events instead of one JSON object."""
    accepted = request.headers.get("accept", "")
    return any(one.split(";")[0].strip() == MEDIA_TYPE for one in accepted.lower().split(","))


def streams(about: str) -> Responses:
    """Return how a route documents that it also answers in events."""
    shown = 'event: reply_delta\ndata: {"text": "…"}\n\nevent: reply\ndata: {…}\n\n'
    content = {MEDIA_TYPE: {"schema": {"type": "string"}, "example": shown}}
    return {200: {"content": content, "description": about}}


class EventStream(Response):
    """The answer to a request whose work tells parts before it is done."""

    media_type = MEDIA_TYPE

    def __init__(self, work: Work) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._work = work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the work and send what it tells."""
        telling, told = anyio.create_memory_object_stream[Event | SalonError](MOST_PARTS + 1)
        with telling, told:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._until_gone, receive, tasks.cancel_scope)
                tasks.start_soon(self._run, telling)
                first = await told.receive()
                if isinstance(first, SalonError):
                    await error_response(first)(scope, receive, send)
                else:
                    await self._send_events(first, told, send)
                tasks.cancel_scope.cancel()

    @staticmethod
    async def _until_gone(receive: Receive, scope: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    async def _run(self, telling: MemoryObjectSendStream[Event | SalonError]) -> None:
        def hear(name: str, data: BaseModel | dict[str, object]) -> None:
            # One place is kept for what comes last.
            if telling.statistics().current_buffer_used < MOST_PARTS:
                telling.send_nowait(Event(name=name, data=_as_json(data)))

        last: Event | SalonError
        try:
            last = Event(name="reply", data=_as_json(await self._work(hear)))
        except SalonError as error:
            last = error
        except Exception:  # the top of this edge: logged, and told without its words
            log.exception("defect in a stream")
            last = _Defect("something is wrong in Salon", hint="the server's log says more")
        telling.send_nowait(last)
        telling.close()

    async def _send_events(
        self, first: Event, told: MemoryObjectReceiveStream[Event | SalonError], send: Send
    ) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        await _send_body(send, first.as_bytes(), is_more=True)
        while True:
            piece: bytes | None = _COMMENT
            with anyio.move_on_after(KEEP_ALIVE_S):
                try:
                    piece = _as_event(await told.receive()).as_bytes()
                except anyio.EndOfStream:
                    piece = None
            await _send_body(send, piece or b"", is_more=piece is not None)
            if piece is None:
                return


class _Defect(SalonError):
    """What is said of a defect: nothing of its text, which may hold what a person said."""

    code = "internal"


async def _send_body(send: Send, body: bytes, *, is_more: bool) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": is_more})


def _as_event(told: Event | SalonError) -> Event:
    if isinstance(told, Event):
        return told
    body = internal() if isinstance(told, _Defect) else told.as_json()
    return Event(name="error", data=_as_json(body))


def _as_json(data: BaseModel | dict[str, object]) -> str:
    if isinstance(data, BaseModel):
        return data.model_dump_json()
    return json.dumps(data, ensure_ascii=False)
