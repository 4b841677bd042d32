"""Settings of the council: who holds which seat, and how rounds go."""

from pydantic import Field, SecretStr, field_serializer, field_validator

from salon.settings.group import Group, without_password


class SeatSettings(Group):
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
        return without_password(url)


def _seat() -> SeatSettings:
    return SeatSettings.model_validate({})


class CouncilSettings(Group):
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
    evolve_patience_s: float = Field(
        86_400.0,
        gt=0,
        le=2_592_000,
        description="How long the other seats have to vote on a retirement, and then to write the "
        "new soul, in seconds.",
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
