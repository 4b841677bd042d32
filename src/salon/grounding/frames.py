"""Frames: the words around quotes that claim nothing beyond whose words they are and where from.

Composers fill these templates, and the check reads them back: a sentence that is such a frame, with
every slot true, needs no support of its own. What fills a slot is held against the citation or the
discussion, so nobody can smuggle a claim in as a frame. Another language is another table.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

SLOTS: Mapping[str, str] = {
    "source": r".+?",
    "year": r"-?\d{1,4}",
    "name": r"[^.!?:]{1,80}?",
    "topic": r"that|“[^“”.!?]{1,120}”",
    "label": r".{1,300}?",
    "field": r".{1,300}?",
    "other": r"[^.!?:]{1,80}?",
}

QUOTING: Mapping[str, tuple[str, ...]] = {
    "first_person": (
        "In “{source}” ({year}) I wrote:",
        "In “{source}” ({year}) I said:",
        "In “{source}” I wrote:",
        "In “{source}” I said:",
        "And in the same text:",
        "And in “{source}” ({year}):",
        "And in “{source}”:",
    ),
    "student": (
        "In “{source}” ({year}) {name} wrote:",
        "In “{source}” ({year}) {name} said:",
        "In “{source}” {name} wrote:",
        "In “{source}” {name} said:",
        "And in the same text:",
        "And in “{source}” ({year}):",
        "And in “{source}”:",
    ),
}
"""What stands before a quote, by voice; the colon is followed by the quote itself."""

ADDRESSING = (
    "{other}, on what you said:",
    "{other}, to your question:",
    "I see this otherwise than {other}:",
    "I agree with {other}:",
)
"""How another participant is spoken to or of; `{other}` must have spoken."""

LIMITS = (
    "My texts say nothing about that.",
    "My texts say nothing about {topic}.",
    "The texts of {name} say nothing about that.",
    "The texts of {name} say nothing about {topic}.",
    "The nearest I have is this.",
    "The nearest there is is this.",
    "This lies outside my field, which is {field}.",
    "This lies outside the field of {name}, which is {field}.",
    "My texts end in {year}, so I cannot speak about {topic}.",
    "The texts of {name} end in {year} and cannot speak about {topic}.",
    "I do not know what you mean by that.",
    "What exactly do you want to know about {topic}?",
    "What exactly do you want to know?",
)
"""What an avatar says of itself when it does not answer."""

FRAMES: tuple[str, ...] = (*QUOTING["first_person"], *QUOTING["student"], *ADDRESSING, *LIMITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A template that a sentence fills, and with what."""

    template: str
    slots: Mapping[str, str]


def read_frame(text: str, is_true: Callable[[str, str], bool]) -> Frame | None:
    """Return the frame that a text is, if every slot is filled with something true."""
    bare = text.strip()
    for template, pattern in _patterns():
        found = pattern.fullmatch(bare)
        if found and all(is_true(slot, value) for slot, value in found.groupdict().items()):
            return Frame(template=template, slots=found.groupdict())
    for template in ADDRESSING:
        # Somebody is spoken to before the quote is introduced.
        found = _pattern(template).match(bare)
        if (
            found
            and found.end() < len(bare)
            and all(is_true(slot, value) for slot, value in found.groupdict().items())
            and read_frame(bare[found.end() :], is_true) is not None
        ):
            return Frame(template=template, slots=found.groupdict())
    return None


def fill(template: str, **slots: object) -> str:
    """Return a frame with its slots filled."""
    return template.format(**slots)


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((template, _pattern(template)) for template in FRAMES)


@cache
def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", template.strip())
    made = "".join(
        f"(?P<{part}>{SLOTS[part]})" if place % 2 else re.escape(part)
        for place, part in enumerate(parts)
    )
    return re.compile(made, re.DOTALL)
