"""Avatars in a Slack workspace: commands, mentions, and what their speaking policy lets them say.

Slack gets its acknowledgement at once; the answer follows where the question was asked. An event
is worked on once, however often Slack sends it.
"""

import logging
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncBoltContext, AsyncRespond
from slack_bolt.response import BoltResponse
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
)
from slack_sdk.web.async_client import AsyncWebClient

from salon.platforms.asking import Known, session_of
from salon.platforms.floor import Floor, Heard
from salon.platforms.options import SlackOptions
from salon.platforms.rendering import Kind, Shown, show_help
from salon.platforms.slack_reading import FAILURES, SPOKEN, SlackReading
from salon.platforms.slack_text import fallback, messages

log = logging.getLogger(__name__)
NAMED_COMMAND = re.compile(r"^/ask-(.+)$")
GENERAL_COMMAND = "/ask"
MOST_RESPONSES = 5
"""How often Slack lets a command be answered."""
_RETRIES = 3
_REMEMBERED = 10_000

Event = Mapping[str, Any]


def build_slack_app(floor: Floor, options: SlackOptions) -> AsyncApp:
    """Return the Bolt app of a workspace."""
    client = AsyncWebClient(
        token=options.bot_token,
        base_url=options.base_url,
        retry_handlers=[
            AsyncConnectionErrorRetryHandler(),
            AsyncRateLimitErrorRetryHandler(max_retry_count=_RETRIES),
        ],
    )
    # Without a secret there is no HTTP: over Socket Mode the connection itself is vouched for.
    app = AsyncApp(client=client, signing_secret=options.signing_secret or "")
    SlackRoom(floor, client).register(app)
    return app


