"""The weights are found where the model says they are."""

import math

import numpy as np

from salon.providers.embedders.minilm_files import find_minilm_files
from salon.providers.embedders.onnx_layout import read_layout


def test_every_weight_of_minilm_is_found_and_together_they_fill_the_file() -> None:
    files = find_minilm_files()
    layout = sorted(files.layout.values(), key=lambda tensor: tensor.offset)
    assert len(layout) == 101
    end = 0
    for tensor in layout:
        assert tensor.offset == end
        end += 4 * math.prod(tensor.shape)
    assert end == files.weights.stat().st_size


def test_a_weight_is_read_with_its_shape() -> None:
    files = find_minilm_files()
    stored = files.layout["model.layers.0.mlp.fc1.MatMul.weight"]
    weight = stored.view(files.weights)
    assert weight.shape == (384, 1536)
    assert 0.01 < float(np.abs(weight).mean()) < 0.1


def message(number: int, content: bytes | int) -> bytes:
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    encoded = b""
    while value > 0x7F:
        encoded += bytes([value & 0x7F | 0x80])
        value >>= 7
    return encoded + bytes([value])


def test_weights_inside_the_model_and_other_fields_are_passed_over() -> None:
    offset = message(1, b"offset") + message(2, b"4096")
    place = message(1, b"location") + message(2, b"file")
    outside = message(1, 300) + message(8, b"w") + message(13, place) + message(13, offset)
    inside = message(1, 1) + message(8, b"v") + message(9, bytes(4))
    fixed = varint(3 << 3 | 5) + bytes(4) + varint(4 << 3 | 1) + bytes(8)
    graph = fixed + message(2, b"name") + message(5, inside) + message(5, outside)

    layout = read_layout(message(1, 8) + message(7, graph))

    assert list(layout) == ["w"]
    assert (layout["w"].offset, layout["w"].shape) == (4096, (300,))
