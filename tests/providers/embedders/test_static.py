"""Averaged word vectors: the same as the package that carries them would give."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from salon.core.errors import IntegrityFailed
from salon.providers.embedders import open_embedder, static
from salon.providers.embedders.pinned_files import package_folder
from salon.providers.embedders.static import StaticEmbedder

TEXTS = ["Who governs the commons?", "x", "Ärger 😀 知識", "words " * 500]

# In a process of its own: importing the package configures logging.
REFERENCE = """
import json, pathlib, sys, wordllama
model = wordllama.WordLlama.load(
    cache_dir=pathlib.Path(wordllama.__file__).parent, disable_download=True)
print(json.dumps(model.embed(json.loads(sys.argv[1]), norm=True).tolist()))
"""


def test_the_vectors_are_those_of_the_package() -> None:
    done = subprocess.run(
        [sys.executable, "-c", REFERENCE, json.dumps(TEXTS)],
        capture_output=True,
        text=True,
        check=True,
    )
    expected = np.array(json.loads(done.stdout))
    embedder = open_embedder("static:wordllama")
    assert embedder.model.dimensions == 256
    assert np.abs(embedder.embed_passages(TEXTS) - expected).max() < 1e-5


def test_a_text_longer_than_a_piece_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = open_embedder("static:wordllama")
    text = "commons and forests " * 30 + "fisheries and pastures " * 30
    whole = embedder.embed_query(text)
    monkeypatch.setattr(static, "_PIECE", 100)
    in_pieces = embedder.embed_query(text)
    assert whole @ in_pieces > 0.99
    assert in_pieces @ embedder.embed_query(text[:100]) < whole @ in_pieces


@pytest.mark.parametrize("name", [static._WEIGHTS_FILE, static._TOKENIZER_FILE])
def test_other_files_than_the_known_ones_are_refused(tmp_path: Path, name: Path) -> None:
    original = package_folder("wordllama")
    for file in (static._WEIGHTS_FILE, static._TOKENIZER_FILE):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(original / file, tmp_path / file)
    StaticEmbedder("static:wordllama", tmp_path)
    with (tmp_path / name).open("ab") as changed:
        changed.write(b" ")
    with pytest.raises(IntegrityFailed, match=name.name):
        StaticEmbedder("static:wordllama", tmp_path)
