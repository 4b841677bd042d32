"""Texts as the numbers that MiniLM reads, and which of them to compute together.

A text is cut at `LONGEST` tokens, exactly where the tokenizer itself would cut it, without the
tokenizer having to read all of a text that goes on for megabytes.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from salon.core.text import require_text

LONGEST = 256
_FIRST_LOOK = 4096

Tokens: TypeAlias = "npt.NDArray[np.int64]"


class PaddedBatch(NamedTuple):
    """Texts of about the same length as one rectangle; `mask` is 1 where there is a token."""

    ids: "npt.NDArray[np.int64]"
    mask: "npt.NDArray[np.int64]"

    @property
    def is_full(self) -> bool:
        """Tell whether every place holds a token."""
        return bool(self.mask.all())


class TokenReader:
    """Reads texts into tokens. May be used by many threads at once."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST)

    def read(self, text: str) -> Tokens:
        """Return the tokens of a text, at least two and at most `LONGEST`."""
        return np.array(self._encode(text).ids, dtype=np.int64)

    def read_with_spans(self, text: str) -> tuple[Tokens, tuple[tuple[int, int], ...]]:
        """Return the tokens of a text, and the characters of each but the first and the last."""
        encoded = self._encode(text)
        return np.array(encoded.ids, dtype=np.int64), tuple(encoded.offsets[1:-1])

    def _encode(self, text: str) -> Encoding:
        require_text(text, "a text to embed")
        end = _FIRST_LOOK
        while end < len(text):
            # No word reaches across a space, so what stands before one is read the same
            # whatever follows.
            start = text[: text.rfind(" ", 0, end) + 1]
            encoded = self._tokenizer.encode(start)
            if len(encoded.ids) == LONGEST:
                return encoded
            end *= 8
        return self._tokenizer.encode(text)


def plan_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Put texts of like length together; return the positions in `lengths`, longest first.

    A batch holds as many texts as fit in `budget` tokens once all are padded to the longest of
    them, and at least one.
    """
    waiting = sorted(range(len(lengths)), key=lambda position: -lengths[position])
    batches = []
    start = 0
    while start < len(waiting):
        size = max(1, budget // max(1, lengths[waiting[start]]))
        batches.append(waiting[start : start + size])
        start += size
    return batches


def pad(texts: Sequence[Tokens]) -> PaddedBatch:
    """Lay texts side by side, filled up with zeros."""
    ids = np.zeros((len(texts), max(map(len, texts))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, tokens in enumerate(texts):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    return PaddedBatch(ids, mask)
