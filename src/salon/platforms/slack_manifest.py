"""The manifest that makes a Slack app what this code needs: commands, events and scopes."""

from typing import Any

from salon.platforms.asking import Roster
from salon.platforms.slack_app import GENERAL_COMMAND
from salon.platforms.slack_serving import PATH

BOT_SCOPES = (
    "app_mentions:read",
    "channels:history",
    "chat:write",
    "commands",
    "groups:history",
    "im:history",
    "users:read",
)
BOT_EVENTS = ("app_mention", "message.channels", "message.groups", "message.im")
_MOST_COMMANDS = 25
"""Slack takes no more in one app; the others are asked with the general command."""


def make_manifest(roster: Roster, *, name: str = "Salon", url: str | None = None) -> dict[str, Any]:
    """Return the manifest; with the address of this server for HTTP, without it for Socket Mode."""
    request = {"url": f"{url.rstrip('/')}{PATH}"} if url else {}
    events = {"request_url": request["url"]} if url else {}
    commands = [
        {
            "command": f"{GENERAL_COMMAND}-{one.command}",
            "description": f"Ask {one.name} (AI)"[:2000],
            "usage_hint": "your question",
            "should_escape": True,
            **request,
        }
        for one in roster.avatars[: _MOST_COMMANDS - 1]
    ]
    commands.append(
        {
            "command": GENERAL_COMMAND,
            "description": "Ask any avatar (AI)",
            "usage_hint": "name, your question",
            "should_escape": True,
            **request,
        }
    )
    return {
        "display_information": {
            "name": name,
            "description": "AI avatars that answer from their sources and cite them",
        },
        "features": {
            "app_home": {"messages_tab_enabled": True, "messages_tab_read_only_enabled": False},
            "bot_user": {"display_name": name, "always_online": True},
            "slash_commands": commands,
        },
        "oauth_config": {"scopes": {"bot": list(BOT_SCOPES)}},
        "settings": {
            "event_subscriptions": {"bot_events": list(BOT_EVENTS), **events},
            "socket_mode_enabled": url is None,
            "org_deploy_enabled": False,
            "token_rotation_enabled": False,
        },
    }
