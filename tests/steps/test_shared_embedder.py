"""The steps' embedder: a text is embedded once and on its own."""

import threading
from collections.abc import Sequence

import numpy as np
import pytest

from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.core.errors import ProviderFailed
from salon.steps.shared_embedder import SharedEmbedder


class _Counting:
    """Notes every call; one that is told to waits until somebody lets it go."""

    model = EmbeddingModel(address="toy:1", fingerprint="f", dimensions=2)

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.gate = threading.Event()
        self.gate.set()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        raise AssertionError("never in a batch")

    def embed_query(self, text: str) -> Vector:
        self.calls.append(text)
        assert self.gate.wait(30)
        if text == "fails":
            raise ProviderFailed("no vector")
        return np.array([len(text), 0], dtype=np.float32)

    def close(self) -> None:
        raise AssertionError("it is not ours to close")


def test_each_text_is_embedded_once_and_alone() -> None:
    inner = _Counting()
    shared = SharedEmbedder(lambda: inner)
    assert shared.embed_passages(["a", "bbb", "a"]).tolist() == [[1, 0], [3, 0], [1, 0]]
    assert shared.embed_passages(["bbb"]).tolist() == [[3, 0]]
    assert shared.embed_query("a").tolist() == [1, 0]
    assert inner.calls == ["a", "bbb"]
    assert shared.embed_passages([]).shape == (0, 2)
    assert shared.model == inner.model
    shared.close()


def test_nobody_can_change_a_vector_that_others_read() -> None:
    shared = SharedEmbedder(_Counting)
    with pytest.raises(ValueError, match="read-only"):
        shared.embed_query("a")[0] = 7


def test_the_shipped_model_makes_one_vector_of_a_text() -> None:
    from salon.providers.embedders import open_embedder

    embedder = open_embedder("embedded:minilm")
    text = "My sister Ines helps me on Saturdays."
    assert (embedder.embed_query(text) == embedder.embed_passages([text])[0]).all()
    embedder.close()


def test_the_oldest_text_makes_room() -> None:
    inner = _Counting()
    shared = SharedEmbedder(lambda: inner, most=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        shared.embed_query(text)
    assert inner.calls == ["a", "b", "c", "b"]


def test_who_comes_second_waits_for_the_first() -> None:
    inner = _Counting()
    inner.gate.clear()
    shared = SharedEmbedder(lambda: inner)
    found: list[Vector] = []
    threads = [
        threading.Thread(target=lambda: found.append(shared.embed_query("same"))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    inner.gate.set()
    for thread in threads:
        thread.join()
    assert len(inner.calls) == 1
    assert all(one is found[0] for one in found)


def test_a_failure_is_told_and_not_remembered() -> None:
    inner = _Counting()
    shared = SharedEmbedder(lambda: inner)
    for _ in range(2):
        with pytest.raises(ProviderFailed):
            shared.embed_query("fails")
    assert len(inner.calls) == 2
