"""An avatar's profile: who it is, what it rests on, how it speaks.

`config.json` in the avatar's folder is where a person edits it; what counts is the card behind
the handle `avatars/ID/profile`, so every version is kept and audited. A profile comes from
anywhere: what cannot be understood is refused with its path, the reason and the nearest name.
"""

import difflib
import json
import os
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from salon.core.archive import Archive
from salon.core.canonical import canonical_json
from salon.core.errors import AvatarNotFound, FileMissing, InvalidProfile
from salon.core.handles import Handle
from salon.core.ids import AvatarId
from salon.corpus.manifest import Period, as_avatar_id
from salon.experts.profile_blocks import (
    EXTENSION,
    UNKNOWN_FIELD,
    Block,
    CorpusBlock,
    IdText,
    McpBlock,
    McpServerBlock,
    SaidText,
    SalonBlock,
    SystemPrompt,
    VectorStoreBlock,
    Year,
)

CONFIG_NAME = "config.json"
LARGEST_PROFILE = 4_000_000
_HANDLE_END = "/profile"


class Profile(Block):
    """An avatar as `config.json` describes it."""

    id: IdText = Field(
        description="Lower-case letters, digits and single hyphens; unique in this Salon."
    )
    name: SaidText = Field(description="The name people see.")
    description: SaidText = Field(description="Who it is, in a sentence or two.")
    birth_year: Year | None = Field(None, description="When the person was born.")
    death_year: Year | None = Field(None, description="When the person died.")
    expertise: tuple[SaidText, ...] = Field(
        (), description="The fields it can speak about; `salon avatar check` measures each."
    )
    corpus: CorpusBlock = Field(description="What the avatar knows, and nothing beyond it.")
    system_prompt: SystemPrompt = Field(description="The persona.")
    vector_store: VectorStoreBlock | None = Field(
        None, description="Upstream's wishes for a vector store; Salon's own settings decide."
    )
    mcp_server: McpServerBlock | None = Field(
        None, description="A server of this avatar that runs elsewhere."
    )
    mcp: McpBlock = Field(
        default_factory=lambda: McpBlock.model_validate({}),
        description="What its MCP server says of itself.",
    )
    salon: SalonBlock = Field(
        default_factory=lambda: SalonBlock.model_validate({}), description="Salon's own block."
    )

    @property
    def avatar(self) -> AvatarId:
        """The id, as the rest of Salon takes it."""
        return AvatarId(self.id)

    @property
    def period(self) -> Period:
        """The years that the corpus covers."""
        days = self.corpus.date_range
        if days is None:
            return Period()
        return Period(
            first=days.start.year if days.start else None, last=days.end.year if days.end else None
        )

    def to_json(self) -> bytes:
        """Return the profile as a card: canonical, without what was left out."""
        return canonical_json(self.as_config())

    def as_config(self) -> dict[str, Any]:
        """Return the profile as `config.json` has it, without what was left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


# Reading and writing


def parse_profile(content: bytes | str) -> Profile:
    """Read a profile from JSON, or raise `InvalidProfile`."""
    if len(content) > LARGEST_PROFILE:
        raise InvalidProfile(f"a profile of {len(content):,} bytes is too large")
    try:
        found = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidProfile(
            f"the profile is not JSON: {error}", hint="check it with a JSON editor"
        ) from error
    return make_profile(found)


def make_profile(values: object) -> Profile:
    """Make a profile from plain values, or raise `InvalidProfile`."""
    try:
        profile = Profile.model_validate(values)
        profile.to_json()
    except ValidationError as error:
        raise _explain(error) from error
    except UnicodeEncodeError as error:  # in an extension; no other field lets it through
        raise InvalidProfile("the profile holds something that is not text") from error
    return profile


def load_profile(place: Path) -> Profile:
    """Read the profile in a folder or a file, or raise `FileMissing` or `InvalidProfile`."""
    path = place / CONFIG_NAME if place.is_dir() else place
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST_PROFILE + 1)
    except FileNotFoundError as error:
        raise FileMissing(
            f"there is no profile at {path}", hint="`salon avatar new ID` makes one"
        ) from error
    return parse_profile(content)


def save_profile(profile: Profile, folder: Path) -> Path:
    """Write `config.json` into a folder, whole or not at all, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / CONFIG_NAME
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    text = json.dumps(profile.as_config(), ensure_ascii=False, indent=2)
    try:
        fresh.write_text(text + "\n", "utf-8")
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    return path


