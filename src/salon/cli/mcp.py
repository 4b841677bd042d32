"""`salon mcp`: avatars and seats of the council for MCP clients, over stdio or over HTTP."""

import json
import os
import shutil
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from salon.app import Salon
from salon.cli.common import emit, fill_in, json_option, with_salon
from salon.cli.place import settings_in_force
from salon.core.errors import InvalidInput, InvalidSettings
from salon.council.seats import Seat
from salon.mcp_server.clients import CLIENTS, configuration, launch_of, merge_into

if TYPE_CHECKING:
    from mcp.server import Server

INTERRUPTED = 130
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

avatar_option = click.option(
    "--avatar", "avatars", multiple=True, metavar="ID", help="Which avatar; repeatable with --http."
)


@click.group(invoke_without_command=True)
@avatar_option
@click.option("--http", "over_http", is_flag=True, help="Serve over HTTP instead of stdio.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="Port, with --http.",
)
@click.option(
    "--allow-host",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="A further name under which clients reach this server; all others get 421. Repeatable.",
)
@click.option("--skills", is_flag=True, help="Serve the skills of the council.")
@click.option(
    "--seat",
    type=click.Choice([str(one) for one in Seat]),
    help="With --skills on standard input and output: the seat that the client holds.",
)
@click.pass_context
def mcp(
    ctx: click.Context,
    avatars: tuple[str, ...],
    over_http: bool,
    host: str,
    port: int,
    allowed: tuple[str, ...],
    skills: bool,
    seat: str | None,
) -> None:
    """Serve avatars, or the skills of the council, to MCP clients.

    Without --http one avatar speaks on standard input and output, as desktop clients start it.
    With --http each is at /mcp/ID (streamable HTTP) and /mcp/ID/sse (server-sent events); without
    --avatar these are all avatars of this home.

    With --skills --seat II the client holds that seat of the council. With --skills --http the
    council is at /mcp/council, and the token of a seat (`salon council token`) decides which seat.
    """
    if ctx.invoked_subcommand is not None:
        return
    _require_fitting(skills=skills, seat=seat, over_http=over_http, avatars=avatars)
    with Salon(settings_in_force()) as salon:
        if over_http:
            chosen = _chosen(salon, avatars) if avatars or not skills else ()
            _serve_http(salon, chosen, host, port, allowed, skills=skills)
        elif seat is not None:
            _serve_seat(salon, Seat(seat))
        else:
            _serve_stdio(salon, _chosen(salon, avatars))


def _require_fitting(
    *, skills: bool, seat: str | None, over_http: bool, avatars: tuple[str, ...]
) -> None:
    if seat is not None and not skills:
        raise InvalidInput("--seat is for the skills of the council", hint="add --skills")
    if seat is not None and over_http:
        raise InvalidInput(
            "over HTTP the token decides the seat", hint="leave --seat out, or leave --http out"
        )
    if skills and not over_http and (seat is None or avatars):
        raise InvalidInput(
            "over standard input and output a client holds one seat", hint="--skills --seat II"
        )


def _chosen(salon: Salon, avatars: tuple[str, ...]) -> tuple[str, ...]:
    """Return the avatars that are asked for, or all, with their folders' edits taken in."""
    from salon.experts.presets import SERVED, require_served
    from salon.experts.profile import profile_ids

    for avatar in avatars:
        salon.ensure_avatar(avatar)
    wanted = tuple(dict.fromkeys(avatars)) or tuple(profile_ids(salon.archive))
    profiles = [salon.refresh_avatar(avatar) for avatar in wanted]
    if avatars:
        for profile in profiles:
            require_served(profile)
    chosen = tuple(one.id for one in profiles if one.salon.preset in SERVED)
    if not chosen:
        raise InvalidInput("there is no avatar to serve", hint="`salon avatar new ID` makes one")
    return chosen


def _serve_seat(salon: Salon, seat: Seat) -> None:
    from salon.mcp_server.council_server import build_seat_server

    _speak(salon, build_seat_server(salon, seat))


