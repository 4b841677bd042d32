"""How Slack reaches the app: over a socket that Salon opens, or over signed HTTP requests.

Whoever ends it waits a moment for the answers to what Slack was told has arrived.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from aiohttp import ClientError
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.adapter.starlette.async_handler import (
    to_async_bolt_request,
    to_starlette_response,
)
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from salon.core.errors import InvalidSettings, ProviderFailed, SalonError
from salon.platforms.options import SlackOptions
from salon.platforms.slack_app import SlackApp

if TYPE_CHECKING:
    from collections.abc import Mapping

PATH = "/slack/events"
LARGEST_BODY = 500_000
_HINTS: "Mapping[str, str]" = {
    "invalid_auth": "check the bot token; it begins with xoxb-",
    "not_authed": "set the bot token",
    "account_inactive": "the app was removed from the workspace; install it again",
    "token_revoked": "the token was revoked; install the app again",
    "not_allowed_token_type": "Socket Mode needs an app-level token; it begins with xapp-",
}


def http_app(app: SlackApp, options: SlackOptions) -> Starlette:
    """Return what takes Slack's requests; every one must be signed, and lately."""
    if not options.signing_secret:
        raise InvalidSettings(
            "requests over HTTP need the signing secret to be checked against",
            hint="set slack.signing_secret, or use Socket Mode",
        )

    async def take(request: Request) -> Response:
        size = 0
        pieces = []
        with suppress(ClientDisconnect):
            async for piece in request.stream():
                size += len(piece)
                if size > LARGEST_BODY:
                    return PlainTextResponse("too large", 413)
                pieces.append(piece)
        try:
            # It reads the body before anybody has looked at the signature.
            read = to_async_bolt_request(request, b"".join(pieces))
        except (ValueError, RecursionError):
            return PlainTextResponse("not readable", 400)
        return to_starlette_response(await app.async_dispatch(read))

    @asynccontextmanager
    async def until_answered(_: Starlette) -> AsyncIterator[None]:
        yield
        await app.once.settle()

    return Starlette(routes=[Route(PATH, take, methods=["POST"])], lifespan=until_answered)


async def check_slack(options: SlackOptions) -> "dict[str, str]":
    """Return who the bot is in which workspace, or raise what is wrong."""
    client = AsyncWebClient(token=options.bot_token, base_url=options.base_url)
    try:
        answer = await client.auth_test()
    except SlackApiError as error:
        raise as_salon_error(error) from error
    except (ClientError, OSError, TimeoutError) as error:
        raise ProviderFailed(
            f"Slack cannot be reached: {error}", hint="check the network and slack.base_url"
        ) from error
    return {one: str(answer.get(one, "")) for one in ("team", "user", "bot_id", "url")}


async def serve_socket(app: SlackApp, options: SlackOptions, *, stop: asyncio.Event) -> None:
    """Hold a socket to Slack until told to stop; Slack's own client connects again by itself."""
    if not options.app_token:
        raise InvalidSettings(
            "Socket Mode needs an app-level token", hint="set slack.app_token (xapp-…)"
        )
    socket = AsyncSocketModeHandler(app, options.app_token)
    try:
        # The client itself would ask for ever; a wrong token is told at once.
        await app.client.apps_connections_open(app_token=options.app_token)
        await socket.connect_async()  # type: ignore[no-untyped-call]
        await stop.wait()
    except SlackApiError as error:
        raise as_salon_error(error) from error
    finally:
        await socket.close_async()  # type: ignore[no-untyped-call]
        await app.once.settle()


def as_salon_error(error: SlackApiError) -> SalonError:
    """Return what Slack refuses as an error of Salon's tree."""
    said = str(error.response.get("error", "unknown"))
    return ProviderFailed(
        f"Slack refused: {said}", hint=_HINTS.get(said, "see Slack's list of errors")
    )
