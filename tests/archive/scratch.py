"""Folders for archives that live for one test or one example.

These tests are about what is written, not about how a disk keeps it (tests/torture is), so they
need no real disk, and waiting for its syncs would be most of their time.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.clock import SteppingClock
from salon.core.ids import CountedIds
from tests.archive.backends import START

MEMORY = Path("/dev/shm")


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder, in memory where the machine allows it, and remove it in the end."""
    base = MEMORY if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="salon-test-", dir=base) as folder:
        yield Path(folder)


@contextmanager
def scratch_archive() -> Iterator[SqliteArchive]:
    """Make an empty SQLite archive with a stepping clock."""
    with (
        scratch_folder() as folder,
        SqliteArchive(
            folder / "salon.db", actor="tester", clock=SteppingClock(START), ids=CountedIds()
        ) as archive,
    ):
        yield archive
