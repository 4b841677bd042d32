"""Averaged word vectors: the 256-dimensional weights that the package `wordllama` carries.

A text's vector is the mean of its tokens' vectors, so word order means nothing and a text of any
length is read to its end. The package is not imported (it configures logging and can download);
its two files are read directly, by digest.
"""

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from salon.core.embedding import EmbeddingModel, Vector
from salon.core.text import require_text
from salon.providers.embedders.one_by_one import OneByOne
from salon.providers.embedders.pinned_files import fingerprint_of, package_folder, require_digest
from salon.providers.embedders.unit_vectors import unit_vectors, wordless_vector

_PACKAGE = "wordllama"
_HINT = "pip install --force-reinstall --no-deps wordllama==0.4.0.post1"
_WEIGHTS_FILE = Path("weights", "l2_supercat_256.safetensors")
_WEIGHTS = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
_TENSOR = "embedding.weight"
_TOKENIZER_FILE = Path("tokenizers", "l2_supercat_tokenizer_config.json")
_TOKENIZER = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
# A longer text is averaged piece by piece, so that its tokens are never all in memory.
_PIECE = 100_000


class StaticEmbedder(OneByOne):
    """Embeds by averaging one vector per token. May be used by many threads at once."""

    def __init__(self, address: str, folder: Path) -> None:
        require_digest(folder / _WEIGHTS_FILE, _WEIGHTS, hint=_HINT)
        require_digest(folder / _TOKENIZER_FILE, _TOKENIZER, hint=_HINT)
        self._table = _read_table(folder / _WEIGHTS_FILE)
        self._tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER_FILE))
        super().__init__(
            EmbeddingModel(
                address=address,
                fingerprint=fingerprint_of(["mean of tokens", _WEIGHTS, _TOKENIZER]),
                dimensions=self._table.shape[1],
            )
        )

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question."""
        require_text(text, "a text to embed")
        total = np.zeros(self._model.dimensions, dtype=np.float64)
        count = 0
        for start in range(0, len(text), _PIECE):
            piece = text[start : start + _PIECE]
            ids = self._tokenizer.encode(piece, add_special_tokens=False).ids
            total += self._table[ids].sum(axis=0, dtype=np.float64)
            count += len(ids)
        if count == 0:
            return wordless_vector(self._model.dimensions)
        vector: Vector = unit_vectors(total[None, :], self._model.address)[0]
        return vector


def open_wordllama(name: str) -> StaticEmbedder:
    """Return the embedder whose weights `wordllama` carries."""
    return StaticEmbedder(f"static:{name}", package_folder(_PACKAGE))


def _read_table(path: Path) -> npt.NDArray[np.float32]:
    """Read the one tensor of a safetensors file: the size of a header, the header, the numbers."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    entry = json.loads(content[8:start])[_TENSOR]
    begin, end = entry["data_offsets"]
    numbers = np.frombuffer(content[start + begin : start + end], dtype="<f2")
    return numbers.reshape(entry["shape"]).astype(np.float32)
