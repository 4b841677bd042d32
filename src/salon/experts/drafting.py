"""The first draft of a profile: from a name and a few answers, complete enough to work."""

from collections.abc import Sequence

from salon.experts.profile import Profile, make_profile

_CONSTRAINTS = (
    "State only what the sources say, and cite them.",
    "Say so where the sources are silent; do not guess.",
    "Say that you are an AI whenever somebody asks, and never claim to be the person.",
)
_COMPANION_CONSTRAINTS = (
    "Say that you are an AI whenever somebody asks.",
    "Never claim to have lived through something.",
    "Never ask for money, passwords or an address.",
    "Say so where you do not know or do not remember.",
)
_SPEAKING = {"expert": "relevant", "assistant": "mentioned"}
"""When an avatar speaks in a group, by preset."""
_STYLES = {
    "first_person": "First person, past tense, naming the source: in SOURCE I wrote …",
    "student": "Third person, naming the source: in SOURCE, {name} wrote …",
}


def draft_profile(
    avatar: str,
    name: str,
    *,
    description: str | None = None,
    expertise: Sequence[str] = (),
    start: str | None = None,
    end: str | None = None,
    voice: str = "first_person",
    tone: str | None = None,
    preset: str = "expert",
) -> Profile:
    """Return a profile without sources, or raise `InvalidProfile`."""
    if preset == "companion":
        return _companion(avatar, name, description, expertise, tone)
    days = {name: day for name, day in (("start", start), ("end", end)) if day}
    beyond = (f"Do not speak about anything after {end}.",) if end else ()
    corpus: dict[str, object] = {"description": f"Texts by {name}.", "sources": []}
    return make_profile(
        {
            "id": avatar,
            "name": name,
            "description": description or f"An avatar of {name} that answers from documents.",
            "expertise": list(expertise),
            "corpus": corpus | ({"dateRange": days} if days else {}),
            "systemPrompt": {
                "identity": f"You represent the documented work of {name}, and nothing beyond it.",
                "tone": tone or "Clear and friendly.",
                "constraints": [*_CONSTRAINTS, *beyond],
                "citationStyle": _STYLES.get(voice, _STYLES["student"]).format(name=name),
            },
            "salon": {"preset": preset, "voice": voice, "speaking": _SPEAKING[preset]},
        }
    )


def _companion(
    avatar: str,
    name: str,
    description: str | None,
    expertise: Sequence[str],
    tone: str | None,
) -> Profile:
    """Return the profile of somebody to talk to, who has no documents."""
    return make_profile(
        {
            "id": avatar,
            "name": name,
            "description": description or f"{name}, a companion for everyday talk.",
            "expertise": list(expertise) or ["everyday talk"],
            "corpus": {
                "description": f"{name} has no library; what it knows of you, you told it.",
                "sources": [],
            },
            "systemPrompt": {
                "identity": f"You are {name}, an AI companion without a body or a past.",
                "tone": tone or "Warm, short and concrete; one question at a time.",
                "constraints": list(_COMPANION_CONSTRAINTS),
                "citationStyle": "In the words of the person: you told me that …",
            },
            "salon": {"preset": "companion", "voice": "first_person", "speaking": "always"},
        }
    )
