"""Reading in a process of its own, with limits on memory, time, input and output.

`Sandbox.read` hands bytes to a reader process and returns text, or raises: `UnreadableSource`
when the parser says no, `ReaderFailed` when a limit was hit or the parser crashed. It always
names the source. Nothing a hostile file does to its parser reaches the caller: every file gets a
fresh child (see `salon.corpus.readers.worker`), and its reply is checked as data from outside.

A sandbox is safe to use from several threads; each reads in a process of its own.
"""

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from salon.core.closing import Closable
from salon.core.errors import ContentTooLarge, ReaderFailed
from salon.corpus.layout import ReadText
from salon.corpus.limits import Limits
from salon.corpus.readers import SourceHints
from salon.corpus.wire import ENDING, MEMORY_EXIT, BadReply, Job, unpack

WORKER = "salon.corpus.readers.worker"
_PIECE = 1 << 20
_TELLING_SHARE = 0.25
_LIMIT_OF_EXIT = {MEMORY_EXIT: "memory", -signal.SIGXCPU: "cpu"}


class _OverLimit(Exception):
    """The child had to be stopped; `limit` says why."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


@dataclass(frozen=True, slots=True)
class _Finished:
    """What one child left: its reply, complete or not, and how it ended."""

    reply: bytes
    exit_code: int
    peak_bytes: int


class Sandbox(Closable):
    """Reads files in limited processes, which it starts when needed and keeps for the next file."""

    def __init__(self, limits: Limits | None = None, *, worker: str = WORKER) -> None:
        self.limits = limits or Limits()
        self._worker = worker
        self._lock = threading.Lock()
        self._idle: list[_ReaderProcess] = []
        self._busy: set[_ReaderProcess] = set()
        self._closed = False

    def read(self, content: bytes, hints: SourceHints) -> ReadText:
        """Return the text of `content`, or raise one error that names its source."""
        if len(content) > self.limits.input_bytes:
            raise too_large(hints.name, len(content), self.limits)
        job = Job(hints=hints, limits=self.limits)
        try:
            with self._process() as process:
                finished = process.run(job, content)
        except _OverLimit as stopped:
            raise self._failure(hints.name, stopped.limit) from stopped
        if finished.exit_code in _LIMIT_OF_EXIT:
            raise self._failure(hints.name, _LIMIT_OF_EXIT[finished.exit_code])
        if finished.exit_code != 0:
            raise self._crash(hints.name, finished)
        return self._result(finished.reply, content, hints.name)

    def close(self) -> None:
        """End all reader processes, also those at work."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            for process in self._busy:
                process.stop()  # the thread that reads with it notices, and lets go of it
        for process in idle:
            process.discard()

    @contextlib.contextmanager
    def _process(self) -> Iterator["_ReaderProcess"]:
        with self._lock:
            if self._closed:
                raise ReaderFailed("the sandbox is closed", hint="read before closing it")
            process = self._idle.pop() if self._idle else _ReaderProcess(self._worker)
            if not process.is_alive():
                process.discard()
                process = _ReaderProcess(self._worker)
            self._busy.add(process)
        reusable = False
        try:
            yield process
            reusable = True
        finally:
            with self._lock:
                self._busy.remove(process)
                reusable &= not self._closed
                if reusable:
                    self._idle.append(process)
            if not reusable:
                process.discard()

    def _result(self, reply: bytes, content: bytes, name: str) -> ReadText:
        try:
            return unpack(reply, content)
        except BadReply as error:
            raise ReaderFailed(
                f"{name}: the reader sent an answer that makes no sense ({error})",
                hint="treat this file as hostile",
                limit=None,
            ) from error
        except ReaderFailed as error:
            raise self._failure(name, str(error.details.get("limit"))) from error

    def _failure(self, name: str, limit: str) -> ReaderFailed:
        limits = self.limits
        reasons = {
            "memory": f"it needs more than {limits.memory_bytes / 2**20:.0f} MiB of memory",
            "cpu": f"it needs more than {limits.cpu_s} s of processor time",
            "wall": f"it was not done after {limits.wall_s:g} s",
            "output": f"its text has more than {limits.output_bytes} bytes",
        }
        return ReaderFailed(
            f"{name}: stopped reading, {reasons.get(limit, 'the reader process ended')}",
            hint="the file may be built to exhaust the machine; if you trust it, split it",
            limit=limit,
        )

    def _crash(self, name: str, finished: _Finished) -> ReaderFailed:
        code = finished.exit_code
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        # Many parsers abort when memory is refused; what they held by then tells it.
        if finished.peak_bytes > self.limits.memory_bytes * _TELLING_SHARE:
            return self._failure(name, "memory")
        return ReaderFailed(
            f"{name}: the parser crashed ({how})",
            hint="the file is probably damaged; get a fresh copy, or convert it",
            limit=None,
            crash=how,
        )


