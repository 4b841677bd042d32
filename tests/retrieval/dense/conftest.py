"""A place for an index of each listed backend."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.core.indexes import VectorIndex
from tests.archive.scratch import scratch_folder
from tests.retrieval.dense.backends import BACKENDS, Place


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder of its own for each test, in memory where the machine allows it."""
    with scratch_folder() as folder:
        yield folder


@pytest.fixture(params=sorted(BACKENDS))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A place for an index of each backend."""
    found = Place(request.param, tmp_path)
    yield found
    found.close()


@pytest.fixture
def index(place: Place) -> VectorIndex:
    """An empty index of each backend."""
    return place.open()
