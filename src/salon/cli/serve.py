"""`salon serve`: the front door on this machine."""

import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from salon.app import Salon
from salon.cli.common import amount_progress, with_salon
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
@click.option(
    "--open/--no-open",
    "open_page",
    default=None,
    help="Open the page in a browser (default: at a terminal).",
)
@click.option(
    "--demo/--no-demo",
    "demo",
    default=None,
    help="Build the demo first (default: where there is no expert yet).",
)
@with_salon
def serve(
    salon: Salon, host: str | None, port: int | None, open_page: bool | None, demo: bool | None
) -> None:
    """Serve the page, HTTP and WebSocket, avatars and the council's seats over MCP.

    On the first start the demo is built: its words in seconds, its vectors while it serves. It
    listens on this machine alone. Another address needs a token (serve.token), which every request
    must then carry. Ctrl-C ends it after the turns that are being taken.
    """
    prepare(salon, demo=demo)
    config = make_config(salon, host=host, port=port)
    run(config, open_page=sys.stdout.isatty() if open_page is None else open_page)


def prepare(salon: Salon, *, demo: bool | None) -> None:
    """Have somebody there to talk to, and keep the indexes up to date from now on."""
    salon.ensure_companion()
    salon.ensure_assistant()
    if demo or (demo is None and not _experts(salon)):
        _build_demo(salon)
    salon.start_indexing()


def _build_demo(salon: Salon) -> None:
    click.echo("building the demo: three presidents and a guide to Salon", err=True)
    with amount_progress("reading") as show:
        outcome = salon.ensure_demo(on_progress=show)
    for avatar, error in outcome.items():
        if error is not None:
            hint = f" ({error.hint})" if error.hint else ""
            click.echo(f"{avatar} could not be built: {error.message}{hint}", err=True)


def _experts(salon: Salon) -> list[str]:
    from salon.experts.profile import profile_ids

    ids = profile_ids(salon.archive)
    return [one for one in ids if salon.profile(one).salon.preset == "expert"]


def make_config(salon: Salon, *, host: str | None, port: int | None) -> "uvicorn.Config":
    """Return what is served and how, from the settings and what was asked for."""
    from salon.api.app import create_app
    from salon.api.chores import Chore
    from salon.api.sockets import server_config

    door, limits = _door(salon, host), _limits(salon)
    # Approved actions go on also while nobody talks.
    chores = [
        Chore(name="the outbox", work=salon.run_outbox),
        Chore(name="open rounds of the council", work=salon.resume_rounds, seconds=30.0),
    ]
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
    """Return the MCP servers of the avatars of this home, and the council's.

    The companion's turns are not theirs.
    """
    from salon.mcp_server.avatar_server import build_avatar_server
    from salon.mcp_server.council_server import NAME, seat_door
    from salon.mcp_server.transports import allowed_hosts, http_app

    servers = {one: build_avatar_server(salon, one) for one in _experts(salon)}
    security = allowed_hosts(door.host, tuple(sorted(door.names)))
    council = {NAME: seat_door(salon, security)}
    return {"/mcp": http_app(servers, security, prefix="", doors=council)}


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
        # Whoever comes as soon as the address is known waits until the server is ready.
        listening.listen(config.backlog)
    except OSError as error:
        listening.close()
        raise InvalidSettings(
            f"cannot listen on {config.host}:{config.port}: {error.strerror}",
            hint="another program may have the port; try --port 0",
        ) from error
    return listening
