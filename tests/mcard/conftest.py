"""A collection in a file of its own for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.mcard import CardCollection


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[CardCollection]:
    with CardCollection(db_path=tmp_path / "cards.db") as opened:
        yield opened
