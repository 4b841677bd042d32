"""`salon slack`, `salon discord`, `salon harmonica`: avatars where people already talk."""

import asyncio
import importlib.util
import json
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from salon.app import Salon
from salon.cli.common import emit, fill_in, json_option, with_salon
from salon.core.errors import InvalidInput, InvalidSettings, UnknownProvider

if TYPE_CHECKING:
    from pydantic import SecretStr

    from salon.platforms.asking import Roster
    from salon.platforms.floor import Floor
    from salon.platforms.harmonica import Harmonica
    from salon.platforms.options import DiscordOptions, HarmonicaOptions, Room, SlackOptions
    from salon.settings.platforms import ChatRoomSettings

check_option = click.option(
    "--check", is_flag=True, help="Ask the platform whether it knows the token, and end."
)


@click.command()
@click.option(
    "--http", "over_http", is_flag=True, help="Take signed requests; without it: Socket Mode."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8766,
    show_default=True,
    help="Port for events over HTTP, where no app token is set.",
)
@click.option("--manifest", is_flag=True, help="Print the manifest of the Slack app, and end.")
@click.option("--url", help="The public https:// address, for a manifest with HTTP.")
@check_option
@json_option
@with_salon
def slack(
    salon: Salon,
    over_http: bool,
    host: str,
    port: int,
    manifest: bool,
    url: str | None,
    check: bool,
    as_json: bool,
) -> None:
    """Let avatars answer in a Slack workspace.

    People ask with /ask-NAME or by mentioning the app. See docs/guides/platforms.md for the
    tokens and where to get them.
    """
    _require("slack", "slack_bolt", "aiohttp")
    from salon.platforms.slack_app import build_slack_app
    from salon.platforms.slack_manifest import make_manifest
    from salon.platforms.slack_serving import PATH, check_slack, http_app, serve_socket

    if manifest:
        made = make_manifest(_roster(salon, salon.settings.slack), url=url)
        emit(made, json.dumps(made, ensure_ascii=False, indent=2), as_json=as_json)
        return
    options = _slack_options(salon)
    about = asyncio.run(check_slack(options))
    emit(about, f"{about['user']} in {about['team']}", as_json=as_json)
    if check:
        return
    app = build_slack_app(_floor(salon, salon.settings.slack), options)
    if not over_http:
        _until_stopped(lambda stop: serve_socket(app, options, stop=stop))
        return
    import uvicorn

    click.echo(f"Slack reaches this at http://{host}:{port}{PATH}", err=True)
    uvicorn.run(http_app(app, options), host=host, port=port, log_level="warning")


@click.command()
@check_option
@json_option
@with_salon
def discord(salon: Salon, check: bool, as_json: bool) -> None:
    """Let avatars answer on Discord.

    People ask with /ask-NAME, /ask or by mentioning the bot. See docs/guides/platforms.md.
    """
    _require("discord", "discord")
    from salon.platforms.discord_client import check_discord, serve_discord

    options = _discord_options(salon)
    about = asyncio.run(check_discord(options))
    emit(about, f"{about['user']}, application {about['application_id']}", as_json=as_json)
    if not check:
        floor = _floor(salon, salon.settings.discord)
        _until_stopped(lambda stop: serve_discord(floor, options, stop=stop))


@click.group(invoke_without_command=True)
@check_option
@json_option
@click.pass_context
def harmonica(ctx: click.Context, check: bool, as_json: bool) -> None:
    """Take avatars into Harmonica's structured sessions."""
    if ctx.invoked_subcommand is not None:
        return
    if not check:
        click.echo(ctx.get_help())
        return
    _check_harmonica(as_json)


@harmonica.command()
@click.argument("topic")
@click.option("--avatar", "avatars", multiple=True, required=True, metavar="ID", help="Repeatable.")
@click.option(
    "--facilitator",
    default="default",
    show_default=True,
    help="How the session is led, in words; `default` leaves it to Harmonica.",
)
@click.option("--goal", help="What the session should find out.")
@json_option
@with_salon
def create(
    salon: Salon,
    topic: str,
    avatars: tuple[str, ...],
    facilitator: str,
    goal: str | None,
    as_json: bool,
) -> None:
    """Set up a session about TOPIC with avatars that can be consulted in it."""
    for one in avatars:
        salon.ensure_avatar(one)
    with _harmonica(salon) as rooms:
        made = rooms.create_session(topic, avatars=avatars, facilitator=facilitator, goal=goal)
    lines = [f"session {made.id}", *([made.join_url] if made.join_url else [])]
    lines += [f"facilitator may ask {url}" for url in made.sources]
    emit(made, "\n".join(lines), as_json=as_json)


