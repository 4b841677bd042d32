"""Running the outbox: claim an order, commit, do it, record how it ended; pick up after a crash.

Safe at any moment of death and with any number of processes: an attempt belongs to whoever moved
the order, `COMMITTING` is on disk before anything can take effect, and a worker that was overtaken
finds out at its next move. Time, waiting and the executors are handed in.
"""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from os import getpid, kill
from secrets import token_hex

from salon.core.clock import Clock, instant, parse_instant
from salon.core.errors import HandleMoved, SalonError
from salon.gate.actions import Executor
from salon.gate.ends import Done, Ended, Looked, NotDone, NotNow, Receipt, Refused, Unclear
from salon.gate.orders import (
    BACKOFF,
    RUNNING,
    Held,
    Order,
    OrderEvent,
    OrderState,
    wait_after,
)
from salon.gate.outbox import Outbox

LEASE = timedelta(minutes=5)
"""How long an attempt is left alone; longer than any executor's timeouts together."""


class Overtaken(Exception):
    """Raised out of an executor whose order was taken over by another worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Runs the orders of an outbox as one worker."""

    outbox: Outbox
    executor: Callable[[str], Executor]
    """Returns who carries an action out, by its name; raises `SalonError` where it cannot."""
    clock: Clock
    worker: str
    is_gone: Callable[[str], bool] = lambda _: False
    """Tells that another worker certainly does not run any more."""
    backoff: tuple[timedelta, ...] = BACKOFF
    lease: timedelta = LEASE

    def run_due(self, *, session: str | None = None) -> list[Order]:
        """Do what can be done now, and return the orders that moved."""
        touched = []
        for held in list(self.outbox.waiting(session=session)):
            after = self.run(held)
            if after.card != held.card:
                touched.append(after.order)
        return touched

    def run(self, held: Held) -> Held:
        """Take one order as far as it goes now."""
        try:
            held = self._pick_up(held)
            if not held.order.is_due(self.clock.now()):
                return held
            return self._attempt(self._claim(held))
        except HandleMoved:
            return self.outbox.find(held.order.key) or held

    def next_due(self) -> datetime | None:
        """Return when something is to be done next, `None` where nothing waits."""
        found = []
        for held in self.outbox.waiting():
            order = held.order
            if order.state is OrderState.APPROVED:
                return self.clock.now()
            until = order.lease_until if order.state in RUNNING else order.not_before
            if order.state in {*RUNNING, OrderState.WAITING} and until:
                found.append(parse_instant(until))
        return min(found, default=None)

    # One attempt

    def _claim(self, held: Held) -> Held:
        return self.outbox.move(
            held,
            OrderEvent.CLAIM,
            attempt=held.order.attempt + 1,
            worker=self.worker,
            lease_until=instant(self.clock.now() + self.lease),
            not_before=None,
            reason="",
        )

    def _attempt(self, held: Held) -> Held:
        try:
            executor = self.executor(held.order.action)
        except SalonError as error:
            # Nobody carries it out: an action that is not installed, a server that is not set up.
            return self._later(held, error.message)
        if held.order.attempt > 1 and isinstance(found := _look(executor, held.order), Done):
            return self._found(held, found)
        attempt = _Attempt(held, self.outbox)
        try:
            if not executor.commits_late:
                attempt.commit()
            ended = executor.execute(held.order, attempt.commit)
        except Overtaken:
            return self.outbox.find(held.order.key) or held
        except SalonError as error:
            ended = Unclear(reason=error.message)
        return self._record(attempt.held, ended, executor)

    def _record(self, held: Held, ended: Ended, executor: Executor) -> Held:
        if isinstance(ended, Done):
            return self._succeed(held, ended)
        if isinstance(ended, Refused):
            return self._end(held, OrderEvent.REFUSE, ended.reason)
        if isinstance(ended, NotNow) or held.order.state is OrderState.EXECUTING:
            return self._later(held, ended.reason)
        return self._after_unclear(held, ended.reason, executor)

    def _succeed(self, held: Held, ended: Done) -> Held:
        try:
            return self._close(held, OrderEvent.SUCCEED, ended.receipt)
        except HandleMoved:
            return self._late_receipt(held, ended.receipt)

    def _late_receipt(self, held: Held, receipt: Receipt) -> Held:
        """Record a receipt that came after others had given the attempt up as unknown."""
        now = self.outbox.find(held.order.key) or held
        if now.order.state is OrderState.UNKNOWN and now.order.attempt == held.order.attempt:
            return self._close(now, OrderEvent.SUCCEED, receipt)
        return now

    def _after_unclear(self, held: Held, reason: str, executor: Executor) -> Held:
        looked = _look(executor, held.order)
        if isinstance(looked, Done):
            return self._found(held, looked)
        if isinstance(looked, NotDone) or executor.is_idempotent:
            # Not there yet: what was sent may still arrive, so it is not clear that it will not.
            return self._later(held, reason, is_clear=False)
        return self.outbox.move(held, OrderEvent.UNCLEAR, reason=reason, is_clear=False)

    def _found(self, held: Held, found: Done) -> Held:
        return self._close(held, OrderEvent.FIND_DONE, found.receipt)

    def _close(self, held: Held, event: OrderEvent, receipt: Receipt) -> Held:
        now = instant(self.clock.now())
        return self.outbox.move(
            held, event, receipt=receipt, reason="", ended_at=now, is_told=False
        )

    def _later(self, held: Held, reason: str, *, is_clear: bool = True) -> Held:
        is_clear = is_clear and held.order.is_clear
        again = wait_after(held.order, self.clock.now(), self.backoff)
        if again is None:
            return self._end(held, OrderEvent.GIVE_UP, reason, is_clear=is_clear)
        return self.outbox.move(
            held, OrderEvent.NOT_NOW, not_before=again, reason=reason, is_clear=is_clear
        )

    def _end(self, held: Held, event: OrderEvent, reason: str, *, is_clear: bool = True) -> Held:
        """End an order that does not work, unless an earlier attempt of it may have worked."""
        is_clear = is_clear and held.order.is_clear
        chosen = event if is_clear else OrderEvent.UNCLEAR
        return self.outbox.move(held, chosen, reason=reason, is_clear=is_clear)

    # What a person wants

    def withdraw(self, key: str) -> Order:
        """Call an order off, if it is certain that it was not done; otherwise say how it stands."""
        held = self.outbox.get(key)
        order = held.order
        if order.state is not OrderState.WAITING or order.is_clear:
            return self.outbox.decide(key, OrderEvent.WITHDRAW)
        try:
            looked = _look(self.executor(order.action), order)
            if isinstance(looked, Done):
                return self._found(held, looked).order
            reason = "it was called off, but an earlier attempt may have worked"
            return self.outbox.move(held, OrderEvent.UNCLEAR, reason=reason).order
        except HandleMoved:
            return self.withdraw(key)

    def retry(self, key: str) -> Order:
        """Try an order again that failed, or of which a person says that it was not done."""
        order = self.outbox.get(key).order
        changes = {"tried_from": order.attempt, "not_before": None, "is_clear": True}
        self.outbox.decide(key, OrderEvent.RETRY, **changes)
        return self.run(self.outbox.get(key)).order

    def settle_done(self, key: str) -> Order:
        """Record that a person found an order done."""
        now = instant(self.clock.now())
        return self.outbox.decide(key, OrderEvent.SETTLE_DONE, ended_at=now, reason="")

    # After a crash

    def _pick_up(self, held: Held) -> Held:
        """Take over an attempt whose worker is gone."""
        order = held.order
        if order.state not in RUNNING or not self._is_abandoned(order):
            return held
        reason = "the attempt was interrupted"
        now = instant(self.clock.now())
        if order.state is OrderState.EXECUTING:
            return self.outbox.move(held, OrderEvent.LOSE, not_before=now, reason=reason)
        try:
            executor = self.executor(order.action)
        except SalonError as error:
            return self.outbox.move(held, OrderEvent.UNCLEAR, reason=error.message, is_clear=False)
        looked = _look(executor, order)
        if isinstance(looked, Done):
            return self._found(held, looked)
        if isinstance(looked, NotDone) or executor.is_idempotent:
            return self.outbox.move(
                held, OrderEvent.LOSE, not_before=now, reason=reason, is_clear=False
            )
        return self.outbox.move(
            held, OrderEvent.UNCLEAR, reason=f"{reason}; {looked.reason}", is_clear=False
        )

    def _is_abandoned(self, order: Order) -> bool:
        if order.is_abandoned(self.clock.now()):
            return True
        return (
            order.worker is not None and order.worker != self.worker and self.is_gone(order.worker)
        )


def _look(executor: Executor, order: Order) -> Looked:
    try:
        return executor.look(order)
    except SalonError as error:
        return Unclear(reason=error.message)


class _Attempt:
    """One attempt: its order, which moves when it commits."""

    def __init__(self, held: Held, outbox: Outbox) -> None:
        self.held = held
        self._outbox = outbox

    def commit(self) -> None:
        """Put it on disk that from here on something may take effect; or raise `Overtaken`."""
        if self.held.order.state is OrderState.COMMITTING:
            return
        try:
            self.held = self._outbox.move(self.held, OrderEvent.COMMIT)
        except HandleMoved as error:
            raise Overtaken from error


def make_worker() -> str:
    """Return a name for this process that tells others where it runs."""
    return f"{getpid()}@{socket.gethostname()}/{token_hex(4)}"


def is_gone(worker: str) -> bool:
    """Tell whether a worker of this machine has certainly ended."""
    place, _, _ = worker.partition("/")
    process, _, host = place.partition("@")
    if host != socket.gethostname() or not process.isdigit():
        return False
    try:
        kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
