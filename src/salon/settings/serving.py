"""Settings of the front door."""

from pydantic import Field, SecretStr, field_validator

from salon.settings.group import Group, split_list


class ServeSettings(Group):
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
        (),
        description="Pages elsewhere whose scripts may use this server, as `https://host`, with "
        "commas between them.",
    )
    rate: float = Field(
        20.0, gt=0, le=10_000, description="Messages a second that one session may send."
    )

    @field_validator("origins", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return split_list(value)
