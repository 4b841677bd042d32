"""One Salon for all tests of the platforms: opening it is what takes long."""

from collections.abc import Iterator

import pytest

from salon.app import Salon
from tests.platforms.rooms import open_rooms


@pytest.fixture(scope="session")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    with open_rooms(tmp_path_factory.mktemp("home")) as opened:
        yield opened
