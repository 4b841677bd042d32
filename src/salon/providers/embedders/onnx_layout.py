"""Where the weights of an ONNX model lie in the file beside it.

Reads just as much of the protocol buffer as names the initializers that are kept outside the
model. Meant for a file whose digest was checked; it is no validator of ONNX.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

# Field numbers of ONNX's messages.
_MODEL_GRAPH = 7
_GRAPH_INITIALIZER = 5
_TENSOR_DIMS, _TENSOR_NAME, _TENSOR_EXTERNAL = 1, 8, 13
_ENTRY_KEY, _ENTRY_VALUE = 1, 2
# Wire types of protocol buffers.
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTensor:
    """A tensor of 32-bit floats at `offset` in the file of weights."""

    offset: int
    shape: tuple[int, ...]

    def view(self, weights: Path) -> npt.NDArray[np.float32]:
        """Return the tensor as it lies in the file: read when used, not to be changed."""
        return np.memmap(weights, dtype="<f4", mode="r", offset=self.offset, shape=self.shape)


def read_layout(model: bytes) -> dict[str, StoredTensor]:
    """Return every initializer that is kept outside the model, by its name."""
    return {
        name: tensor
        for number, graph in _fields(model)
        if number == _MODEL_GRAPH and isinstance(graph, bytes)
        for place, initializer in _fields(graph)
        if place == _GRAPH_INITIALIZER and isinstance(initializer, bytes)
        for name, tensor in _external_tensor(initializer)
    }


def _external_tensor(message: bytes) -> Iterator[tuple[str, StoredTensor]]:
    """Yield the tensor and its name, or nothing if its values are inside the model."""
    shape: list[int] = []
    name = ""
    offset: int | None = None
    for number, value in _fields(message):
        if number == _TENSOR_DIMS and isinstance(value, int):
            shape.append(value)
        elif number == _TENSOR_NAME and isinstance(value, bytes):
            name = value.decode()
        elif number == _TENSOR_EXTERNAL and isinstance(value, bytes):
            entry = dict(_fields(value))
            if entry[_ENTRY_KEY] == b"offset":
                offset = int(entry[_ENTRY_VALUE])
    if offset is not None:
        yield name, StoredTensor(offset=offset, shape=tuple(shape))


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the number and the value of each field."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if wire == _BYTES:
            size, at = _varint(message, at)
        else:
            size = _FIXED_SIZES[wire]
        yield number, message[at : at + size]
        at += size


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
