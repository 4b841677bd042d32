"""The desk: flows kept in the archive, one at a time in a session, and handed to the outbox.

`flows/SESSION` points at the session's latest flow. Every move is one compare-and-set together with
one audit note; the approval moves the flow and writes the order in the same transaction, so an
approved action is in the outbox or was never approved. What a flow says comes from `prompts`.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

from salon.core.archive import Archive, ArchiveTransaction
from salon.core.clock import Clock, instant
from salon.core.errors import HandleMoved, OutsideFailed
from salon.core.events import ActionMoved
from salon.core.hashing import CardHash
from salon.core.ids import IdMaker
from salon.core.records import RecordKind
from salon.gate.actions import Action, Actions, Reading, Situation
from salon.gate.approval import order_key
from salon.gate.availability import USUAL_HOURS, Hours, free_slots, horizon, is_free
from salon.gate.flow_table import Event, Step
from salon.gate.flows import (
    At,
    Flow,
    Taken,
    is_expired,
    minutes_of,
    open_flow,
    read_approval,
    take_answer,
    take_event,
    take_slots,
)
from salon.gate.means import Calendar
from salon.gate.orders import Order
from salon.gate.outbox import Outbox
from salon.gate.prompts import prompt

KIND = "salon.flow"
VERSION = 1
FLOWS = "flows/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A flow after a move, why it moved, and what to say now."""

    flow: Flow
    event: Event
    text: str

    @property
    def is_approval(self) -> bool:
        """Tell whether this move put an order into the outbox."""
        return self.event is Event.APPROVE


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A flow with the card it was read from."""

    flow: Flow
    card: CardHash


class Desk:
    """The flows of one archive. May be used by several processes at once."""

    def __init__(
        self,
        archive: Archive,
        *,
        actions: Actions,
        calendar: Callable[[], Calendar],
        zone: ZoneInfo,
        clock: Clock,
        ids: IdMaker,
        hours: Hours = USUAL_HOURS,
    ) -> None:
        self.actions = actions
        self._archive = archive
        self._outbox = Outbox(archive)
        self._calendar = calendar
        self._zone = zone
        self._clock = clock
        self._ids = ids
        self._hours = hours

    def reading(self) -> Reading:
        """Return the moment against which answers are understood."""
        return Reading(now=self._clock.now(), zone=self._zone)

    def find(self, session: str) -> Flow | None:
        """Return the latest flow of a session, whether it is over or not."""
        kept = self._find(session)
        return None if kept is None else kept.flow

    def find_active(self, session: str) -> Flow | None:
        """Return the flow of a session that waits for an answer, also one that has expired."""
        flow = self.find(session)
        return flow if flow is not None and flow.is_active else None

    def prompt(self, flow: Flow) -> str:
        """Return what a flow says now."""
        return prompt(flow, self.actions.get(flow.action), self.reading())

    def open(self, session: str, action: str, situation: Situation, *, rule: str) -> Moved:
        """Offer an action; while another flow of the session is active, that one is returned."""
        chosen = self.actions.get(action)
        reading = self.reading()
        while True:
            kept = self._find(session)
            if kept is not None and kept.flow.is_active:
                if not is_expired(kept.flow, reading.now):
                    active = self.actions.get(kept.flow.action)
                    return self._moved(kept.flow, Event.UNCLEAR, "", active, reading)
                with suppress(HandleMoved):
                    self._expire(kept, reading)
                continue
            flow = open_flow(
                chosen, situation, id_=self._ids.new("flow"), session=session, reading=reading
            )
            try:
                self._write(flow, None if kept is None else kept.card, rule=rule)
            except HandleMoved:
                continue
            return self._moved(flow, Event.ACCEPT, "", chosen, reading)

    def expire(self, session: str) -> Moved | None:
        """End the flow of a session if it has waited too long."""
        kept = self._find(session)
        reading = self.reading()
        if kept is None or not is_expired(kept.flow, reading.now):
            return None
        try:
            return self._expire(kept, reading)
        except HandleMoved:
            return None  # somebody was faster, and has told the person

    def close(self, session: str, *, rule: str) -> Moved | None:
        """End the flow of a session whatever it waits for, because the gate was closed."""
        kept = self._find(session)
        if kept is None or not kept.flow.is_active:
            return None
        reading = self.reading()
        closed = replace(kept.flow, step=Step.CANCELLED, touched_at=instant(reading.now))
        try:
            self._write(closed, kept.card, rule=rule)
        except HandleMoved:
            return self.close(session, rule=rule)
        action = self.actions.get(closed.action)
        return self._moved(closed, Event.CANCEL, "", action, reading)

    def answer(self, session: str, text: str, *, turn: int, by: str) -> Moved | None:
        """Give an answer to the session's flow; `None` where no flow is active."""
        return self._take(
            session, lambda flow, action, at: take_answer(flow, text, action, at), turn=turn, by=by
        )

    def approve(self, session: str, digest: str, *, turn: int, by: str) -> Moved | None:
        """Approve exactly what a digest names; anything else is asked for again."""

        def take(flow: Flow, action: Action, at: At) -> Taken:
            if is_expired(flow, at.reading.now) or flow.step is not Step.CONFIRMING:
                return take_answer(flow, "", action, at)
            return take_event(flow, read_approval(flow, digest, action, at), action, at)

        return self._take(session, take, turn=turn, by=by)

    # Moving

    def _take(
        self, session: str, take: Callable[[Flow, Action, At], Taken], *, turn: int, by: str
    ) -> Moved | None:
        while True:
            kept = self._find(session)
            if kept is None or not kept.flow.is_active:
                return None
            reading = self.reading()
            at = At(reading=reading, turn=turn, is_taken=self._is_taken)
            action = self.actions.get(kept.flow.action)
            with suppress(HandleMoved):  # somebody else answered first: read what stands now
                if kept.flow.step is Step.FETCHING and not is_expired(kept.flow, reading.now):
                    self._look_up(kept.flow, kept.card, action, at)  # a crash came in between
                    continue
                taken = take(kept.flow, action, at)
                return self._settle(kept, taken, action, at, by=by)

    def _settle(self, kept: _Kept, taken: Taken, action: Action, at: At, *, by: str) -> Moved:
        if taken.event is Event.APPROVE:
            flow = self._approve(kept, taken.flow, at, by=by)
        else:
            flow = taken.flow
            card = self._write(flow, kept.card, rule=taken.event.value)
            if flow.step is Step.FETCHING:
                looked = self._look_up(flow, card, action, at)
                say = _LOOKUP_FAILED if looked.event is Event.LOOKUP_FAILED else ""
                return self._moved(looked.flow, taken.event, say, action, at.reading)
        return self._moved(flow, taken.event, taken.say, action, at.reading)

    def _look_up(self, flow: Flow, card: CardHash, action: Action, at: At) -> Taken:
        looked = take_slots(flow, self._slots(flow), action, at)
        self._write(looked.flow, card, rule=looked.event.value)
        return looked

    def _approve(self, kept: _Kept, flow: Flow, at: At, *, by: str) -> Flow:
        digest = flow.digest or ""
        key = order_key(flow.id, digest)
        approved = replace(flow, order=key)
        order = Order(
            key=key,
            action=flow.action,
            arguments=flow.arguments,
            digest=digest,
            policy=flow.policy,
            flow=flow.id,
            session=flow.session,
            turn=flow.shown_turn or 0,
            approved_by=by,
            approved_at=instant(at.reading.now),
        )
        self._write(approved, kept.card, rule=Event.APPROVE.value, order=order)
        return approved

    def _expire(self, kept: _Kept, reading: Reading) -> Moved:
        expired = replace(kept.flow, step=Step.EXPIRED, touched_at=instant(reading.now))
        self._write(expired, kept.card, rule=Event.EXPIRE.value)
        action = self.actions.get(expired.action)
        return self._moved(expired, Event.EXPIRE, "", action, reading)

    def _moved(self, flow: Flow, event: Event, say: str, action: Action, reading: Reading) -> Moved:
        text = prompt(flow, action, reading)
        return Moved(flow=flow, event=event, text=f"{say}\n{text}" if say else text)

    # The calendar

    def _slots(self, flow: Flow) -> list[datetime] | None:
        now = self._clock.now()
        try:
            busy = self._calendar().busy(now, horizon(now, self._zone, self._hours))
        except OutsideFailed:
            return None
        return free_slots(
            busy, now=now, zone=self._zone, hours=self._hours, minutes=minutes_of(flow)
        )

    def _is_taken(self, start: datetime, minutes: int) -> bool | None:
        try:
            busy = self._calendar().busy(start, start + timedelta(minutes=minutes))
        except OutsideFailed:
            return None
        return not is_free(start, minutes, busy)

    # The archive

    def _find(self, session: str) -> _Kept | None:
        handle = self._archive.find_handle(FLOWS + session)
        if handle is None:
            return None
        content = self._archive.get(handle.current).content
        return _Kept(flow=flow_from_json(content), card=handle.current)

    def _write(
        self, flow: Flow, expected: CardHash | None, *, rule: str, order: Order | None = None
    ) -> CardHash:
        note = ActionMoved(
            action=flow.action,
            flow=flow.id,
            session=flow.session,
            moved_to=flow.step_name,
            rule=rule,
            arguments_sha256=flow.digest or "",
        )

        def work(tx: ArchiveTransaction) -> CardHash:
            card = tx.add(flow_to_json(flow)).hash
            tx.set_handle(FLOWS + flow.session, card, expected_current=expected)
            if order is not None:
                self._outbox.add_in(tx, order)
            tx.note(replace(note, turn=card))
            return card

        return self._archive.write(work)


_LOOKUP_FAILED = "I could not read the calendar, so I cannot tell which times are free."
_CARD = RecordKind(
    kind=KIND, version=VERSION, called="a flow", check=TypeAdapter(Flow).validate_python
)


def flow_to_json(flow: Flow) -> bytes:
    """Return a flow as a card."""
    return _CARD.write(asdict(flow))


def flow_from_json(content: bytes) -> Flow:
    """Read a flow from its card, or raise `InvalidDocument`."""
    return _CARD.read(content)
