"""How long steps took lately, for people to look at: a small file beside the archive.

It is derived and may be deleted at any time; nothing in a turn depends on it.
"""

import json
import os
import statistics
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from salon.blackboard.board import StepTime
from salon.core.closing import Closable

MOST_TIMES = 200


class StepTimes(Closable):
    """The latest times of each step, in seconds; kept in a file when closed."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._times = {name: deque(found, MOST_TIMES) for name, found in _read(path).items()}
        self._is_changed = False

    def note(self, times: Mapping[str, StepTime]) -> None:
        """Take the times of one turn."""
        with self._lock:
            self._is_changed = True
            for name, time in times.items():
                self._times.setdefault(name, deque(maxlen=MOST_TIMES)).append(time.took_s)

    def medians(self) -> dict[str, float]:
        """Return the median time of each step that ran."""
        with self._lock:
            return {name: statistics.median(found) for name, found in self._times.items() if found}

    def close(self) -> None:
        """Write the file, where something is new and the home can be written."""
        if self._path is None or not self._is_changed:
            return
        kept = {name: [round(one, 6) for one in found] for name, found in self._times.items()}
        fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        with suppress(OSError):  # a home that cannot be written keeps no times
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps(kept), "utf-8")
            fresh.replace(self._path)


def _read(path: Path | None) -> dict[str, list[float]]:
    try:
        found = json.loads(path.read_text("utf-8")) if path else {}
        return {str(name): [float(one) for one in times] for name, times in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
