"""An archive and an index over it, fresh for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.retrieval.passage_index import PassageIndex
from tests.retrieval.opening import ENGINES, Engine, opened_index


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[SqliteArchive]:
    with SqliteArchive(tmp_path / "salon.db") as opened:
        yield opened


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    chosen: Engine = request.param
    return chosen


@pytest.fixture
def index(tmp_path: Path, archive: SqliteArchive, engine: Engine) -> Iterator[PassageIndex]:
    """An index of every text card."""
    with opened_index(tmp_path / "index", archive, engine=engine) as opened:
        yield opened
