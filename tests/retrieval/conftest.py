"""An archive and an index over it, fresh for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.retrieval.fts_index import FtsIndex


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[SqliteArchive]:
    with SqliteArchive(tmp_path / "salon.db") as opened:
        yield opened


@pytest.fixture
def index(tmp_path: Path, archive: SqliteArchive) -> Iterator[FtsIndex]:
    with FtsIndex(tmp_path / "lexical.db", archive) as opened:
        yield opened
