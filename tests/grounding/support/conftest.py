"""The real encoder, loaded once."""

from collections.abc import Iterator

import pytest

from salon.grounding.support import Judge, Selector, load_judge, load_selector
from salon.providers.embedders.minilm import MiniLmEmbedder, open_minilm
from salon.providers.embedders.options import EmbedderOptions


@pytest.fixture(scope="session")
def encoder() -> Iterator[MiniLmEmbedder]:
    with open_minilm("minilm", EmbedderOptions(threads=1)) as embedder:
        yield embedder


@pytest.fixture(scope="session", params=["by words", "by meaning"])
def judge(request: pytest.FixtureRequest, encoder: MiniLmEmbedder) -> Judge:
    return load_judge(encoder if request.param == "by meaning" else None)


@pytest.fixture(scope="session", params=["by words", "by meaning"])
def selector(request: pytest.FixtureRequest, encoder: MiniLmEmbedder) -> Selector:
    return load_selector(encoder if request.param == "by meaning" else None)
