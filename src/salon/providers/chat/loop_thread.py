"""An event loop in a thread of its own, for libraries that are only asynchronous.

Callers stay synchronous and may be in any thread, also in one that has a loop already.
"""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from salon.core.closing import Closable

Result = TypeVar("Result")


class LoopThread(Closable):
    """Runs coroutines for synchronous callers; starts with the first of them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def start(self, job: Coroutine[Any, Any, Result]) -> "Future[Result]":
        """Start a coroutine; cancelling what is returned cancels it."""
        with self._lock:
            if self._is_closed:
                job.close()
                raise RuntimeError(f"{self._name} is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # A daemon: somebody who forgets to close must not hang at the end.
                self._thread = threading.Thread(
                    target=_work, args=(self._loop,), name=self._name, daemon=True
                )
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(job, self._loop)

    def run(self, job: Coroutine[Any, Any, Result]) -> Result:
        """Return what a coroutine returns; an interrupted caller cancels it."""
        future = self.start(job)
        try:
            return future.result()
        finally:
            future.cancel()

    def close(self) -> None:
        """Cancel what is still running, and end the thread."""
        with self._lock:
            self._is_closed = True
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()


def _work(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
