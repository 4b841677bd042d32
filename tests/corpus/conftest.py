"""An archive, fresh for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.archive.sqlite_archive import SqliteArchive


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[SqliteArchive]:
    with SqliteArchive(tmp_path / "salon.db") as opened:
        yield opened
