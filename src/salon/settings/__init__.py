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

from pydantic import BaseModel, Field, ValidationError, field_validator

from salon.core.errors import InvalidSettings
from salon.settings.conversation import ActionSettings, ChatSettings, CompanionSettings
from salon.settings.corpus import FetchSettings, IndexSettings, ReaderSettings
from salon.settings.council import CouncilSettings
from salon.settings.group import Group
from salon.settings.platforms import DiscordSettings, HarmonicaSettings, SlackSettings
from salon.settings.serving import ServeSettings

PREFIX = "SALON_"
FILE_NAME = "salon.toml"
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


class Settings(Group):
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

    @field_validator("archive", mode="before")
    @classmethod
    def _is_a_file(cls, value: object) -> object:
        # A path swallows one of the two slashes; a drive of Windows is one letter.
        if isinstance(value, str | Path) and _ADDRESS.match(str(value)):
            scheme = str(value).partition(":")[0]
            # Nothing else of it is shown: it may hold a password.
            raise InvalidSettings(
                f"setting 'archive' is an address ({scheme}:), and the archive is a file",
                hint="give the path of a file, or leave it out for salon.db in home; vectors can "
                "lie in PostgreSQL (index.vectors), the archive cannot",
            )
        return value

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
