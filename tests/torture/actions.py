"""`kill -9` between any two steps of an action: nothing approved is lost, nothing is done twice.

A real process talks to a real Radicale and a real aiosmtpd. Every write to the archive, every HTTP
request and every SMTP command has a number; the process is killed right before or right after one
of them, another one takes over, and the servers say what happened. The variable `CRASH_AT` holds
the number. `python -m tests.torture.actions` kills at every number there is.
"""

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.clock import SystemClock
from salon.core.ids import RandomIds
from salon.gate.actions import Situation
from salon.gate.builtin_actions import event_uid
from salon.gate.desk import Desk
from salon.gate.executing import Runner, is_gone, make_worker
from salon.gate.means import Means
from salon.gate.orders import Order, OrderState
from salon.gate.outbox import Outbox
from salon.gate.plugins import load_actions
from salon.providers.calendar import CalendarOptions, open_calendar
from salon.providers.mail import MailOptions, open_mail
from tests.providers.calendar.server import PASSWORD, USER, calendar_server, events
from tests.providers.mail.server import mail_server, taken

VARIABLE = "CRASH_AT"
SESSION = "s-1"
ANSWERS = {
    "awaiting_initial_confirmation": "yes",
    "fetching_availability": "hello?",
    "awaiting_time_selection": "the first one",
    "awaiting_employee_name": "Jordan Lee",
    "awaiting_employee_phone": "skip",
    "awaiting_employee_email": "jordan@example.com",
    "awaiting_variables": "the night shift",
    "awaiting_confirmation": "yes",
}
AT_ONCE = (timedelta(0),) * 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an archive lies, and which servers it uses."""

    folder: Path
    calendar: str
    port: int


@dataclass(slots=True)
class Report:
    """What came of it."""

    kills: Counter[str] = field(default_factory=Counter)
    unknown: int = 0
    faults: list[str] = field(default_factory=list)


# In the process that dies


class Steps:
    """Counts the steps of this process, and kills it at the one that was asked for."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._number = 0
        self._last = int(os.environ.get(VARIABLE, "0"))

    def step(self, name: str) -> None:
        self._number += 1
        with self._log.open("a") as stream:
            stream.write(f"{name}\n")
        if self._number == self._last:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, owner: Any, name: str, label: str) -> None:
        """Count a step before and after every call of a method."""
        method: Callable[..., Any] = getattr(owner, name)

        def counted(*args: Any, **kwargs: Any) -> Any:
            self.step(f"before {label}")
            result = method(*args, **kwargs)
            self.step(f"after {label}")
            return result

        async def counted_later(*args: Any, **kwargs: Any) -> Any:
            told = args[1].decode().strip() if label == "smtp" else "connect"
            self.step(f"before {label} {told}")
            result = await method(*args, **kwargs)
            self.step(f"after {label} {told}")
            return result

        is_later = label.startswith("smtp")
        setattr(owner, name, counted_later if is_later else counted)


def work(place: Place, action: str) -> None:
    """Take the one action of an archive as far as it goes, from wherever it stands."""
    import aiosmtplib
    import niquests

    steps = Steps(place.folder / "steps")
    steps.around(SqliteArchive, "write", "write")
    steps.around(niquests.Session, "request", "http")
    steps.around(aiosmtplib.SMTP, "execute_command", "smtp")
    steps.around(aiosmtplib.SMTP, "connect", "smtp-connect")
    with SqliteArchive(place.folder / "salon.db") as archive:
        desk, runner = _open(archive, place)
        if desk.find(SESSION) is None:
            said = Situation(said=("My employee Jordan has been absent for days.",), reply="")
            desk.open(SESSION, action, said, rule="offer")
        while (flow := desk.find_active(SESSION)) is not None:
            desk.answer(SESSION, ANSWERS[flow.step_name], turn=3, by="person")
        runner.run_due()


def _open(archive: SqliteArchive, place: Place) -> tuple[Desk, Runner]:
    zone, actions = ZoneInfo("America/New_York"), load_actions()
    calendar = open_calendar(
        f"caldav:{place.calendar}", CalendarOptions(zone=zone, user=USER, password=PASSWORD)
    )
    mail = open_mail(f"smtp:127.0.0.1:{place.port}", MailOptions(sender="meg@example.com"))
    means = Means(folder=place.folder, calendar=calendar, mail=mail)
    clock = SystemClock()
    desk = Desk(
        archive,
        actions=actions,
        calendar=lambda: calendar,
        zone=zone,
        clock=clock,
        ids=RandomIds(),
    )
    runner = Runner(
        outbox=Outbox(archive),
        executor=lambda name: actions.get(name).executor(means),
        clock=clock,
        worker=make_worker(),
        is_gone=is_gone,
        backoff=AT_ONCE,
    )
    return desk, runner


