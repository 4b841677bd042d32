"""Many conversations with a misbehaving person, failing servers and dying processes.

`python -m tests.gate.simulate --conversations 10000` runs it at full size. Whatever happens: no
action without approval of exactly its arguments, none done twice, none lost, and for each one an
audit trail that follows the tables from the offer to the end.
"""

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.clock import parse_instant
from salon.gate import flow_table, orders
from salon.gate.actions import Situation
from salon.gate.builtin_actions import event_uid
from salon.gate.desk import Desk, Moved
from salon.gate.executing import Runner
from salon.gate.flow_table import Step
from salon.gate.flows import Flow
from salon.gate.orders import CLOSED, Order, OrderEvent, OrderState
from salon.gate.outbox import TELL
from tests.gate.worlds import CalendarServer, Died, Faults, MailServer, World

SAID = (
    ("My employee Jordan has been absent for three days.", ("Jordan",)),
    ("Our night porter Sam comes late every day.", ("Sam", "Ada Byron")),
    ("Ada's performance has dropped since May.", ()),
)
"""What was said, and who is suggested after it."""
GOOD: dict[str, tuple[str, ...]] = {
    "awaiting_initial_confirmation": ("yes", "sure", "ok", "Yes please!"),
    "awaiting_time_selection": ("the second one", "1", "first", "2026-11-20 15:00", "Tuesday at 3"),
    "awaiting_employee_name": ("Jordan Lee", "Her name is Ada Byron.", "Sam", "yes", "no"),
    "awaiting_employee_phone": ("555-010-4477", "skip", "+49 30 901820"),
    "awaiting_employee_email": ("jordan@example.com", "it's sam@example.org"),
    "awaiting_variables": ("Monday to Wednesday", "the night shift", "Meg"),
    "awaiting_confirmation": ("yes", "Yes, send it.", "ok", "approve"),
}
EDITS = (
    "change the name to Robin Park",
    "change the title to Talk about attendance",
    "change the subject to A talk",
    "subject: Please read",
    "change the time to 2026-11-19 10:30",
    "make it Thursday at 11",
    "change the email to robin@example.com",
    "change the length to 45",
    "change the email to nobody",
)
AMBIGUOUS = ("maybe", "yes but not now?", "hmm", "what would you do?", "yes, or rather no", "")
BACKING_OUT = ("cancel", "no", "never mind", "forget it")
ENDS = (("ok", 11), ("fail", 3), ("timeout", 2), ("late", 2), ("drop", 2), ("refuse", 1))
MOST_ANSWERS = 40


@dataclass(slots=True)
class Report:
    """What came of it."""

    conversations: int = 0
    approvals: int = 0
    deaths: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Person:
    """Somebody who talks with one session's flow; remembers every draft they said yes to."""

    world: World
    session: str
    random: Random
    shown: Flow | None = None
    approved: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    acknowledged: set[str] = field(default_factory=set)
    turn: int = 2

    def talk(self, desk: Desk) -> None:
        """Say something until nothing is asked any more, or this process dies."""
        for _ in range(MOST_ANSWERS):
            flow = desk.find_active(self.session)
            if flow is None:
                return
            if self.random.random() < 0.03:
                return  # hangs up, and may come back
            if self.random.random() < 0.05:
                self.world.clock.forward(timedelta(minutes=self.random.choice((5, 29, 31, 90))))
            self.say(desk, self.answer(flow), flow)

    def answer(self, flow: Flow) -> str:
        """Return what this person says in a step: mostly something sensible."""
        kind = self.random.choices(("good", "edit", "ambiguous", "back"), weights=(16, 3, 3, 1))[0]
        if kind == "edit":
            return self.random.choice(EDITS)
        if kind == "ambiguous":
            return self.random.choice(AMBIGUOUS)
        if kind == "back":
            return self.random.choice(BACKING_OUT)
        return self.random.choice(GOOD.get(flow.step_name, ("yes",)))

    def say(self, desk: Desk, text: str, flow: Flow) -> Moved | None:
        """Give an answer, sometimes twice, and remember what was approved by it."""
        is_yes = flow.step is Step.CONFIRMING and text in GOOD["awaiting_confirmation"]
        if is_yes and flow.digest:
            # The process may die while this is said; the person has approved it all the same.
            self.approved.append((flow.action, dict(flow.arguments)))
        self.turn += 1
        moved = desk.answer(self.session, text, turn=self.turn, by="person")
        if moved is not None and moved.is_approval:
            self.acknowledged.add(moved.flow.order or "")
        if self.random.random() < 0.2:  # sends it again, or changes their mind too late
            again = self.random.choice((text, "change the name to Kim Late", "yes"))
            after = desk.find_active(self.session)
            if after is None or after.step is not Step.CONFIRMING:
                desk.answer(self.session, again, turn=self.turn, by="person")
        return moved


