"""Orders: approved actions on their way to being done exactly once, as a table of states.

An order's arguments never change; its state moves along `MOVES` alone. `COMMITTING` is durable
before anything can take effect outside, so after a crash one knows: before it nothing happened,
after it the server is asked, and where it cannot be asked a person decides.
"""

from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from pydantic import TypeAdapter

from salon.core.clock import instant, parse_instant
from salon.core.hashing import CardHash
from salon.core.records import RecordKind
from salon.gate.ends import Receipt

KIND = "salon.order"
VERSION = 1
BACKOFF: tuple[timedelta, ...] = tuple(timedelta(seconds=one) for one in (5, 30, 120, 600, 3600))
"""How long to wait after each attempt that failed; after the last one it is given up."""


class OrderState(StrEnum):
    """Where an order stands."""

    APPROVED = "approved"
    EXECUTING = "executing"
    COMMITTING = "committing"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"
    WITHDRAWN = "withdrawn"


class OrderEvent(StrEnum):
    """What can happen to an order."""

    CLAIM = "claim"
    COMMIT = "commit"
    SUCCEED = "succeed"
    FIND_DONE = "find_done"
    NOT_NOW = "not_now"
    LOSE = "lose"
    REFUSE = "refuse"
    GIVE_UP = "give_up"
    UNCLEAR = "unclear"
    WITHDRAW = "withdraw"
    RETRY = "retry"
    SETTLE_DONE = "settle_done"


_S, _E = OrderState, OrderEvent
MOVES = MappingProxyType(
    {
        (_S.APPROVED, _E.CLAIM): _S.EXECUTING,
        (_S.WAITING, _E.CLAIM): _S.EXECUTING,
        (_S.EXECUTING, _E.COMMIT): _S.COMMITTING,
        (_S.EXECUTING, _E.FIND_DONE): _S.DONE,
        (_S.EXECUTING, _E.SUCCEED): _S.DONE,
        (_S.EXECUTING, _E.NOT_NOW): _S.WAITING,
        (_S.EXECUTING, _E.LOSE): _S.WAITING,
        (_S.EXECUTING, _E.REFUSE): _S.FAILED,
        (_S.EXECUTING, _E.GIVE_UP): _S.FAILED,
        (_S.COMMITTING, _E.SUCCEED): _S.DONE,
        (_S.COMMITTING, _E.FIND_DONE): _S.DONE,
        (_S.COMMITTING, _E.NOT_NOW): _S.WAITING,
        (_S.COMMITTING, _E.LOSE): _S.WAITING,
        (_S.COMMITTING, _E.REFUSE): _S.FAILED,
        (_S.COMMITTING, _E.GIVE_UP): _S.FAILED,
        (_S.COMMITTING, _E.UNCLEAR): _S.UNKNOWN,
        # An earlier attempt may have worked although this one certainly did not.
        (_S.EXECUTING, _E.UNCLEAR): _S.UNKNOWN,
        (_S.WAITING, _E.UNCLEAR): _S.UNKNOWN,
        # A receipt that comes late, and what a person found out or decided.
        (_S.UNKNOWN, _E.SUCCEED): _S.DONE,
        (_S.UNKNOWN, _E.FIND_DONE): _S.DONE,
        (_S.UNKNOWN, _E.SETTLE_DONE): _S.DONE,
        (_S.UNKNOWN, _E.RETRY): _S.WAITING,
        (_S.UNKNOWN, _E.WITHDRAW): _S.WITHDRAWN,
        (_S.FAILED, _E.RETRY): _S.WAITING,
        (_S.FAILED, _E.WITHDRAW): _S.WITHDRAWN,
        (_S.FAILED, _E.FIND_DONE): _S.DONE,
        (_S.APPROVED, _E.WITHDRAW): _S.WITHDRAWN,
        (_S.WAITING, _E.FIND_DONE): _S.DONE,
        (_S.WAITING, _E.WITHDRAW): _S.WITHDRAWN,
    }
)
CLOSED = frozenset({OrderState.DONE, OrderState.WITHDRAWN})
RUNNING = frozenset({OrderState.EXECUTING, OrderState.COMMITTING})
FOR_A_PERSON = frozenset({OrderState.FAILED, OrderState.UNKNOWN})
"""Nothing happens here until a person decides; it stays in the outbox and is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An approved action. `key` names it here and at the server; `digest` is what was approved."""

    key: str
    action: str
    arguments: dict[str, str]
    digest: str
    policy: str
    flow: str
    session: str
    turn: int
    approved_by: str
    approved_at: str
    state: OrderState = OrderState.APPROVED
    attempt: int = 0
    tried_from: int = 0
    """How many attempts had been made when a person last asked for another try."""
    worker: str | None = None
    lease_until: str | None = None
    not_before: str | None = None
    reason: str = ""
    is_clear: bool = True
    """Whether no attempt can have worked; if one can, only a receipt or a person ends it."""
    receipt: Receipt | None = None
    ended_at: str | None = None
    is_told: bool = False
    """Whether the person was told how it ended."""

    def is_due(self, now: datetime) -> bool:
        """Tell whether an attempt may begin."""
        if self.state is OrderState.APPROVED:
            return True
        return self.state is OrderState.WAITING and (
            self.not_before is None or parse_instant(self.not_before) <= now
        )

    def is_abandoned(self, now: datetime) -> bool:
        """Tell whether the attempt under way has outlived what it was given."""
        if self.state not in RUNNING:
            return False
        return self.lease_until is None or parse_instant(self.lease_until) <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An order with the card it was read from, so that moving it can tell who was faster."""

    order: Order
    card: CardHash = field(repr=False)


def moved(order: Order, event: OrderEvent, **changes: object) -> Order:
    """Return an order after an event; a pair that is not in the table is a programmer's mistake."""
    state = MOVES[order.state, event]
    if state not in RUNNING:
        changes = {"worker": None, "lease_until": None} | changes
    return replace(order, state=state, **changes)  # type: ignore[arg-type]


def wait_after(order: Order, now: datetime, backoff: tuple[timedelta, ...]) -> str | None:
    """Return when to try again after an attempt that failed, `None` where it is given up."""
    made = order.attempt - order.tried_from
    return instant(now + backoff[made - 1]) if made <= len(backoff) else None


_CARD = RecordKind(
    kind=KIND, version=VERSION, called="an order", check=TypeAdapter(Order).validate_python
)


def order_to_json(order: Order) -> bytes:
    """Return an order as a card."""
    return _CARD.write(asdict(order))


def order_from_json(content: bytes) -> Order:
    """Read an order from its card, or raise `InvalidDocument`."""
    return _CARD.read(content)
