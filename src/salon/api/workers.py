"""Threads that take turns: few wake-ups for many short turns, several threads for long ones.

Handing work to a thread and back costs more than a short turn itself, since both want the
interpreter. So one thread works off what waits and reports in batches; another one is woken only
when something waits and little gets done, which is when turns take long. Work is never given up
half-way: whoever waited for it may be gone, it is finished all the same.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")
Then: TypeAlias = Callable[[Any, BaseException | None], None]
"""What is called in the loop once work is done: with its result, or with what it raised."""
MOMENT_S = 0.002
"""After so long it is looked whether work waits that another thread should be woken for."""
SHORT_JOBS = 4
"""Jobs that are short enough for one thread end at least so often within a moment."""
REPORT_S = 0.001
"""How long a result may wait for others to be reported with it."""
IDLE_S = 30.0
"""After so long without work a thread ends."""


class _Job(NamedTuple):
    work: Callable[[], Any]
    then: Then


class Workers:
    """A few threads for one event loop, in which all of it but the work itself happens."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: deque[_Job] = deque()
        self._reports: deque[Callable[[], None]] = deque()
        self._wake_ups: SimpleQueue[bool] = SimpleQueue()
        self._awake = 0
        self._threads = 0
        self._counting = threading.Lock()
        self._is_reported = False
        self._looking: asyncio.TimerHandle | None = None
        self._begun = 0
        self._begun_before = 0

    async def run(self, work: Callable[[], T]) -> T:
        """Have something done in a thread, and wait for it."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.submit(work, partial(settle, done))
        return await done

    def submit(self, work: Callable[[], Any], then: Then) -> None:
        """Have something done in a thread; `then` is called in the loop, never at once."""
        loop = asyncio.get_running_loop()
        self._jobs.append(_Job(work, then))
        with self._counting:
            is_asleep = self._awake == 0
        if is_asleep:
            self._wake(loop)
        elif self._looking is None:
            self._looking = loop.call_later(MOMENT_S, self._look_after, loop)

    def report(self, loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
        """Have something called in the loop, from any thread, after what was reported before."""
        self._reports.append(call)
        self._report(loop)

    def _look_after(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wake another thread where work waits, and come back as long as it does."""
        self._looking = None
        if not self._jobs:
            return
        is_quick = self._begun - self._begun_before >= SHORT_JOBS
        self._begun_before = self._begun
        if self._awake < self._most and not is_quick:
            self._wake(loop)
        self._looking = loop.call_later(MOMENT_S, self._look_after, loop)

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._counting:
            self._awake += 1
            is_new = self._awake > self._threads
            self._threads += is_new
        if is_new:
            threading.Thread(
                target=self._live, args=(loop,), name="salon-turns", daemon=True
            ).start()
        else:
            self._wake_ups.put(True)

    # In a thread

    def _live(self, loop: asyncio.AbstractEventLoop) -> None:
        while not loop.is_closed():
            self._work_off(loop)
            with self._counting:
                # Whoever came while this thread still counted as awake has woken nobody.
                if self._jobs:
                    continue
                self._awake -= 1
            if not self._is_woken():
                return

    def _is_woken(self) -> bool:
        try:
            return self._wake_ups.get(timeout=IDLE_S)
        except Empty:
            with self._counting:
                # Somebody may have counted on this thread at the last moment.
                if self._awake < self._threads and self._wake_ups.empty():
                    self._threads -= 1
                    return False
            return self._wake_ups.get()

    def _work_off(self, loop: asyncio.AbstractEventLoop) -> None:
        since = time.monotonic()
        while True:
            try:
                job = self._jobs.popleft()
            except IndexError:
                self._report(loop)
                return
            self._begun += 1
            self._reports.append(_do(job))
            now = time.monotonic()
            if now - since > REPORT_S:
                self._report(loop)
                since = now

    def _report(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._reports and not self._is_reported:
            self._is_reported = True
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._hand_over, loop)

    # In the loop again

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        self._is_reported = False
        if self._looking is not None and not self._jobs:
            self._looking.cancel()
            self._looking = None
        try:
            while self._reports:
                self._reports.popleft()()
        finally:
            self._report(loop)  # where one of them failed, the others have their go all the same


def _do(job: _Job) -> Callable[[], None]:
    try:
        return partial(job.then, job.work(), None)
    except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits for the work
        return partial(job.then, None, error)


def settle(done: "asyncio.Future[T]", value: T, error: BaseException | None) -> None:
    """Give a future what became of some work, unless nobody waits for it."""
    if done.cancelled():
        return
    if error is None:
        done.set_result(value)
    else:
        done.set_exception(error)
