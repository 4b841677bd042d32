"""Inserting cards: duplicates are recognised, collisions climb to a stronger hash."""

from collections.abc import Sequence
from typing import TypeAlias

import apsw

from salon.archive import rows
from salon.core.cards import MAX_CARD_BYTES, AddedCard, Card, require_intact
from salon.core.clock import Clock, GTime, g_time
from salon.core.errors import ContentTooLarge, EmptyContent, HashMismatch
from salon.core.hashing import STRONGER, Algorithm, CardHash, algorithm_of, content_hash, hash_all

CardRow: TypeAlias = tuple[CardHash, bytes, GTime]

_INSERT = "INSERT INTO card (hash, content, g_time) VALUES (?, ?, ?) ON CONFLICT(hash) DO NOTHING"


def prepare(contents: Sequence[bytes], algorithm: Algorithm, clock: Clock) -> list[CardRow]:
    """Hash and stamp contents; this needs no transaction, so it is done before one."""
    for content in contents:
        if not content or len(content) > MAX_CARD_BYTES:
            require_card_size(len(content))
    stamp = g_time(algorithm, clock.now())
    return [(card, content, stamp) for card, content in hash_all(contents, algorithm)]


def require_card_size(size: int) -> None:
    """Raise if this many bytes cannot be one card."""
    if size == 0:
        raise EmptyContent("a card cannot be empty", hint="give it at least one byte")
    if size > MAX_CARD_BYTES:
        raise ContentTooLarge(
            f"{size:,} bytes are more than one card can hold ({MAX_CARD_BYTES:,})",
            hint="split the content into parts",
            size=size,
            limit=MAX_CARD_BYTES,
        )


def insert(connection: apsw.Connection, prepared: Sequence[CardRow]) -> list[AddedCard]:
    """Insert what is new and say for each card whether it was."""
    last = connection.execute("SELECT max(rowid) FROM card").get or 0
    changes = connection.total_changes()
    connection.executemany(_INSERT, prepared)
    if connection.total_changes() - changes == len(prepared):
        return [AddedCard(card, True) for card, _, _ in prepared]
    # Something was known already (or came twice). Which ones, the row numbers tell.
    fresh = {row[0] for row in connection.execute("SELECT hash FROM card WHERE rowid > ?", (last,))}
    added = []
    for card, content, stamp in prepared:
        if card in fresh and _is_same(connection, card, content):
            fresh.discard(card)
            added.append(AddedCard(card, True))
        else:
            added.append(_recognise(connection, card, content, stamp))
    return added


def _recognise(
    connection: apsw.Connection, card: CardHash, content: bytes, stamp: GTime
) -> AddedCard:
    """Return the known card with this content, or store it higher up if it collides."""
    while not _is_same(connection, card, content):
        stored = rows.find_card(connection, card)
        assert stored is not None
        require_intact(stored)  # damage is likelier than a collision, and must not be papered over
        stronger = STRONGER.get(algorithm_of(card))
        if stronger is None:
            raise HashMismatch(f"two contents share the SHA-512 hash {card}")
        card = content_hash(content, stronger)
        stamp = GTime("|".join([stronger, *stamp.split("|")[1:]]))
        if not rows.has_card(connection, card):
            connection.execute(_INSERT, (card, content, stamp))
            return AddedCard(card, True)
    return AddedCard(card, False)


def _is_same(connection: apsw.Connection, card: CardHash, content: bytes) -> bool:
    same = "SELECT 1 FROM card WHERE hash = ? AND content = ?"
    return connection.execute(same, (card, content)).get is not None


def as_row(card: Card) -> CardRow:
    """Return a card as it is stored."""
    return (card.hash, card.content, card.g_time)
