"""Settings of those who talk and act: chat models, companions, assistants."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, field_serializer, field_validator

from salon.gate.policy import PolicyName
from salon.settings.group import Group, split_list, without_password


class ChatSettings(Group):
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
        return without_password(url)


class CompanionSettings(Group):
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
        return split_list(value)


class ActionSettings(Group):
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
    gate_policy: PolicyName = Field(
        "sentence",
        description="How strict the gate is: `sentence` judges sentence by sentence, "
        "`conservative` lets no reply with a question mark offer anything. `gatePolicy` in an "
        "avatar's profile goes before it.",
    )
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
        return without_password(address)
