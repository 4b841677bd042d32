"""Who drives which round: at most one thread in one process, seen to by a lock that dies with it.

The lock spares work and model calls; it is not what keeps a round right. That two drivers do no
harm is the desk's business.
"""

import fcntl
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING

from salon.core.errors import Conflict, SalonError

if TYPE_CHECKING:
    from salon.council.driving import OnEvent, RoundEvent

log = logging.getLogger(__name__)

MOST_AT_ONCE = 8
"""Rounds that one process drives beside other work; further ones stay open until there is room."""


class RoundIsDriven(Conflict):
    """Another process or thread drives this round already."""


class RoundLeft(Exception):
    """Driving was left off because the application closes; nothing is lost."""


class Drivers:
    """The rounds that this process drives, in the foreground or beside other work."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._threads: dict[str, threading.Thread] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()

    @contextmanager
    def driving(self, round_id: str) -> Iterator[None]:
        """Be the one who drives a round, or raise `RoundIsDriven`."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{round_id}.lock"
        with FileIO(path, "a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RoundIsDriven(
                    f"{round_id} is being driven by another process",
                    hint="`salon council status` shows how far it is",
                ) from None
            try:
                yield
            finally:
                path.unlink(missing_ok=True)

    def start(self, round_id: str, work: Callable[[], object]) -> bool:
        """Drive a round in a thread; tell whether one was started. What is too much waits."""
        with self._lock:
            is_full = len(self._threads) >= MOST_AT_ONCE
            if self._closing.is_set() or is_full or round_id in self._threads:
                return False
            thread = threading.Thread(
                target=self._run, args=(round_id, work), name=f"round {round_id}", daemon=True
            )
            self._threads[round_id] = thread
        thread.start()
        return True

    def wait(self, seconds: float) -> None:
        """Wait between two looks at a round; raise `RoundLeft` if the application closes."""
        if self._closing.wait(seconds):
            raise RoundLeft("Salon is closing; the round goes on when it is driven again")

    def unless_closing(self, listener: "OnEvent") -> "OnEvent":
        """Return a listener that also raises `RoundLeft` if the application closes."""

        def hear(event: "RoundEvent") -> None:
            listener(event)
            self.wait(0.0)

        return hear

    def close(self) -> None:
        """Let the threads end after what they are doing."""
        self._closing.set()
        with self._lock:
            threads = list(self._threads.values())
        for thread in threads:
            thread.join()

    def _run(self, round_id: str, work: Callable[[], object]) -> None:
        try:
            work()
        except (RoundIsDriven, RoundLeft):
            pass
        except SalonError as error:
            log.warning("round %s stopped: %s", round_id, error)
        finally:
            with self._lock:
                self._threads.pop(round_id, None)
