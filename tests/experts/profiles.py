"""Profiles for tests."""

from typing import Any

from salon.experts.profile import Profile, make_profile


def config(**changes: Any) -> dict[str, Any]:
    """Return the smallest `config.json` there is, with some fields changed."""
    smallest = {
        "id": "ada",
        "name": "Ada Lovelace",
        "description": "She wrote about engines.",
        "corpus": {"description": "Her notes.", "sources": []},
        "systemPrompt": {
            "identity": "You represent her notes.",
            "tone": "Exact.",
            "constraints": ["Cite."],
            "citationStyle": "In my notes I wrote …",
        },
    }
    return smallest | changes


def profile(**changes: Any) -> Profile:
    """Return the smallest profile there is, with some fields changed."""
    return make_profile(config(**changes))
