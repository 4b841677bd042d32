"""An adapter: a small file that changes some of MiniLM's weights into Salon's own.

The file is a `.npz`. For a weight of the ONNX model named W (of shape in x out, as in `x @ W`) it
holds `W.a` (in x r) and `W.b` (r x out), whose product is added to W; or `W.full`, which takes
W's place. A file that does not fit the model changes nothing and is refused as a whole.
"""

import hashlib
import io
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from numpy.lib.npyio import NpzFile

from salon.core.errors import IntegrityFailed, UnknownProvider
from salon.providers.embedders.minilm_files import MiniLmFiles

SHIPPED = Path(__file__).with_name("weights") / "adapter.npz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """The arrays of an adapter: for each weight its parts, by their names."""

    sha256: str
    changes: Mapping[str, Mapping[str, npt.NDArray[np.float32]]]


def load_adapter(path: Path | None = None) -> Adapter:
    """Read an adapter, by default the one that Salon ships; raise `UnknownProvider` without it."""
    try:
        content = (path or SHIPPED).read_bytes()
    except FileNotFoundError as error:
        raise UnknownProvider(
            "this copy of Salon has no adapter of its own", hint="use embedded:minilm"
        ) from error
    changes: dict[str, dict[str, npt.NDArray[np.float32]]] = {}
    try:
        with NpzFile(io.BytesIO(content), allow_pickle=False) as arrays:
            for key in arrays.files:
                name, _, part = key.rpartition(".")
                changes.setdefault(name, {})[part] = arrays[key].astype(np.float32)
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise _unfit(f"it cannot be read: {error}") from error
    return Adapter(sha256=hashlib.sha256(content).hexdigest(), changes=changes)


def changed_weights(adapter: Adapter, files: MiniLmFiles) -> dict[str, npt.NDArray[np.float32]]:
    """Return the weights that the adapter changes, as they are after the change."""
    return {name: _change(name, parts, files) for name, parts in adapter.changes.items()}


def _change(
    name: str, parts: Mapping[str, npt.NDArray[np.float32]], files: MiniLmFiles
) -> npt.NDArray[np.float32]:
    stored = files.layout.get(name)
    if stored is None:
        raise _unfit(f"the model has no weight {name!r}")
    if set(parts) == {"full"}:
        changed = parts["full"]
    elif set(parts) == {"a", "b"}:
        left, right = parts["a"], parts["b"]
        if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0]:
            raise _unfit(f"the parts of {name!r} cannot be multiplied")
        # Not `@`: numpy would start threads for it, which on a busy machine wait for each other.
        changed = np.einsum("ir,ro->io", left, right)
        if changed.shape == stored.shape:
            changed += stored.view(files.weights)
    else:
        raise _unfit(f"{name!r} has the parts {sorted(parts)}")
    if changed.shape != stored.shape:
        raise _unfit(f"{name!r} has the shape {changed.shape}, not {stored.shape}")
    if not np.isfinite(changed).all():
        raise _unfit(f"{name!r} holds something other than numbers")
    return changed


def _unfit(why: str) -> IntegrityFailed:
    return IntegrityFailed(f"the adapter does not fit the model: {why}", hint="install Salon again")
