"""The server's side of WebSockets: a client that stops reading does not keep its socket."""

from typing import TYPE_CHECKING

import uvicorn
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from salon.api.limits import Limits

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

LINGER_S = 5.0
"""How long what was written last may take to leave."""


class PatientToAPoint(WebSocketsSansIOProtocol):
    """Like its parent, but a closed connection whose bytes nobody takes is cut off after a while.

    A transport closes once its buffer is empty; a client that never reads would keep it for ever.
    """

    async def send(self, message: "ASGISendEvent") -> None:
        """Send what the application says; a handshake that was answered is complete."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            self.handshake_complete = True  # else every refusal is logged as a defect

    async def run_asgi(self) -> None:
        """Run the application on this connection, then see that it ends."""
        await super().run_asgi()
        self.loop.call_later(LINGER_S, self.transport.abort)


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
        ws=PatientToAPoint,
        ws_max_size=limits.frame_bytes,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        timeout_graceful_shutdown=10,
    )
