"""Where the command line works: the home and the flags that are stronger than all settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from salon.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a person asked for before the name of the command."""

    home: Path | None
    flags: Mapping[str, object]


def settings_in_force() -> "Settings":
    """Return the settings for the command that runs now."""
    from salon.settings import load_settings

    place = click.get_current_context().find_root().obj
    assert isinstance(place, Place)
    return load_settings(home=place.home, flags=place.flags)
