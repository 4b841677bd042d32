"""`salon serve`: the front door on this machine."""

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from salon.app import Salon
from salon.cli.common import with_salon
from salon.core.errors import InvalidSettings

if TYPE_CHECKING:
    import socket

    import uvicorn
    from starlette.applications import Starlette

    from salon.api.access import Door
    from salon.api.limits import Limits


@click.command()
@click.option("--host", help="Address to listen on (default: the setting serve.host).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port (default: serve.port); 0: any.")
@click.option("--open", "open_page", is_flag=True, help="Open the address in a browser.")
@with_salon
def serve(salon: Salon, host: str | None, port: int | None, open_page: bool) -> None:
    """Serve conversations over HTTP and WebSocket, and avatars over MCP.

    It listens on this machine alone. Another address needs a token (serve.token), which every
    request must then carry. Ctrl-C ends it after the turns that are being taken.
    """
    run(make_config(salon, host=host, port=port), open_page=open_page)


def make_config(salon: Salon, *, host: str | None, port: int | None) -> "uvicorn.Config":
    """Return what is served and how, from the settings and what was asked for."""
    from salon.api.app import create_app
    from salon.api.chores import Chore
    from salon.api.sockets import server_config

    door, limits = _door(salon, host), _limits(salon)
    # Approved actions go on also while nobody talks.
    chores = [Chore(name="the outbox", work=salon.run_outbox)]
    mounted = _mounted(salon, door)
    app = create_app(salon, door=door, limits=limits, mounted=mounted, chores=chores)
    chosen = salon.settings.serve.port if port is None else port
    return server_config(app, limits, host=door.host, port=chosen)


def _door(salon: Salon, host: str | None) -> "Door":
    from salon.api.access import Door

    chosen = salon.settings.serve
    return Door(
        host=host or chosen.host,
        origins=chosen.origins,
        token=chosen.token.get_secret_value() if chosen.token else None,
    )


def _limits(salon: Salon) -> "Limits":
    from salon.api.limits import Limits

    rate = salon.settings.serve.rate
    return Limits(rate=rate, burst=max(1, round(5 * rate)))


def _mounted(salon: Salon, door: "Door") -> "dict[str, Starlette]":
    """Return the MCP servers of the avatars of this home; the companion's turns are not theirs."""
    from salon.experts.profile import profile_ids
    from salon.mcp_server.avatar_server import build_avatar_server
    from salon.mcp_server.transports import allowed_hosts, http_app

    experts = [
        one for one in profile_ids(salon.archive) if salon.profile(one).salon.preset == "expert"
    ]
    if not experts:
        return {}
    servers = {one: build_avatar_server(salon, one) for one in experts}
    names = tuple(sorted(door.names))
    return {"/mcp": http_app(servers, allowed_hosts(door.host, names), prefix="")}


def run(config: "uvicorn.Config", *, open_page: bool) -> None:
    """Bind, say where, and serve until somebody ends it."""
    import uvicorn

    listening = _bind(config)
    name = f"[{config.host}]" if ":" in config.host else config.host
    address = f"http://{name}:{listening.getsockname()[1]}"
    server = uvicorn.Server(config)
    click.echo(f"Salon is at {address} (Ctrl-C ends it)")
    if open_page:
        # A browser that is slow to start must not hold up the server.
        threading.Thread(target=click.launch, args=(address,), daemon=True).start()
    # The server ends in order and then raises the signal again that ended it.
    with listening, suppress(KeyboardInterrupt):
        server.run(sockets=[listening])
    click.echo("stopped")


def _bind(config: "uvicorn.Config") -> "socket.socket":
    import socket

    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((config.host, config.port))
    except OSError as error:
        listening.close()
        raise InvalidSettings(
            f"cannot listen on {config.host}:{config.port}: {error.strerror}",
            hint="another program may have the port; try --port 0",
        ) from error
    return listening
