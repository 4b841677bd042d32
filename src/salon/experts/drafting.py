"""The first draft of a profile: from a name and a few answers, complete enough to work."""

from collections.abc import Sequence

from salon.experts.profile import Profile, make_profile

_CONSTRAINTS = (
    "State only what the sources say, and cite them.",
    "Say so where the sources are silent; do not guess.",
    "Say that you are an AI whenever somebody asks, and never claim to be the person.",
)
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
) -> Profile:
    """Return a profile without sources, or raise `InvalidProfile`."""
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
            "salon": {"preset": "expert", "voice": voice, "speaking": "relevant"},
        }
    )
