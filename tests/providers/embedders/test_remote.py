"""Embedders behind a server: what is sent, what is believed, what is recorded."""

from collections.abc import Callable

import numpy as np
import pytest

from salon.core.embedding import Embedder
from salon.core.errors import InvalidSettings, ProviderFailed
from salon.providers.embedders import EmbedderOptions, open_embedder
from salon.providers.embedders.ollama import DEFAULT_BASE_URL, open_ollama
from salon.providers.embedders.openai import open_openai
from salon.providers.embedders.remote import LONGEST_TEXT
from salon.providers.openai_server import OPENAI_BASE_URL
from tests.providers.model_server import DIMENSIONS, ModelServer, say, vectors_for

Rows = list[list[float]]


def opened(server: ModelServer, address: str, **options: object) -> Embedder:
    embedder = open_embedder(address, EmbedderOptions(**options))  # type: ignore[arg-type]
    server.clients.callback(embedder.close)
    return embedder


def ollama(server: ModelServer, name: str = "nomic", **options: object) -> Embedder:
    return opened(server, f"ollama:{name}", base_url=server.url, **options)


def openai(server: ModelServer, name: str = "some-model", **options: object) -> Embedder:
    return opened(server, f"openai:{name}", base_url=f"{server.url}/v1", **options)


def as_ollama(rows: Rows) -> object:
    return {"embeddings": rows}


def as_openai(rows: Rows) -> object:
    return {"data": [{"index": place, "embedding": row} for place, row in enumerate(rows)]}


BOTH = pytest.mark.parametrize(
    ("make", "wrap"), [(ollama, as_ollama), (openai, as_openai)], ids=["ollama", "openai"]
)
Make = Callable[..., Embedder]
Wrap = Callable[[Rows], object]


def sent(server: ModelServer, path: str) -> list[dict[str, object]]:
    return [asked.body for asked in server.asked if asked.path == path]


# What is sent


def test_opening_asks_nobody() -> None:
    for address in ("ollama:nomic-embed-text", "openai:some-model"):
        embedder = open_embedder(address, EmbedderOptions(base_url="http://127.0.0.1:9"))
        embedder.close()


def test_ollama_is_asked_in_its_own_words(model_server: ModelServer) -> None:
    with_key = ollama(model_server, api_key="key-of-a-proxy")
    with_key.embed_query("who governs")
    probe, query = sent(model_server, "/api/embed")
    assert probe["input"] == ["dimensions"]
    assert query == {"model": "nomic", "input": ["who governs"], "truncate": True}
    assert model_server.asked[-1].headers["Authorization"] == "Bearer key-of-a-proxy"


def test_openai_is_asked_in_its_own_words(model_server: ModelServer) -> None:
    openai(model_server, dimensions=DIMENSIONS).embed_query("who governs")
    assert sent(model_server, "/v1/embeddings")[-1] == {
        "model": "some-model",
        "input": ["who governs"],
        "encoding_format": "float",
        "dimensions": DIMENSIONS,
    }
    assert "Authorization" not in model_server.asked[-1].headers


def test_ollama_too_can_be_asked_for_shorter_vectors(model_server: ModelServer) -> None:
    ollama(model_server, dimensions=DIMENSIONS).embed_query("who governs")
    assert sent(model_server, "/api/embed")[-1]["dimensions"] == DIMENSIONS


@pytest.mark.parametrize("make", [ollama, openai])
@pytest.mark.requirement("council/search/vectors")
def test_nomic_models_are_told_what_is_a_question_and_what_a_document(
    model_server: ModelServer, make: Make
) -> None:
    embedder = make(model_server, name="nomic-embed-text:v1.5")
    embedder.embed_query("who governs")
    embedder.embed_passages(["the commons", "the state"])
    *_, query, passages = (asked.body for asked in model_server.asked if asked.method == "POST")
    assert query["input"] == ["search_query: who governs"]
    assert passages["input"] == ["search_document: the commons", "search_document: the state"]