@harmonica.command()
@click.argument("session")
@click.argument("avatar")
@click.option("--participant", required=True, metavar="ID", help="In whose dialogue.")
@click.option("--question", help="What is asked (default: the participant's last words).")
@click.option(
    "--context",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help='The dialogue as a JSON list of {"role": …, "content": …} (default: from Harmonica).',
)
@json_option
@with_salon
def consult(
    salon: Salon,
    session: str,
    avatar: str,
    participant: str,
    question: str | None,
    context: Path | None,
    as_json: bool,
) -> None:
    """Let AVATAR speak in the dialogue of one participant of SESSION, and in no other."""
    from salon.platforms.harmonica import HarmonicaSession

    profile = salon.profile(avatar)
    place = HarmonicaSession(
        id=session, topic="", avatars=(profile.id,), facilitator="", join_url=None, sources=()
    )
    with _harmonica(salon) as rooms:
        done = rooms.consult_avatar(
            place,
            profile.id,
            participant=participant,
            question=question,
            context=None if context is None else _utterances(context),
        )
    emit(done, done.message, as_json=as_json)


@with_salon
def _check_harmonica(salon: Salon, as_json: bool) -> None:
    from salon.platforms.harmonica_client import HarmonicaClient

    with HarmonicaClient(_harmonica_options(salon)) as client:
        account = client.me()
    about = {"id": account.id, "email": account.email}
    emit(about, f"account {account.id} {account.email or ''}".rstrip(), as_json=as_json)


@contextmanager
def _harmonica(salon: Salon) -> "Iterator[Harmonica]":
    from salon.platforms.harmonica import Harmonica
    from salon.platforms.harmonica_client import HarmonicaClient
    from salon.platforms.options import Room

    options = _harmonica_options(salon)
    with HarmonicaClient(options) as client:
        yield Harmonica(salon, client, options, room=Room(), now=time.monotonic)


# From settings


def _room(chosen: "ChatRoomSettings") -> "Room":
    from salon.platforms.options import Room

    return Room(
        avatars=chosen.avatars,
        channels=chosen.channels,
        default_avatar=chosen.default_avatar,
        history=chosen.history,
        per_minute=chosen.per_minute,
    )


def _roster(salon: Salon, chosen: "ChatRoomSettings") -> "Roster":
    from salon.experts.profile import profile_ids
    from salon.platforms.asking import Roster

    for one in chosen.avatars:
        salon.ensure_avatar(one)
    profiles = [salon.profile(one) for one in chosen.avatars or profile_ids(salon.archive)]
    return Roster(
        # The companion's turns need a session of their own.
        [one for one in profiles if one.salon.preset == "expert"],
        channels=chosen.channels,
        default=chosen.default_avatar,
    )


def _floor(salon: Salon, chosen: "ChatRoomSettings") -> "Floor":
    from salon.platforms.floor import Floor

    roster = _roster(salon, chosen)
    fill_in(salon)
    return Floor(salon, roster, _room(chosen))


def _slack_options(salon: Salon) -> "SlackOptions":
    from salon.platforms.options import SlackOptions

    chosen = salon.settings.slack
    return SlackOptions(
        bot_token=_needed(chosen.bot_token, "slack.bot_token"),
        signing_secret=_secret(chosen.signing_secret),
        app_token=_secret(chosen.app_token),
        base_url=chosen.base_url,
    )


def _discord_options(salon: Salon) -> "DiscordOptions":
    from salon.platforms.options import DiscordOptions

    chosen = salon.settings.discord
    return DiscordOptions(token=_needed(chosen.token, "discord.token"), guild=chosen.guild)


def _harmonica_options(salon: Salon) -> "HarmonicaOptions":
    from salon.platforms.options import HarmonicaOptions

    chosen = salon.settings.harmonica
    return HarmonicaOptions(
        api_key=_needed(chosen.api_key, "harmonica.api_key"),
        base_url=chosen.base_url,
        mcp_url=chosen.mcp_url,
        mcp_bearer=_secret(chosen.mcp_bearer),
    )


def _secret(value: "SecretStr | None") -> str | None:
    return None if value is None else value.get_secret_value()


def _needed(value: "SecretStr | None", name: str) -> str:
    if value is None:
        variable = f"SALON_{name.replace('.', '__').upper()}"
        raise InvalidSettings(f"{name} is not set", hint=f"set {variable}, or {name} in salon.toml")
    return value.get_secret_value()


# Running


def _require(extra: str, *modules: str) -> None:
    if any(importlib.util.find_spec(one) is None for one in modules):
        raise UnknownProvider(
            f"the extra {extra!r} is not installed", hint=f"pip install 'salon[{extra}]'"
        )


def _until_stopped(serve: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    """Serve until somebody ends it with Ctrl-C or a signal."""

    async def main() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for one in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(one, stop.set)
        click.echo("connected (Ctrl-C ends it)", err=True)
        await serve(stop)

    asyncio.run(main())
    click.echo("stopped", err=True)


def _utterances(path: Path) -> list[Any]:
    from salon.conversation.discussion import Utterance

    try:
        found = json.loads(path.read_text("utf-8"))
        return [Utterance(role=str(one["role"]), content=str(one["content"])) for one in found]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InvalidInput(
            f"the dialogue cannot be read: {error}",
            hint='give a JSON list like [{"role": "alice", "content": "…"}]',
        ) from error
