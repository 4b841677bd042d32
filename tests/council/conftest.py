"""A council on an archive of its own, for every test that asks for one."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from tests.council.desks import Council

IN_MEMORY = Path("/dev/shm")
"""A round writes some fifty times, and these tests are not about disks."""


@pytest.fixture
def council() -> Iterator[Council]:
    folder = IN_MEMORY if IN_MEMORY.is_dir() else None
    with (
        TemporaryDirectory(prefix="salon-council-", dir=folder) as place,
        SqliteArchive(Path(place) / "salon.db") as archive,
    ):
        yield Council(archive)
