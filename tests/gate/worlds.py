"""A made-up world for actions: a clock that is set, servers that misbehave, a process that dies.

The servers keep what real ones keep, so that "done twice" is judged where it would hurt: a calendar
takes a uid once (`If-None-Match: *`), a mail server takes every mail that it is given.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import TypeVar
from zoneinfo import ZoneInfo

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.archive import ArchiveTransaction
from salon.core.errors import ProviderFailed
from salon.core.ids import CountedIds
from salon.gate.actions import Actions
from salon.gate.desk import Desk
from salon.gate.ends import Done, Ended, Looked, NotDone, NotNow, Receipt, Refused, Unclear
from salon.gate.executing import Runner
from salon.gate.means import Busy, CalendarEvent, MailMessage, Means
from salon.gate.outbox import Outbox
from salon.gate.plugins import load_actions

T = TypeVar("T")
ZONE = ZoneInfo("America/New_York")
MONDAY = datetime(2026, 11, 16, 13, 0, tzinfo=UTC)


class Died(BaseException):
    """The process is gone; nothing catches this but the world."""


@dataclass(slots=True)
class SetClock:
    """A clock that stands still until it is moved."""

    moment: datetime = MONDAY

    def now(self) -> datetime:
        return self.moment

    def forward(self, by: timedelta) -> None:
        self.moment += by


@dataclass(slots=True)
class Faults:
    """Which end the next calls to a server have; `ok` where the list is empty."""

    ends: list[str] = field(default_factory=list)
    draw: Callable[[], str] = lambda: "ok"

    def next(self) -> str:
        return self.ends.pop(0) if self.ends else self.draw()


@dataclass(slots=True)
class CalendarServer:
    """A calendar that can fail, time out, do it and not say so, or do it later."""

    faults: Faults = field(default_factory=Faults)
    events: dict[str, CalendarEvent] = field(default_factory=dict)
    puts: Counter[str] = field(default_factory=Counter)
    late: list[CalendarEvent] = field(default_factory=list)
    meanwhile: Callable[[], None] = lambda: None
    taken: list[Busy] = field(default_factory=list)

    def busy(self, start: datetime, end: datetime) -> Sequence[Busy]:
        if self.faults.next() not in {"ok", "late", "drop"}:
            raise ProviderFailed("the calendar is down")
        mine = [Busy(start=one.start, end=one.end) for one in self.events.values()]
        return [one for one in (*mine, *self.taken) if one.start < end and one.end > start]

    def add(self, event: CalendarEvent) -> Ended:
        self.meanwhile()
        end = self.faults.next()
        if end == "fail":
            return NotNow(reason="503")
        if end == "refuse":
            return Refused(reason="403")
        if end == "timeout":
            return Unclear(reason="no answer")
        if end == "late":
            self.late.append(event)
            return Unclear(reason="no answer yet")
        self._store(event)
        if end == "drop":
            return Unclear(reason="the connection broke")
        return Done(receipt=Receipt(text="booked", reference=event.uid))

    def look(self, uid: str) -> Looked:
        if self.faults.next() == "fail":
            return Unclear(reason="503")
        if uid in self.events:
            return Done(receipt=Receipt(text="booked", reference=uid))
        return NotDone()

    def settle(self) -> None:
        """Let arrive what is still on its way."""
        for event in self.late:
            self._store(event)
        self.late.clear()

    def _store(self, event: CalendarEvent) -> None:
        if event.uid not in self.events:
            self.events[event.uid] = event
            self.puts[event.uid] += 1


@dataclass(slots=True)
class MailServer:
    """A mail server that can fail before, at or after it has taken a mail; it is never asked."""

    faults: Faults = field(default_factory=Faults)
    taken: list[MailMessage] = field(default_factory=list)
    late: list[MailMessage] = field(default_factory=list)
    meanwhile: Callable[[], None] = lambda: None
    is_idempotent: bool = False

    def send(self, message: MailMessage, commit: Callable[[], None]) -> Ended:
        self.meanwhile()
        end = self.faults.next()
        if end == "fail":
            return NotNow(reason="421")
        if end == "refuse":
            return Refused(reason="550")
        commit()
        self.meanwhile()
        if end == "timeout":
            return Unclear(reason="no answer")
        if end == "late":
            self.late.append(message)
            return Unclear(reason="no answer yet")
        self.taken.append(message)
        if end == "drop":
            return Unclear(reason="the connection broke")
        return Done(receipt=Receipt(text="sent", reference=message.message_id))

    def look(self, _message_id: str) -> Looked:
        return Unclear(reason="nobody can tell")

    def settle(self) -> None:
        """Let arrive what is still on its way."""
        self.taken += self.late
        self.late.clear()

    def count(self, message_id: str) -> int:
        """Return how often a mail was taken."""
        return sum(one.message_id == message_id for one in self.taken)


class MortalArchive:
    """The archive as one process sees it, which may die right before or right after a commit."""

    def __init__(self, archive: SqliteArchive, dies: Callable[[], bool]) -> None:
        self._archive = archive
        self._dies = dies

    def write(self, work: Callable[[ArchiveTransaction], T], *, by: str | None = None) -> T:
        if self._dies():
            raise Died
        result = self._archive.write(work, by=by)
        if self._dies():
            raise Died
        return result

    def __getattr__(self, name: str) -> object:
        return getattr(self._archive, name)


@dataclass(slots=True)
class World:
    """An archive, two servers and a clock that live on while processes come and go."""

    archive: SqliteArchive
    clock: SetClock = field(default_factory=SetClock)
    calendar: CalendarServer = field(default_factory=CalendarServer)
    mail: MailServer = field(default_factory=MailServer)
    random: Random = field(default_factory=lambda: Random(1))
    actions: Actions = field(default_factory=load_actions)
    folder: Path = Path("nowhere")
    ids: CountedIds = field(default_factory=CountedIds)
    gone: set[str] = field(default_factory=set)
    chance_of_death: float = 0.0
    others: list[Callable[[], object]] = field(default_factory=list)

    def before_the_next_write(self, work: Callable[[], object]) -> None:
        """Let somebody else be faster, once."""
        self.others.append(work)

    def _dies(self) -> bool:
        while self.others:
            self.others.pop()()
        return self.chance_of_death > 0 and self.random.random() < self.chance_of_death

    def desk(self) -> Desk:
        """Return a desk in a process that may die."""
        return Desk(
            MortalArchive(self.archive, self._dies),  # type: ignore[arg-type]
            actions=self.actions,
            calendar=lambda: self.calendar,
            zone=ZONE,
            clock=self.clock,
            ids=self.ids,
        )

    def runner(self, worker: str = "first") -> Runner:
        """Return a worker in a process that may die."""
        means = Means(folder=self.folder, calendar=self.calendar, mail=self.mail)
        return Runner(
            outbox=Outbox(MortalArchive(self.archive, self._dies)),  # type: ignore[arg-type]
            executor=lambda name: self.actions.get(name).executor(means),
            clock=self.clock,
            worker=worker,
            is_gone=self.gone.__contains__,
        )

    @property
    def outbox(self) -> Outbox:
        """The outbox as somebody sees it who does not die."""
        return Outbox(self.archive)
