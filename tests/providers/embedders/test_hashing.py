"""The hashing embedder: the same everywhere, knows words, knows no meaning."""

import numpy as np
import pytest

from salon.core.errors import UnknownProvider
from salon.providers.embedders import open_embedder
from salon.providers.embedders.hashing import HashingEmbedder


def test_its_vectors_are_the_same_on_every_machine() -> None:
    vector = open_embedder("hashing:16").embed_query("Commons are governed by those who use them")
    expected = np.array([0, 1, 0, -1, -1, 0, -2, 0, 0, -1, 0, 0, 0, 0, 0, 0], dtype=np.float32)
    assert np.allclose(vector, expected / np.linalg.norm(expected))


def test_case_and_punctuation_and_order_mean_nothing() -> None:
    embedder = HashingEmbedder(256)
    one, other = embedder.embed_passages(["Who governs, the commons?", "the COMMONS who governs"])
    assert np.array_equal(one, other)
    assert abs(one @ embedder.embed_query("boiled eggs")) < 0.5


def test_words_that_cancel_each_other_still_give_a_vector() -> None:
    embedder = HashingEmbedder(8)
    words = [f"w{number}" for number in range(200)]
    opposite = next(
        f"{one} {other}"
        for one in words
        for other in words
        if np.allclose(embedder.embed_query(one), -embedder.embed_query(other))
    )
    assert np.array_equal(embedder.embed_query(opposite), embedder.embed_query(""))


@pytest.mark.parametrize("name", ["0", "7", "4097", "-8", "x", "64.0", "064", "²56", "9" * 5000])
def test_a_number_of_dimensions_that_makes_no_sense_is_refused(name: str) -> None:
    with pytest.raises(UnknownProvider) as caught:
        open_embedder(f"hashing:{name}")
    assert "8 to 4096" in (caught.value.hint or "")
