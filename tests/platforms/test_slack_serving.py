"""How Slack reaches the app and how that ends: a socket, signed HTTP, and tokens that are wrong."""

import asyncio
import json

import pytest

pytest.importorskip("slack_bolt")
pytest.importorskip("aiohttp")

from aiohttp import web

from salon.app import Salon
from salon.core.errors import InvalidSettings, ProviderFailed
from salon.platforms.floor import Floor
from salon.platforms.options import SlackOptions
from salon.platforms.slack_app import build_slack_app
from salon.platforms.slack_serving import check_slack, http_app, serve_socket
from tests.platforms.fake_slack import (
    Caller,
    Values,
    all_text,
    mention,
    options_of,
    running_slack,
)
from tests.platforms.rooms import GARDEN_ANSWER, GARDEN_QUESTION, WIDE, SlowService, floor_of


def envelope(kind: str, payload: Values) -> str:
    return json.dumps(
        {"type": kind, "envelope_id": "e1", "payload": payload, "accepts_response_payload": True}
    )


@pytest.mark.requirement("cap/chat-platforms/slash-command", "cap/chat-platforms/mention")
def test_socket_mode_does_the_same(salon: Salon) -> None:
    async def main() -> None:
        async with running_slack() as slack:
            options = options_of(slack, app_token="xapp-1")
            stop = asyncio.Event()
            app = build_slack_app(floor_of(salon), options)
            serving = asyncio.create_task(serve_socket(app, options, stop=stop))
            socket = await slack.socket()
            command = {
                "command": "/ask-berg", "text": GARDEN_QUESTION, "user_id": "U1",
                "channel_id": "C1", "team_id": "T1", "response_url": f"{slack.url}response",
            }  # fmt: skip
            await socket.send_str(envelope("slash_commands", command))
            assert (await slack.envelopes.get())["envelope_id"] == "e1"
            assert GARDEN_ANSWER in all_text((await slack.told())[1])
            event = {
                "type": "event_callback", "event_id": "EvSocket", "team_id": "T1",
                "event": mention(f"Berg: {GARDEN_QUESTION}"),
            }  # fmt: skip
            await socket.send_str("this is no JSON")
            await socket.send_str(envelope("events_api", event))
            assert (await slack.envelopes.get())["envelope_id"] == "e1"
            where, said = await slack.told()
            assert where == "chat.postMessage"
            assert GARDEN_ANSWER in all_text(said)
            stop.set()
            await serving

    asyncio.run(main())


def test_what_slack_was_told_has_arrived_is_answered_before_the_end(salon: Salon) -> None:
    async def main() -> None:
        async with running_slack() as slack:
            service = SlowService(salon)
            options, stop = options_of(slack, app_token="xapp-1"), asyncio.Event()
            app = build_slack_app(Floor(service, floor_of(salon).roster, WIDE), options)
            serving = asyncio.create_task(serve_socket(app, options, stop=stop))
            socket = await slack.socket()
            event = {
                "type": "event_callback", "event_id": "EvEnding", "team_id": "T1",
                "event": mention(f"Berg: {GARDEN_QUESTION}"),
            }  # fmt: skip
            await socket.send_str(envelope("events_api", event))
            await service.has_begun.wait()
            stop.set()
            await slack.is_closed.wait()
            service.is_open.set()
            await serving
            assert GARDEN_ANSWER in all_text((await slack.told())[1])
            # What does not end is not waited for.
            async with app.once.working(await app.once.take("EvEndless")):
                await app.once.settle(0.01)

    asyncio.run(main())


def test_over_http_too_the_end_waits_for_the_answers(salon: Salon) -> None:
    async def main() -> None:
        service = SlowService(salon)
        floor = Floor(service, floor_of(salon).roster, WIDE)
        async with running_slack() as slack:
            options = options_of(slack)
            http = http_app(build_slack_app(floor, options), options)
            async with http.router.lifespan_context(http):
                await Caller(http, slack).event(mention(f"Berg: {GARDEN_QUESTION}"))
                await service.has_begun.wait()
                assert slack.is_quiet()
                service.is_open.set()
            assert not slack.is_quiet()

    asyncio.run(main())


def test_a_token_that_slack_does_not_know_is_one_clear_error(salon: Salon) -> None:
    async def main() -> None:
        async with running_slack() as slack:
            assert (await check_slack(options_of(slack)))["team"] == "Valley"
            refused = {"ok": False, "error": "invalid_auth"}
            slack.instead["auth.test"] = [web.json_response(refused)]
            with pytest.raises(ProviderFailed, match="invalid_auth") as caught:
                await check_slack(options_of(slack))
            assert "xoxb-" in (caught.value.hint or "")
            slack.instead["apps.connections.open"] = [web.json_response(refused)]
            options = options_of(slack, app_token="xapp-1")
            app = build_slack_app(floor_of(salon), options)
            with pytest.raises(ProviderFailed, match="invalid_auth"):
                await serve_socket(app, options, stop=asyncio.Event())
        nowhere = SlackOptions(bot_token="xoxb-1", base_url="http://127.0.0.1:9/api/")
        with pytest.raises(ProviderFailed, match="cannot be reached"):
            await check_slack(nowhere)
        app = build_slack_app(floor_of(salon), nowhere)
        with pytest.raises(InvalidSettings, match="app-level"):
            await serve_socket(app, nowhere, stop=asyncio.Event())
        with pytest.raises(InvalidSettings, match="signing secret"):
            http_app(app, nowhere)

    asyncio.run(main())