@BOTH
def test_many_texts_are_sent_in_portions_and_come_back_in_order(
    model_server: ModelServer, make: Make, wrap: Wrap
) -> None:
    embedder = make(model_server)
    texts = [f"text {number}" for number in range(150)]
    vectors = embedder.embed_passages(texts)
    sizes = [
        len(asked.body["input"])  # type: ignore[arg-type]
        for asked in model_server.asked
        if asked.method == "POST"
    ]
    assert sizes == [1, 64, 64, 22]
    expected = np.array(vectors_for(texts))
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(vectors, expected, atol=1e-6)


@BOTH
def test_only_the_beginning_of_a_text_is_sent_and_nothing_of_a_blank_one(
    model_server: ModelServer, make: Make, wrap: Wrap
) -> None:
    embedder = make(model_server)
    embedder.embed_passages(["  ", "a" * 100_000, "before\0after", ""])
    assert model_server.asked[-1].body["input"] == ["a" * LONGEST_TEXT, "before after"]
    before = len(model_server.asked)
    blank = embedder.embed_query("\n\0")
    assert len(model_server.asked) == before
    assert np.array_equal(blank, embedder.embed_query(""))


# Which model it is


def test_the_digest_that_ollama_tells_is_in_the_fingerprint(model_server: ModelServer) -> None:
    first = ollama(model_server).model
    model_server.instead += [
        say(as_ollama(vectors_for(["dimensions"]))),
        say({"models": [{"name": "nomic:latest", "digest": "another"}]}),
    ]
    second = ollama(model_server).model
    assert (first.address, first.dimensions) == (second.address, second.dimensions)
    assert first.fingerprint != second.fingerprint
    assert ollama(model_server).model == first


def test_a_tag_names_exactly_one_model(model_server: ModelServer) -> None:
    tags = {
        "models": [{"name": "nomic:latest", "digest": "a"}, {"name": "nomic:q4", "digest": "b"}]
    }
    probe = say(as_ollama(vectors_for(["dimensions"])))
    model_server.instead += [probe, say(tags), probe, say({"models": []})]
    listed = ollama(model_server, name="nomic:q4").model
    unlisted = ollama(model_server, name="nomic:q4").model
    assert listed.fingerprint != unlisted.fingerprint


def test_a_server_without_a_list_of_models_is_known_by_name_and_length(
    model_server: ModelServer,
) -> None:
    probe = say(as_ollama(vectors_for(["dimensions"])))
    model_server.instead += [probe, say({}, 404), probe, say({"models": []})]
    assert ollama(model_server).model == ollama(model_server).model


def test_a_list_of_models_that_fails_is_an_error_and_not_a_guess(model_server: ModelServer) -> None:
    model_server.instead += [say(as_ollama(vectors_for(["dimensions"]))), say({}, 500)]
    with pytest.raises(ProviderFailed, match="status 500"):
        ollama(model_server).model  # noqa: B018 - reading it asks the server


@BOTH
def test_the_server_is_asked_about_the_model_once(
    model_server: ModelServer, make: Make, wrap: Wrap
) -> None:
    embedder = make(model_server)
    assert embedder.model.dimensions == DIMENSIONS
    before = len(model_server.asked)
    assert embedder.model is embedder.model
    assert len(model_server.asked) == before


@BOTH
def test_a_server_that_fails_at_first_is_asked_again_the_next_time(
    model_server: ModelServer, make: Make, wrap: Wrap
) -> None:
    embedder = make(model_server)
    model_server.instead.append(say({}, 500))
    with pytest.raises(ProviderFailed):
        embedder.embed_query("hello")
    assert embedder.embed_query("hello").shape == (DIMENSIONS,)


# What is believed


def vector(first: float = 1.0, length: int = DIMENSIONS) -> list[float]:
    return [first] + [0.5] * (length - 1)


BAD: dict[str, tuple[Rows, str]] = {
    "too few": ([vector()], "1 vectors for 2 texts"),
    "too many": ([vector()] * 3, "3 vectors for 2 texts"),
    "none": ([], "0 vectors for 2 texts"),
    "another length": ([vector(), vector(length=7)], r"\[7, 32\] dimensions, not 32"),
    "empty vectors": ([[], []], r"\[0\] dimensions, not 32"),
    "not a number": ([vector(), vector(float("nan"))], "something other than numbers"),
    "infinite": ([vector(), vector(float("inf"))], "something other than numbers"),
    "zero": ([vector(), [0.0] * DIMENSIONS], "length zero"),
}