# In the process that watches


class Watch:
    """Runs actions against two servers and kills them."""

    def __init__(self, folder: Path, calendar: str, port: int, report: Report) -> None:
        self._folder = folder
        self._calendar = calendar
        self._port = port
        self._report = report
        self._runs = 0

    def steps(self, action: str) -> list[str]:
        """Return the steps of an action that nobody kills, and check that it is done."""
        place = self._place()
        code = self._run(place, action, None)
        if code != 0:
            self._report.faults.append(f"{action}: undisturbed it ended with {code}")
        self._check(place, action, "undisturbed")
        return (place.folder / "steps").read_text().splitlines()

    def kill(self, action: str, number: int, name: str) -> None:
        """Kill an action at one step, let another process take over, and look at the servers."""
        place = self._place()
        code = self._run(place, action, number)
        label = f"{action}, {number} ({name})"
        if code != -signal.SIGKILL:
            self._report.faults.append(f"{label}: ended with {code} instead of being killed")
        self._report.kills[action] += 1
        code = self._run(place, action, None)
        if code != 0:
            self._report.faults.append(f"{label}: the second process ended with {code}")
        self._check(place, action, label)

    def _place(self) -> Place:
        self._runs += 1
        folder = self._folder / f"run-{self._runs}"
        folder.mkdir()
        return Place(folder=folder, calendar=self._calendar, port=self._port)

    def _run(self, place: Place, action: str, crash_at: int | None) -> int:
        process = os.fork()
        if process == 0:  # the process that dies; it shares nothing that is open
            code = 1
            try:
                os.environ[VARIABLE] = str(crash_at or 0)
                work(place, action)
                code = 0
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(code)
        _, status = os.waitpid(process, 0)
        return os.waitstatus_to_exitcode(status)

    def _check(self, place: Place, action: str, label: str) -> None:
        with SqliteArchive(place.folder / "salon.db") as archive:
            _, runner = _open(archive, place)
            order = self._the_order(archive, label)
            if order is None:
                return
            if order.state is OrderState.UNKNOWN:
                self._report.unknown += 1
                order = self._settle(runner, order)
            done = self._count(order)
            if (order.state, done) != (OrderState.DONE, 1):
                self._report.faults.append(f"{label}: {order.state.value}, done {done} times")

    def _the_order(self, archive: SqliteArchive, label: str) -> Order | None:
        keys = [one.name.partition("/")[2] for one in archive.handles(prefix="orders/")]
        if len(keys) != 1:
            self._report.faults.append(f"{label}: there are {len(keys)} orders")
            return None
        return Outbox(archive).get(keys[0]).order

    def _settle(self, runner: Runner, order: Order) -> Order:
        """Do what a person does who is told that nobody knows: look, and then decide."""
        return runner.settle_done(order.key) if self._count(order) else runner.retry(order.key)

    def _count(self, order: Order) -> int:
        name = event_uid(order)
        if order.action == "calendar":
            return sum(f"UID:{name}" in text for text in events(self._folder / "calendar"))
        mails = taken(self._folder / "mail")
        return sum(str(one["Message-ID"]).startswith(f"<{name}@") for one in mails)


def every_step(steps: list[str]) -> list[int]:
    """Return the numbers of all steps."""
    return list(range(1, len(steps) + 1))


def decisive_steps(steps: list[str]) -> list[int]:
    """Return the numbers of the steps around the one that takes effect at the server."""
    sent = [
        number for number, name in enumerate(steps, 1) if name in {"before http", "before smtp ."}
    ]
    return [sent[-1], sent[-1] + 1, sent[-1] + 2]


def torture(*, folder: Path, choose: Callable[[list[str]], list[int]] = every_step) -> Report:
    """Kill each action at the steps that `choose` picks, and report what the servers saw."""
    report = Report()
    with calendar_server(folder / "calendar") as url, mail_server(folder / "mail") as port:
        watch = Watch(folder, url, port, report)
        for action in ("calendar", "email"):
            steps = watch.steps(action)
            for number in choose(steps):
                watch.kill(action, number, steps[number - 1])
    return report


def main() -> None:
    """Run it from the command line."""
    with TemporaryDirectory(prefix="salon-actions-") as folder:
        report = torture(folder=Path(folder))
    kills = ", ".join(f"{count} of {action}" for action, count in report.kills.items())
    print(
        f"killed {kills}; {report.unknown} ended unknown and were settled by looking; "
        f"{len(report.faults)} faults"
    )
    for fault in report.faults[:20]:
        print(f"  {fault}")
    raise SystemExit(bool(report.faults))


if __name__ == "__main__":
    main()
