"""The index in Qdrant, where it differs from others: no transactions, servers, keys."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from qdrant_client import QdrantClient

from salon.core.errors import InvalidSettings, ModelMismatch, ProviderFailed, StorageFailed
from salon.core.indexes import PassageId, VectorIndex
from salon.providers.vectors.qdrant_index import QdrantIndex
from salon.providers.vectors.qdrant_link import QdrantLink, link_to_folder, link_to_server
from tests.providers.vectors.qdrant_rest import RestServer, start_server
from tests.retrieval.dense.backends import MODEL, RETRAINED, card, fill, unit_rows

QUERY = unit_rows(1, seed=99)[0]
SECRET = "open-sesame"


@pytest.fixture
def server() -> Iterator[RestServer]:
    """A server that a test may spoil."""
    started = start_server()
    yield started
    started.shutdown()
    started.server_close()


@pytest.fixture(params=["server", "folder"])
def link(request: pytest.FixtureRequest, server: RestServer, tmp_path: Path) -> QdrantLink:
    """Both ways to Qdrant."""
    if request.param == "server":
        return link_to_server(server.address)
    return link_to_folder(tmp_path / "qdrant")


@pytest.fixture
def index(link: QdrantLink) -> Iterator[QdrantIndex]:
    """An empty index."""
    with QdrantIndex(link, MODEL) as opened:
        yield opened


def test_nothing_is_sent_before_commit(index: VectorIndex) -> None:
    fill(index, 4)
    index.add([PassageId(2), PassageId(90)], [card(60), card(61)], unit_rows(2, seed=6))
    index.remove([card(0)])
    assert index.count() == 4
    assert set(index.search(QUERY, 20).ids.tolist()) == {0, 1, 2, 3}
    index.commit()
    assert set(index.search(QUERY, 20).ids.tolist()) == {2, 3, 90}


def test_a_card_that_is_indexed_anew_is_never_without_passages(server: RestServer) -> None:
    with QdrantIndex(link_to_server(server.address), MODEL) as index:
        fill(index, 4)
        seen: list[int] = []
        answer = server.answer

        def look_first(method: str, path: str, body: bytes) -> tuple[int, object]:
            if method in {"PUT", "POST"} and "/points" in path:
                seen.append(server.client.count(index._name).count)
            return answer(method, path, body)

        server.answer = look_first  # type: ignore[method-assign]
        index.remove([card(0), card(1)])
        index.add([PassageId(0), PassageId(11)], [card(0), card(0)], unit_rows(2, seed=3))
        index.commit()
        server.answer = answer  # type: ignore[method-assign]
        assert seen == [4, 5]
        assert sorted(index.search(QUERY, 9).ids.tolist()) == [0, 11]


def test_vectors_come_back_as_they_were_sent(index: VectorIndex) -> None:
    rows = fill(index, 300)
    ids, found = index.vectors([PassageId(n) for n in range(300)])
    assert sorted(ids) == list(range(300))
    assert np.array_equal(found, rows[ids])


def test_an_index_that_somebody_cleared_meanwhile_is_empty_and_takes_in_again(
    index: QdrantIndex, link: QdrantLink
) -> None:
    def drop(client: QdrantClient) -> None:
        client.delete_collection(index._name)

    fill(index, 4)
    link.run(drop)
    assert index.count() == 0
    fill(index, 4)
    link.run(drop)
    fill(index, 3, seed=5)
    assert index.count() == 3


def test_an_index_cleared_for_another_model_is_refused_by_those_who_had_it_open(
    server: RestServer,
) -> None:
    old = QdrantIndex(link_to_server(server.address), MODEL)
    new = QdrantIndex(link_to_server(server.address), RETRAINED)
    fill(old, 4)
    old.add([PassageId(50)], [card(50)], QUERY[None])
    new.clear()
    for act in (old.count, old.commit, old.compact):
        with pytest.raises(ModelMismatch, match="holds vectors of test:small@bbbb"):
            act()
    assert new.count() == 0
    old.close()
    new.close()


def test_a_collection_that_does_not_say_whose_it_is_is_refused_all_the_same(
    server: RestServer,
) -> None:
    name = "salon_passages_" + "0" * 32
    server.client.create_collection(name, vectors_config={})
    with QdrantIndex(link_to_server(server.address), MODEL) as index:
        with pytest.raises(ModelMismatch, match=f"collection {name} holds vectors of another"):
            index.count()
        index.clear()
        assert index.count() == 0
    assert [found.name for found in server.client.get_collections().collections] == [index._name]


def test_collections_of_others_are_left_alone(server: RestServer) -> None:
    for name in ("salon_passages", "salon_passages_of_mine", "x_salon_passages_" + "0" * 32):
        server.client.create_collection(name, vectors_config={})
    with QdrantIndex(link_to_server(server.address), MODEL) as index:
        assert index.count() == 0
        index.clear()
    assert len(server.client.get_collections().collections) == 4


def test_a_server_that_is_not_there_is_reported_when_the_index_is_opened() -> None:
    with pytest.raises(ProviderFailed, match="no answer from Qdrant at http://127") as caught:
        QdrantIndex(link_to_server("http://127.0.0.1:1"), MODEL)
    assert caught.value.hint == "is the server running?"


def test_a_server_that_went_away_may_come_back(server: RestServer) -> None:
    with QdrantIndex(link_to_server(server.address), MODEL) as index:
        fill(index, 4)
        index.add([PassageId(70)], [card(70)], QUERY[None])
        server.fails_with = (503, b"<html>away</html>")
        for act in (index.count, index.commit):
            with pytest.raises(ProviderFailed, match="answered 503: Service Unavailable"):
                act()
        server.fails_with = (500, json.dumps({"status": {"error": "out of disk"}}).encode())
        with pytest.raises(ProviderFailed, match="answered 500: out of disk"):
            index.search(QUERY, 1)
        server.fails_with = None
        index.commit()
        assert index.count() == 5


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_key_may_be_in_the_address_and_is_in_no_message(scheme: str) -> None:
    with pytest.raises(ProviderFailed) as caught:
        QdrantIndex(link_to_server(f"{scheme}://:{SECRET}@127.0.0.1:1"), MODEL)
    assert f"{scheme}://127.0.0.1:1" in str(caught.value)
    assert SECRET not in f"{caught.value.as_json()} {caught.value!r}"


def test_a_wrong_key_is_told_and_the_right_one_works() -> None:
    server = start_server(api_key=SECRET)
    with pytest.raises(ProviderFailed, match="answered 401") as caught:
        QdrantIndex(link_to_server(server.address, api_key="wrong"), MODEL)
    assert "QDRANT_API_KEY" in (caught.value.hint or "")
    assert "wrong" not in str(caught.value.as_json())
    with_key = server.address.replace("//", f"//:{SECRET}@")
    with QdrantIndex(link_to_server(with_key), MODEL) as index:
        assert index.count() == 0
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("url", ["ftp://host", "http://", f"grpc://:{SECRET}@host:6334"])
def test_what_is_no_address_of_a_server_is_refused(url: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        link_to_server(url)
    assert SECRET not in str(caught.value.as_json())


def test_a_mistake_in_a_question_is_not_taken_for_a_failure(link: QdrantLink) -> None:
    def mistaken(client: QdrantClient) -> None:
        raise ValueError(client)

    with pytest.raises(ValueError, match="QdrantClient"):
        link.run(mistaken)
    link.close()


def test_a_closed_index_says_so(index: QdrantIndex) -> None:
    index.close()
    with pytest.raises(ProviderFailed, match="is closed"):
        index.search(QUERY, 1)


def test_a_folder_that_cannot_be_written_to_is_reported(tmp_path: Path) -> None:
    with QdrantIndex(link_to_folder(tmp_path), MODEL) as index:
        fill(index, 2)
        local = index._link._client._client
        storage = local.collections[index._name].storage  # type: ignore[attr-defined]
        storage.storage.execute("PRAGMA query_only=ON")
        index.add([PassageId(5)], [card(5)], QUERY[None])
        with pytest.raises(StorageFailed, match="readonly"):
            index.commit()
