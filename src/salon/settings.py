"""Settings: where they come from, what they mean, what is allowed.

In order of increasing strength: the defaults here, `salon.toml` in Salon's home, environment
variables `SALON_…` (two underscores go one level down: `SALON_READER__MEMORY_MB`), and flags.
The home itself can only come from the environment or a flag, since the file is inside it.
"""

import getpass
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_serializer,
    field_validator,
)

from salon.core.errors import InvalidSettings

PREFIX = "SALON_"
FILE_NAME = "salon.toml"


class _Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReaderSettings(_Group):
    """Limits for the processes that parse files."""

    memory_mb: int = Field(1024, ge=128, description="Memory one parser may take, in MB.")
    cpu_s: int = Field(60, ge=1, description="Processor time one file may take, in seconds.")
    wall_s: int = Field(90, ge=1, description="Time one file may take, in seconds.")
    input_mb: int = Field(200, ge=1, le=950, description="Largest file that is read, in MB.")
    output_mb: int = Field(100, ge=1, le=950, description="Most text one file may give, in MB.")


class FetchSettings(_Group):
    """Limits for reading pages from the network."""

    body_mb: int = Field(50, ge=1, le=950, description="Largest page that is fetched, in MB.")
    timeout_s: int = Field(30, ge=1, description="Time one fetch may take, in seconds.")


class IndexSettings(_Group):
    """How text is found again; when something here changes, indexes are built anew."""

    engine: Literal["fast", "single-file"] = Field(
        "fast",
        description="`fast`: engines of their own in a folder beside the archive. `single-file`: "
        "SQLite's FTS5 and sqlite-vec in the archive's own file, slower (extra `single-file`).",
    )
    embedder: str = Field(
        "embedded:salon",
        description="What turns text into vectors, as `kind:name`; see docs/guides/embedders.md.",
    )
    embedder_url: str | None = Field(
        None, description="Address of the server, for `ollama:` and `openai:` embedders."
    )
    embedder_key: SecretStr | None = Field(
        None, description="Key for the embedder's server; better in the environment than in a file."
    )
    vectors: str = Field(
        "embedded",
        description="Where vectors are searched: `embedded`, `qdrant:URL`, `qdrant-edge:` or "
        "`postgresql://…`; see docs/guides/vector-stores.md.",
        repr=False,  # it may hold a password
    )
    fusion: Literal["calibrated", "rrf"] = Field(
        "calibrated",
        description="How words and vectors are joined: by calibrated scores, or by weighted "
        "reciprocal ranks.",
    )
    entities: str = Field(
        "rules",
        description="What finds names for the entity graph: `rules`, `spacy:PACKAGE` (extra "
        "`entities`) or `openai:MODEL` for a chat model.",
    )
    entities_url: str | None = Field(
        None, description="Address of the server of the chat model that finds names."
    )
    entities_key: SecretStr | None = Field(
        None, description="Key for that server; better in the environment than in a file."
    )
    chunk_size: int = Field(1000, ge=100, le=10_000, description="Characters in a passage.")
    chunk_overlap: int = Field(
        200, ge=0, le=5_000, description="Characters that neighbouring passages share."
    )

    @field_serializer("vectors")
    def _without_password(self, address: str) -> str:
        masked = re.sub(r"(?<=://)([^:/@]*):.*@", r"\1:***@", address)
        return re.sub(r"(?i)([?&]password=)[^&#]*", r"\1***", masked)


