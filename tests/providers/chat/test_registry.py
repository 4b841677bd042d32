"""Addresses lead to chat models, or to an error that says what to do instead."""

import subprocess
import sys

import pytest

from salon.core.errors import UnknownProvider
from salon.providers.chat import KINDS, ChatKind, ScriptedChat, open_chat, registry


@pytest.mark.parametrize(
    ("address", "near"),
    [
        ("antropic:claude-sonnet-4-6", "anthropic:claude-sonnet-4-6"),
        ("Ollama:llama3.2", "ollama:llama3.2"),
        ("local:smollm", "local:smollm2"),
        ("scipted:answers.json", "scripted:answers.json"),
    ],
)
def test_an_unknown_address_is_answered_with_the_nearest_one(address: str, near: str) -> None:
    with pytest.raises(UnknownProvider) as caught:
        open_chat(address)
    assert repr(address) in caught.value.message
    assert caught.value.hint == f"did you mean {near!r}?"


@pytest.mark.parametrize("address", ["", ":", "smollm2", "zzzzzzzz:qqqqq"])
def test_an_address_like_no_other_is_answered_with_all_of_them(address: str) -> None:
    with pytest.raises(UnknownProvider) as caught:
        open_chat(address)
    for kind in KINDS:
        assert f"{kind}:" in (caught.value.hint or "")


@pytest.mark.parametrize("address", ["openai", "openai:", "openai: "])
def test_a_kind_without_a_name_is_answered_with_an_example(address: str) -> None:
    with pytest.raises(UnknownProvider) as caught:
        open_chat(address)
    assert "openai:gpt-5-mini" in (caught.value.hint or "")


def test_a_package_that_is_missing_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind = ChatKind(
        open=lambda *_: ScriptedChat([]),
        summary="needs what nobody has",
        names=("any",),
        modules=("json", "salon_module_that_does_not_exist"),
        install="pip install 'salon[chat]'",
    )
    monkeypatch.setattr(registry, "KINDS", {"openai": kind})
    with pytest.raises(UnknownProvider, match="salon_module_that_does_not_exist") as caught:
        open_chat("openai:any")
    assert caught.value.hint == "pip install 'salon[chat]'"


def test_every_kind_that_needs_a_package_says_how_to_install_it() -> None:
    for kind in KINDS.values():
        assert kind.summary
        assert kind.names
        assert bool(kind.modules) == bool(kind.install)


def test_naming_models_imports_nothing_heavy() -> None:
    program = (
        "import sys, salon.providers.chat as c; c.ScriptedChat(['Yes.']);"
        "heavy = {'pydantic_ai', 'httpx2', 'openai', 'anthropic', 'google.genai', 'xllamacpp'};"
        "sys.exit(repr(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