def simulate(conversations: int, *, seed: int = 1, folder: Path) -> Report:
    """Run so many conversations and check what is left."""
    report = Report(conversations=conversations)
    random = Random(seed)
    with SqliteArchive(folder / "salon.db") as archive:
        world = World(archive, random=random, chance_of_death=0.01)
        names, weights = zip(*ENDS, strict=True)
        draw = Faults(draw=lambda: random.choices(names, weights=weights)[0])
        world.calendar, world.mail = CalendarServer(faults=draw), MailServer(faults=draw)
        people = [
            Person(world=world, session=f"s-{number}", random=Random(f"{seed}/{number}"))
            for number in range(conversations)
        ]
        processes = _Processes(world, report)
        for person in people:
            processes.live(person)
        processes.drain()
        _check(world, people, report)
    return report


class _Processes:
    """One process after another, each until it dies; now and then two at once."""

    def __init__(self, world: World, report: Report) -> None:
        self._world = world
        self._report = report
        self._number = 0
        self._is_inside = False
        world.calendar.meanwhile = world.mail.meanwhile = self._meanwhile

    def live(self, person: Person) -> None:
        """Let a person have a whole conversation, through as many processes as it takes."""
        world = self._world
        action = person.random.choice(("calendar", "email"))
        text, names = person.random.choice(SAID)
        said = Situation(said=(text,), reply="You should reach out.", names=names)
        for visit in range(4):
            self._number += 1
            desk, runner = world.desk(), self._runner()
            try:
                if visit == 0 or (visit == 1 and person.random.random() < 0.1):
                    desk.open(person.session, action, said, rule="offer")
                person.talk(desk)
                runner.run_due(session=person.session)
                self._change_of_mind(person)
                self._tell(person)
            except Died:
                self._bury(runner)
            if desk.find_active(person.session) is None and visit:
                break
            world.clock.forward(timedelta(seconds=person.random.choice((1, 20, 200, 3600))))
            world.calendar.settle()
            world.mail.settle()

    def drain(self) -> None:
        """Let time pass until nothing is left to do; people settle what only they can know."""
        world = self._world
        world.chance_of_death = 0.002
        for _ in range(400):
            runner = self._runner()
            try:
                runner.run_due()
            except Died:
                self._bury(runner)
            world.calendar.settle()
            world.mail.settle()
            world.clock.forward(timedelta(minutes=20))
            open_ = [held.order for held in world.outbox.waiting()]
            for order in open_:
                self._look_after(order)
            if not open_:
                return
        self._report.faults.append("the outbox never got empty")

    def _tell(self, person: Person) -> None:
        for held in list(self._world.outbox.waiting(session=person.session)):
            if held.order.state is OrderState.DONE:
                self._world.outbox.tell(held)

    def _change_of_mind(self, person: Person) -> None:
        if person.random.random() > 0.05:
            return
        for held in list(self._world.outbox.waiting(session=person.session)):
            if held.order.state in {OrderState.APPROVED, OrderState.WAITING}:
                self._runner().withdraw(held.order.key)

    def _look_after(self, order: Order) -> None:
        """Settle an order as a person does who has looked into the calendar and the mailbox."""
        outbox, world = self._world.outbox, self._world
        if order.state is OrderState.DONE:
            outbox.tell(outbox.get(order.key))
        elif order.state in {OrderState.FAILED, OrderState.UNKNOWN}:
            is_there = bool(_effects(world, order))
            try:
                if is_there and order.state is OrderState.UNKNOWN:
                    self._runner().settle_done(order.key)
                elif world.random.random() < 0.7:
                    self._runner().retry(order.key)
                else:
                    outbox.decide(order.key, OrderEvent.WITHDRAW)
            except Died:
                self._bury(self._runner())

    def _runner(self) -> Runner:
        return self._world.runner(f"worker-{self._number}")

    def _bury(self, runner: Runner) -> None:
        self._report.deaths += 1
        self._number += 1
        # Sometimes others know at once that it is gone, sometimes only its lease tells.
        if self._world.random.random() < 0.5:
            self._world.gone.add(runner.worker)

    def _meanwhile(self) -> None:
        """Let another process run the outbox while this one waits for a server."""
        if self._is_inside or self._world.random.random() > 0.1:
            return
        self._is_inside = True
        try:
            if self._world.random.random() < 0.3:
                self._world.clock.forward(timedelta(minutes=6))  # longer than the lease
            self._world.runner("the-other-one").run_due()
        finally:
            self._is_inside = False


# Checking


