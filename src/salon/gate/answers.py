"""Understanding short answers: yes, no, cancel, skip, a change; anything else is none of them.

The phrases are data. An answer counts only as a whole, so "yes, but later" is no yes: what is not
clearly an approval never becomes one.
"""

import re
from dataclasses import dataclass

AFFIRMATIVES: frozenset[str] = frozenset({
    "yes", "y", "yeah", "yep", "yup", "sure", "ok", "okay", "yes do", "yes do it", "yes do that",
    "do it", "go ahead", "yes go ahead", "please do", "do that", "sounds good", "looks good",
    "that works", "that is fine", "that's fine", "fine", "correct", "approved", "i approve",
    "approve", "confirm", "confirmed", "i confirm", "yes send it", "send it", "yes book it",
    "book it", "yes that works", "yes looks good", "of course", "definitely", "absolutely",
})  # fmt: skip
NEGATIVES: frozenset[str] = frozenset({
    "no", "n", "nah", "nope", "not now", "no thanks", "no thank you", "not yet", "don't",
    "do not", "don't do it", "don't send it", "don't book it", "no don't", "rather not",
    "i'd rather not", "not today", "maybe later", "later",
})  # fmt: skip
CANCELS: frozenset[str] = frozenset({
    "cancel", "/cancel", "!cancel", "cancel it", "cancel that", "never mind", "nevermind",
    "forget it", "forget that", "abort", "stop", "call it off", "drop it", "leave it",
    "i changed my mind", "changed my mind",
})  # fmt: skip
SKIPS: frozenset[str] = frozenset({
    "skip", "skip it", "skip that", "none", "no", "nothing", "i don't know", "don't know",
    "not needed", "n/a", "no phone", "leave it out", "leave it empty",
})  # fmt: skip
POLITE = re.compile(r"^(?:please|thanks|thank you|well|oh)\s+|\s+(?:please|thanks|thank you)$")
_TO = re.compile(
    r"^(?:please\s+)?(?:change|set|update|edit|correct|make)\s+(?:the\s+|his\s+|her\s+|their\s+)?"
    r"(?P<field>[A-Za-z][\w -]{0,30}?)\s+(?:to|into|as|=)\s+(?P<value>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_IT = re.compile(
    r"^(?:please\s+)?(?:make|move|change|reschedule)\s+(?P<field>it)\s+(?:to\s+|for\s+)?(?P<value>.+)$",
    re.IGNORECASE,
)
_IS = re.compile(
    r"^(?:the\s+)?(?P<field>[A-Za-z][\w -]{0,30}?)\s*(?:[:=]|should be|is)\s+(?P<value>.+)$",
    re.IGNORECASE | re.DOTALL,
)
CHANGES: tuple[re.Pattern[str], ...] = (_TO, _IT)
"""`change X to Y`, in order; `it` stands for the time of an action that has one."""
LOOSE_CHANGES: tuple[re.Pattern[str], ...] = (*CHANGES, _IS)
"""And `X: Y`, which in the middle of an answer may be anything."""
_LOOSE = re.compile(r"[\s.,!;:]+")
_QUOTED = re.compile(r"^[\"“”'‘’](?P<inside>.+)[\"“”'‘’]$", re.DOTALL)  # noqa: RUF001 - people's quotes


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A wish to change one field of a draft."""

    field: str
    value: str


def normal(text: str) -> str:
    """Return an answer as the phrase tables have it; a question mark stays, so nothing matches."""
    folded = text.casefold().replace("’", "'")  # noqa: RUF001 - how people's keyboards write it
    plain = _LOOSE.sub(" ", folded).strip()
    while (shorter := POLITE.sub("", plain)) != plain:
        plain = shorter
    return plain


def is_yes(text: str) -> bool:
    """Tell whether an answer is a clear yes and nothing else."""
    return normal(text) in AFFIRMATIVES


def is_no(text: str) -> bool:
    """Tell whether an answer is a clear no and nothing else."""
    return normal(text) in NEGATIVES


def is_cancel(text: str) -> bool:
    """Tell whether an answer calls everything off."""
    return normal(text) in CANCELS


def is_skip(text: str) -> bool:
    """Tell whether an answer leaves a field out."""
    return normal(text) in SKIPS


def find_changes(text: str, *, is_loose: bool) -> tuple[Change, ...]:
    """Return how an answer can be read as a change of a field, the likeliest reading first."""
    patterns = LOOSE_CHANGES if is_loose else CHANGES
    matches = [match for pattern in patterns if (match := pattern.match(text.strip()))]
    return tuple(Change(field=one["field"], value=unquoted(one["value"])) for one in matches)


def unquoted(text: str) -> str:
    """Return a value without the quotation marks around it."""
    stripped = text.strip()
    match = _QUOTED.match(stripped)
    return match["inside"].strip() if match else stripped
