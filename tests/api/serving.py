"""The front door over a real socket of this machine, in a thread of this process."""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.applications import Starlette

from salon.api.access import Door
from salon.api.app import create_app
from salon.api.limits import Limits
from salon.api.service import Service
from salon.api.sockets import server_config


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens."""

    port: int

    @property
    def http(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ws(self, session: str, query: str = "") -> str:
        return f"ws://127.0.0.1:{self.port}/ws/{session}{query}"


@contextmanager
def served(
    service: Service,
    *,
    limits: Limits | None = None,
    door: Door | None = None,
    mounted: Mapping[str, Starlette] | None = None,
    send_buffer: int | None = None,
    **changes: Any,
) -> Iterator[Address]:
    """Serve the app and hand out its address; `changes` are settings of uvicorn."""
    chosen = limits or Limits()
    app = create_app(service, door=door or Door(), limits=chosen, mounted=mounted)
    config = server_config(app, chosen)
    for name, value in changes.items():
        setattr(config, name, value)
    with running(config, send_buffer) as address:
        yield address


@contextmanager
def running(config: uvicorn.Config, send_buffer: int | None = None) -> Iterator[Address]:
    """Run a server until the block ends; a small buffer makes it feel a slow client soon."""
    with socket.socket() as listening:
        if send_buffer is not None:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            if not thread.is_alive():
                raise RuntimeError("the server did not start")
            threading.Event().wait(0.01)
        try:
            yield Address(listening.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive()
