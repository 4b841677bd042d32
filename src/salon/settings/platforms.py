"""Settings of the chat platforms."""

from pydantic import Field, SecretStr, field_validator

from salon.settings.group import Group, split_list


class ChatRoomSettings(Group):
    """Who can be asked in a chat room, and how."""

    avatars: tuple[str, ...] = Field(
        (), description="Avatars that can be asked; all experts of the home by default."
    )
    channels: dict[str, str] = Field(
        default_factory=dict,
        description="The avatar of a channel by the channel's id; it is meant where nobody is "
        "named. In the environment: `C1=ada-berg,C2=ole-holm`.",
    )
    default_avatar: str | None = Field(
        None, description="Who is meant where neither the message nor the channel says so."
    )
    history: int = Field(
        20, ge=0, le=100, description="How many messages before the question go along."
    )
    per_minute: float = Field(
        10.0, gt=0, le=10_000, description="Questions a minute that one person may ask."
    )

    @field_validator("avatars", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return split_list(value)

    @field_validator("channels", mode="before")
    @classmethod
    def _pairs(cls, value: object) -> object:
        """Take `C1=a,C2=b` as the environment has it."""
        if not isinstance(value, str):
            return value
        pairs = [one.partition("=") for one in value.split(",") if one.strip()]
        return {channel.strip(): avatar.strip() for channel, _, avatar in pairs}


class SlackSettings(ChatRoomSettings):
    """The Slack workspace of `salon slack`; see docs/guides/platforms.md."""

    bot_token: SecretStr | None = Field(
        None, description="The bot's token, `xoxb-…`; better in the environment than in a file."
    )
    app_token: SecretStr | None = Field(
        None, description="The app-level token for Socket Mode, `xapp-…`."
    )
    signing_secret: SecretStr | None = Field(
        None, description="What Slack signs its requests with, for `--http`."
    )
    base_url: str = Field(
        "https://slack.com/api/", description="Slack's interface; another one is for tests."
    )


class DiscordSettings(ChatRoomSettings):
    """The Discord application of `salon discord`; see docs/guides/platforms.md."""

    token: SecretStr | None = Field(
        None, description="The bot's token; better in the environment than in a file."
    )
    guild: int | None = Field(
        None, description="A server where commands appear at once; all servers by default."
    )


class HarmonicaSettings(Group):
    """The Harmonica account of `salon harmonica`; see docs/guides/platforms.md."""

    api_key: SecretStr | None = Field(
        None, description="Its key, `hm_live_…`; better in the environment than in a file."
    )
    base_url: str = Field(
        "https://app.harmonica.chat/api/v1", description="Address of Harmonica's interface."
    )
    mcp_url: str | None = Field(
        None, description="Public address of this Salon, where facilitators reach its avatars."
    )
    mcp_bearer: SecretStr | None = Field(
        None, description="The token that Harmonica shows there: that of `serve.token`."
    )