def _effects(world: World, order: Order) -> list[dict[str, str]]:
    """Return what the servers have of an order."""
    name = event_uid(order)
    if order.action == "calendar":
        return [
            {
                "title": one.title,
                "start": str(one.start),
                "minutes": str((one.end - one.start) // timedelta(minutes=1)),
            }
            for one in [world.calendar.events.get(name)]
            if one is not None
        ]
    return [
        {
            "employee_name": one.to_name,
            "employee_email": one.to_address,
            "subject": one.subject,
            "body": one.body,
        }
        for one in world.mail.taken
        if one.message_id == name
    ]


def _check(world: World, people: list[Person], report: Report) -> None:
    all_orders = {
        held.order.key: held.order
        for handle in world.archive.handles(prefix="orders/")
        if (held := world.outbox.find(handle.name.removeprefix("orders/"))) is not None
    }
    report.approvals = len(all_orders)
    approved = {person.session: person.approved for person in people}
    for order in all_orders.values():
        report.ends[order.state.value] += 1
        report.faults += _faults_of(world, order, approved[order.session])
    for person in people:
        missing = person.acknowledged - set(all_orders)
        report.faults += [f"{person.session}: order {key} is lost" for key in missing]
    keys = {event_uid(order) for order in all_orders.values()}
    strangers = [one for one in world.calendar.events if one not in keys]
    strangers += [one.message_id for one in world.mail.taken if one.message_id not in keys]
    report.faults += [f"{one} was done without an order" for one in strangers]
    report.faults += _trail_faults(world, all_orders)


def _faults_of(world: World, order: Order, approved: list[tuple[str, dict[str, str]]]) -> list[str]:
    faults = []
    effects = _effects(world, order)
    if (order.action, order.arguments) not in approved:
        faults.append(f"{order.key}: nobody approved this")
    if len(effects) > 1:
        faults.append(f"{order.key}: done {len(effects)} times")
    wanted = dict(order.arguments)
    if order.action == "calendar":
        wanted["start"] = str(parse_instant(wanted["start"]))
    if any(wanted[name] != value for effect in effects for name, value in effect.items()):
        faults.append(f"{order.key}: not what was approved")
    if order.state not in CLOSED:
        faults.append(f"{order.key}: ended as {order.state}")
    if (order.state is OrderState.DONE) != bool(effects):
        faults.append(f"{order.key}: {order.state} with {len(effects)} effects")
    return faults


def _trail_faults(world: World, all_orders: dict[str, Order]) -> list[str]:
    """Follow the audit log of every flow along the tables."""
    trails: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for entry in world.archive.audit_entries():
        body = entry.body
        if body["kind"] == "action_moved" and body["rule"] != TELL:
            trails[str(body["flow"])].append(
                (str(body["moved_to"]), str(body["rule"]), str(body["arguments_sha256"]))
            )
    faults = []
    for flow, trail in trails.items():
        faults += [f"{flow}: {fault}" for fault in _broken_steps(trail)]
    for order in all_orders.values():
        trail = trails.get(order.flow, [])
        approvals = [digest for to, rule, digest in trail if (to, rule) == ("approved", "approve")]
        if approvals != [order.digest]:
            faults.append(f"{order.key}: approvals in the log are {approvals}")
        if not trail or trail[-1][0] != order.state.value:
            faults.append(f"{order.key}: the log ends elsewhere")
        committed = [to for to, _, _ in trail].count("committing")
        if order.state is OrderState.DONE and not committed:
            faults.append(f"{order.key}: done without a commit")
    return faults


def _broken_steps(trail: list[tuple[str, str, str]]) -> list[str]:
    faults, here = [], "nowhere"
    for to, rule, _ in trail:
        if here == "nowhere":
            is_legal = to == Step.OFFERED.value
        elif here in _IN_THE_OUTBOX or rule in _ORDER_RULES:
            key = (OrderState(here), OrderEvent(rule))
            is_legal = orders.MOVES.get(key) == to
        else:
            move = flow_table.MOVES.get((_step(here), flow_table.Event(rule)))
            is_legal = move is not None and (move is Step.NEXT or move is _step(to))
        if not is_legal:
            faults.append(f"{here} went to {to} by {rule}")
        here = to
    return faults


_IN_THE_OUTBOX = set(OrderState) - {OrderState.APPROVED}
_ORDER_RULES = {event.value for event in OrderEvent} - {"unclear"}


def _step(name: str) -> Step:
    return Step(name) if name in set(Step) else Step.ASKING


@contextmanager
def fast_folder() -> Iterator[Path]:
    """Make a folder for a while, in memory where there is such a place."""
    memory = Path("/dev/shm")
    place = memory if memory.is_dir() else None
    with TemporaryDirectory(prefix="salon-simulation-", dir=place) as folder:
        yield Path(folder)


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    begun = time.perf_counter()
    with fast_folder() as folder:
        report = simulate(chosen.conversations, seed=chosen.seed, folder=folder)
    took = time.perf_counter() - begun
    ends = ", ".join(f"{count:,} {name}" for name, count in sorted(report.ends.items()))
    print(
        f"{report.conversations:,} conversations in {took:.1f} s: {report.approvals:,} approved "
        f"({ends}); {report.deaths:,} processes died; {len(report.faults)} faults"
    )
    for fault in report.faults[:20]:
        print(f"  {fault}")
    raise SystemExit(bool(report.faults))


if __name__ == "__main__":
    main()
