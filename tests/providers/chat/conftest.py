"""No test here reaches a real provider: only names of this machine are found, and no key is set."""

import socket
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from salon.core.chat import ChatModel
from salon.providers.chat import ChatOptions, open_chat
from salon.providers.chat.metered import MeteredChat
from salon.providers.chat.remote import RemoteChat
from salon.providers.chat.retrying import RetryPolicy
from tests.providers.chat.wire import PROTOCOLS, Protocol, speak
from tests.providers.model_server import ModelServer

KEY = "sk-never-to-be-told-0123456789abcdef"
HERE = {"127.0.0.1", "::1", "localhost"}


@pytest.fixture(autouse=True)
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names that were looked up beyond this machine; none is found."""
    names: list[str] = []
    find = socket.getaddrinfo

    def only_here(host: Any, *arguments: Any, **more: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name not in HERE:
            names.append(name)
            raise socket.gaierror(socket.EAI_NONAME, "no test reaches out")
        return find(host, *arguments, **more)

    monkeypatch.setattr(socket, "getaddrinfo", only_here)
    for provider in ("ANTHROPIC", "GOOGLE", "GEMINI", "OPENAI"):
        monkeypatch.delenv(f"{provider}_API_KEY", raising=False)
        monkeypatch.delenv(f"{provider}_BASE_URL", raising=False)
    return names


@dataclass
class Talk:
    """A server that speaks one protocol, and what it takes to open models of it."""

    kind: str
    protocol: Protocol
    server: ModelServer
    waits: list[float] = field(default_factory=list)

    def open(self, name: str = "some-model", **options: Any) -> MeteredChat:
        """Open a model whose waits are noted instead of waited."""
        options = {"url": self.server.url + self.protocol.suffix, "key": KEY, **options}
        chat = open_chat(f"{self.kind}:{name}", ChatOptions(**options))
        backend = chat._backend
        assert isinstance(backend, RemoteChat)
        retries = RetryPolicy(retries=backend._manner.retries.retries, draw=lambda: 0.5)
        backend._manner = replace(backend._manner, sleep=self.waits.append, retries=retries)
        self.server.clients.callback(chat.close)
        return chat

    @property
    def body(self) -> dict[str, Any]:
        return self.server.asked[-1].body


@pytest.fixture
def make_talk(model_server: ModelServer) -> Callable[[str], Talk]:
    def make(kind: str) -> Talk:
        protocol = PROTOCOLS[kind]
        model_server.always = speak(protocol)
        return Talk(kind, protocol, model_server)

    return make


# Ollama is asked as any compatible server is; what is its own has its own tests.
@pytest.fixture(params=[kind for kind in PROTOCOLS if kind != "ollama"])
def talk(request: pytest.FixtureRequest, make_talk: Callable[[str], Talk]) -> Talk:
    return make_talk(request.param)


@pytest.fixture
def compatible(make_talk: Callable[[str], Talk]) -> Talk:
    return make_talk("compatible")


def is_a_chat_model(model: ChatModel) -> ChatModel:
    """Let the type checker say whether something is a chat model."""
    return model