@BOTH
@pytest.mark.parametrize(("rows", "what"), BAD.values(), ids=BAD)
def test_an_answer_that_cannot_be_right_is_not_believed(
    model_server: ModelServer, make: Make, wrap: Wrap, rows: Rows, what: str
) -> None:
    embedder = make(model_server)
    assert embedder.model.dimensions == DIMENSIONS
    model_server.instead.append(say(wrap(rows)))
    with pytest.raises(ProviderFailed, match=what) as caught:
        embedder.embed_passages(["one", "two"])
    assert caught.value.hint


@BOTH
@pytest.mark.parametrize("rows", [[], [[]], [vector(), vector()]], ids=["none", "empty", "two"])
def test_a_first_answer_that_cannot_be_right_is_not_believed(
    model_server: ModelServer, make: Make, wrap: Wrap, rows: Rows
) -> None:
    model_server.instead.append(say(wrap(rows)))
    with pytest.raises(ProviderFailed, match="vectors"):
        make(model_server).embed_query("hello")


@BOTH
@pytest.mark.parametrize(
    "content", [b"", b"null", b'{"embeddings": [["x"]], "data": [{}]}', b'{"embeddings": [[null]]}']
)
def test_an_answer_of_another_shape_is_one_clear_error(
    model_server: ModelServer, make: Make, wrap: Wrap, content: bytes
) -> None:
    model_server.always = say(content)
    with pytest.raises(ProviderFailed, match="unexpected"):
        make(model_server).embed_query("hello")


@BOTH
def test_a_length_that_the_server_does_not_keep_to_is_an_error(
    model_server: ModelServer, make: Make, wrap: Wrap
) -> None:
    with pytest.raises(ProviderFailed, match=r"\[32\] dimensions, not 16"):
        make(model_server, dimensions=16).embed_query("hello")


def test_openai_servers_may_leave_the_index_out(model_server: ModelServer) -> None:
    embedder = openai(model_server)
    assert embedder.model.dimensions == DIMENSIONS
    model_server.instead.append(say({"data": [{"embedding": vector(9)}, {"embedding": vector(0)}]}))
    first, second = embedder.embed_passages(["one", "two"])
    assert first[0] > second[0] == 0


@pytest.mark.parametrize("places", [(0, 0), (1, 2), (0, None), (-1, 0)])
def test_an_index_that_makes_no_sense_is_not_believed(
    model_server: ModelServer, places: tuple[int | None, int | None]
) -> None:
    embedder = openai(model_server)
    assert embedder.model.dimensions == DIMENSIONS
    data = [{"index": place, "embedding": vector()} for place in places]
    model_server.instead.append(say({"data": data}))
    with pytest.raises(ProviderFailed, match="vectors for the texts"):
        embedder.embed_passages(["one", "two"])


# What a person is told


def test_a_model_that_ollama_lacks_can_be_pulled(model_server: ModelServer) -> None:
    model_server.always = say({"error": 'model "nomic" not found, try pulling it first'}, 404)
    with pytest.raises(ProviderFailed, match='model "nomic" not found') as caught:
        ollama(model_server).embed_query("hello")
    assert "`ollama pull nomic`" in (caught.value.hint or "")


def test_openai_needs_an_address_or_a_key() -> None:
    with pytest.raises(InvalidSettings, match="needs the base URL") as caught:
        open_embedder("openai:some-model")
    assert caught.value.hint


def test_the_addresses_that_are_used_by_default() -> None:
    assert DEFAULT_BASE_URL == "http://127.0.0.1:11434"
    assert OPENAI_BASE_URL == "https://api.openai.com/v1"
    open_ollama("nomic", EmbedderOptions()).close()
    open_openai("some-model", EmbedderOptions(api_key="sk-secret")).close()


def test_the_key_is_told_to_nobody(model_server: ModelServer) -> None:
    model_server.always = say({"error": {"message": "Incorrect API key: sk-secret"}}, 401)
    embedder = openai(model_server, api_key="sk-secret")
    with pytest.raises(ProviderFailed) as caught:
        embedder.embed_query("hello")
    assert "secret" not in f"{caught.value.as_json()} {embedder!r}"
