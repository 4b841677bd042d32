"""What an avatar's preset means for those who want to talk with it."""

from salon.core.errors import InvalidInput
from salon.experts.profile import Profile

SERVED = frozenset({"expert", "assistant"})
"""Presets that an MCP server can speak for; a companion's turns need a session of their own."""
_WAYS = {
    "companion": "it talks in sessions: `salon companion --avatar {id}`, the page, or "
    "POST /api/sessions/SESSION/messages",
    "assistant": "it advises and acts in sessions: `salon assistant --avatar {id}`, the page, or "
    "POST /api/sessions/SESSION/messages; over MCP with the tool `assist`",
    "council": "it is not talked to; `salon council --help` lists what a council does",
}


def way_to(profile: Profile) -> str | None:
    """Return how an avatar that is no expert is talked to, `None` for an expert."""
    way = _WAYS.get(profile.salon.preset)
    return None if way is None else way.format(id=profile.id)


def require_expert(profile: Profile) -> None:
    """Raise `InvalidInput` where somebody asks an avatar that does not answer from documents."""
    if (way := way_to(profile)) is not None:
        raise InvalidInput(
            f"{profile.id} is {_named(profile)}, and answers no single questions", hint=way
        )


def require_served(profile: Profile) -> None:
    """Raise `InvalidInput` where an avatar has no MCP server."""
    if profile.salon.preset not in SERVED:
        raise InvalidInput(
            f"{profile.id} is {_named(profile)}, which has no MCP server", hint=way_to(profile)
        )


def _named(profile: Profile) -> str:
    preset = profile.salon.preset
    return f"an {preset}" if preset[0] in "aeiou" else f"a {preset}"
