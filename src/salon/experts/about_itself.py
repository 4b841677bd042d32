"""What an avatar says of itself: who it is, what it rests on, and a word to a greeting or thanks.

Nothing of it comes from the corpus, and all of it from the profile and the list of documents. The
words are in `about_itself.json`: how people ask, and what is said. A message is taken for such a
question only as a whole, so that "who are you for in this war?" still goes to the texts.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from salon.experts.profile import Profile

WORDS = Path(__file__).with_name("about_itself.json")
_SIGNS = re.compile(r"[^\w\s]+")
_LONGEST = 200
"""In characters: what is longer asks for more than a name."""


class _Kind(BaseModel):
    model_config = ConfigDict(extra="forbid")

    asked: list[str]
    """Patterns of whole messages, in small letters and without signs."""
    said: list[str]


class _Words(BaseModel):
    model_config = ConfigDict(extra="forbid")

    about: str
    openings: list[str]
    """What may stand before a question without changing it."""
    kinds: dict[str, _Kind]
    sources: dict[str, str]
    """How many documents, by `none`, `one` and `many`, with a period or without."""
    ask: dict[str, str]


def asks_about_itself(text: str) -> str | None:
    """Return which question about the avatar itself a message is, `None` if it is another."""
    if len(text) > _LONGEST:
        return None
    bare = " ".join(_SIGNS.sub(" ", text.replace("\u2019", "'").replace("'", "")).lower().split())
    for kind, pattern in _patterns().items():
        if pattern.fullmatch(bare):
            return kind
    return None


def about_itself(profile: Profile, label: str, field: str, documents: int) -> Mapping[str, str]:
    """Return what an avatar says to each such question; `documents` is how many it has."""
    words = _words()
    slots = {
        "label": label,
        "field": field,
        "sources": _sources(profile, documents),
        "corpus": f"{profile.corpus.description.rstrip('.')}.",
        "ask": words.ask["example" if profile.expertise else "any"].format(
            example=next(iter(profile.expertise), "")
        ),
    }
    return {name: " ".join(kind.said).format(**slots) for name, kind in words.kinds.items()}


def _sources(profile: Profile, documents: int) -> str:
    period = profile.period
    number = "none" if not documents else "one" if documents == 1 else "many"
    is_dated = documents and period.first is not None and period.last is not None
    template = _words().sources[f"{number}_dated" if is_dated else number]
    return template.format(count=f"{documents:,}", first=period.first, last=period.last)


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    words = _words()
    opening = "|".join(words.openings)
    return {
        name: re.compile(rf"(?:(?:{opening}) )*(?:{'|'.join(kind.asked)})(?: please)?")
        for name, kind in words.kinds.items()
    }


@cache
def _words() -> _Words:
    return _Words.model_validate(json.loads(WORDS.read_text(encoding="utf-8")))
