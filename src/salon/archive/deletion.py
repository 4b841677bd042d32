"""Deletion: refused while something needs the card; forced, it takes along what came from it.

What needs a card: a handle that points at it or did, a citation, a document. What came from a
card: cards derived from it alone, and every row that refers to it with `ON DELETE CASCADE`
(passages, vectors, memories, graph rows). A tombstone stays for each card that went.
"""

import apsw

from salon.archive import rows
from salon.archive.audit.replay import tombstone_reason
from salon.core.archive import Deletion, Needs
from salon.core.clock import mcard_instant, parse_instant
from salon.core.errors import CardInUse
from salon.core.handles import Handle
from salon.core.hashing import CardHash


def delete(
    connection: apsw.Connection, card: CardHash, *, by: str, at: str, reason: str, force: bool
) -> Deletion:
    """Delete a card and what was made from it."""
    if not rows.has_card(connection, card):
        raise rows.missing_card(connection, card)
    doomed = [card, *_derived_from(connection, card)]
    needs = rows.read_needs(connection, doomed)
    if needs and not force:
        raise _in_use(card, needs)
    for name in needs.handles:
        handle = rows.find_handle(connection, name)
        assert handle is not None
        drop_handle(connection, handle, at=at)
    for document in needs.documents:
        connection.execute("DELETE FROM document WHERE id = ?", (document,))
    for one in doomed:
        connection.execute("DELETE FROM handle_history WHERE previous_hash = ?", (one,))
    for one in doomed:
        connection.execute("DELETE FROM card WHERE hash = ?", (one,))
        connection.execute("DELETE FROM derivation WHERE source_hash = ?", (one,))
        connection.execute(
            "INSERT OR REPLACE INTO tombstone (hash, deleted_at, deleted_by, reason)"
            " VALUES (?, ?, ?, ?)",
            (one, at, by, tombstone_reason(None if one == card else card, reason)),
        )
    return Deletion(
        hash=card,
        also_deleted=tuple(doomed[1:]),
        handles_removed=needs.handles,
        documents_removed=needs.documents,
    )


def drop_handle(connection: apsw.Connection, handle: Handle, *, at: str) -> None:
    """Remove a handle from MCard's tables and note the step in its own history."""
    connection.execute("DELETE FROM handle_history WHERE handle = ?", (handle.name,))
    connection.execute("DELETE FROM handle_registry WHERE handle = ?", (handle.name,))
    connection.execute(
        "INSERT INTO handle_move (handle, previous_hash, current_hash, moved_at)"
        " VALUES (?, ?, NULL, ?)",
        (handle.name, handle.current, mcard_instant(parse_instant(at))),
    )


def _derived_from(connection: apsw.Connection, card: CardHash) -> list[CardHash]:
    """Return the cards that exist only because of `card`, nearest first."""
    doomed: dict[CardHash, None] = {card: None}
    frontier = [card]
    while frontier:
        found = connection.execute(
            "SELECT derived_hash FROM derivation WHERE source_hash = ?", (frontier.pop(0),)
        ).fetchall()
        for candidate in [CardHash(str(row[0])) for row in found]:
            sources = connection.execute(
                "SELECT source_hash FROM derivation WHERE derived_hash = ?", (candidate,)
            ).fetchall()
            if candidate not in doomed and all(source in doomed for (source,) in sources):
                doomed[candidate] = None
                frontier.append(candidate)
    return list(doomed)[1:]


def _in_use(card: CardHash, needs: Needs) -> CardInUse:
    reasons = [
        (needs.handles, "the current card of handle"),
        (needs.past_of_handles, "in the history of handle"),
        (needs.citing_cards, "cited by card"),
        (needs.documents, "part of document"),
    ]
    said = "; ".join(f"{why} {', '.join(who[:3])}" for who, why in reasons if who)
    return CardInUse(
        f"card {card} is needed: it is {said}",
        hint="remove what needs it first, or force the deletion; a tombstone will stay",
        hash=card,
        handles=list(needs.handles),
        past_of_handles=list(needs.past_of_handles),
        citing_cards=list(needs.citing_cards),
        documents=list(needs.documents),
    )
