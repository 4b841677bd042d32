"""`kill -9`: a process that puts load on an archive dies at a random moment, and others take over.

The load runs in one process or in two on the same file. An archive lives through several kills in
a row, and all that was ever acknowledged must be there after each. When a process dies is a matter
of microseconds, so a seed gives the same load again, but not the same death.
"""

import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from salon.archive.audit.signing import load_signer
from salon.core.errors import SalonError
from tests.torture.checks import find_faults
from tests.torture.ledger import Ledger, read_ledger, read_notes
from tests.torture.load import KEY_FILE, open_signed

KILLS_PER_ARCHIVE = 4
SHARE_OF_EARLY_KILLS = 0.15
"""Kills before the load has begun, while the archive is made or opened."""
LONGEST_START_S = 0.6
LONGEST_LOAD_S = 0.8
_ROOT = Path(__file__).parents[2]


@dataclass(slots=True)
class KillReport:
    """What came of a series of kills."""

    kills: int = 0
    acknowledged: int = 0
    faults: list[str] = field(default_factory=list)


def run_kills(kills: int, *, seed: int, on_kill: Callable[[], None] = lambda: None) -> KillReport:
    """Kill a process under load `kills` times and check what is left after each."""
    report = KillReport()
    while report.kills < kills:
        with tempfile.TemporaryDirectory(prefix="salon-kill-") as folder:
            series = _Series(Path(folder), seed=f"{seed}/{report.kills}")
            first = report.kills
            while not report.faults and report.kills < min(kills, first + KILLS_PER_ARCHIVE):
                killed, faults = series.kill(processes=min(2, kills - report.kills))
                report.faults += [f"kill {report.kills}: {fault}" for fault in faults]
                for _ in range(killed):
                    report.kills += 1
                    on_kill()
            report.acknowledged += sum(ledger.acknowledged for ledger in series.ledgers)
        if report.faults:
            break
    return report


class _Series:
    """One archive and the kills around it."""

    def __init__(self, folder: Path, *, seed: str) -> None:
        self.ledgers: list[Ledger] = []
        self._folder = folder
        self._seed = seed
        self._random = Random(seed)

    def kill(self, *, processes: int) -> tuple[int, list[str]]:
        """Run a load, kill it, and return how many processes died and what is wrong now."""
        if self._random.random() < 0.7:
            processes = 1
        names = [f"{len(self.ledgers) + number}" for number in range(processes)]
        running = [self._start(name) for name in names]
        faults = [fault for process in running for fault in self._kill(process)]
        for name in names:
            self.ledgers.append(read_ledger(read_notes(self._notes(name))))
        return processes, faults + self._check()

    def _start(self, name: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.torture.load"),
                *(str(self._folder), str(self._notes(name))),
                *("--name", name, "--seed", f"{self._seed}/{name}"),
            ],
            cwd=_ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def _kill(self, process: "subprocess.Popen[bytes]") -> Iterator[str]:
        if self._random.random() < SHARE_OF_EARLY_KILLS:
            wait_s = self._random.uniform(0, LONGEST_START_S)
        else:
            assert process.stdout is not None
            process.stdout.readline()
            wait_s = self._random.uniform(0, LONGEST_LOAD_S)
        try:
            process.wait(wait_s)
        except subprocess.TimeoutExpired:
            process.kill()
        _, said = process.communicate()
        if process.returncode != -signal.SIGKILL:
            yield f"the load ended by itself: {said.decode(errors='replace')[-2000:]}"

    def _check(self) -> list[str]:
        key = self._folder / KEY_FILE
        try:
            with open_signed(self._folder) as archive:
                public = load_signer(key).key if key.exists() else None
                faults = find_faults(archive, self.ledgers, key=public)
                archive.add(b"the archive can be written to again")
                return faults
        except SalonError as error:
            return [f"the archive cannot be used: {error}"]

    def _notes(self, name: str) -> Path:
        return self._folder / f"notes-{name}.jsonl"
