"""Running a turn: the steps that are due, each as soon as what it reads is there.

One thread takes ready steps one after another, which costs nothing between quick ones; where a
step keeps others waiting, further threads join. The caller only watches the clock. Whatever a
step does (raise, hang, return rubbish), the turn ends, the other slots keep their values, and its
own slot says why it is empty.
"""

import logging
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from salon.blackboard.board import Board, Failure, StepTime
from salon.blackboard.checking import AnySlot, AnyStep, Plan
from salon.blackboard.slots import Dated
from salon.blackboard.triggers import is_due
from salon.blackboard.values import Unrecordable, encode
from salon.blackboard.view import BoardView, declared, look
from salon.blackboard.workers import Workers
from salon.core.absent import Absent

PATIENCE_S = 0.005
"""How long a ready step waits for the thread that is at work before another one joins."""
MOST_STUCK = 3
"""Runs of one step that may hang at a time; after that it is not begun."""
NOT_DUE = Absent("not due")
_LONGEST_REASON = 300
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")
_log = logging.getLogger(__name__)

PastValues = Mapping[str, tuple[Dated[Any], ...]]


class Runner:
    """Runs the turns of one plan; may be used by many threads at once."""

    def __init__(self, plan: Plan, workers: Workers) -> None:
        self.plan = plan
        self.steps = {step.name: step for step in plan.steps}
        self.allowed = {step.name: declared(step) for step in plan.steps}
        self.workers = workers
        self._stuck: Counter[str] = Counter()
        self._lock = threading.Lock()

    def run(
        self,
        turn: int,
        *,
        given: Mapping[AnySlot, object],
        past: PastValues,
        settled: Mapping[str, Absent] | None = None,
    ) -> Board:
        """Run one turn. Slots in `settled` stay absent for that reason; their steps do not run."""
        values = {slot.name: value for slot, value in given.items()}
        return _Turn(self, turn, values, past, settled or {}).run()

    def stuck(self, step: str) -> int:
        """Return how many runs of a step have been given up and have not come back."""
        return self._stuck[step]

    def count_stuck(self, step: str, change: int) -> None:
        """Note that a run of a step was given up, or has come back."""
        with self._lock:
            self._stuck[step] += change


