"""Avatars in a Slack workspace: commands, mentions, and what their speaking policy lets them say.

Slack gets its acknowledgement at once; the answer follows where the question was asked. An event
is answered once, however often and to how many processes Slack sends it.
"""

import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncBoltContext
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from salon.archive.deliveries import Delivery, Standing
from salon.core.errors import SalonError
from salon.core.ids import RandomIds
from salon.platforms.asking import Known, session_of
from salon.platforms.floor import Floor, Heard
from salon.platforms.once import Once
from salon.platforms.options import SlackOptions
from salon.platforms.rendering import show_help
from salon.platforms.slack_reading import FAILURES, SPOKEN, SlackReading
from salon.platforms.slack_sending import SlackSending, mark_of, retry_handlers
from salon.platforms.slack_text import mentioned, without_mention

log = logging.getLogger(__name__)
NAMED_COMMAND = re.compile(r"^/ask-(.+)$")
GENERAL_COMMAND = "/ask"
_DELIVERY = "salon_delivery"
_LATER = 503
"""What makes Slack deliver an event again."""

Event = Mapping[str, Any]


class SlackApp(AsyncApp):
    """A Bolt app that knows what it still has to answer."""

    def __init__(self, once: Once, **given: Any) -> None:
        super().__init__(**given)
        self.once = once


def build_slack_app(floor: Floor, options: SlackOptions) -> SlackApp:
    """Return the Bolt app of a workspace."""
    client = AsyncWebClient(
        token=options.bot_token,
        base_url=options.base_url,
        retry_handlers=retry_handlers(),
    )
    # Without a secret there is no HTTP: over Socket Mode the connection itself is vouched for.
    once = Once(floor.deliveries, "slack")
    app = SlackApp(once, client=client, signing_secret=options.signing_secret or "")
    SlackRoom(floor, client, once).register(app)
    return app


class SlackRoom:
    """What happens on each kind of event."""

    def __init__(self, floor: Floor, client: AsyncWebClient, once: Once) -> None:
        self._floor = floor
        self._reading = SlackReading(client, floor.roster, history=floor.room.history)
        self._once = once
        self._sending = SlackSending(client, once)

    def register(self, app: AsyncApp) -> None:
        """Have an app call this room."""
        once = [self._take]
        app.command(NAMED_COMMAND, middleware=once)(self.on_command)
        app.command(GENERAL_COMMAND, middleware=once)(self.on_command)
        app.event("app_mention", middleware=once)(self.on_mention)
        app.event("message", middleware=once)(self.on_message)
        app.error(_on_error)

    async def on_command(self, ack: AsyncAck, command: Event, context: AsyncBoltContext) -> None:
        """Acknowledge `/ask-NAME question` or `/ask NAME question`, then answer it."""
        await ack()
        delivery: Delivery = context[_DELIVERY]
        async with self._once.working(delivery):
            # What was said at the address of a command cannot be read again.
            if await self._once.is_open(delivery, _nobody_knows):
                await self._answer_command(command, context, delivery)

    async def on_mention(self, event: Event, context: AsyncBoltContext) -> None:
        """Answer a message that mentions the app."""
        async with self._working(event, context) as is_open:
            if is_open:
                await self._answer(event, context)

    async def on_message(self, event: Event, context: AsyncBoltContext) -> None:
        """Answer a direct message; in a channel, leave it to the avatars whether one speaks."""
        async with self._working(event, context) as is_open:
            if not is_open:
                return
            if event.get("channel_type") == "im":
                await self._answer(event, context)
                return
            heard = await self._heard(str(event["text"]), event, context, user=str(event["user"]))
            avatars = self._floor.roster.of_channel(str(event["channel"]))
            shown = await self._floor.volunteer(avatars, heard)
            if shown is not None:
                await self._sending.post(shown, event, context[_DELIVERY])

    async def _take(
        self, body: Event, context: AsyncBoltContext, next_: Callable[[], Awaitable[None]]
    ) -> BoltResponse | None:
        """Let through what is somebody's words and nobody answers yet."""
        event = body.get("event")
        if isinstance(event, Mapping) and not _is_for_me(event, context):
            return BoltResponse(status=200, body="")
        name = body.get("event_id") or body.get("trigger_id") or RandomIds().new("event")
        try:
            delivery = await self._once.take(str(name))
        except SalonError as error:
            log.warning("an event cannot be taken now: %s", error)
            return BoltResponse(status=_LATER, body="")
        if delivery.standing is Standing.ELSEWHERE:
            # Should that process end before it answers, Slack has not been told that all is well.
            return BoltResponse(status=_LATER, body="")
        if not delivery.is_mine:
            return BoltResponse(status=200, body="")
        context[_DELIVERY] = delivery
        await next_()
        return None

    @asynccontextmanager
    async def _working(self, event: Event, context: AsyncBoltContext) -> AsyncIterator[bool]:
        """Work on a message; tell whether it still wants an answer."""
        delivery: Delivery = context[_DELIVERY]

        async def look() -> bool | None:
            return await self._reading.has_reply(
                str(event["channel"]),
                mark=mark_of(delivery),
                bot=context.bot_id or "",
                thread=event.get("thread_ts"),
                since=str(event["ts"]),
            )

        async with self._once.working(delivery):
            yield await self._once.is_open(delivery, look)

    async def _answer_command(
        self, command: Event, context: AsyncBoltContext, delivery: Delivery
    ) -> None:
        url, text = str(command.get("response_url") or ""), str(command.get("text") or "")
        avatar, question = self._of_command(str(command.get("command")), text)
        if avatar is None:
            help_ = show_help(self._floor.roster.whom(), "Salon")
            await self._sending.respond(url, help_, delivery)
            return
        heard = await self._heard(question, command, context, user=str(command["user_id"]))
        shown = await self._floor.answer(avatar, heard)
        asked = f"{heard.text} ({heard.speaker})"
        await self._sending.respond(url, shown, delivery, asked=asked)

    def _of_command(self, command: str, text: str) -> tuple[Known | None, str]:
        if named := NAMED_COMMAND.match(command):
            return self._floor.roster.find(named[1]), text
        meant = self._floor.roster.split_command(text)
        return (meant.avatar, meant.question) if meant else (None, text)

    async def _answer(self, event: Event, context: AsyncBoltContext) -> None:
        text = without_mention(str(event["text"]), str(context.bot_user_id))
        meant = self._floor.roster.meant(text, str(event["channel"]))
        if meant is None:
            shown = show_help(self._floor.roster.whom(), "Salon")
        else:
            heard = await self._heard(meant.question, event, context, user=str(event["user"]))
            shown = await self._floor.answer(meant.avatar, heard)
        await self._sending.post(shown, event, context[_DELIVERY])

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


async def _nobody_knows() -> None:
    return None


def _is_for_me(event: Event, context: AsyncBoltContext) -> bool:
    """Tell whether an event is to be looked into; a mention comes as a message too."""
    if not _is_spoken(event):
        return False
    is_in_channel = event.get("type") == "message" and event.get("channel_type") != "im"
    return not (is_in_channel and context.bot_user_id in mentioned(str(event["text"])))


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
