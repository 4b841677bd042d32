"""The GPU embedder: refused where there is no GPU, and the same arithmetic as the processor's."""

from importlib.util import find_spec

import numpy as np
import pytest

from salon.core.errors import UnknownProvider
from salon.providers.embedders import open_embedder
from salon.providers.embedders.gpu import GpuEmbedder
from salon.providers.embedders.minilm import MiniLmEmbedder
from salon.providers.embedders.minilm_files import find_minilm_files

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed")
def test_without_torch_the_extra_is_named() -> None:
    with pytest.raises(UnknownProvider, match="'torch', which is not installed") as caught:
        open_embedder("gpu:minilm")
    assert caught.value.hint == "pip install 'salon[gpu]'"


@needs_torch
def test_without_a_gpu_the_processor_is_recommended() -> None:
    import torch  # type: ignore[import-not-found, unused-ignore]

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(UnknownProvider, match="there is none") as caught:
        open_embedder("gpu:minilm")
    assert "embedded:minilm" in (caught.value.hint or "")


@needs_torch
def test_torch_computes_what_the_embedded_model_computes(minilm: MiniLmEmbedder) -> None:
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    texts = ["Who governs the commons?", "", "x", "A fishery. " * 100, "😀"]
    with GpuEmbedder("gpu:minilm", find_minilm_files(), device=device) as embedder:
        vectors = embedder.embed_passages(texts)
        assert np.abs(vectors - minilm.embed_passages(texts)).max() < 1e-4
        assert np.abs(embedder.embed_query(texts[0]) - vectors[0]).max() < 1e-4
        assert embedder.model.address == "gpu:minilm"
        assert embedder.model.fingerprint == minilm.model.fingerprint
