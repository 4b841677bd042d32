"""Cards: immutable bytes, named by their hash, stamped with `g_time`."""

from dataclasses import dataclass
from typing import NamedTuple

from salon.core.clock import GTime
from salon.core.errors import HashMismatch
from salon.core.hashing import CardHash, algorithm_of, content_hash, names

MAX_CARD_BYTES = 999_000_000
"""What one card may hold. SQLite's own limit is 10^9 bytes for a row, so a little less."""


class Card(NamedTuple):
    """Content with its name and the moment it came in. A tuple: it is made a million times."""

    hash: CardHash
    content: bytes
    g_time: GTime

    def text(self) -> str:
        """Return the content as UTF-8 text."""
        return self.content.decode()


class AddedCard(NamedTuple):
    """What adding content gave: its name, and whether the archive had it already."""

    hash: CardHash
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CardInfo:
    """A card without its content, for lists."""

    hash: CardHash
    size: int
    g_time: GTime


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """What stays of a deleted card."""

    hash: CardHash
    deleted_at: str
    deleted_by: str
    reason: str


def require_intact(card: Card) -> Card:
    """Return `card` if its content hashes to its name, else raise `HashMismatch`."""
    if not isinstance(card.content, bytes):  # SQLite keeps whatever another program put there
        raise HashMismatch(f"card {card.hash} holds text instead of bytes", hash=card.hash)
    if not names(card.hash, card.content):
        raise HashMismatch(
            f"card {card.hash} holds other bytes than its hash says",
            hint="the archive file was changed or damaged; run `salon archive verify`",
            hash=card.hash,
            actual=content_hash(card.content, algorithm_of(card.hash)),
        )
    return card
