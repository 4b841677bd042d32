"""The server's side of a connection: a client that stops reading does not keep its socket."""

from asyncio import TimerHandle, Transport
from typing import TYPE_CHECKING, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.frames import Frame

from salon.api.limits import Limits
from salon.api.live import AT_ONCE, AtOnce

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent
    from websockets.typing import BytesLike

STUCK_S = 30.0
"""How long a client over HTTP may take nothing of its answer, or leave a request unfinished."""
LINGER_S = 5.0
"""How long what was written last may take to leave."""


class PatientToAPoint(WebSocketsSansIOProtocol):
    """Like its parent, but a closed connection whose bytes nobody takes is cut off after a while.

    A transport closes once its buffer is empty; a client that never reads would keep it for ever.
    """

    _at_once: AtOnce | None = None
    _is_fresh = False
    """Whether no frame of the bytes that came last was taken at once: the others must wait, so that
    a storm of frames does not hold up everybody else."""

    def data_received(self, data: bytes) -> None:
        """Take bytes."""
        self._is_fresh = True
        super().data_received(data)

    def handle_text(self, event: Frame) -> None:
        """Hand a message to the application, at once where nothing waits before it."""
        if not (event.fin and self._is_fresh and self.queue.empty() and self._take(event.data)):
            super().handle_text(event)

    def _take(self, data: "BytesLike") -> bool:
        take = None if self._at_once is None or self.close_sent else self._at_once.take
        if take is None:
            return False
        try:
            text = str(data, "utf-8")
        except UnicodeDecodeError:
            return False  # the usual way knows what to say
        self._is_fresh = False
        return take(text)

    async def send(self, message: "ASGISendEvent") -> None:
        """Send what the application says; a handshake that was answered is complete."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            self.handshake_complete = True  # else every refusal is logged as a defect

    def send_at_once(self, text: str) -> bool:
        """Send a text where that needs no waiting; false where it was not sent."""
        if (
            not self.writable.is_set()
            or not self.handshake_complete
            or self.close_sent
            or self.transport.is_closing()
        ):
            return False
        try:
            self.conn.send_text(text.encode())
        except InvalidState:
            return False
        self.transport.write(b"".join(self.conn.data_to_send()))
        return True

    async def run_asgi(self) -> None:
        """Run the application on this connection, then see that it ends."""
        self._at_once = AtOnce(send=self.send_at_once)
        cast("dict[str, object]", self.scope["extensions"])[AT_ONCE] = self._at_once
        await super().run_asgi()
        self.loop.call_later(LINGER_S, self.transport.abort)


class NotForEver(H11Protocol):
    """Like its parent, but a client that takes nothing, or sends half a request, is cut off.

    An answer waits for the client that asked for it, and a request for its end; a client that never
    reads or never ends would keep its connection, and a task with it, for ever.
    """

    _stuck: TimerHandle | None = None
    _unfinished: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Take a connection, and wait for its first request."""
        super().connection_made(transport)
        self._unfinished = self.loop.call_later(STUCK_S, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Take bytes; as long as they are not a whole request, the next ones must come soon."""
        super().data_received(data)
        _forget(self._unfinished)
        self._unfinished = None
        if self._is_half_sent():
            self._unfinished = self.loop.call_later(STUCK_S, self.transport.abort)

    def _is_half_sent(self) -> bool:
        if self.transport.get_protocol() is not self:
            return False  # it has become a WebSocket
        state = self.conn.their_state
        return state is h11.SEND_BODY or (state is h11.IDLE and bool(self.conn.trailing_data[0]))

    def pause_writing(self) -> None:
        """Begin to wait for the client."""
        super().pause_writing()
        self._stuck = self.loop.call_later(STUCK_S, self.transport.abort)

    def resume_writing(self) -> None:
        """See that the client reads."""
        _forget(self._stuck)
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of a connection."""
        _forget(self._stuck)
        _forget(self._unfinished)
        super().connection_lost(exc)


def _forget(timer: TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def server_config(
    app: object, limits: Limits, *, host: str = "127.0.0.1", port: int = 0
) -> uvicorn.Config:
    """Return how uvicorn serves the application."""
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        http=NotForEver,
        ws=PatientToAPoint,
        ws_max_size=limits.frame_bytes,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        timeout_graceful_shutdown=10,
    )
