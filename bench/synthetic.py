"""Text and vectors that are made up but shaped like real ones: for sizes that no corpus here has.

Words follow Zipf's law, sentences and passages have the lengths of prose; vectors lie around
themes, as those of a model do. Everything follows from a seed, and a vector from its text alone.
"""

import zlib
from collections.abc import Iterator, Sequence

import numpy as np

from salon.core.embedding import EmbeddingModel, Vector, Vectors

DIMENSIONS = 384
VOCABULARY = 50_000
THEMES = 2_000
_VARIANTS = 1_400
_DECAY = 0.37
_COMMON = 0.5
_SYLLABLES = ("ba", "co", "di", "fen", "gar", "hul", "ir", "jo", "kem", "lo", "mar", "nis", "or",
              "pel", "qua", "rin", "sol", "tam", "ur", "ven", "wex", "yl", "zan")  # fmt: skip
ENGLISH = (
    *("the", "of", "and", "to", "in", "is", "was", "for", "that", "by", "with", "as", "which"),
    *("river", "people", "council", "harbour", "winter", "letter", "market", "village", "decided"),
    *("between", "because", "several", "together", "language", "builders", "election", "evening"),
    *("protect", "recorded", "measured", "borrowed", "question", "agreement", "cooperation"),
    *("instrument", "gardens", "shared", "history", "mountain", "teacher", "weather", "kitchen"),
)
"""Words that a model knows, for what a model has to read."""
QUESTIONS = (
    "who decided when the harbour was to be closed in winter?",
    "how did the villages share the water of the river?",
    "why was the letter to the council never answered?",
    "what did the teacher write about the election?",
    "which instruments were measured again in the evening?",
    "what does the agreement say about borrowed gardens?",
    "how long did the people of the mountain wait for the market?",
    "is cooperation between builders recorded anywhere?",
)


def make_words(count: int = VOCABULARY) -> list[str]:
    """Return different words, the common ones short."""
    words: list[str] = []
    base = len(_SYLLABLES)
    for number in range(base, base + count):
        left, word = number, ""
        while left:
            left, place = divmod(left, base)
            word += _SYLLABLES[place]
        words.append(word)
    return words


class Texts:
    """Documents of about `size` characters each, the same for the same seed."""

    def __init__(self, seed: int = 1, words: Sequence[str] | None = None) -> None:
        self._random = np.random.default_rng(seed)
        self._words = np.array(words or make_words(), dtype=object)
        shares = 1 / np.arange(1, len(self._words) + 1)
        self._limits = np.cumsum(shares / shares.sum())

    def words(self, count: int) -> list[str]:
        """Return words as prose uses them."""
        ranks = np.searchsorted(self._limits, self._random.random(count))
        chosen: list[str] = self._words[np.minimum(ranks, len(self._words) - 1)].tolist()
        return chosen

    def question(self, count: int) -> str:
        """Return words as a question uses them: neither the commonest nor the rarest."""
        ranks = self._random.integers(50, 5_000, count)
        return " ".join(self._words[ranks].tolist())

    def documents(self, count: int, size: int) -> Iterator[str]:
        """Walk documents of sentences of about 15 words."""
        for _ in range(count):
            words = self.words(size // 7)
            sentences = (
                " ".join(words[begin : begin + 15]).capitalize() + "."
                for begin in range(0, len(words), 15)
            )
            yield " ".join(sentences)


class SyntheticEmbedder:
    """Makes vectors from the digest of a text, at no cost worth speaking of.

    They lie as those of MiniLM do over real abstracts: a third of their length is common to all,
    a few dozen directions hold half of what is left, and the nearest of some ten thousand has a
    cosine of 0.6, the thousandth one of 0.2.
    """

    model = EmbeddingModel(address="bench:synthetic", fingerprint="1", dimensions=DIMENSIONS)

    def __init__(self) -> None:
        random = np.random.default_rng(7)
        directions = random.standard_normal((DIMENSIONS, DIMENSIONS), np.float32)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        directions *= (np.arange(1, DIMENSIONS + 1)[:, None] ** -_DECAY).astype(np.float32)
        directions /= np.linalg.norm(directions)

        def draw(count: int) -> Vectors:
            return random.standard_normal((count, DIMENSIONS), np.float32) @ directions

        common = random.standard_normal(DIMENSIONS, np.float32)
        self._themes = draw(THEMES) + common * np.float32(_COMMON / np.linalg.norm(common))
        self._left, self._right = (draw(_VARIANTS) / np.float32(2**0.5) for _ in range(2))

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text."""
        digests = [zlib.crc32(text.encode()) for text in texts]
        numbers = np.array(digests, dtype=np.int64)
        theme, rest = numbers % THEMES, numbers // THEMES
        vectors: Vectors = self._themes[theme] + self._left[rest % _VARIANTS]
        vectors += self._right[rest // _VARIANTS % _VARIANTS]
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a text."""
        vector: Vector = self.embed_passages([text])[0]
        return vector

    def close(self) -> None:
        """Nothing to let go of."""