class Once:
    """Remembers what was worked on, so that Slack's repetitions fall through."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, None] = OrderedDict()

    def is_first(self, name: str) -> bool:
        """Tell whether a name comes for the first time."""
        if name in self._seen:
            return False
        self._seen[name] = None
        if len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        return True


class SlackRoom:
    """What happens on each kind of event."""

    def __init__(self, floor: Floor, client: AsyncWebClient) -> None:
        self._floor = floor
        self._client = client
        self._reading = SlackReading(client, floor.roster, history=floor.room.history)
        self._once = Once()

    def register(self, app: AsyncApp) -> None:
        """Have an app call this room."""
        app.middleware(self._only_once)
        app.command(NAMED_COMMAND)(self.on_command)
        app.command(GENERAL_COMMAND)(self.on_command)
        app.event("app_mention")(self.on_mention)
        app.event("message")(self.on_message)
        app.error(_on_error)

    async def on_command(
        self, ack: AsyncAck, command: Event, respond: AsyncRespond, context: AsyncBoltContext
    ) -> None:
        """Acknowledge `/ask-NAME question` or `/ask NAME question`, then answer it."""
        await ack()
        text = str(command.get("text") or "")
        avatar, question = self._of_command(str(command.get("command")), text)
        if avatar is None:
            await _respond(respond, show_help(self._floor.roster.whom(), "Salon"))
            return
        heard = await self._heard(question, command, context, user=str(command["user_id"]))
        shown = await self._floor.answer(avatar, heard)
        await _respond(respond, shown, asked=f"{heard.text} ({heard.speaker})")

    async def on_mention(self, event: Event, context: AsyncBoltContext) -> None:
        """Answer a message that mentions the app."""
        if not _is_spoken(event):
            return
        text = _without_me(str(event["text"]), context)
        await self._answer(text, event, context)

    async def on_message(self, event: Event, context: AsyncBoltContext) -> None:
        """Answer a direct message; in a channel, leave it to the avatars whether one speaks."""
        if not _is_spoken(event):
            return
        text = str(event["text"])
        if event.get("channel_type") == "im":
            await self._answer(_without_me(text, context), event, context)
            return
        if f"<@{context.bot_user_id}>" in text:
            return  # comes as a mention too
        heard = await self._heard(text, event, context, user=str(event["user"]))
        avatars = self._floor.roster.of_channel(str(event["channel"]))
        shown = await self._floor.volunteer(avatars, heard)
        if shown is not None:
            await self._post(shown, event)

    async def _only_once(
        self, body: Event, next_: Callable[[], Awaitable[BoltResponse]]
    ) -> BoltResponse:
        event = body.get("event_id")
        if isinstance(event, str) and not self._once.is_first(event):
            return BoltResponse(status=200, body="")
        return await next_()

    def _of_command(self, command: str, text: str) -> tuple[Known | None, str]:
        if named := NAMED_COMMAND.match(command):
            return self._floor.roster.find(named[1]), text
        meant = self._floor.roster.split_command(text)
        return (meant.avatar, meant.question) if meant else (None, text)

    async def _answer(self, text: str, event: Event, context: AsyncBoltContext) -> None:
        meant = self._floor.roster.meant(text, str(event["channel"]))
        if meant is None:
            await self._post(show_help(self._floor.roster.whom(), "Salon"), event)
            return
        heard = await self._heard(meant.question, event, context, user=str(event["user"]))
        await self._post(await self._floor.answer(meant.avatar, heard), event)

    async def _heard(
        self, text: str, place: Event, context: AsyncBoltContext, *, user: str
    ) -> Heard:
        channel = str(place.get("channel") or place.get("channel_id"))
        thread, now = place.get("thread_ts"), place.get("ts")
        bot = {"bot_id": context.bot_id or ""}
        before, note = await self._reading.before(channel, bot=bot, thread=thread, until=now)
        team = str(context.team_id or "")
        return Heard(
            text=await self._reading.words(text),
            speaker=await self._reading.name(user),
            person=f"{team}/{user}",
            session=session_of("slack", team, channel, str(thread or "")),
            before=before,
            note=note,
        )

    async def _post(self, shown: Shown, event: Event) -> None:
        """Say something where the message was: in its thread, or in the channel."""
        where = {"channel": event["channel"]}
        if event.get("thread_ts"):
            where["thread_ts"] = event["thread_ts"]
        if shown.kind is Kind.REFUSAL and event.get("channel_type") != "im":
            text, blocks = fallback(shown), messages(shown)[0]
            await self._client.chat_postEphemeral(
                **where, user=str(event["user"]), text=text, blocks=blocks
            )
            return
        for blocks in messages(shown):
            await self._client.chat_postMessage(
                **where,
                text=fallback(shown),
                blocks=blocks,
                parse="none",
                link_names=False,
                unfurl_links=False,
                unfurl_media=False,
            )


async def _respond(respond: AsyncRespond, shown: Shown, *, asked: str | None = None) -> None:
    is_private = shown.kind is Kind.REFUSAL
    for blocks in messages(shown, asked=None if is_private else asked)[:MOST_RESPONSES]:
        answer = await respond(
            text=fallback(shown),
            blocks=blocks,
            response_type="ephemeral" if is_private else "in_channel",
            replace_original=False,
            unfurl_links=False,
            unfurl_media=False,
        )
        if answer.status_code >= 400:
            log.warning("Slack refused an answer with status %s", answer.status_code)


def _without_me(text: str, context: AsyncBoltContext) -> str:
    return text.replace(f"<@{context.bot_user_id}>", " ").strip()


def _is_spoken(event: Event) -> bool:
    """Tell whether an event is a person's words: no bot's, no edit, no notice."""
    return (
        not event.get("bot_id")
        and event.get("subtype") in SPOKEN
        and all(isinstance(event.get(one), str) for one in ("user", "text", "channel", "ts"))
    )


async def _on_error(error: Exception) -> None:
    """Note what went wrong with one event; the next one is served all the same."""
    if isinstance(error, FAILURES):
        log.warning("Slack did not take what was said: %s", error)
    else:
        log.error("an event failed", exc_info=error)
