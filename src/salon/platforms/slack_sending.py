"""Saying things in Slack, marked so that it can be seen later what they answer.

Invariant: nothing is sent before the delivery that it answers says so, and nothing is sent again
unless it is certain that Slack did not take it.
"""

import logging
from collections.abc import Mapping
from typing import Any

from aiohttp import ClientConnectorError
from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
)
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from salon.archive.deliveries import Delivery
from salon.platforms.once import Once
from salon.platforms.rendering import Kind, Shown
from salon.platforms.slack_text import fallback, messages

log = logging.getLogger(__name__)
REPLY_MARK = "salon_reply"
MOST_RESPONSES = 5
"""How often Slack lets a command be answered."""
_RETRIES = 3
_READING = ("/conversations.", "/users.", "/auth.", "/apps.")


class UnlessTaken(AsyncConnectionErrorRetryHandler):
    """Tries again after a broken connection, but says nothing again that may have been heard."""

    async def _can_retry_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        if any(one in request.url for one in _READING):
            return await super()._can_retry_async(
                state=state, request=request, response=response, error=error
            )
        return isinstance(error, ClientConnectorError)


def retry_handlers() -> list[AsyncRetryHandler]:
    """Return when a request is made again: it was not taken, or not now."""
    return [UnlessTaken(), AsyncRateLimitErrorRetryHandler(max_retry_count=_RETRIES)]


def mark_of(delivery: Delivery) -> dict[str, Any]:
    """Return what a message carries unseen: the digest of the event that it answers."""
    return {"event_type": REPLY_MARK, "event_payload": {"event": delivery.event}}


class SlackSending:
    """Answers deliveries where they came from."""

    def __init__(self, client: AsyncWebClient, once: Once) -> None:
        self._client = client
        self._once = once

    async def post(self, shown: Shown, event: Mapping[str, Any], delivery: Delivery) -> None:
        """Say something where the message was: in its thread, or in the channel."""
        where = {"channel": event["channel"]}
        if event.get("thread_ts"):
            where["thread_ts"] = event["thread_ts"]
        await self._once.sending(delivery)
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
                metadata=mark_of(delivery),
                parse="none",
                link_names=False,
                unfurl_links=False,
                unfurl_media=False,
            )

    async def respond(
        self, url: str, shown: Shown, delivery: Delivery, *, asked: str | None = None
    ) -> None:
        """Answer a command at the address that came with it."""
        is_private = shown.kind is Kind.REFUSAL
        client = AsyncWebhookClient(url=url, retry_handlers=retry_handlers())
        await self._once.sending(delivery)
        for blocks in messages(shown, asked=None if is_private else asked)[:MOST_RESPONSES]:
            answer = await client.send_dict(
                {
                    "text": fallback(shown),
                    "blocks": blocks,
                    "response_type": "ephemeral" if is_private else "in_channel",
                    "metadata": mark_of(delivery),
                    "replace_original": False,
                    "unfurl_links": False,
                    "unfurl_media": False,
                }
            )
            if answer.status_code >= 400:
                log.warning("Slack refused an answer with status %s", answer.status_code)
