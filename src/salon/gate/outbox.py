"""The outbox: orders in the archive, moved by compare-and-set, each move with its audit note.

`orders/KEY` points at the order as it is now; `outbox/SESSION/KEY` is there as long as somebody
still has to do or to hear something about it. Whoever moves an order names the card it was read
from; if another process was faster, `HandleMoved` is raised and nothing has changed. So of two that
want the same attempt, one gets it.
"""

from collections.abc import Iterator
from dataclasses import replace

from salon.core.archive import Archive, ArchiveTransaction
from salon.core.errors import HandleMoved, InvalidInput, NotFound
from salon.core.events import ActionMoved
from salon.gate.orders import (
    CLOSED,
    FOR_A_PERSON,
    MOVES,
    Held,
    Order,
    OrderEvent,
    OrderState,
    moved,
    order_from_json,
    order_to_json,
)

ORDERS = "orders/"
WAITING = "outbox/"
SHORTEST_KEY = 6
TELL = "tell"
"""The rule under which it is noted that a person was told; the state stays."""


class Outbox:
    """The orders of one archive. May be used by several processes at once."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def add_in(self, tx: ArchiveTransaction, order: Order) -> None:
        """Write a new order as part of the transaction that approves it; the approval notes it."""
        card = tx.add(order_to_json(order)).hash
        tx.set_handle(ORDERS + order.key, card, expected_current=None)
        tx.set_handle(_marker(order), card, expected_current=None)

    def find(self, key: str) -> Held | None:
        """Return an order, or `None`."""
        handle = self._archive.find_handle(ORDERS + key)
        if handle is None:
            return None
        content = self._archive.get(handle.current).content
        return Held(order=order_from_json(content), card=handle.current)

    def get(self, key: str) -> Held:
        """Return the order that a person means: by its key or the beginning of it."""
        if held := self.find(key):
            return held
        names = [one.name for one in self._archive.handles(prefix=ORDERS + key)]
        if len(key) < SHORTEST_KEY or not names:
            raise NotFound(
                f"there is no order {key!r}", hint="`salon assistant outbox` lists what is open"
            )
        if len(names) > 1:
            raise InvalidInput(f"several orders begin with {key}", hint="give more of the key")
        found = self.find(names[0].removeprefix(ORDERS))
        assert found is not None  # orders are never removed
        return found

    def waiting(self, *, session: str | None = None) -> Iterator[Held]:
        """Walk the orders about which something is still to be done or to be told."""
        prefix = WAITING if session is None else f"{WAITING}{session}/"
        keys = [one.name.rpartition("/")[2] for one in self._archive.handles(prefix=prefix)]
        for key in keys:
            if (held := self.find(key)) is not None:
                yield held

    def move(self, held: Held, event: OrderEvent, **changes: object) -> Held:
        """Move an order along its table, or raise `HandleMoved` where somebody else did."""
        return self._write(held, moved(held.order, event, **changes), rule=event.value)

    def tell(self, held: Held) -> Held:
        """Record that the person was told how an order ended; a closed one leaves the outbox."""
        if held.order.is_told:
            return held
        return self._write(held, replace(held.order, is_told=True), rule=TELL)

    def tell_how_it_ended(self, order: Order) -> Order:
        """Record that the person hears now how an order ended, if it has ended."""
        if order.state not in {OrderState.DONE, *FOR_A_PERSON}:
            return order
        try:
            return self.tell(self.get(order.key)).order
        except HandleMoved:
            return order  # it moved on, so there is more to tell later

    def decide(self, key: str, event: OrderEvent, **changes: object) -> Order:
        """Move an order as a person wants it; refused where its state does not allow that."""
        while True:  # each time around somebody else has moved it, so it gets on
            held = self.get(key)
            if (held.order.state, event) not in MOVES:
                raise InvalidInput(
                    f"this order is {held.order.state.value}: it cannot {WORDS[event]} now",
                    hint="`salon assistant outbox` shows what can be done with it",
                )
            try:
                return self.move(held, event, **changes).order
            except HandleMoved:
                continue

    def _write(self, held: Held, order: Order, *, rule: str) -> Held:
        note = ActionMoved(
            action=order.action,
            flow=order.flow,
            session=order.session,
            moved_to=order.state.value,
            rule=rule,
            arguments_sha256=order.digest,
        )
        name, marker = ORDERS + order.key, _marker(order)
        # One that was withdrawn was so by the person, who need not be told.
        is_over = order.state in CLOSED and (order.is_told or order.receipt is None)
        was_over = held.order.state in CLOSED and (held.order.is_told or held.order.receipt is None)

        def work(tx: ArchiveTransaction) -> Held:
            card = tx.add(order_to_json(order)).hash
            tx.set_handle(name, card, expected_current=held.card)
            if is_over and not was_over:
                tx.remove_handle(marker)
            tx.note(replace(note, turn=card))
            return Held(order=order, card=card)

        return self._archive.write(work)


def _marker(order: Order) -> str:
    return f"{WAITING}{order.session}/{order.key}"


WORDS: dict[OrderEvent, str] = {
    OrderEvent.WITHDRAW: "be withdrawn",
    OrderEvent.RETRY: "be tried again",
    OrderEvent.SETTLE_DONE: "be marked as done",
}
