"""Slack on this machine: its Web API, response addresses and Socket Mode, and what it was told."""

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any
from urllib.parse import urlencode

import httpx
from aiohttp import WSMsgType, web
from starlette.applications import Starlette

from salon.platforms.options import SlackOptions

BOT, BOT_ID, TEAM = "UBOT", "BBOT", "T1"
SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
NAMES = {"U1": "alice", "U2": "bob", "U3": "carol"}
PATIENCE_S = 30.0
Values = dict[str, Any]
_numbers = count(1)
"""Slack gives no two events the same name, whoever they are for."""


class FakeSlack:
    """What Slack knows, and what it was asked and told."""

    def __init__(self) -> None:
        self.messages: list[Values] = []
        self.posted: list[Values] = []
        self.threads: dict[str, list[Values]] = {}
        self.calls: list[tuple[str, Values]] = []
        self.instead: dict[str, list[web.Response]] = {}
        self.stuck: dict[str, bool] = {}
        """Methods that get no answer; and whether Slack does what it was asked nevertheless."""
        self.is_stuck = asyncio.Event()
        self.is_closed = asyncio.Event()
        """Whether a socket was closed."""
        self.broken: dict[str, int] = {}
        """How often a method is done, and the connection broken instead of an answer."""
        self.url = ""
        self._told: asyncio.Queue[tuple[str, Values]] = asyncio.Queue()
        self._sockets: asyncio.Queue[web.WebSocketResponse] = asyncio.Queue()
        self.envelopes: asyncio.Queue[Values] = asyncio.Queue()

    async def told(self) -> tuple[str, Values]:
        """Wait for the next thing that somebody would see."""
        return await asyncio.wait_for(self._told.get(), PATIENCE_S)

    def is_quiet(self) -> bool:
        return self._told.empty()

    def asked(self, method: str) -> list[Values]:
        return [values for name, values in self.calls if name == method]

    async def socket(self) -> web.WebSocketResponse:
        return await asyncio.wait_for(self._sockets.get(), PATIENCE_S)

    async def on_api(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        values = dict(request.query)
        if request.content_type == "application/json":
            values |= await request.json()
        else:
            values |= {name: str(value) for name, value in (await request.post()).items()}
        self.calls.append((method, values))
        if self.instead.get(method):
            return self.instead[method].pop(0)
        answer = getattr(self, f"_{method.replace('.', '_')}", None)
        if method in self.stuck:
            if self.stuck.pop(method) and answer is not None:
                answer(values)
            self.is_stuck.set()
            await asyncio.Event().wait()
        if answer is None:
            return web.json_response({"ok": False, "error": "unknown_method"})
        said = answer(values)
        if self.broken.get(method):
            self.broken[method] -= 1
            assert request.transport is not None
            request.transport.abort()
        if method.startswith("chat."):
            self._told.put_nowait((method, values))
        return web.json_response({"ok": True, **said})

    async def on_response(self, request: web.Request) -> web.Response:
        self._told.put_nowait(("response", await request.json()))
        return web.Response(text="ok")

    async def on_socket(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_str(json.dumps({"type": "hello", "num_connections": 1}))
        self._sockets.put_nowait(socket)
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                self.envelopes.put_nowait(json.loads(message.data))
        self.is_closed.set()
        return socket

    def _auth_test(self, _: Values) -> Values:
        return {
            "user_id": BOT, "bot_id": BOT_ID, "team_id": TEAM, "team": "Valley", "user": "salon",
            "url": self.url,
        }  # fmt: skip

    def _users_info(self, values: Values) -> Values:
        user = values["user"]
        return {"user": {"id": user, "name": user, "profile": {"display_name": NAMES[user]}}}

    def _conversations_history(self, values: Values) -> Values:
        if "oldest" in values:
            return self._posted_since(values, thread=None)
        latest = values.get("latest", "9")
        found = [one for one in self.messages if one["ts"] < latest]
        return {"messages": found[::-1][: int(values["limit"])]}

    def _conversations_replies(self, values: Values) -> Values:
        if "oldest" in values:
            return self._posted_since(values, thread=values["ts"])
        return {"messages": self.threads[values["ts"]]}

    def _posted_since(self, values: Values, thread: str | None) -> Values:
        """Return what apps said in a place; what it carries unseen only where that is asked for."""
        found = [
            one if values.get("include_all_metadata") == "1" else one | {"metadata": None}
            for one in self.posted
            if one["ts"] > values["oldest"] and one.get("thread_ts") == thread
        ]
        most = int(values["limit"])
        return {"messages": found[::-1][:most], "has_more": len(found) > most}

    def _chat_postMessage(self, values: Values) -> Values:  # noqa: N802
        ts = f"5.{len(self.posted)}"
        self.posted.append(values | {"ts": ts, "bot_id": BOT_ID})
        return {"ts": ts}

    def _chat_postEphemeral(self, _: Values) -> Values:  # noqa: N802
        return {"message_ts": "5.5"}

    def _apps_connections_open(self, _: Values) -> Values:
        return {"url": self.url.replace("http://", "ws://") + "socket"}


@asynccontextmanager
async def running_slack() -> AsyncIterator[FakeSlack]:
    """Serve Slack on a free port of this machine."""
    slack = FakeSlack()
    app = web.Application()
    app.router.add_route("*", "/api/{method}", slack.on_api)
    app.router.add_post("/response", slack.on_response)
    app.router.add_get("/api/socket", slack.on_socket)
    app.router.add_get("/socket", slack.on_socket)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    slack.url = f"http://127.0.0.1:{port}/"
    try:
        yield slack
    finally:
        await runner.cleanup()


def signed(body: str, *, secret: str = SECRET, at: float | None = None) -> dict[str, str]:
    """Return the headers with which Slack signs a request."""
    stamp = str(int(time.time() if at is None else at))
    digest = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}


class Caller:
    """Slack's side of HTTP: sends commands and events to the app."""

    def __init__(self, app: Starlette, slack: FakeSlack) -> None:
        self._client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url="http://salon.test"
        )
        self._slack = slack

    async def command(self, command: str, text: str, **more: str) -> httpx.Response:
        values = {
            "command": command, "text": text, "user_id": "U1", "channel_id": "C1", "team_id": TEAM,
            "response_url": f"{self._slack.url}response", "trigger_id": f"1.{next(_numbers)}",
            **more,
        }  # fmt: skip
        body = urlencode(values)
        headers = signed(body) | {"Content-Type": "application/x-www-form-urlencoded"}
        return await self._client.post("/slack/events", content=body, headers=headers)

    async def event(self, event: Values, *, id_: str = "", **headers: str) -> httpx.Response:
        whole = {
            "type": "event_callback", "team_id": TEAM, "api_app_id": "A1",
            "event_id": id_ or f"EvC{next(_numbers)}", "event_time": 1, "event": event,
            "authorizations": [{"team_id": TEAM, "user_id": BOT, "is_bot": True}],
        }  # fmt: skip
        return await self.raw(json.dumps(whole), **headers)

    async def raw(self, body: str | bytes, **headers: str) -> httpx.Response:
        text = body if isinstance(body, str) else body.decode("utf-8", "replace")
        sent = {"Content-Type": "application/json", **signed(text), **headers}
        return await self._client.post("/slack/events", content=body, headers=sent)

    async def close(self) -> None:
        await self._client.aclose()


def options_of(slack: FakeSlack, **more: Any) -> SlackOptions:
    """Return what reaches this Slack."""
    return SlackOptions(
        bot_token="xoxb-1", signing_secret=SECRET, base_url=f"{slack.url}api/", **more
    )


def message(text: str, **more: Any) -> Values:
    """Return a message event of alice's."""
    return {
        "type": "message", "user": "U1", "text": text, "channel": "C1", "ts": "3.0",
        "channel_type": "channel", **more,
    }  # fmt: skip


def mention(text: str, **more: Any) -> Values:
    """Return a mention of the app."""
    return message(f"<@{BOT}> {text}", **({"type": "app_mention"} | more))


def all_text(values: Values) -> str:
    """Return every text of the blocks of a message."""
    found = []
    for block in values["blocks"]:
        found += [block["text"]["text"]] if "text" in block else []
        found += [one["text"] for one in block.get("elements", ())]
    return "\n".join(found)
