"""The manifest of the Slack app, and the one in the guide, are what the code needs."""

import asyncio
import json
import re
from pathlib import Path

import pytest

pytest.importorskip("slack_bolt")
pytest.importorskip("aiohttp")

from salon.app import Salon
from salon.platforms.asking import Roster
from salon.platforms.options import SlackOptions
from salon.platforms.slack_app import build_slack_app
from salon.platforms.slack_manifest import make_manifest
from salon.platforms.slack_serving import http_app
from tests.experts.valley import profile_of
from tests.platforms.fake_slack import SECRET, Caller, mention, message, running_slack
from tests.platforms.rooms import GARDEN_QUESTION, floor_of

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "platforms.md"
SCOPES = {
    "conversations.history": {"channels:history", "groups:history", "im:history"},
    "conversations.replies": {"channels:history", "groups:history", "im:history"},
    "users.info": {"users:read"},
    "chat.postMessage": {"chat:write"},
    "chat.postEphemeral": {"chat:write"},
    "auth.test": set(),
}
"""What Slack asks for each method that is called."""


def test_the_scopes_are_exactly_what_is_used(salon: Salon) -> None:
    floor = floor_of(salon)

    async def main() -> set[str]:
        async with running_slack() as slack:
            options = SlackOptions(
                bot_token="xoxb-1", signing_secret=SECRET, base_url=f"{slack.url}api/"
            )
            caller = Caller(http_app(build_slack_app(floor, options), options), slack)
            slack.threads["2.0"] = [message("hello", ts="2.0")]
            await caller.event(mention(f"Ada, {GARDEN_QUESTION}"))
            await slack.told()
            await caller.event(mention("what now?", thread_ts="2.0"))
            await slack.told()
            await caller.event(mention(f"Ada, {GARDEN_QUESTION}", thread_ts="2.0"))
            await slack.told()
            await caller.close()
            return {method for method, _ in slack.calls}

    used = asyncio.run(main())
    assert used == set(SCOPES)
    made = make_manifest(floor.roster)
    needed = set.union(*(SCOPES[one] for one in used)) | {"commands", "app_mentions:read"}
    assert set(made["oauth_config"]["scopes"]["bot"]) == needed
    events = made["settings"]["event_subscriptions"]["bot_events"]
    assert {one.partition(".")[0] for one in events} == {"app_mention", "message"}


def test_every_command_is_one_that_is_answered(salon: Salon) -> None:
    roster = floor_of(salon).roster
    made = make_manifest(roster, url="https://salon.test/")
    commands = [one["command"] for one in made["features"]["slash_commands"]]
    named = [roster.find(one.removeprefix("/ask-")) for one in commands[:-1]]
    assert [one.id for one in named if one] == [one.id for one in roster.avatars]
    assert commands[-1] == "/ask"
    urls = {one["url"] for one in made["features"]["slash_commands"]}
    assert urls == {"https://salon.test/slack/events"}
    assert made["settings"]["event_subscriptions"]["request_url"] in urls
    assert made["settings"]["socket_mode_enabled"] is False


def test_the_manifest_of_the_guide_is_the_one_that_is_made() -> None:
    found = re.search(r"<!-- manifest -->\n```json\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    assert found
    roster = Roster([profile_of("abraham-lincoln", "Abraham Lincoln")])
    assert json.loads(found[1]) == make_manifest(roster)
