"""One card as MCard's callers know it: content with its hash and the moment it was made.

A value, not a store: making a card stores nothing. `g_time` is the moment of making; a card that
comes out of a collection has the moment it was stored.

Invariant: nothing about a card can change, and its hash is the hash of its content.
"""

import os
from typing import Literal, Self, overload

from salon.archive.content_types import HEAD_BYTES, detect_content_type
from salon.core.cards import Card
from salon.core.clock import GTime, SystemClock, g_time
from salon.core.hashing import (
    DEFAULT_ALGORITHM,
    Algorithm,
    CardHash,
    algorithm_of,
    as_algorithm,
    content_hash,
)
from salon.mcard.errors import EmptyCard, value_errors

PREVIEW_CHARACTERS = 50


class MCard:
    """Immutable content, named by its hash."""

    __slots__ = ("_content", "_g_time", "_hash", "_hash_function")

    _content: bytes
    _hash: CardHash
    _g_time: GTime
    _hash_function: Algorithm

    def __init__(self, content: str | bytes, hash_function: str | None = None) -> None:
        """Make a card; without a `hash_function`, `MCARD_HASH_ALGORITHM` or SHA-256 is used."""
        chosen = hash_function or os.environ.get("MCARD_HASH_ALGORITHM") or DEFAULT_ALGORITHM
        with value_errors():
            algorithm = as_algorithm(chosen.lower())
        self._content = _as_bytes(content)
        self._hash_function = algorithm
        self._hash = content_hash(self._content, algorithm)
        self._g_time = g_time(algorithm, SystemClock().now())

    @classmethod
    def from_stored(cls, card: Card) -> Self:
        """Return a card of the archive as MCard's callers know it."""
        self = cls.__new__(cls)
        self._content = card.content
        self._hash_function = algorithm_of(card.hash)
        self._hash = card.hash
        self._g_time = card.g_time
        return self

    @property
    def content(self) -> bytes:
        """The bytes."""
        return self._content

    @property
    def hash(self) -> str:
        """The lowercase hex digest of the bytes."""
        return self._hash

    @property
    def g_time(self) -> str:
        """Algorithm, moment and zone, as in `sha256|2026-11-15T00:23:23.229924Z|UTC`."""
        return self._g_time

    @property
    def hash_function(self) -> Algorithm:
        """The algorithm behind the hash."""
        return self._hash_function

    @overload
    def get_content(self, as_text: Literal[False] = ...) -> bytes: ...
    @overload
    def get_content(self, as_text: Literal[True]) -> str: ...
    def get_content(self, as_text: bool = False) -> bytes | str:  # noqa: FBT001, FBT002 - MCard's
        """Return the bytes, or the text that they are in UTF-8.

        Asking for the text of bytes that are none raises `UnicodeDecodeError`.
        """
        return self._content.decode() if as_text else self._content

    def get_hash(self) -> str:
        """Return `hash`."""
        return self._hash

    def get_g_time(self) -> str:
        """Return `g_time`."""
        return self._g_time

    def as_row(self) -> tuple[CardHash, bytes, GTime]:
        """Return the card as an archive stores it, with the moment it was made."""
        return CardHash(self._hash), self._content, GTime(self._g_time)

    def get_content_type(self) -> str:
        """Return the media type that the first bytes show."""
        return detect_content_type(self._content[:HEAD_BYTES])

    def to_dict(self) -> dict[str, str]:
        """Return the card as plain values; content that is not text is written as a literal."""
        return {
            "content": self._shown(),
            "hash": self._hash,
            "g_time": self._g_time,
            "content_type": self.get_content_type(),
        }

    def to_display_dict(self) -> dict[str, str]:
        """Return what a list of cards shows of this one."""
        shown = self._shown()
        return {
            "hash": self._hash,
            "content_type": self.get_content_type(),
            "created_at": self._g_time.split("|")[1][: len("2026-11-15T00:23:23")],
            "content_preview": shown[:PREVIEW_CHARACTERS]
            + ("..." if len(shown) > PREVIEW_CHARACTERS else ""),
            "card_class": type(self).__name__,
        }

    def _shown(self) -> str:
        try:
            return self._content.decode()
        except UnicodeDecodeError:
            return repr(self._content)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MCard):
            return NotImplemented
        return (self._hash, self._content) == (other._hash, other._content)

    def __hash__(self) -> int:
        return hash((self._hash, self._content))

    def __repr__(self) -> str:
        return f"MCard(hash={self._hash!r}, {len(self._content)} bytes)"


def _as_bytes(content: str | bytes | None) -> bytes:
    if content is None or not len(content):
        raise EmptyCard("a card cannot be empty", hint="give it at least one byte")
    return content.encode() if isinstance(content, str) else bytes(content)