class ChatSettings(_Group):
    """The chat model that writes, where there is one; without it everything works from quotes."""

    model: str | None = Field(
        None,
        description="The chat model, as `kind:name`; none by default. `client:sampling` borrows "
        "that of an MCP client. See docs/guides/models.md.",
    )
    url: str | None = Field(
        None,
        description="Address of the server, for `compatible:`, `ollama:` and proxies.",
        repr=False,  # somebody may have put a password into it
    )
    key: SecretStr | None = Field(
        None,
        description="Key for the server; better in the environment than in a file. Without it the "
        "provider's own variable counts: `ANTHROPIC_API_KEY`, `GOOGLE_API_KEY`, `OPENAI_API_KEY`.",
    )
    timeout_s: float = Field(
        120.0, gt=0, le=3600, description="Time one answer may take, in seconds."
    )
    retries: int = Field(
        3, ge=0, le=10, description="How often a server that is busy or gone is asked again."
    )
    max_tokens: int = Field(
        4000, ge=1, description="Most tokens in one answer, whatever is asked for."
    )
    session_requests: int | None = Field(None, ge=0, description="Most requests in one session.")
    session_tokens: int | None = Field(
        None, ge=0, description="Most tokens in one session, read and written together."
    )
    session_usd: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="Most that one session may cost, in US dollars; needs both prices.",
    )
    usd_per_million_input: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="Price of a million tokens read."
    )
    usd_per_million_output: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="Price of a million tokens written."
    )

    @field_serializer("url")
    def _without_password(self, url: str | None) -> str | None:
        return url and re.sub(r"(?<=://)[^/]*@", "***@", url)


