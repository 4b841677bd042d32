"""An adapter changes exactly the weights it names, by exactly what it says."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest

from salon.core.errors import IntegrityFailed
from salon.providers.embedders import EmbedderOptions, open_embedder
from salon.providers.embedders.adapter import SHIPPED, changed_weights, load_adapter
from salon.providers.embedders.minilm import MiniLmEmbedder
from salon.providers.embedders.minilm_files import find_minilm_files
from salon.providers.embedders.tokens import TokenReader

QUERY = "model.layers.0.attn.q_proj.MatMul.weight"
OUTER = "model.layers.5.mlp.fc2.MatMul.weight"
BIAS = "model.layers.3.attn.o_proj.Add.bias"
NORM = "model.layers.5.mlp_output_norm_layernorm.weight"
TEXT = "Communities govern what they share."

Arrays = Mapping[str, npt.NDArray[np.floating]]


def some_change() -> dict[str, npt.NDArray[np.floating]]:
    random = np.random.default_rng(7)

    def draw(*shape: int) -> npt.NDArray[np.float16]:
        return (0.1 * random.normal(size=shape)).astype(np.float16)

    return {
        f"{QUERY}.a": draw(384, 2),
        f"{QUERY}.b": draw(2, 384),
        f"{OUTER}.a": draw(1536, 2),
        f"{OUTER}.b": draw(2, 384),
        f"{BIAS}.full": draw(384),
        f"{NORM}.full": 1 + draw(384),
    }


def write(path: Path, arrays: Arrays) -> Path:
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return path


def patched_reference(arrays: Arrays) -> npt.NDArray[np.floating]:
    """Change the weights in a copy of their file in memory, and run the plain model on it."""
    files = find_minilm_files()
    content = bytearray(files.weights.read_bytes())
    for name in (QUERY, OUTER, BIAS, NORM):
        stored = files.layout[name]
        count = int(np.prod(stored.shape))
        weight = np.frombuffer(content, "<f4", count, stored.offset).reshape(stored.shape)
        if f"{name}.full" in arrays:
            weight[:] = arrays[f"{name}.full"]
        else:
            weight += arrays[f"{name}.a"].astype(np.float32) @ arrays[f"{name}.b"].astype(
                np.float32
            )
        del weight
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    settings.add_external_initializers_from_files_in_memory(
        [files.weights.name], [content], [len(content)]
    )
    session = onnxruntime.InferenceSession(
        files.graph.read_bytes(), settings, providers=["CPUExecutionProvider"]
    )
    ids = TokenReader(files.tokenizer).read(TEXT)[None, :]
    feed = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
    mean = session.run(None, feed)[0][0].mean(axis=0)
    vector: npt.NDArray[np.floating] = mean / np.linalg.norm(mean)
    return vector


def test_the_changed_model_computes_with_the_changed_weights(
    tmp_path: Path, minilm: MiniLmEmbedder
) -> None:
    arrays = some_change()
    adapter = load_adapter(write(tmp_path / "adapter.npz", arrays))
    with MiniLmEmbedder("embedded:salon", find_minilm_files(), adapter=adapter) as changed:
        vector = changed.embed_query(TEXT)
        assert np.abs(vector - patched_reference(arrays)).max() < 1e-6
        assert np.abs(vector - changed.embed_passages([TEXT])[0]).max() < 1e-6
        assert vector @ minilm.embed_query(TEXT) < 0.999
        assert changed.model.address == "embedded:salon"
        assert changed.model.fingerprint != minilm.model.fingerprint


def test_an_adapter_of_zeros_changes_nothing_but_the_fingerprint(
    tmp_path: Path, minilm: MiniLmEmbedder
) -> None:
    zeros = {f"{QUERY}.a": np.zeros((384, 4)), f"{QUERY}.b": np.zeros((4, 384))}
    adapter = load_adapter(write(tmp_path / "adapter.npz", zeros))
    with MiniLmEmbedder("embedded:salon", find_minilm_files(), adapter=adapter) as changed:
        assert np.array_equal(changed.embed_query(TEXT), minilm.embed_query(TEXT))
        assert changed.model.fingerprint != minilm.model.fingerprint


def test_two_adapters_are_two_models(tmp_path: Path) -> None:
    one = load_adapter(write(tmp_path / "one.npz", some_change()))
    other = load_adapter(
        write(tmp_path / "other.npz", some_change() | {f"{BIAS}.full": np.ones(384)})
    )
    assert one.sha256 != other.sha256


def test_the_salon_address_loads_the_adapter_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "adapter.npz", some_change())
    monkeypatch.setattr("salon.providers.embedders.adapter.SHIPPED", path)
    embedder = open_embedder("embedded:salon", EmbedderOptions(threads=1))
    assert np.abs(embedder.embed_query(TEXT) - patched_reference(some_change())).max() < 1e-6
    embedder.close()


def test_the_adapter_belongs_beside_the_code() -> None:
    assert SHIPPED.name == "adapter.npz"
    assert SHIPPED.parent.parent.name == "embedders"


UNFIT: dict[str, tuple[Arrays, str]] = {
    "unknown weight": ({"model.layers.9.x.full": np.ones(3)}, "no weight 'model.layers.9.x'"),
    "no name": ({"full": np.ones(3)}, "no weight ''"),
    "half a product": ({f"{QUERY}.a": np.ones((384, 2))}, r"has the parts \['a'\]"),
    "both ways": (
        {f"{QUERY}.a": np.ones((384, 2)), f"{QUERY}.full": np.ones((384, 384))},
        "has the parts",
    ),
    "unknown part": ({f"{QUERY}.c": np.ones(3)}, r"has the parts \['c'\]"),
    "ranks that differ": (
        {f"{QUERY}.a": np.ones((384, 2)), f"{QUERY}.b": np.ones((3, 384))},
        "cannot be multiplied",
    ),
    "not matrices": (
        {f"{QUERY}.a": np.ones(384), f"{QUERY}.b": np.ones(384)},
        "cannot be multiplied",
    ),
    "product of another shape": (
        {f"{QUERY}.a": np.ones((384, 1)), f"{QUERY}.b": np.ones((1, 1))},
        r"has the shape \(384, 1\), not \(384, 384\)",
    ),
    "full of another shape": ({f"{BIAS}.full": np.ones(383)}, r"has the shape \(383,\)"),
    "not a number": ({f"{BIAS}.full": np.full(384, np.nan)}, "something other than numbers"),
}


@pytest.mark.parametrize(("arrays", "why"), UNFIT.values(), ids=UNFIT)
def test_an_adapter_that_does_not_fit_is_refused(tmp_path: Path, arrays: Arrays, why: str) -> None:
    adapter = load_adapter(write(tmp_path / "adapter.npz", arrays))
    with pytest.raises(IntegrityFailed, match=why):
        changed_weights(adapter, find_minilm_files())


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 cut short"])
def test_a_damaged_adapter_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "adapter.npz"
    path.write_bytes(content)
    with pytest.raises(IntegrityFailed, match="cannot be read"):
        load_adapter(path)


def test_an_adapter_that_holds_code_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "adapter.npz", {f"{BIAS}.full": np.array([print], dtype=object)})
    with pytest.raises(IntegrityFailed, match="cannot be read"):
        load_adapter(path)
