"""An empty index of either engine, fresh for each test."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.retrieval.lexical.engines import ENGINES, Index, Open


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def open_index(engine: str, tmp_path: Path) -> Iterator[Open]:
    """Open the same index as often as needed."""
    with ExitStack() as stack:

        def open_one() -> Index:
            index = ENGINES[engine](tmp_path)
            stack.callback(index.close)
            return index

        yield open_one


@pytest.fixture
def index(open_index: Open) -> Index:
    return open_index()
