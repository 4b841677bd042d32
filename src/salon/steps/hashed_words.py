"""Words of a text as numbers, and the table of those numbers that trained weights know.

Words, pairs of words, marks and emoji each have a number of 32 bits, their hash; so have capitals
and drawn-out letters. A table holds the numbers that were met often enough in training, so the
words themselves need not be shipped, and what was not met counts nothing. The same text gives the
same numbers everywhere and for ever.
"""

import math
import re
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)?|[!?.]+|[^\w\s]")
_DRAWN_OUT = re.compile(r"(\w)\1{2,}")
_STRAIGHT = str.maketrans({"\u2019": "'", "\u2018": "'"})
_SHOUTED = 3


def hashed_words(text: str) -> dict[int, float]:
    """Return the numbers of a text's words, each with how often it is met, as 1 + ln(count)."""
    counts: dict[int, int] = {}
    for name in _names(text.translate(_STRAIGHT)):
        number = zlib.crc32(name.encode())
        counts[number] = counts.get(number, 0) + 1
    return {number: 1.0 + math.log(count) for number, count in counts.items()}


class KnownWords:
    """The words that weights know: each has a row, and counts the more the rarer it is."""

    def __init__(
        self, numbers: "npt.NDArray[np.uint32]", rarity: "npt.NDArray[np.float32]"
    ) -> None:
        self._rows = {number: row for row, number in enumerate(numbers.tolist())}
        self._rarity: list[float] = rarity.tolist()

    def __len__(self) -> int:
        return len(self._rows)

    def weigh(self, text: str) -> dict[int, float]:
        """Return the rows of a text's known words with their weights, of length one together."""
        weighed = {
            self._rows[number]: value * self._rarity[self._rows[number]]
            for number, value in hashed_words(text).items()
            if number in self._rows
        }
        length = math.sqrt(sum(value * value for value in weighed.values()))
        return {row: value / length for row, value in weighed.items()}


def _names(text: str) -> Iterator[str]:
    words = [_plain(one) for one in _TOKEN.findall(text)]
    lowered = [one.lower() for one in words]
    yield from lowered
    for left, right in zip(["^", *lowered], [*lowered, "$"], strict=True):
        yield f"{left} {right}"
    for word in words:
        if len(word) >= _SHOUTED and word.isupper():
            yield "#shouted"
    if _DRAWN_OUT.search(text):
        yield "#drawn out"


def _plain(token: str) -> str:
    """Return a token as it is counted: a letter at most twice in a row, marks at most three."""
    return _DRAWN_OUT.sub(r"\1\1", token) if token[0].isalnum() else token[:3]