@dataclass(slots=True)
class _Job:
    """One step at work."""

    step: AnyStep
    view: BoardView
    began: float
    is_abandoned: bool = False


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a step left: a value with its recorded form, or why not; `kind` where it failed."""

    value: Any
    raw: bytes | Absent
    kind: str = ""
    took: float | None = None


class _Turn:
    """One turn under way. Everything below is only touched while `_change` is held, but `values`.

    A step reads `values` without it: what a step may read was written before it became ready.
    """

    def __init__(
        self,
        runner: Runner,
        turn: int,
        values: dict[str, Any],
        past: PastValues,
        settled: Mapping[str, Absent],
    ) -> None:
        self._runner = runner
        self._turn = turn
        self._values = values
        self._past = past
        self._settled = settled
        self._change = threading.Condition()
        needs = runner.plan.needs
        self._unmet = {name: len(needs[name]) for name in runner.steps}
        self._ready = deque(name for name, count in self._unmet.items() if not count)
        self._running: dict[str, _Job] = {}
        self._threads = 0
        self._is_awake_soon = True
        self._left = len(runner.steps)
        self._recorded: dict[str, bytes | Absent] = {}
        self._failures: list[Failure] = []
        self._times: dict[str, StepTime] = {}
        self._began = self._moved = time.perf_counter()

    def run(self) -> Board:
        with self._change:
            while self._left:
                now = time.perf_counter()
                self._give_up_on_the_late(now)
                if self._ready and (not self._threads or now - self._moved >= PATIENCE_S):
                    self._threads += 1
                    self._moved = now
                    self._runner.workers.start(self._work)
                if self._left:
                    self._is_awake_soon = bool(self._ready)
                    self._change.wait(self._pause(now))
            place = {step.name: at for at, step in enumerate(self._runner.plan.steps)}
            return Board(
                turn=self._turn,
                values=self._values,
                recorded=self._recorded,
                failures=tuple(sorted(self._failures, key=lambda one: place[one.step])),
                times=self._times,
                took_s=time.perf_counter() - self._began,
            )

    # The watching thread

    def _pause(self, now: float) -> float:
        """Return how long nothing needs to be looked at."""
        ends = [job.began + job.step.timeout_s - now for job in self._running.values()]
        if self._ready:
            ends.append(self._moved + PATIENCE_S - now)
        return max(0.0, min(ends, default=1.0))

    def _give_up_on_the_late(self, now: float) -> None:
        for name, job in list(self._running.items()):
            if now - job.began >= job.step.timeout_s:
                job.is_abandoned = True
                job.view.close()
                self._threads -= 1
                self._runner.count_stuck(name, +1)
                _log.warning("step %s timed out after %s s", name, job.step.timeout_s)
                reason = f"timed out after {job.step.timeout_s} s"
                self._settle(name, _failed(reason, reason, job.step.timeout_s))

    # The working threads

    def _work(self) -> None:
        while (job := self._take()) is not None:
            outcome = self._evaluate(job)
            with self._change:
                if job.is_abandoned:
                    self._runner.count_stuck(job.step.name, -1)
                    return
                self._settle(job.step.name, outcome)

    def _take(self) -> _Job | None:
        with self._change:
            if not self._ready:
                self._threads -= 1
                return None
            step = self._runner.steps[self._ready.popleft()]
            self._moved = time.perf_counter()
            view = BoardView(self._turn, self._runner.allowed[step.name], self._values, self._past)
            job = self._running[step.name] = _Job(step, view, self._moved)
            if self._ready and not self._is_awake_soon:
                self._change.notify()  # the watcher may have to get help
            return job

    def _evaluate(self, job: _Job) -> _Outcome:
        step = job.step
        if (reason := self._settled.get(step.writes.name)) is not None:
            return _Outcome(reason, reason, reason.reason.split(":")[0])
        try:
            if not is_due(step.when, self._turn, self._look):
                return _Outcome(NOT_DUE, NOT_DUE)
            if self._runner.stuck(step.name) >= MOST_STUCK:
                reason_now = f"refused: {MOST_STUCK} earlier runs have not come back"
                return _failed(reason_now, "refused")
            job.began = time.perf_counter()
            value = step.run(job.view)
        except BaseException as error:  # noqa: BLE001 - a step may raise anything; the turn goes on
            _log.debug("step %s failed", step.name, exc_info=True)
            kind = f"failed: {type(error).__name__}"
            said = _cut(_said(error))
            took = time.perf_counter() - job.began
            return _failed(f"{kind}: {said}" if said else kind, kind, took)
        took = time.perf_counter() - job.began
        return _checked(step, value, took)

    def _look(self, slot: AnySlot, latest: bool) -> Any:  # noqa: FBT001 - `triggers.Look`
        return look(slot, latest=latest, values=self._values, past=self._past)

    # Both

    def _settle(self, name: str, outcome: _Outcome) -> None:
        job = self._running.pop(name)
        slot = job.step.writes.name
        self._values[slot] = outcome.value
        self._recorded[slot] = outcome.raw
        if outcome.kind:
            self._failures.append(Failure(step=name, slot=slot, kind=outcome.kind))
        if outcome.took is not None:
            began = job.began - self._began
            self._times[name] = StepTime(began_s=began, took_s=outcome.took)
        self._left -= 1
        for other in self._runner.plan.unlocks[name]:
            self._unmet[other] -= 1
            if not self._unmet[other]:
                self._ready.append(other)
        if not self._left:
            self._change.notify()


def was_the_machine(reason: str) -> bool:
    """Tell whether a failure came from the machine at that time, and cannot be done again."""
    return reason.startswith(("timed out after ", "refused: "))


def _checked(step: AnyStep, value: Any, took: float) -> _Outcome:
    if isinstance(value, Absent):
        given: Any = value.reason
        said = _cut(given) if isinstance(given, str) else ""
        reason = Absent(said or "the step gave no reason")
        return _Outcome(reason, reason, took=took)
    try:
        return _Outcome(value, encode(step.writes, value), took=took)
    except Unrecordable as error:
        _log.debug("step %s gave %s", step.name, error)
        return _failed(f"gave {error}", "gave rubbish", took)
    except BaseException as error:  # noqa: BLE001 - a value's own code runs while it is written
        kind = f"failed: {type(error).__name__}"
        return _failed(f"{kind} while its value was recorded", kind, took)


def _failed(reason: str, kind: str, took: float | None = None) -> _Outcome:
    return _Outcome(Absent(reason), Absent(reason), kind, took)


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # noqa: BLE001 - even its own words may raise
        return ""


def _cut(text: str) -> str:
    """Return a reason that can be recorded and is the same in every run."""
    plain = _ADDRESS.sub("0x…", text).encode("utf-8", "replace").decode()
    return plain if len(plain) <= _LONGEST_REASON else plain[:_LONGEST_REASON] + "…"
