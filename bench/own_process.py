"""Work in a process of its own, so that its memory is its own."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parent.parent


class WorkFailed(Exception):
    """The process ended without an answer."""


def answer_of(module: str, *words: object) -> dict[str, Any]:
    """Run `python -m module words` and return the JSON object that it prints last."""
    command = [sys.executable, "-m", module, *map(str, words)]
    done = subprocess.run(  # noqa: S603 - our own modules
        command, cwd=_ROOT, check=False, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise WorkFailed(f"{' '.join(command)} ended with {done.returncode}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def give_answer(answer: dict[str, float]) -> None:
    """Print the answer that `answer_of` is waiting for."""
    sys.stdout.write(json.dumps(answer) + "\n")


def peak_mb() -> float:
    """Return the most memory that this process ever had resident, mapped files included."""
    return _status("VmHWM")


def anonymous_mb() -> float:
    """Return the memory that this process has for itself: what no file could give back."""
    return _status("RssAnon")


def disk_mb(folder: Path) -> float:
    """Return the size of the files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def _status(name: str) -> float:
    # Not `ru_maxrss`: that one begins with the memory of the process that started this one.
    status = Path("/proc/self/status").read_text("ascii")
    (kilobytes,) = re.findall(rf"^{name}:\s+(\d+) kB$", status, re.MULTILINE)
    return int(kilobytes) * 1024 / 1e6
