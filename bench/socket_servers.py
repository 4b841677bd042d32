"""The servers of `bench.sockets`, each in a process of its own: Salon's, and two echoes.

python -m bench.socket_servers salon|echo|threaded   # prints the port, serves until its input ends
"""

import asyncio
import os
import socket
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from salon.api.app import create_app
from salon.api.limits import Limits
from salon.api.service import Service
from salon.api.sockets import server_config
from salon.conversation.turns import Turn
from salon.core.hashing import content_hash
from salon.core.ids import SessionId
from salon.steps.wire import reply_id
from salon.steps.wire_shapes import BotResponse, WireEvent

LABEL = "AI"


@cache
def secret_of(session: str) -> str:
    """Return what only the replies of one session may hold."""
    return content_hash(f"secret of {session}".encode())[:24]


class _Taken:
    """A turn that cost nothing."""

    def __init__(self, turn: Turn, reply: str) -> None:
        self.turn = turn
        self.reply = reply
        self.ai_label = LABEL
        self.events: tuple[WireEvent, ...] = (
            BotResponse(
                event_id=reply_id(turn.number),
                content=reply,
                bot_id=turn.replier,
                turn=turn.number,
                ai_label=LABEL,
            ),
        )


class Stub:
    """An app whose turns are trivial: what is measured is the way in and out."""

    def __init__(self) -> None:
        self._turns: Counter[str] = Counter()

    def take_turn(
        self,
        session: str,
        message: str,
        *,
        user: str,
        avatar: str | None = None,
        on_event: Callable[[WireEvent], None] | None = None,  # noqa: ARG002 - part of the interface
    ) -> _Taken:
        """Reply with the secret of the session, the number of the turn and the message."""
        self._turns[session] += 1
        reply = f"{secret_of(session)} {message}"
        turn = Turn(
            number=self._turns[session],
            session=SessionId(session),
            speaker=user,
            message=message,
            replier=avatar or "stub",
            reply={"response": reply, "ai_label": LABEL},
            at="2026-11-15T00:00:00Z",
        )
        return _Taken(turn, reply)

    def __getattr__(self, name: str) -> Any:
        return None


def salon_config() -> uvicorn.Config:
    """Return Salon's server as `salon serve` runs it, with a limit on messages that is no limit."""
    limits = Limits(rate=1e6, burst=10**6, caller_rate=1e6, caller_burst=10**6)
    return server_config(create_app(cast("Service", Stub()), limits=limits), limits)


async def _as_it_is(text: str) -> str:
    return text


async def _over_a_thread(text: str) -> str:
    return await asyncio.get_running_loop().run_in_executor(None, text.strip)


def echo_config(way: Callable[[str], Awaitable[str]] = _as_it_is) -> uvicorn.Config:
    """Return the least that a WebSocket server can do."""

    async def echo(websocket: WebSocket) -> None:
        await websocket.accept()
        try:
            while True:
                await websocket.send_text(await way(await websocket.receive_text()))
        except WebSocketDisconnect:
            pass

    app = Starlette(routes=[WebSocketRoute("/ws/{session}", echo)])
    return uvicorn.Config(app, log_level="warning", access_log=False, ws="websockets-sansio")


def threaded_config() -> uvicorn.Config:
    """Return the least that a server can do which must not work in its event loop."""
    return echo_config(_over_a_thread)


CONFIGS: dict[str, Callable[[], uvicorn.Config]] = {
    "salon": salon_config,
    "echo": echo_config,
    "threaded": threaded_config,
}


def main() -> None:
    """Serve on any port, and say which."""
    config = CONFIGS[sys.argv[1]]()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(1024)
        sys.stdout.write(f"{listening.getsockname()[1]}\n")
        sys.stdout.flush()
        server = uvicorn.Server(config)
        threading.Thread(target=_end_with_parent, args=(server,), daemon=True).start()
        server.run(sockets=[listening])


def _end_with_parent(server: uvicorn.Server) -> None:
    os.read(sys.stdin.fileno(), 1)  # returns when whoever started this is gone or done
    server.should_exit = True


if __name__ == "__main__":
    main()
