"""A model server on this machine, fresh for each test."""

from collections.abc import Iterator

import pytest

from tests.providers.model_server import ModelServer, serving


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    with serving() as server:
        yield server
