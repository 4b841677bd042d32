"""Forgetting a session's flows: what was asked, answered and approved goes with the session.

An order that is still under way stays, since an action that may have begun must end in order; it
can be forgotten once it is over. The audit log keeps digests, and tombstones say that cards were.
"""

from collections.abc import Callable, Iterator

from salon.core.archive import Archive, ArchiveTransaction
from salon.core.hashing import CardHash
from salon.core.ids import SessionId
from salon.gate.desk import FLOWS, flow_from_json
from salon.gate.orders import CLOSED
from salon.gate.outbox import ORDERS, WAITING, Outbox


def forgetting_flows(archive: Archive, session: SessionId) -> Callable[[ArchiveTransaction], None]:
    """Return what deletes the flows of a session and its orders that are over, in a transaction."""
    flows = FLOWS + session
    cards = list(_cards_of(archive, flows))
    names = [flows] if cards else []
    markers: list[str] = []
    for key in dict.fromkeys(_orders_in(archive, cards)):
        held = Outbox(archive).find(key)
        if held is not None and held.order.state in CLOSED:
            names.append(ORDERS + key)
            cards += _cards_of(archive, ORDERS + key)
            markers.append(f"{WAITING}{session}/{key}")
    waiting = [one for one in markers if archive.find_handle(one) is not None]

    def forget(tx: ArchiveTransaction) -> None:
        for name in (*names, *waiting):
            tx.prune_history(name)
            tx.remove_handle(name)
        for card in dict.fromkeys(cards):
            tx.delete(card, reason=f"session {session} forgotten", force=True)

    return forget


def _cards_of(archive: Archive, name: str) -> Iterator[CardHash]:
    """Walk every card that a handle points at or has pointed at."""
    if archive.find_handle(name) is None:
        return
    for move in archive.history(name):
        if move.current is not None and archive.has(move.current):
            yield move.current


def _orders_in(archive: Archive, flows: list[CardHash]) -> Iterator[str]:
    for card in flows:
        order = flow_from_json(archive.get(card).content).order
        if order is not None:
            yield order