def profile_schema() -> dict[str, object]:
    """Return the published JSON Schema of profiles."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Profile.model_json_schema(by_alias=True),
        "title": "Avatar profile",
    }


# In the archive


def profile_handle(avatar: str) -> str:
    """Return the handle behind which an avatar's profile is."""
    return f"avatars/{avatar}{_HANDLE_END}"


def register_profile(archive: Archive, profile: Profile, *, by: str | None = None) -> Handle:
    """Make a profile count; one that counts already leaves everything as it is."""
    name = profile_handle(profile.id)
    content = profile.to_json()
    handle = archive.find_handle(name)
    if handle is not None and archive.get(handle.current).content == content:
        return handle
    return archive.put(name, content, by=by)


def find_profile(archive: Archive, avatar: str) -> Profile | None:
    """Return the profile of an avatar, or `None`."""
    handle = archive.find_handle(profile_handle(as_avatar_id(avatar)))
    return None if handle is None else _read(archive, handle)


def get_profile(archive: Archive, avatar: str) -> Profile:
    """Return the profile of an avatar, or raise `AvatarNotFound`."""
    found = find_profile(archive, avatar)
    if found is None:
        known = ", ".join(profile_ids(archive))
        raise AvatarNotFound(
            f"there is no avatar {avatar!r}",
            hint=f"there are {known}" if known else "`salon avatar new ID` makes one",
        )
    return found


def profile_ids(archive: Archive) -> list[str]:
    """Return the ids of all avatars with a profile, in order."""
    return [handle.name.split("/")[1] for handle in _handles(archive)]


def list_profiles(archive: Archive) -> list[Profile]:
    """Return every profile, by id."""
    return [_read(archive, handle) for handle in _handles(archive)]


def _handles(archive: Archive) -> list[Handle]:
    found = archive.handles(prefix="avatars/")
    return sorted(
        (one for one in found if one.name.endswith(_HANDLE_END) and one.name.count("/") == 2),
        key=lambda handle: handle.name,
    )


def _read(archive: Archive, handle: Handle) -> Profile:
    return _parse_card(archive.get(handle.current).content)


_parse_card = lru_cache(maxsize=256)(parse_profile)


# Explaining


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number in JSON")


def _explain(error: ValidationError) -> InvalidProfile:
    """Turn the first mistake into one sentence, and all of them into details."""
    mistakes = error.errors()
    path, reason, nearest = _mistake(mistakes[0])
    more = f" (and {len(mistakes) - 1} more)" if len(mistakes) > 1 else ""
    return InvalidProfile(
        f"{path or 'the profile'}: {reason}{more}",
        hint=_hint(mistakes[0], nearest),
        path=path,
        reason=reason,
        nearest=nearest,
        mistakes=["{}: {}".format(*_mistake(one)) for one in mistakes],
    )


def _mistake(found: ErrorDetails) -> tuple[str, str, str | None]:
    """Return where a mistake is, what it is, and what was probably meant."""
    context = found.get("ctx") or {}
    reason = found["msg"][0].lower() + found["msg"][1:]
    if found["type"] == UNKNOWN_FIELD:
        path = (*found["loc"], context["field"])
        return _dotted(path), reason, context["nearest"] or None
    allowed = re.findall(r"'([^']+)'", str(context.get("expected", "")))
    near = difflib.get_close_matches(str(found["input"]), allowed, n=1)
    return _dotted(found["loc"]), reason, near[0] if near else None


def _dotted(path: Iterable[int | str]) -> str:
    return ".".join(str(part) for part in path)


def _hint(found: ErrorDetails, nearest: str | None) -> str:
    if nearest:
        return f"did you mean {nearest!r}?"
    if found["type"] == UNKNOWN_FIELD:
        name = str((found.get("ctx") or {})["field"])
        return f"leave it out, or call it {EXTENSION + name!r}: Salon keeps such fields unread"
    return "docs/guides/avatars.md describes every field"
