"""Power cuts: load on a `SimulatedDisk`, the power goes, and the survivors are checked.

Everything happens in this process and no real sync is waited for, so a thousand cuts take minutes.
An archive lives through several cuts in a row, each one on what the last one left, and all that
was ever acknowledged must be there after each.
"""

import shutil
import sys
import tempfile
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random

import apsw

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.errors import SalonError
from tests.torture.checks import find_faults
from tests.torture.ledger import Complaint, Ledger, MemoryNotebook, Note, Refused, read_ledger
from tests.torture.load import ARCHIVE_FILE, POWER_CUT_SIZES, Worker
from tests.torture.power_cut_vfs import PowerCutVfs, SimulatedDisk

CUTS_PER_ARCHIVE = 4
STEPS = 120
"""What one load does at most; if the power is still there then, it goes while nothing happens."""

LONGEST = 2000
"""How many operations of the disk a load may see before the power goes."""

_names = count()


@dataclass(slots=True)
class CutReport:
    """What came of a series of power cuts."""

    cuts: int = 0
    acknowledged: int = 0
    faults: list[str] = field(default_factory=list)
    cuts_with_faults: int = 0
    moments: Counter[str] = field(default_factory=Counter)
    """What SQLite was doing when the power went, and how often."""


class TunedArchive(SqliteArchive):
    """An archive whose writer runs with other pragmas than ours."""

    def __init__(self, path: Path, *, vfs: str, pragmas: tuple[str, ...]) -> None:
        self._pragmas = pragmas
        super().__init__(path, vfs=vfs)

    def _connect_writer(self) -> apsw.Connection:
        connection = super()._connect_writer()
        for pragma in self._pragmas:
            connection.execute(f"PRAGMA {pragma}")
        return connection


def run_power_cuts(
    cuts: int,
    *,
    seed: int,
    pragmas: tuple[str, ...] = (),
    on_cut: Callable[[], None] = lambda: None,
) -> CutReport:
    """Cut the power `cuts` times at random moments and check what is left after each."""
    report = CutReport()
    while report.cuts < cuts:
        with tempfile.TemporaryDirectory(prefix="salon-power-") as folder:
            series = _Series(Path(folder), random=Random(f"{seed}/{report.cuts}"))
            for _ in range(min(CUTS_PER_ARCHIVE, cuts - report.cuts)):
                faults = series.cut(pragmas)
                report.faults += [f"power cut {report.cuts}: {fault}" for fault in faults]
                report.cuts_with_faults += bool(faults)
                report.moments[series.cut_during] += 1
                report.cuts += 1
                on_cut()
                if faults:
                    break  # what is lost stays lost, and would be counted again
            report.acknowledged += sum(ledger.acknowledged for ledger in series.ledgers)
    return report


class _CutNotebook(MemoryNotebook):
    """Notes of a process that dies with the power: what it is told afterwards, nobody hears.

    Acknowledgements are kept even then, for whatever the archive calls durable has to be. Not so
    refusals: once every operation fails, APSW raises errors where SQLite itself reports success
    (a checkpoint after a commit), and the archive tries again what was done.
    """

    def __init__(self, disk: SimulatedDisk) -> None:
        super().__init__()
        self._disk = disk

    def append(self, note: Note) -> None:
        if not (self._disk.is_cut and isinstance(note, Refused)):
            super().append(note)

    def complain(self, error: Exception) -> None:
        """Note an error, unless it is one that a dead disk gives."""
        if not (self._disk.is_cut and isinstance(error, SalonError)):
            self.append(Complaint(text="".join(traceback.format_exception(error))))


