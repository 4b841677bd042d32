"""What the platforms need to be told; `salon.settings` fills these in at the command line."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

SLACK_API = "https://slack.com/api/"
HARMONICA_API = "https://app.harmonica.chat/api/v1"
_NOBODY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Who can be asked, how much of the talk goes along, and how fast one person may ask."""

    avatars: tuple[str, ...] = ()
    """The avatars that can be asked; none named: all experts of the home."""
    channels: Mapping[str, str] = field(default_factory=lambda: _NOBODY)
    """The avatar of a channel, by the channel's id: it is meant where nobody is named."""
    default_avatar: str | None = None
    """Who is meant where neither the message nor the channel says so."""
    history: int = 20
    """How many messages before the question go along."""
    longest_message: int = 4_000
    """Characters of one earlier message that go along."""
    per_minute: float = 10.0
    """Questions a minute that one person may ask, in the long run."""
    burst: int = 5
    """Questions that one person may ask at once, after a pause."""
    at_once: int = 4
    """Questions that are answered at the same time."""
    waiting: int = 64
    """Questions that may wait; the next one is told to come back."""
    seconds: float = 120.0
    """How long one answer may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackOptions:
    """One Slack workspace. The signing secret is for HTTP, the app token for Socket Mode."""

    bot_token: str = field(repr=False)
    signing_secret: str | None = field(default=None, repr=False)
    app_token: str | None = field(default=None, repr=False)
    base_url: str = SLACK_API


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordOptions:
    """One Discord application. Commands appear at once in `guild`, within an hour elsewhere."""

    token: str = field(repr=False)
    guild: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HarmonicaOptions:
    """One Harmonica account, and where it reaches the avatars of this Salon."""

    api_key: str = field(repr=False)
    base_url: str = HARMONICA_API
    mcp_url: str | None = None
    """The public address under which `salon serve` or `salon mcp --http` is reached."""
    mcp_bearer: str | None = field(default=None, repr=False)
    timeout_s: float = 60.0
    longest_wait_s: float = 60.0
    """How long a full server is waited for, all in all, before its refusal is handed on."""
