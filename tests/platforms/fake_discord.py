"""Discord on this machine: its REST interface and its gateway, and what it was told."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

from aiohttp import WSMsgType, web

Values = dict[str, Any]
BOT, GUILD = "900000000000000000", "100000000000000000"
CHANNEL, OTHER_CHANNEL, PRIVATE = (f"20000000000000000{one}" for one in range(3))
APPLICATION = "800"
PATIENCE_S = 30.0
HEARTBEAT_MS = 60_000
_ids = count(3_000_000)
"""Discord gives no two messages or interactions the same id."""


def user(id_: str, name: str, **more: Any) -> Values:
    return {
        "id": id_, "username": name, "global_name": name, "discriminator": "0", "avatar": None,
        **more,
    }  # fmt: skip


ALICE, BOB = user("1", "alice"), user("2", "bob")
ME = user(BOT, "Salon", bot=True)


def message(text: str, **more: Any) -> Values:
    """Return a message as the gateway sends it."""
    return {
        "id": str(next(_ids)), "channel_id": CHANNEL, "guild_id": GUILD, "author": ALICE,
        "content": text,
        "timestamp": "2026-11-15T10:00:00+00:00", "edited_timestamp": None, "tts": False,
        "mention_everyone": False, "mentions": [], "mention_roles": [], "attachments": [],
        "embeds": [], "pinned": False, "type": 0, "components": [],
        "member": {"roles": [], "joined_at": "2026-01-01T00:00:00+00:00", "deaf": False,
                   "mute": False, "flags": 0},
        **more,
    }  # fmt: skip


def mention(text: str, **more: Any) -> Values:
    """Return a message that mentions the bot."""
    return message(f"<@{BOT}> {text}", mentions=[ME], **more)


class FakeDiscord:
    """What Discord knows, and what it was asked and told."""

    def __init__(self) -> None:
        self.history: list[Values] = []
        self.posted: list[Values] = []
        self.nonces: dict[str, Values] = {}
        self.commands: list[Values] = []
        self.calls: list[tuple[str, str]] = []
        self.instead: dict[str, list[web.Response]] = {}
        self.url = ""
        self.close_with: int | None = None
        self._told: asyncio.Queue[tuple[str, Values]] = asyncio.Queue()
        self._ready: asyncio.Queue[web.WebSocketResponse] = asyncio.Queue()
        self._sockets: list[web.WebSocketResponse] = []
        self._count = 0

    async def ready(self) -> None:
        """Wait until the bot is connected, or connected once more."""
        self._sockets.append(await asyncio.wait_for(self._ready.get(), PATIENCE_S))

    async def send(self, kind: str, values: Values) -> None:
        """Tell the bot of an event, over every connection that it has."""
        self._count += 1
        whole = json.dumps({"op": 0, "t": kind, "s": self._count + 10, "d": values})
        for socket in [one for one in self._sockets if not one.closed]:
            await socket.send_str(whole)

    async def told(self) -> tuple[str, Values]:
        """Wait for the next thing that somebody would see."""
        return await asyncio.wait_for(self._told.get(), PATIENCE_S)

    def is_quiet(self) -> bool:
        return self._told.empty()

    async def interaction(
        self, command: str, *, kind: int = 2, channel: str = CHANNEL, **given: str
    ) -> None:
        """Have alice use a slash command, or (kind 4) ask how it goes on."""
        member = message("")["member"] | {"user": ALICE, "permissions": "0"}
        await self.send(
            "INTERACTION_CREATE",
            {
                "id": str(next(_ids)), "application_id": APPLICATION, "type": kind, "token": "tok",
                "version": 1, "guild_id": GUILD, "channel_id": channel, "member": member,
                "channel": {"id": channel, "type": 0}, "locale": "en-GB",
                "entitlements": [], "attachment_size_limit": 1,
                "data": {
                    "id": "5", "name": command, "type": 1,
                    "options": [
                        {"name": name, "type": 3, "value": value, "focused": kind == 4}
                        for name, value in given.items()
                    ],
                },
            },
        )  # fmt: skip

    async def on_rest(self, request: web.Request) -> web.StreamResponse:
        path = "/" + request.match_info["path"]
        method = request.method
        self.calls.append((method, path))
        for ending, answers in self.instead.items():
            if f"{method} {path}".endswith(ending) and answers:
                return answers.pop(0)
        body = await request.json() if request.content_type == "application/json" else {}
        if method == "GET" and path.endswith("/messages") and "after" in request.query:
            return said(self.posted[::-1])
        return self._answer(method, path, body)

    def _answer(self, method: str, path: str, body: Any) -> web.Response:
        if path.endswith("/callback"):
            self._told.put_nowait(("deferred", body))
            return said({"interaction": {"id": "4000", "type": 2}})
        if path.endswith("/messages/@original") or path == f"/webhooks/{APPLICATION}/tok":
            self._told.put_nowait(("answer", body))
            return said(message("", author=ME, **body))
        if path == f"/channels/{CHANNEL}/messages" and method == "GET":
            return said(self.history[::-1])
        if path.endswith("/messages") and method == "GET":
            return said([])
        if path.endswith("/messages"):
            return said(self._post(path, body))
        if path.endswith("/commands"):
            self.commands = body if isinstance(body, list) else []
            kept = {"id": "5", "application_id": APPLICATION, "version": "1", "type": 1}
            return said([one | kept for one in self.commands])
        known: dict[str, object] = {
            "/users/@me": ME,
            "/oauth2/applications/@me": {
                "id": APPLICATION, "name": "Salon", "description": "", "bot_public": True,
                "bot_require_code_grant": False, "verify_key": "", "flags": 0, "owner": ALICE,
                "team": None, "icon": None,
            },
            "/gateway/bot": {
                "url": self.url, "shards": 1,
                "session_start_limit": {"total": 1, "remaining": 1, "reset_after": 1,
                                        "max_concurrency": 1},
            },
        }  # fmt: skip
        return said(known[path]) if path in known else said({"message": "?", "code": 0}, 404)

    def _post(self, path: str, body: Values) -> Values:
        """Take a message; one with a nonce that is known already is not said again."""
        if body.get("enforce_nonce") and body["nonce"] in self.nonces:
            return self.nonces[body["nonce"]]
        self._told.put_nowait(("message", body))
        reference = body.get("message_reference")
        more = {"message_reference": reference} if reference else {}
        channel = path.split("/")[2]
        made = message("", author=ME, embeds=body.get("embeds", []), channel_id=channel, **more)
        self.posted.append(made)
        self.nonces[str(body.get("nonce"))] = made
        return made

    def say_in_reply_to(self, asked: Values) -> None:
        """Have the bot have said something in reply to a message, earlier."""
        reference = {"message_id": asked["id"], "channel_id": asked["channel_id"]}
        self.posted.append(message("", author=ME, message_reference=reference))

    async def on_gateway(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_str(json.dumps({"op": 10, "d": {"heartbeat_interval": HEARTBEAT_MS}}))
        async for got in socket:
            if got.type is not WSMsgType.TEXT:
                break
            values = json.loads(got.data)
            if values["op"] == 2 and self.close_with is not None:
                await socket.close(code=self.close_with)
            elif values["op"] == 2:
                await self._welcome(socket)
            elif values["op"] == 1:
                await socket.send_str(json.dumps({"op": 11}))
        return socket

    async def _welcome(self, socket: web.WebSocketResponse) -> None:
        ready = {
            "v": 10, "user": ME, "guilds": [], "session_id": "s", "resume_gateway_url": self.url,
            "application": {"id": APPLICATION, "flags": 0},
        }  # fmt: skip
        channels: list[Values] = [
            {"id": one, "type": 0, "name": name, "position": 0, "permission_overwrites": [],
             "nsfw": False, "parent_id": None}
            for one, name in ((CHANNEL, "garden"), (OTHER_CHANNEL, "river"))
        ]  # fmt: skip
        guild = {
            "id": GUILD, "name": "Valley", "owner_id": "1", "channels": channels, "members": [],
            "roles": [{"id": GUILD, "name": "@everyone", "permissions": "8", "position": 0,
                       "color": 0, "hoist": False, "managed": False, "mentionable": False}],
            "threads": [], "emojis": [], "stickers": [], "features": [], "member_count": 2,
            "presences": [], "voice_states": [], "stage_instances": [],
            "guild_scheduled_events": [], "afk_timeout": 0, "verification_level": 0,
            "default_message_notifications": 0, "explicit_content_filter": 0, "mfa_level": 0,
            "nsfw_level": 0, "premium_tier": 0, "system_channel_flags": 0,
            "preferred_locale": "en-GB", "soundboard_sounds": [],
        }  # fmt: skip
        await socket.send_str(json.dumps({"op": 0, "t": "READY", "s": 1, "d": ready}))
        await socket.send_str(json.dumps({"op": 0, "t": "GUILD_CREATE", "s": 2, "d": guild}))
        self._ready.put_nowait(socket)


def said(values: object, status: int = 200, **headers: str) -> web.Response:
    # discord.py reads JSON only where the type is exactly this.
    return web.Response(
        body=json.dumps(values).encode(),
        status=status,
        headers={"Content-Type": "application/json", **headers},
    )


@asynccontextmanager
async def running_discord() -> AsyncIterator[FakeDiscord]:
    """Serve Discord on a free port of this machine."""
    fake = FakeDiscord()
    app = web.Application()
    app.router.add_route("*", "/api/{path:.*}", fake.on_rest)
    app.router.add_get("/gateway/", fake.on_gateway)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    fake.url = f"ws://127.0.0.1:{runner.addresses[0][1]}/gateway/"
    try:
        yield fake
    finally:
        await runner.cleanup()