class _Series:
    """One archive and the cuts it goes through."""

    def __init__(self, folder: Path, *, random: Random) -> None:
        self.ledgers: list[Ledger] = []
        self.cut_during = ""
        self._folder = folder
        self._random = random
        self._disk_folder = self._new_folder()

    def cut(self, pragmas: tuple[str, ...]) -> list[str]:
        """Run a load until the power goes, and return what is wrong with the survivors."""
        counts_writes = self._random.random() < 0.5
        disk = SimulatedDisk(
            self._disk_folder,
            cut_after=self._draw_moment(LONGEST if counts_writes else LONGEST // 20),
            counts_writes=counts_writes,
        )
        notebook = _CutNotebook(disk)
        name = f"power-cut-{next(_names)}"
        vfs = PowerCutVfs(name, disk)
        with _dead_disk_errors_ignored():
            self._run_load(disk, notebook, vfs=name, pragmas=(*self._draw_pragmas(), *pragmas))
            vfs.unregister()
        self.ledgers.append(read_ledger(notebook.notes))
        self.cut_during = disk.cut_during
        survivors = self._new_folder()
        disk.write_survivors(survivors, self._random)
        shutil.rmtree(self._disk_folder)
        self._disk_folder = survivors
        return self._check(survivors)

    def _draw_moment(self, longest: int) -> int:
        # Anywhere in the load, and often early, where the archive is made or recovered.
        return self._random.randint(1, self._random.choice((longest // 40, longest // 4, longest)))

    def _draw_pragmas(self) -> tuple[str, ...]:
        # A small archive would hardly ever move its log into the file by itself.
        return self._random.choice(((), (f"wal_autocheckpoint={self._random.randint(5, 60)}",)))

    def _run_load(
        self,
        disk: SimulatedDisk,
        notebook: _CutNotebook,
        *,
        vfs: str,
        pragmas: tuple[str, ...],
    ) -> None:
        numbers = count()
        for session in range(self._random.randint(1, 2)):
            try:
                archive = TunedArchive(self._disk_folder / ARCHIVE_FILE, vfs=vfs, pragmas=pragmas)
            except Exception as error:
                notebook.complain(error)
                return
            workers = [
                Worker(
                    f"{len(self.ledgers)}-{session}-{number}",
                    archive,
                    notebook,
                    numbers=numbers,
                    random=Random(self._random.random()),
                    sizes=POWER_CUT_SIZES,
                )
                for number in range(self._random.choice((1, 1, 3)))
            ]
            _work(workers, notebook)
            if self._random.random() < 0.3:  # the power goes while nothing happens
                disk.cut()
            archive.close()
        disk.cut()

    def _check(self, survivors: Path) -> list[str]:
        # On a copy, so that the next cut meets the survivors as they are and not as repaired.
        copy = Path(shutil.copytree(survivors, self._new_folder(), dirs_exist_ok=True))
        try:
            with SqliteArchive(copy / ARCHIVE_FILE) as archive:
                faults = find_faults(archive, self.ledgers)
                archive.add(b"the archive can be written to again")
        except SalonError as error:
            return [f"the archive cannot be used: {error}"]
        finally:
            shutil.rmtree(copy)
        return faults

    def _new_folder(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self._folder))


def _work(workers: list[Worker], notebook: _CutNotebook) -> None:
    def work(worker: Worker) -> None:
        try:
            for _ in range(STEPS // len(workers)):
                worker.step()
        except Exception as error:
            notebook.complain(error)

    if len(workers) == 1:  # without threads a run is the same every time
        work(workers[0])
        return
    threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@contextmanager
def _dead_disk_errors_ignored() -> Iterator[None]:
    """Let connections close on a dead disk without a word, as SQLite's own VFS lets them.

    Closing tries to tidy up and cannot; from a VFS written in Python that comes as an exception,
    in the archive's thread or where a connection is collected.
    """
    in_threads, unraisable = threading.excepthook, sys.unraisablehook

    def on_thread(args: threading.ExceptHookArgs) -> None:
        if not isinstance(args.exc_value, apsw.IOError):
            in_threads(args)

    def on_unraisable(args: "sys.UnraisableHookArgs") -> None:
        if not isinstance(args.exc_value, apsw.IOError):
            unraisable(args)

    threading.excepthook, sys.unraisablehook = on_thread, on_unraisable
    try:
        yield
    finally:
        threading.excepthook, sys.unraisablehook = in_threads, unraisable
