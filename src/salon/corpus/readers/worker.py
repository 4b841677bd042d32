"""The reader process: `python -m salon.corpus.readers.worker FD`, started by the sandbox.

It waits on the control socket FD for jobs, imports the parser a job needs, and forks. The child
lowers its own limits, reads one file, sends the reply through the job's pipe and ends; the parent
never touches a byte of any file and so stays clean. Every file thus gets a fresh process, fresh
limits and no trace of the file before it, for the price of a fork.

This is not a jail against a parser that runs an attacker's machine code; it bounds what honest
parsers do with hostile files. Replies travel on their own pipe: whatever parsers print goes
nowhere.
"""

import contextlib
import importlib
import os
import resource
import signal
import socket
import sys
from typing import NoReturn

from salon.core.errors import ReaderFailed, SalonError, UnreadableSource
from salon.corpus.limits import Limits
from salon.corpus.readers import SourceHints, claimed_format, load_reader, read_content
from salon.corpus.wire import ENDING, MEMORY_EXIT, Job, pack_error, pack_text

_OPEN_FILES = 64
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
_GRACE_S = 10
_JOB_FDS = 2
_MOST_JOB_BYTES = 1 << 16
# No parser has business with any of these; a parser that tries is stopped, whatever its reason.
_FORBIDDEN = (
    *("socket.", "subprocess.", "shutil.", "urllib.", "ftplib.", "smtplib."),
    *("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.kill", "os.remove"),
    *("os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod"),
    *("os.chown", "os.putenv", "pty.", "webbrowser."),
)


def serve(control: socket.socket) -> None:
    """Do one job after the other until the sandbox hangs up."""
    while (received := _receive(control)) is not None:
        job, content_fd, reply_fd = received
        _import_reader(job.hints)
        child = os.fork()
        if child == 0:
            control.close()
            _work(job, content_fd, reply_fd)
        os.close(content_fd)
        os.close(reply_fd)
        _, status, usage = os.wait4(child, 0)
        control.sendall(ENDING.pack(status, usage.ru_maxrss * _RSS_UNIT))


def _receive(control: socket.socket) -> tuple[Job, int, int] | None:
    line, fds, _, _ = socket.recv_fds(control, _MOST_JOB_BYTES, _JOB_FDS)
    while line and not line.endswith(b"\n"):
        line += control.recv(_MOST_JOB_BYTES)
    if not line:
        return None
    content_fd, reply_fd = fds
    return Job.from_line(line), content_fd, reply_fd


def _import_reader(hints: SourceHints) -> None:
    # Imported before the fork, so that the next file of this format finds it there.
    # A parser that cannot be imported fails again in the child, which reports it.
    form = claimed_format(hints)
    with contextlib.suppress(ImportError):
        importlib.import_module("salon.corpus.readers.detection")
        if form is not None:
            load_reader(form)


def _work(job: Job, content_fd: int, reply_fd: int) -> NoReturn:
    status = 1
    try:
        _lower_limits(job.limits)
        sys.addaudithook(_forbid)
        with open(content_fd, "rb") as stream:
            content = stream.read()
        reply = respond(content, job.hints)
        with open(reply_fd, "wb") as stream:
            stream.write(reply)
        status = 0
    except MemoryError:
        status = MEMORY_EXIT
    finally:
        os._exit(status)  # no clean-up: the parent's would run a second time


def _lower_limits(limits: Limits) -> None:
    _set_limit(resource.RLIMIT_CORE, 0)
    _set_limit(resource.RLIMIT_FSIZE, 0)
    _set_limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    # The CPU clock of a forked child starts at zero, so this counts one file only. The signal
    # at the soft limit names the reason; the one at the hard limit would not.
    _set_limit(resource.RLIMIT_CPU, limits.cpu_s, limits.cpu_s + 1)
    if sys.platform == "linux":  # elsewhere the address space cannot be limited
        _set_limit(resource.RLIMIT_AS, limits.memory_bytes)
    # Should the sandbox be gone, nobody else ends a reader that waits for ever.
    signal.alarm(int(limits.wall_s) + _GRACE_S)


def _set_limit(which: int, soft: int, hard: int | None = None) -> None:
    _, most = resource.getrlimit(which)
    wanted = (soft, soft if hard is None else hard)
    if most != resource.RLIM_INFINITY:
        wanted = (min(soft, most), min(wanted[1], most))
    resource.setrlimit(which, wanted)


def _forbid(event: str, _: tuple[object, ...]) -> None:
    if event.startswith(_FORBIDDEN):
        raise PermissionError(f"a reader may not do this: {event}")


def respond(content: bytes, hints: SourceHints) -> bytes:
    """Return the reply to one job, whatever happens on the way."""
    try:
        return pack_text(read_content(content, hints), content)
    except SalonError as error:
        return pack_error(error)
    except MemoryError:
        return pack_error(ReaderFailed("memory", limit="memory"))
    except Exception as error:  # noqa: BLE001 - a parser may fail in any way on a hostile file
        reason = " ".join(str(error).split())[:300]
        return pack_error(
            UnreadableSource(
                f"{hints.name}: the parser gave up ({type(error).__name__}: {reason})",
                hint="the file is probably damaged; get a fresh copy, or convert it",
            )
        )


def main() -> None:
    """Serve the control socket whose descriptor is the only argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the sandbox to act on
    with socket.socket(fileno=int(sys.argv[1])) as control:
        serve(control)


if __name__ == "__main__":
    main()