def too_large(name: str, size: int, limits: Limits) -> ContentTooLarge:
    """Return the error for a source over the limit."""
    return ContentTooLarge(
        f"{name} has {size} bytes, more than the {limits.input_bytes} that a reader takes",
        hint="split it into smaller files",
    )


class _ReaderProcess:
    """One running worker, which does one job at a time."""

    def __init__(self, worker: str) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-m", worker, str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=_environment(),
                start_new_session=True,
            )

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def run(self, job: Job, content: bytes) -> _Finished:
        """Do one job; raise `_OverLimit` if it has to be stopped, after which this is dead."""
        deadline = time.monotonic() + job.limits.wall_s
        reply_end, child_end = os.pipe()
        try:
            with _file_of(content) as stream:
                try:
                    socket.send_fds(self._control, [job.to_line()], [stream.fileno(), child_end])
                finally:
                    os.close(child_end)
            reply = _read_all(reply_end, deadline, job.limits.output_bytes)
        except OSError as error:
            raise _OverLimit("process") from error
        finally:
            os.close(reply_end)
        return _Finished(reply, *self._ending(deadline))

    def _ending(self, deadline: float) -> tuple[int, int]:
        self._control.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            ending = self._control.recv(ENDING.size, socket.MSG_WAITALL)
        except TimeoutError as error:
            raise _OverLimit("wall") from error
        except OSError as error:
            raise _OverLimit("process") from error
        if len(ending) < ENDING.size:
            raise _OverLimit("process")
        status, peak_bytes = ENDING.unpack(ending)
        return os.waitstatus_to_exitcode(status), peak_bytes

    def stop(self) -> None:
        """End the worker and its child at once; both are in one session of their own."""
        if self.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def discard(self) -> None:
        """Stop, and let go of what belongs to the worker."""
        self.stop()
        self._process.wait()
        self._control.close()


def _environment() -> dict[str, str]:
    # Nothing is inherited: keys and tokens in the caller's environment stay there.
    return {
        "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path if path),  # noqa: PTH100
        "PYTHONSAFEPATH": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "LC_ALL": "C.UTF-8",
    }


def _file_of(content: bytes) -> BinaryIO:
    """Return an open file without a name that holds `content`, from its start."""
    stream: BinaryIO
    if sys.platform == "linux":
        stream = open(os.memfd_create("salon-source"), "w+b")  # noqa: PTH123, SIM115 - returned
    else:
        stream = tempfile.TemporaryFile()  # noqa: SIM115
    stream.write(content)
    stream.seek(0)
    return stream


def _read_all(pipe: int, deadline: float, most: int) -> bytes:
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    pieces: list[bytes] = []
    size = 0
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            raise _OverLimit("wall")
        piece = os.read(pipe, _PIECE)
        if not piece:
            return b"".join(pieces)
        size += len(piece)
        if size > most:
            raise _OverLimit("output")
        pieces.append(piece)
