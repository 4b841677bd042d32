"""Handles: stable names for changing content, and the rules for such names."""

import unicodedata
from dataclasses import dataclass
from enum import Enum
from typing import Final, NewType

from salon.core.errors import InvalidHandle
from salon.core.hashing import CardHash

HandleName = NewType("HandleName", str)

MAX_HANDLE_CHARACTERS = 255
_PUNCTUATION = frozenset("_-./: ")


class Anything(Enum):
    """The type of `ANYTHING`: a move that does not care where the handle points now."""

    ANYTHING = "anything"


ANYTHING: Final = Anything.ANYTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Handle:
    """A name and the card it points at now."""

    name: HandleName
    current: CardHash
    created_at: str
    updated_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandleMove:
    """One step in a handle's life. No `previous`: it was made. No `current`: it was removed."""

    handle: HandleName
    previous: CardHash | None
    current: CardHash | None
    moved_at: str


def as_handle_name(text: str) -> HandleName:
    """Return `text` as a handle name, stripped and in NFC, or raise `InvalidHandle`.

    The first character is a letter; letters, numbers, `_ - . / :` and space follow; at most 255
    characters; case is kept. These are MCard's rules.
    """
    name = unicodedata.normalize("NFC", text.strip())
    problem = _problem(name)
    if problem:
        raise InvalidHandle(
            f"{name[:60]!r} cannot be a handle: {problem}",
            hint="start with a letter; then letters, numbers, spaces and _ - . / : "
            f"(at most {MAX_HANDLE_CHARACTERS} characters)",
        )
    return HandleName(name)


def _problem(name: str) -> str | None:
    if not name:
        return "it is empty"
    if len(name) > MAX_HANDLE_CHARACTERS:
        return f"it has {len(name)} characters"
    if not name[0].isalpha():
        return f"it starts with {name[0]!r}, which is not a letter"
    for character in name:
        if not (character in _PUNCTUATION or _is_letter_or_number(character)):
            return f"it contains {character!r}"
    return None


def _is_letter_or_number(character: str) -> bool:
    # Combining marks count as part of a letter: NFC cannot compose every script.
    return unicodedata.category(character)[0] in "LNM"
