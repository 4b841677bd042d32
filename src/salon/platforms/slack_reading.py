"""What was said in a Slack channel, by whom; asked of Slack, remembered where that is fair."""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from aiohttp import ClientError
from slack_sdk.errors import SlackClientError

from salon.conversation.discussion import Utterance
from salon.platforms.asking import clean_name
from salon.platforms.rendering import spoken_name
from salon.platforms.slack_text import mentioned, read

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

    from salon.platforms.asking import Roster

log = logging.getLogger(__name__)
SILENT_CHANNEL = "I cannot read this channel, so I answer the question alone."
FAILURES = (SlackClientError, ClientError, OSError, TimeoutError, ValueError)
"""Slack says no, cannot be reached, or answers with something else than JSON."""
_LONGEST_THREAD = 1_000
_MOST_LOOKED_AT = 999
"""Messages after a question among which an answer to it is looked for; Slack takes no more."""
_REMEMBERED = 5_000
_NAMES_LAST_S = 3_600.0


class SlackReading:
    """Reads channels and names for one workspace."""

    def __init__(
        self,
        client: "AsyncWebClient",
        roster: "Roster",
        *,
        history: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._roster = roster
        self._history = history
        self._now = now
        self._names: OrderedDict[str, tuple[str, float]] = OrderedDict()

    async def before(
        self, channel: str, *, bot: Mapping[str, str], thread: str | None, until: str | None
    ) -> tuple[tuple[Utterance, ...], str | None]:
        """Return what was said before a message, and what could not be done, if anything."""
        if not self._history:
            return (), None
        try:
            found = await self._messages(channel, thread, until)
        except FAILURES as error:
            log.warning("the channel cannot be read: %s", error)
            return (), SILENT_CHANNEL
        earlier = [one for one in found if one.get("ts") != until]
        said = [await self._utterance(one, bot) for one in earlier[-self._history :]]
        return tuple(one for one in said if one), None

    async def has_reply(
        self, channel: str, *, mark: Mapping[str, Any], bot: str, thread: str | None, since: str
    ) -> bool | None:
        """Tell whether the bot said something with this mark; `None` where Slack does not say."""
        where: Any = {
            "channel": channel,
            "oldest": since,
            "limit": _MOST_LOOKED_AT,
            "include_all_metadata": True,
        }
        try:
            if thread:
                answer: Any = await self._client.conversations_replies(**where, ts=thread)
            else:
                answer = await self._client.conversations_history(**where)
        except FAILURES as error:
            log.warning("the channel cannot be read: %s", error)
            return None
        marks = [one.get("metadata") for one in answer["messages"] if one.get("bot_id") == bot]
        if any(_has_all(one, mark) for one in marks):
            return True
        # All that the bot says has a mark; where one is not shown, the wanted one may be hidden.
        is_whole = not answer.get("has_more") and all(marks)
        return False if is_whole else None

    async def words(self, text: str) -> str:
        """Return a message with names for ids."""
        names = {one: await self.name(one) for one in dict.fromkeys(mentioned(text))}
        return read(text, lambda one: names[one])

    async def name(self, user: str) -> str:
        """Return what somebody is called here; their id where Slack does not say."""
        known = self._names.get(user)
        if known and known[1] > self._now():
            return known[0]
        try:
            answer: Any = await self._client.users_info(user=user)
            profile = answer["user"].get("profile", {})
            name = profile.get("display_name") or profile.get("real_name") or answer["user"]["name"]
        except (*FAILURES, KeyError, TypeError, AttributeError) as error:
            log.info("the name of a user cannot be had: %s", error)
            name = user
        self._names[user] = (clean_name(str(name)), self._now() + _NAMES_LAST_S)
        if len(self._names) > _REMEMBERED:
            self._names.popitem(last=False)
        return self._names[user][0]

    async def _messages(
        self, channel: str, thread: str | None, until: str | None
    ) -> list[Mapping[str, Any]]:
        """Return messages, oldest first."""
        if thread:
            # Slack gives a thread from its beginning, so the whole of it is asked for.
            answer: Any = await self._client.conversations_replies(
                channel=channel, ts=thread, limit=_LONGEST_THREAD, inclusive=True, latest=until
            )
            found = answer["messages"]
        else:
            answer = await self._client.conversations_history(
                channel=channel, limit=self._history, inclusive=False, latest=until
            )
            found = answer["messages"][::-1]
        return [one for one in found if isinstance(one, Mapping)]

    async def _utterance(
        self, message: Mapping[str, Any], bot: Mapping[str, str]
    ) -> Utterance | None:
        text = message.get("text")
        if not isinstance(text, str) or not text:
            return None
        if message.get("bot_id"):
            is_mine = message["bot_id"] == bot.get("bot_id")
            return self._own(await self.words(text)) if is_mine else None
        user = message.get("user")
        # Somebody joined, a topic was set: nobody said that.
        if not isinstance(user, str) or message.get("subtype") not in SPOKEN:
            return None
        return Utterance(role=await self.name(user), content=await self.words(text))

    def _own(self, text: str) -> Utterance | None:
        """Return what one of the avatars said; its name stands before it."""
        for one in self._roster.avatars:
            before = f"{spoken_name(one.name)}: "
            if text.startswith(before):
                return Utterance(role=one.name, content=text.removeprefix(before))
        return None


def _has_all(found: object, wanted: Mapping[str, Any]) -> bool:
    return isinstance(found, Mapping) and all(found.get(one) == wanted[one] for one in wanted)


SPOKEN = frozenset({None, "thread_broadcast", "file_share", "me_message"})
"""The kinds of messages that are somebody's words."""