class CompanionSettings(_Group):
    """How companions read a conversation and reply."""

    steps: tuple[str, ...] = Field(
        (),
        description="Further steps of installed packages, by name; see docs/guides/blackboard.md.",
    )
    region: str = Field(
        "",
        pattern="^([A-Z]{2})?$",
        description="Two letters of the country whose help lines are named first in a crisis.",
    )
    typing_pace: bool = Field(
        False, description="Suggest a pause before each reply, as if somebody typed."
    )
    discussion_room: bool = Field(
        False, description="Let experts propose, criticise and vote before the synthesis."
    )
    model_readings: bool = Field(
        False, description="Let the chat model read feelings too, where one is set."
    )

    @field_validator("steps", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        """Take `a,b` as the environment has it."""
        return [one.strip() for one in value.split(",")] if isinstance(value, str) else value


class ActionSettings(_Group):
    """With what approved actions are carried out; without settings they become files in home."""

    calendar: str | None = Field(
        None,
        description="`ics:FOLDER` or `caldav:URL`; files in home by default.",
        repr=False,  # somebody may have put a password into it
    )
    calendar_user: str | None = Field(None, description="Name at the CalDAV server.")
    calendar_password: SecretStr | None = Field(
        None, description="Password there; better in the environment than in a file."
    )
    mail: str | None = Field(
        None, description="`eml:FOLDER` or `smtp:HOST:PORT`; drafts in home by default."
    )
    mail_user: str | None = Field(None, description="Name at the mail server.")
    mail_password: SecretStr | None = Field(
        None, description="Password there; better in the environment than in a file."
    )
    mail_tls: Literal["auto", "starttls", "tls", "none"] = Field(
        "auto",
        description="How the connection to the mail server is protected; `auto` goes by the port.",
    )
    mail_when_unknown: Literal["ask", "resend"] = Field(
        "ask",
        description="When nobody can know whether a message left: ask the person, or send it "
        "again under the same Message-ID.",
    )
    sender: str | None = Field(None, description="Your address, from which messages are sent.")
    time_zone: str | None = Field(
        None, description="Such as `Europe/Berlin`; the system's by default."
    )
    timeout_s: float = Field(20.0, gt=0, le=600, description="Time a server may take, in seconds.")
    learned_gate: bool = Field(
        False,
        description="Let a model that was taught calendar dialogues withhold an offer where it "
        "would rather ask; see docs/guides/gate.md.",
    )
    ca_file: Path | None = Field(
        None, description="Certificates to trust, where the servers have some of their own."
    )

    @field_serializer("calendar")
    def _without_password(self, address: str | None) -> str | None:
        return address and re.sub(r"(?<=://)[^/]*@", "***@", address)


class ServeSettings(_Group):
    """The front door: `salon serve`."""

    host: str = Field(
        "127.0.0.1", min_length=1, description="Address to listen on; another one needs a token."
    )
    port: int = Field(8765, ge=0, le=65535, description="Port to listen on; 0 takes any free one.")
    token: SecretStr | None = Field(
        None,
        min_length=16,
        description="What every request must carry; see docs/guides/serving.md.",
    )
    origins: tuple[str, ...] = Field(
        (), description="Pages elsewhere whose scripts may connect, as `https://host`."
    )
    rate: float = Field(
        20.0, gt=0, le=10_000, description="Messages a second that one session may send."
    )


class SeatSettings(_Group):
    """Who holds a seat of the council, and how a chat model in it is reached."""

    holder: str = Field(
        "offline",
        pattern=r"^(offline|outside|[a-z][a-z-]*:.+)$",
        description="`offline`: Salon's own strategy. `outside`: an MCP client with the seat's "
        "token. Else a chat model as `kind:name`; see docs/guides/council.md.",
    )
    url: str | None = Field(
        None,
        description="Address of that model's server, where it needs one.",
        repr=False,  # somebody may have put a password into it
    )
    key: SecretStr | None = Field(
        None, description="Key for that server; better in the environment than in a file."
    )

    @field_serializer("url")
    def _without_password(self, url: str | None) -> str | None:
        return url and re.sub(r"(?<=://)[^/]*@", "***@", url)


def _seat() -> SeatSettings:
    return SeatSettings.model_validate({})


class CouncilSettings(_Group):
    """Who sits in the council, and how long it waits and learns."""

    seat_i: SeatSettings = Field(default_factory=_seat)
    seat_ii: SeatSettings = Field(default_factory=_seat)
    seat_iii: SeatSettings = Field(default_factory=_seat)
    seat_iv: SeatSettings = Field(default_factory=_seat)
    seat_v: SeatSettings = Field(default_factory=_seat)
    patience_s: float = Field(
        600.0, gt=0, le=604_800, description="How long a phase waits for outside seats, in seconds."
    )
    retries: int = Field(
        3, ge=0, le=3, description="How often a round without consensus begins again."
    )
    evolve_every: int = Field(
        100, ge=1, description="Rounds after which the weakest soul may be retired."
    )
    probation: int = Field(
        10, ge=0, description="Rounds in which a new soul drafts and criticises without a vote."
    )

    @field_validator("seat_i", "seat_ii", "seat_iii", "seat_iv", "seat_v", mode="before")
    @classmethod
    def _by_name(cls, value: object) -> object:
        """Take `outside` for `{holder = "outside"}`."""
        return {"holder": value} if isinstance(value, str) else value

    def seat(self, numeral: str) -> SeatSettings:
        """Return the settings of the seat with this numeral."""
        found = getattr(self, f"seat_{numeral.lower()}")
        assert isinstance(found, SeatSettings)
        return found


class ChatRoomSettings(_Group):
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
        """Take `a,b` as the environment has it."""
        return [one.strip() for one in value.split(",")] if isinstance(value, str) else value

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


class HarmonicaSettings(_Group):
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


class Settings(_Group):
    """Everything that can be set."""

    home: Path = Field(description="The folder that holds the archive, its key and its settings.")
    archive: Path | None = Field(
        None,
        description="The archive file, where it is not `salon.db` in home: an MCard file, say.",
    )
    actor: str = Field(
        default_factory=getpass.getuser,
        min_length=1,
        max_length=200,
        description="Who acts, as recorded in the audit log; the name of the user by default.",
    )
    sign_audit: bool = Field(True, description="Sign the head of the audit log with a key in home.")
    reader: ReaderSettings = Field(default_factory=lambda: ReaderSettings.model_validate({}))
    fetch: FetchSettings = Field(default_factory=lambda: FetchSettings.model_validate({}))
    index: IndexSettings = Field(default_factory=lambda: IndexSettings.model_validate({}))
    chat: ChatSettings = Field(default_factory=lambda: ChatSettings.model_validate({}))
    companion: CompanionSettings = Field(
        default_factory=lambda: CompanionSettings.model_validate({})
    )
    actions: ActionSettings = Field(default_factory=lambda: ActionSettings.model_validate({}))
    serve: ServeSettings = Field(default_factory=lambda: ServeSettings.model_validate({}))
    council: CouncilSettings = Field(default_factory=lambda: CouncilSettings.model_validate({}))
    slack: SlackSettings = Field(default_factory=lambda: SlackSettings.model_validate({}))
    discord: DiscordSettings = Field(default_factory=lambda: DiscordSettings.model_validate({}))
    harmonica: HarmonicaSettings = Field(
        default_factory=lambda: HarmonicaSettings.model_validate({})
    )

    @property
    def archive_path(self) -> Path:
        """The one file that holds the truth."""
        return self.archive or self.home / "salon.db"

    @property
    def index_path(self) -> Path:
        """The folder of the derived indexes; it can be deleted at any time."""
        archive = self.archive_path
        return archive.with_name(f"{archive.stem}-index")

    @property
    def key_path(self) -> Path:
        """The private key that signs the audit log."""
        return self.home / "keys" / "audit.key"

    @property
    def seat_tokens_path(self) -> Path:
        """The digests of the tokens with which outside seats of the council come in."""
        return self.home / "keys" / "seats.json"

    @property
    def checkpoint_path(self) -> Path:
        """The last head of the audit log that was seen, beside the archive but not in it."""
        archive = self.archive_path
        return archive.with_name(f"{archive.stem}-checkpoint.json")


def load_settings(
    *,
    home: Path | None = None,
    environment: Mapping[str, str] = os.environ,
    flags: Mapping[str, object] | None = None,
) -> Settings:
    """Merge file, environment and flags into settings, or raise `InvalidSettings`."""
    chosen = home or _home_from(environment)
    values = _merge(_read_file(chosen / FILE_NAME), _read_environment(environment))
    values = _merge(values, dict(flags or {})) | {"home": chosen}
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise _explain(error) from error


def _home_from(environment: Mapping[str, str]) -> Path:
    if given := environment.get("SALON_HOME"):
        return Path(given).expanduser()
    import platformdirs  # noqa: PLC0415 - most runs do not need it

    return platformdirs.user_data_path("salon", appauthor=False)


def _read_file(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InvalidSettings(f"{path} cannot be read: {error}") from error


def _read_environment(environment: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for name, value in environment.items():
        if not name.startswith(PREFIX) or name == "SALON_HOME":
            continue
        *groups, last = name.removeprefix(PREFIX).lower().split("__")
        place = values
        for group in groups:
            inner = place.setdefault(group, {})
            if not isinstance(inner, dict):
                raise InvalidSettings(f"{name} contradicts another {PREFIX} variable")
            place = inner
        place[last] = value
    return values


def _merge(weak: dict[str, object], strong: dict[str, object]) -> dict[str, object]:
    merged = dict(weak)
    for name, value in strong.items():
        below = merged.get(name)
        merged[name] = (
            _merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
        )
    return merged


def _explain(error: ValidationError) -> InvalidSettings:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        import difflib  # noqa: PLC0415 - only to explain a mistake

        near = difflib.get_close_matches(place, list(setting_names()), n=1)
        return InvalidSettings(
            f"there is no setting {place!r}",
            hint=f"did you mean {near[0]!r}?" if near else "see docs/reference/settings.md",
        )
    return InvalidSettings(
        f"setting {place!r} is wrong: {first['msg']}", hint="see docs/reference/settings.md"
    )


def setting_names(group: type[BaseModel] = Settings, prefix: str = "") -> Mapping[str, str]:
    """Return every setting by its dotted name, with its description."""
    found: dict[str, str] = {}
    for name, field in group.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found |= setting_names(kind, f"{prefix}{name}.")
        else:
            found[prefix + name] = field.description or ""
    return found
