"""What every group of settings is: nothing unknown, nothing changed later."""

import re

from pydantic import BaseModel, ConfigDict


class Group(BaseModel):
    """A group of settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def split_list(value: object) -> object:
    """Take `a,b` as the environment has it."""
    return [one.strip() for one in value.split(",")] if isinstance(value, str) else value


def without_password(url: str | None) -> str | None:
    """Return an address as it may be shown."""
    return url and re.sub(r"(?<=://)[^/]*@", "***@", url)
