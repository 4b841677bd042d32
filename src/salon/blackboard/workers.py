"""Threads that run steps. They are kept between turns, since each holds its own connections.

A step that hangs keeps its thread; nobody waits for it, not even the end of the program.
"""

import threading
from collections.abc import Callable
from itertools import count
from queue import SimpleQueue

from salon.core.closing import Closable

MOST_IDLE = 16
Work = Callable[[], None]


class Workers(Closable):
    """Threads on call: work is begun at once, by an idle thread or a new one."""

    def __init__(self) -> None:
        self._idle: list[SimpleQueue[Work | None]] = []
        self._lock = threading.Lock()
        self._is_closed = False
        self._numbers = count(1)

    def start(self, work: Work) -> None:
        """Have work done; it must not raise."""
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
        if inbox is None:
            inbox = SimpleQueue()
            name = f"salon-step-{next(self._numbers)}"
            threading.Thread(target=self._serve, args=(inbox,), name=name, daemon=True).start()
        inbox.put(work)

    def close(self) -> None:
        """Let the idle threads end, and the others when they are done."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for inbox in idle:
            inbox.put(None)

    def _serve(self, inbox: "SimpleQueue[Work | None]") -> None:
        while (work := inbox.get()) is not None:
            work()
            del work  # it holds a whole turn
            with self._lock:
                if self._is_closed or len(self._idle) >= MOST_IDLE:
                    return
                self._idle.append(inbox)
