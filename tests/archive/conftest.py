"""Archives for tests: one per listed backend, and plain SQLite ones for what is SQLite's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.archive import Archive
from tests.archive.backends import BACKENDS, Place
from tests.archive.full_disk import FullDisk
from tests.archive.scratch import scratch_archive, scratch_folder


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder of its own for each test, in memory where the machine allows it."""
    with scratch_folder() as folder:
        yield folder


@pytest.fixture(params=sorted(BACKENDS))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A place for an archive of each backend."""
    found = Place(tmp_path, BACKENDS[request.param])
    yield found
    found.close()


@pytest.fixture
def archive(place: Place) -> Archive:
    """An empty archive of each backend."""
    return place.open()


@pytest.fixture
def sqlite() -> Iterator[SqliteArchive]:
    """An empty SQLite archive, for tests of what only that one has."""
    with scratch_archive() as archive:
        yield archive


@pytest.fixture
def disk() -> Iterator[FullDisk]:
    """A disk that can be made full."""
    with FullDisk() as disk:
        yield disk
