"""The servers that pydantic-ai speaks to: where each is, what key it takes, and its library.

Everything that can be wrong with the settings is found when a model is opened. The library is
imported with the first request.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from salon.core.errors import InvalidSettings
from salon.providers.chat.failures import Explainer
from salon.providers.chat.options import ChatOptions
from salon.providers.chat.remote import Link, Manner, RemoteChat
from salon.providers.chat.retrying import RetryPolicy

OLLAMA_URL = "http://127.0.0.1:11434/v1"
_EXAMPLE = "for example http://127.0.0.1:8080/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Service:
    """A provider that has a server of its own, and the variables that hold a key for it."""

    link: Callable[[str, ChatOptions], Link]
    variables: tuple[str, ...]


def open_service(kind: str, name: str, options: ChatOptions) -> RemoteChat:
    """Return the model `name` of a provider's own server, or of a proxy at `options.url`."""
    service = SERVICES[kind]
    key = options.key or next(filter(None, map(os.environ.get, service.variables)), None)
    if key is None:
        raise InvalidSettings(
            f"{kind}:{name} needs a key",
            hint=f"set {service.variables[0]} or SALON_CHAT__KEY in the environment",
        )
    found = _checked(options, key)
    return RemoteChat(
        f"{kind}:{name}",
        lambda: service.link(name, found),
        manner(found, hint="check the network, and whether the provider has trouble"),
    )


def open_compatible(name: str, options: ChatOptions) -> RemoteChat:
    """Return the model `name` of any server that speaks OpenAI's chat API."""
    if options.url is None:
        raise InvalidSettings(
            f"compatible:{name} needs the URL of a server", hint=f"set chat.url, {_EXAMPLE}"
        )
    found = _checked(options, options.key)
    return RemoteChat(
        f"compatible:{name}",
        lambda: compatible_link(name, found),
        manner(found, hint="check the URL, and that the server is running", break_marks=True),
    )


def open_ollama(name: str, options: ChatOptions) -> RemoteChat:
    """Return the model `name` of an Ollama server, through its OpenAI-compatible side."""
    url = (options.url or OLLAMA_URL).rstrip("/")
    if not urlsplit(url).path:
        url += "/v1"
    found = _checked(options, options.key, url=url)
    hint = f"start it with `ollama serve`, and fetch the model with `ollama pull {name}`"
    return RemoteChat(
        f"ollama:{name}",
        lambda: compatible_link(name, found),
        manner(found, hint=hint, break_marks=True),
    )


def manner(options: ChatOptions, *, hint: str, break_marks: bool = False) -> Manner:
    """Return how a server is asked under these options."""
    return Manner(
        timeout_s=options.timeout_s,
        retries=RetryPolicy(retries=options.retries),
        explainer=Explainer(secret=options.key, timeout_s=options.timeout_s, hint=hint),
        break_marks=break_marks,
    )


def compatible_link(name: str, options: ChatOptions) -> Link:
    """Open the way to a server that speaks OpenAI's chat API."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    from salon.providers.chat.bounded_http import open_client

    assert options.url is not None
    client = open_client(options.url, timeout_s=options.timeout_s, is_own_account=False)
    provider = OpenAICompatibleProvider(
        "compatible",
        base_url=options.url,
        api_key=options.key,
        http_client=client,
        # The older name of the field: every server knows it, and few know the newer.
        profile=OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False),
    )
    return Link(model=OpenAIChatModel(name, provider=provider), client=client, secret=options.key)


def _openai_link(name: str, options: ChatOptions) -> Link:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from salon.providers.chat.bounded_http import open_client

    client = open_client(options.url, timeout_s=options.timeout_s, is_own_account=True)
    provider = OpenAIProvider(base_url=options.url, api_key=options.key, http_client=client)
    return Link(model=OpenAIChatModel(name, provider=provider), client=client, secret=options.key)


def _anthropic_link(name: str, options: ChatOptions) -> Link:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    from salon.providers.chat.bounded_http import open_client

    client = open_client(options.url, timeout_s=options.timeout_s, is_own_account=True)
    provider = AnthropicProvider(base_url=options.url, api_key=options.key, http_client=client)
    return Link(model=AnthropicModel(name, provider=provider), client=client, secret=options.key)


def _google_link(name: str, options: ChatOptions) -> Link:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    from salon.providers.chat.bounded_http import open_client

    client = open_client(options.url, timeout_s=options.timeout_s, is_own_account=True)
    provider = GoogleProvider(base_url=options.url, api_key=options.key, http_client=client)
    return Link(model=GoogleModel(name, provider=provider), client=client, secret=options.key)


SERVICES: Mapping[str, _Service] = {
    "anthropic": _Service(link=_anthropic_link, variables=("ANTHROPIC_API_KEY",)),
    "google": _Service(link=_google_link, variables=("GOOGLE_API_KEY", "GEMINI_API_KEY")),
    "openai": _Service(link=_openai_link, variables=("OPENAI_API_KEY",)),
}
"""The providers with servers of their own."""


def _checked(options: ChatOptions, key: str | None, url: str | None = None) -> ChatOptions:
    """Return the options with the key and URL in force, or raise `InvalidSettings`."""
    if key is not None and not (key and key.isascii() and key.isprintable() and " " not in key):
        raise InvalidSettings(
            "the key is empty or holds characters that no key has",
            hint="copy the key again, without spaces or line breaks",
        )
    url = url or options.url
    if url is not None:
        _check_url(url)
    return ChatOptions(
        url=url,
        key=key,
        timeout_s=options.timeout_s,
        retries=options.retries,
        max_tokens=options.max_tokens,
        limits=options.limits,
        prices=options.prices,
    )


def _check_url(url: str) -> None:
    if "@" in url or "?" in url or "#" in url:  # not repeated: it may hold a secret
        raise InvalidSettings(
            "the URL of a server must not hold a user name, a password or a query",
            hint="set the key apart from the URL",
        )
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if not (is_whole and url.isascii() and url.isprintable() and " " not in url):
        raise InvalidSettings(f"{url!r} is not the URL of a server", hint=_EXAMPLE)
