"""Many callers at once, made to wait side by side so that a test decides who shares a commit."""

import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import ParamSpec, TypeVar

from salon.archive.sqlite_archive import SqliteArchive

P = ParamSpec("P")
T = TypeVar("T")
PATIENCE_S = 20
"""After this long a test gives up on a thread: it hangs, and the test fails instead of hanging."""


class Crowd:
    """Callers whose writes wait until the crowd is let go."""

    def __init__(self, archive: SqliteArchive, pool: ThreadPoolExecutor) -> None:
        self._archive = archive
        self._pool = pool
        self._asked = 0

    def ask(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """Let somebody call this, and return once the write stands in the queue."""
        future = self._pool.submit(call, *args, **kwargs)
        self._asked += 1
        give_up = time.monotonic() + PATIENCE_S
        while self._archive._writer._waiting.qsize() < self._asked:
            if future.done() or time.monotonic() > give_up:
                raise AssertionError(f"this call does not wait: {future}")
            time.sleep(0.0005)
        return future


@contextmanager
def crowd(archive: SqliteArchive) -> Iterator[Crowd]:
    """Hold the writer while the block asks; everything asked becomes one group when it ends."""
    held, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        held.set()
        let_go.wait(PATIENCE_S)

    with ThreadPoolExecutor(max_workers=128) as pool:
        holder = pool.submit(archive.write, lambda _: hold())
        assert held.wait(PATIENCE_S)
        try:
            yield Crowd(archive, pool)
        finally:
            let_go.set()
        holder.result(PATIENCE_S)


def in_time(future: "Future[T]") -> T:
    """Return what the call returned, or fail if it hangs."""
    return future.result(PATIENCE_S)


def finishes(call: Callable[[], object], *, within_s: float = PATIENCE_S) -> bool:
    """Tell whether `call` ends (however it ends) before anybody would call it a hang."""

    def run() -> None:
        try:
            call()
        except Exception:  # however it ends, it ends; the test asks for nothing else
            return

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(within_s)
    return not thread.is_alive()


def run_processes(script: str, arguments: list[list[str]]) -> list[str]:
    """Run one Python process per list of arguments, all at once; return what each printed."""
    code = textwrap.dedent(script)
    running = [
        Popen([sys.executable, "-W", "error", "-c", code, *args], stdout=PIPE, stderr=PIPE)
        for args in arguments
    ]
    printed = []
    for process in running:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err.decode()
        printed.append(out.decode().strip())
    return printed


HOLD = """
    import sys, apsw
    connection = apsw.Connection(sys.argv[1])
    connection.execute("BEGIN IMMEDIATE")
    print("held", flush=True)
    sys.stdin.readline()
    connection.execute("ROLLBACK")
    print("let go", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def held_by_another_process(path: Path) -> Iterator["Popen[str]"]:
    """Hold the write lock in another process; a line on its input makes it let go."""
    with Popen(
        [sys.executable, "-c", textwrap.dedent(HOLD), str(path)],
        stdin=PIPE,
        stdout=PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        try:
            yield holder
        finally:
            holder.communicate("\n\n", timeout=PATIENCE_S)


def let_go(holder: "Popen[str]") -> None:
    """Make it let go, and return when it has."""
    assert holder.stdin is not None
    assert holder.stdout is not None
    holder.stdin.write("\n")
    holder.stdin.flush()
    assert holder.stdout.readline() == "let go\n"