def _serve_stdio(salon: Salon, avatars: tuple[str, ...]) -> None:
    from salon.mcp_server.avatar_server import build_avatar_server

    if len(avatars) != 1:
        raise InvalidInput(
            "over standard input and output one avatar speaks",
            hint=f"--avatar with one of {', '.join(avatars)}, or --http",
        )
    _speak(salon, build_avatar_server(salon, avatars[0]))


def _speak(salon: Salon, server: "Server[Any]") -> None:
    import logging

    import anyio

    from salon.mcp_server.transports import serve_stdio

    logging.basicConfig(level=logging.WARNING)
    fill_in(salon)
    before = signal.signal(signal.SIGINT, lambda *_: _leave(salon))
    try:
        anyio.run(serve_stdio, server)
    finally:
        signal.signal(signal.SIGINT, before)


def _leave(salon: Salon) -> None:
    """End at once: a thread waits for the next line, and would be waited for in turn."""
    salon.close()
    os._exit(INTERRUPTED)


def _serve_http(
    salon: Salon,
    avatars: tuple[str, ...],
    host: str,
    port: int,
    allowed: tuple[str, ...],
    *,
    skills: bool,
) -> None:
    import uvicorn

    from salon.mcp_server.avatar_server import build_avatar_server
    from salon.mcp_server.transports import allowed_hosts, http_app

    servers = {avatar: build_avatar_server(salon, avatar) for avatar in avatars}
    for avatar in avatars:
        click.echo(f"{avatar}: http://{host}:{port}/mcp/{avatar}", err=True)
    if avatars and host not in _LOOPBACK:
        click.echo("note: whoever reaches this address can talk to these avatars", err=True)
    security = allowed_hosts(host, allowed)
    doors = {}
    if skills:
        from salon.mcp_server.council_server import NAME, seat_door

        doors[NAME] = seat_door(salon, security)
        click.echo(f"{NAME}: http://{host}:{port}/mcp/{NAME} (a seat's token)", err=True)
    app = http_app(servers, security, doors=doors)
    fill_in(salon)
    uvicorn.run(app, host=host, port=port, log_level="warning")


@mcp.command()
@avatar_option
@click.option(
    "--client",
    type=click.Choice(list(CLIENTS)),
    default="claude-desktop",
    show_default=True,
    help="Whose format to write.",
)
@click.option(
    "--command",
    help="What the client starts (default: salon where your PATH finds this very program, else "
    "its full path).",
)
@click.option(
    "--env",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    help="A further setting for the server's environment; repeatable.",
)
@click.option(
    "--write",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Put the entry into this file of the client; everything else in it stays.",
)
@click.option("--force", is_flag=True, help="Replace an entry of the same name.")
@json_option
@with_salon
def install(
    salon: Salon,
    avatars: tuple[str, ...],
    client: str,
    command: str | None,
    variables: tuple[str, ...],
    file: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Print the configuration with which an MCP client starts avatars."""
    env = {"SALON_HOME": str(salon.settings.home.resolve()), **_variables(variables)}
    chosen = _chosen(salon, avatars)
    start = command or _this_program()
    wanted = configuration(client, {one: launch_of(one, command=start, env=env) for one in chosen})
    if file is None:
        emit(wanted, json.dumps(wanted, ensure_ascii=False, indent=2), as_json=as_json)
        return
    changes = merge_into(file, wanted, replace=force)
    lines = [f"{name}: {change} in {file}" for name, change in changes.items()]
    emit({"file": str(file), "servers": changes}, "\n".join(lines), as_json=as_json)


def _this_program() -> str:
    """Return what starts the program that runs now, from anywhere."""
    script = Path(sys.argv[0])
    beside = Path(sys.executable).parent / ("salon.exe" if os.name == "nt" else "salon")
    here = script if script.stem == "salon" and script.is_file() else beside
    if not here.is_file():
        return "salon"  # run as a module from somewhere; nothing better is known
    found = shutil.which("salon")
    if found is not None and Path(found).resolve() == here.resolve():
        return "salon"
    return str(here.absolute())


def _variables(given: tuple[str, ...]) -> Mapping[str, str]:
    found = {}
    for one in given:
        name, sign, value = one.partition("=")
        if not sign or not name:
            raise InvalidSettings(f"{name!r} says no value", hint="write --env NAME=VALUE")
        found[name] = value
    return found
