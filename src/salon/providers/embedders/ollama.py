"""Embeddings from an Ollama server, by its own API (not the one that imitates OpenAI's)."""

from collections.abc import Sequence

from salon.core.closing import Closable
from salon.core.errors import ProviderFailed
from salon.providers.embedders.options import EmbedderOptions
from salon.providers.embedders.remote import RemoteEmbedder
from salon.providers.http_json import Answer, JsonClient, JsonServer

DEFAULT_BASE_URL = "http://127.0.0.1:11434"


class _Embeddings(Answer):
    embeddings: list[list[float]]


class _Tag(Answer):
    name: str
    digest: str | None = None


class _Tags(Answer):
    models: list[_Tag]


class OllamaServer(Closable):
    """One model of an Ollama server."""

    def __init__(self, name: str, client: JsonClient, *, dimensions: int | None = None) -> None:
        self._name = name
        self._client = client
        self._dimensions = dimensions

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return what the server answers for these texts."""
        body: dict[str, object] = {"model": self._name, "input": list(texts), "truncate": True}
        if self._dimensions is not None:
            body["dimensions"] = self._dimensions
        return self._client.post("/api/embed", body, _Embeddings).embeddings

    def digest(self) -> str | None:
        """Return the digest of the model; `None` where the server does not list it."""
        try:
            tags = self._client.get("/api/tags", _Tags)
        except ProviderFailed as error:
            if error.details.get("status") == 404:  # something that only imitates Ollama
                return None
            raise
        names = {self._name, f"{self._name}:latest"}
        return next((tag.digest for tag in tags.models if tag.name in names), None)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def open_ollama(name: str, options: EmbedderOptions) -> RemoteEmbedder:
    """Return the embedder that asks an Ollama server for the model `name`."""
    server = JsonServer(
        base_url=options.base_url or DEFAULT_BASE_URL,
        api_key=options.api_key,
        timeout_s=options.timeout_s,
        hint="start the server with `ollama serve`, or set its base URL",
        hints={404: f"fetch the model with `ollama pull {name}`, or check the base URL"},
    )
    return RemoteEmbedder(
        f"ollama:{name}",
        OllamaServer(name, JsonClient(server), dimensions=options.dimensions),
        dimensions=options.dimensions,
    )
