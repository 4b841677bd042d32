"""Comparing by meaning, with the real encoder."""

from collections.abc import Sequence

import numpy as np
import pytest

from salon.core.embedding import EmbeddingModel, TokenVectors
from salon.grounding.support import meaning
from salon.grounding.support.meaning import Remembering, claim_features, likeness, ranks
from salon.grounding.support.words import read_words, shipped_tellingness
from salon.providers.embedders.minilm import MiniLmEmbedder

CLAIM = "The physician cured the child."


def compare(encoder: MiniLmEmbedder, claim: str, texts: Sequence[str]) -> meaning.Likeness:
    first, *rest = encoder.embed_tokens([claim, *texts])
    found = likeness(read_words(claim), first, rest, shipped_tellingness())
    assert found is not None
    return found


def test_another_word_for_the_same_meets_a_word(encoder: MiniLmEmbedder) -> None:
    found = compare(encoder, CLAIM, ["A doctor healed the kid.", "A lawyer sued the bank."])
    same, other = found.by_sentence
    assert same > other + 0.15
    assert found.cosines[0] > found.cosines[1]


def test_a_text_without_tokens_meets_nothing(encoder: MiniLmEmbedder) -> None:
    found = compare(encoder, CLAIM, ["", CLAIM])
    assert found.by_sentence[0] == 0
    assert found.by_sentence[1] == pytest.approx(1, abs=1e-5)
    empty, full = encoder.embed_tokens(["", CLAIM])
    assert likeness([], empty, [full], shipped_tellingness()) is None
    assert likeness(read_words(CLAIM), full, [], shipped_tellingness()) is None


def test_a_claim_of_signs_weighs_all_tokens_alike(encoder: MiniLmEmbedder) -> None:
    found = compare(encoder, "?!", [CLAIM])
    assert set(found.weights) == {0.5}


def test_sentences_far_apart_make_no_window(encoder: MiniLmEmbedder) -> None:
    texts = ["The physician came.", "The child was cured."]
    found = compare(encoder, CLAIM, texts)
    near = claim_features(found, [4, 5], 3)
    far = claim_features(found, [4, 9], 3)
    assert near["like_window"] > far["like_window"]
    assert far["like_window"] == pytest.approx(far["like_sentence"])
    assert near["least_like"] == far["least_like"]


def test_ranks_fall_by_their_place() -> None:
    assert list(ranks(np.array([0.2, 0.9, 0.5]))) == [1 / 3, 1, 1 / 2]


class Counting:
    """Counts what it is asked; one token for each text."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    @property
    def model(self) -> EmbeddingModel:
        return EmbeddingModel(address="counting:1", fingerprint="none", dimensions=2)

    def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        self.asked.extend(texts)
        one = np.array([[1.0, 0.0]], dtype=np.float32)
        return [TokenVectors(spans=((0, len(text)),), vectors=one, whole=one[0]) for text in texts]


def test_what_was_just_computed_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning, "_REMEMBERED", 2)
    counting = Counting()
    remembering = Remembering(counting)
    assert len(remembering.read(["a", "b", "a"])) == 3
    remembering.read(["b"])
    assert counting.asked == ["a", "b"]
    remembering.read(["c"])
    remembering.read(["a"])
    assert counting.asked == ["a", "b", "c", "a"], "the one not used for longest was forgotten"
