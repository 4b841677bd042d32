"""The embedded model, loaded once for all tests of a process."""

from collections.abc import Iterator
from typing import cast

import pytest

from salon.providers.embedders import EmbedderOptions, open_embedder
from salon.providers.embedders.minilm import MiniLmEmbedder


@pytest.fixture(scope="session")
def minilm() -> Iterator[MiniLmEmbedder]:
    embedder = cast("MiniLmEmbedder", open_embedder("embedded:minilm", EmbedderOptions(threads=2)))
    with embedder:
        yield embedder
