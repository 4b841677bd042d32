"""Embeddings from any server that speaks OpenAI's API: vLLM, llama.cpp, LM Studio, OpenAI itself.

OpenAI itself is asked only when there is a key for it; without a key and without a base URL there
is nobody to ask.
"""

from collections.abc import Sequence

from salon.core.closing import Closable
from salon.core.errors import ProviderFailed
from salon.providers.embedders.options import EmbedderOptions
from salon.providers.embedders.remote import RemoteEmbedder
from salon.providers.http_json import Answer, JsonClient
from salon.providers.openai_server import open_openai_server


class _Embedding(Answer):
    embedding: list[float]
    index: int | None = None


class _Embeddings(Answer):
    data: list[_Embedding]


class OpenAiServer(Closable):
    """One model of a server that speaks OpenAI's embeddings API."""

    def __init__(self, name: str, client: JsonClient, *, dimensions: int | None = None) -> None:
        self._name = name
        self._client = client
        self._dimensions = dimensions

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return what the server answers for these texts."""
        body: dict[str, object] = {
            "model": self._name,
            "input": list(texts),
            "encoding_format": "float",
        }
        if self._dimensions is not None:
            body["dimensions"] = self._dimensions
        answered = self._client.post("/embeddings", body, _Embeddings).data
        return [entry.embedding for entry in _in_order(answered, self._name)]

    def digest(self) -> str | None:
        """Return `None`: this API has no word for the weights of a model."""
        return None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def open_openai(name: str, options: EmbedderOptions) -> RemoteEmbedder:
    """Return the embedder that asks the server of `options` for the model `name`."""
    client = open_openai_server(
        name,
        base_url=options.base_url,
        api_key=options.api_key,
        timeout_s=options.timeout_s,
    )
    return RemoteEmbedder(
        f"openai:{name}",
        OpenAiServer(name, client, dimensions=options.dimensions),
        dimensions=options.dimensions,
    )


def _in_order(answered: Sequence[_Embedding], name: str) -> Sequence[_Embedding]:
    """Return the vectors in the order of the texts; servers may answer in another."""
    places = [entry.index for entry in answered]
    if all(place is None for place in places):
        return answered
    by_place = {entry.index: entry for entry in answered}
    if set(by_place) != set(range(len(answered))):
        raise ProviderFailed(
            f"openai:{name} answered with vectors for the texts {places}",
            hint="the server does not do what its interface promises; try another",
        )
    return [by_place[place] for place in range(len(answered))]
