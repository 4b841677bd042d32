"""The trained part of scam detection: what the words of the other side say, as a probability.

It was trained on generated calls and on text messages, so it knows the vocabulary of offers and
pretexts and nothing of romance; the patterns know that. Marks, digits and capitals are left out, so
that the form of a text decides nothing. Only numpy is needed; `tools/train_scam.py` makes the file.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from salon.core.errors import IntegrityFailed
from salon.steps.hashed_words import KnownWords

WEIGHTS = Path(__file__).with_name("weights") / "scam_words.npz"
_NO_LETTERS = re.compile(r"[^a-z']+")


class ScamWords:
    """The weights of words. May be used by many threads at once."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[np.generic]]) -> None:
        self._known = KnownWords(
            arrays["numbers"].astype(np.uint32), arrays["rarity"].astype(np.float32)
        )
        self._weight: list[float] = (
            arrays["weight"].astype(np.float64) * arrays["step"].astype(np.float64)
        ).tolist()
        self._bias = float(arrays["bias"])
        if len(self._weight) != len(self._known) or not np.isfinite(self._weight).all():
            raise ValueError("the weights do not fit the words")

    def probability(self, messages: Sequence[str]) -> float:
        """Return how probable it is that these messages are a fraud's, 0 to 1."""
        weighed = self._known.weigh(words_only(messages))
        if not weighed:
            return 0.0
        total = self._bias + sum(self._weight[row] * value for row, value in weighed.items())
        return float(1 / (1 + np.exp(-np.clip(total, -30, 30))))


def words_only(messages: Sequence[str]) -> str:
    """Return the messages as plain words in small letters."""
    lowered = " ".join(messages).lower().replace("\u2019", "'")
    return _NO_LETTERS.sub(" ", lowered)


@cache
def shipped_words() -> ScamWords:
    """Return the weights that come with Salon."""
    return load_words(WEIGHTS)


def load_words(path: Path) -> ScamWords:
    """Read weights from a file, or raise `IntegrityFailed` where it is not what it should be."""
    try:
        content = io.BytesIO(path.read_bytes())
        with np.load(content, allow_pickle=False) as arrays:
            return ScamWords({name: arrays[name] for name in arrays.files})
    except (
        ValueError, TypeError, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error
    ) as error:  # fmt: skip
        raise IntegrityFailed(
            f"the scam weights {path.name} cannot be used: {error}", hint="install Salon again"
        ) from error
