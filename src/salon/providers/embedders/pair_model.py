"""MiniLM with an adapter and small heads, for two texts that are read together.

What both readers stand on: the answer reader (question and passage) and the moves reader (what was
said, and what is said now). Weights are checked like all others; heads that do not fit are refused.
"""

import hashlib
import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from salon.core.errors import IntegrityFailed
from salon.core.text import require_text
from salon.providers.embedders.adapter import load_adapter
from salon.providers.embedders.minilm import open_session
from salon.providers.embedders.minilm_files import DIMENSIONS, MiniLmFiles

Floats = npt.NDArray[np.float32]
WEIGHTS = Path(__file__).with_name("weights")
FIRST, BETWEEN = 101, 102
"""What stands before a pair of texts, and after each of the two."""


class PairModel:
    """Reads two texts together. May be used by many threads at once."""

    def __init__(
        self, files: MiniLmFiles, *, adapter: Path, heads: Path, shapes: Mapping[str, int]
    ) -> None:
        files.check_what_is_parsed()
        changes = load_adapter(adapter)
        with ThreadPoolExecutor(1) as checking:
            # As in the embedder: loaded while being checked, used by nobody before.
            verdict = checking.submit(files.check_weights)
            try:
                self._tokenizer = Tokenizer.from_file(str(files.tokenizer))
                self._session = open_session(files, changes)
            finally:
                verdict.result()
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._heads = _load_heads(heads, shapes)
        self.fingerprint = changes.sha256
        """The digest of the adapter that makes MiniLM this reader."""

    def tokens(self, text: str) -> list[int]:
        """Return a text as the numbers that the model reads."""
        require_text(text, "a text to read")
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def states(self, ids: Sequence[int], *, second: int) -> Floats:
        """Return what the last layer makes of each token; the second text starts at `second`."""
        row = np.array(ids, dtype=np.int64)[None]
        types = np.zeros_like(row)
        types[:, second:] = 1
        feed = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": types}
        found: Floats = self._session.run(None, feed)[0][0]
        return found

    def head(self, name: str, state: Floats) -> list[float]:
        """Return the outputs of a head."""
        weight, bias = self._heads[name]
        # Not `@`: numpy would start threads for it.
        found: list[float] = (np.einsum("i,ij->j", state, weight) + bias).tolist()
        return found


def _load_heads(path: Path, shapes: Mapping[str, int]) -> dict[str, tuple[Floats, Floats]]:
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            found = {
                name: (
                    arrays[f"{name}.weight"].astype(np.float32),
                    arrays[f"{name}.bias"].astype(np.float32),
                )
                for name in shapes
            }
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise _unfit(path, str(error)) from error
    for name, (weight, bias) in found.items():
        if weight.shape != (DIMENSIONS, shapes[name]) or bias.shape != (shapes[name],):
            raise _unfit(path, f"{name!r} has another shape")
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise _unfit(path, f"{name!r} holds something other than numbers")
    return found


def _unfit(path: Path, why: str) -> IntegrityFailed:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.exists() else "missing"
    return IntegrityFailed(
        f"the weights {path.name} ({digest}) cannot be used: {why}", hint="install Salon again"
    )
