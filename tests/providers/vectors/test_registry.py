"""Which addresses of vector stores are understood, and what is said about the others."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from salon.core.errors import InvalidSettings, UnknownProvider
from salon.core.indexes import PassageId
from salon.providers import addresses
from salon.providers.vectors import STORES, open_vector_index
from salon.providers.vectors.pgvector_index import PgvectorIndex
from salon.providers.vectors.qdrant_edge_index import QdrantEdgeIndex
from salon.providers.vectors.qdrant_index import QdrantIndex
from tests.postgres import schema_for
from tests.providers.vectors.qdrant_rest import shared_qdrant, start_server
from tests.retrieval.dense.backends import MODEL, card, fill


def test_each_kind_of_store_opens_by_its_address(tmp_path: Path) -> None:
    postgres = schema_for(tmp_path)
    kinds = {
        "qdrant:": QdrantIndex,
        f"qdrant:{shared_qdrant()}#{tmp_path.name}": QdrantIndex,
        "qdrant-edge:": QdrantEdgeIndex,
        postgres: PgvectorIndex,
        postgres.replace("postgresql://", "postgres://"): PgvectorIndex,
    }
    assert {address.partition(":")[0] for address in kinds} == set(STORES)
    for address, kind in kinds.items():
        index = open_vector_index(address, MODEL, folder=tmp_path)
        assert isinstance(index, kind)
        assert index.model == MODEL
        index.close()


@pytest.mark.parametrize("kind", ["qdrant", "qdrant-edge"])
def test_paths_are_relative_to_the_folder(tmp_path: Path, kind: str) -> None:
    for address, where in (
        (f"{kind}:", tmp_path / "here" / kind),
        (f"{kind}:mine", tmp_path / "here" / "mine"),
        (f"{kind}:{tmp_path}/there", tmp_path / "there"),
    ):
        index = open_vector_index(address, MODEL, folder=tmp_path / "here")
        fill(index, 2)
        index.close()
        assert any(where.iterdir())


@pytest.mark.parametrize(
    ("address", "hint"),
    [
        ("pinecone:x", "qdrant-edge:"),
        ("", "postgresql://"),
        ("qdrant", "did you mean 'qdrant:"),
        ("qdrnt:http://localhost:6333", "did you mean 'qdrant:"),
        ("postgresq://me:sesame@host/db", "did you mean 'postgresql:"),
    ],
)
def test_an_unknown_address_is_refused_with_a_hint_and_not_repeated(
    tmp_path: Path, address: str, hint: str
) -> None:
    with pytest.raises(UnknownProvider) as caught:
        open_vector_index(address, MODEL, folder=tmp_path)
    assert hint in (caught.value.hint or "")
    assert "sesame" not in str(caught.value.as_json())


@pytest.mark.parametrize(
    ("address", "module", "extra"),
    [
        ("qdrant:", "qdrant_client", "salon[qdrant]"),
        ("qdrant-edge:", "qdrant_edge", "salon[qdrant]"),
        ("postgresql://me:sesame@host/db", "psycopg", "salon[postgres]"),
    ],
)
def test_a_missing_package_is_named_with_the_extra_that_brings_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str, module: str, extra: str
) -> None:
    monkeypatch.setattr(
        addresses, "find_spec", lambda name: None if name == module else find_spec(name)
    )
    with pytest.raises(UnknownProvider, match=module) as caught:
        open_vector_index(address, MODEL, folder=tmp_path)
    assert extra in (caught.value.hint or "")
    assert "sesame" not in str(caught.value.as_json())


def test_the_engine_inside_has_no_server(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings) as caught:
        open_vector_index("qdrant-edge:http://localhost:6333", MODEL, folder=tmp_path)
    assert "qdrant:http" in (caught.value.hint or "")


def test_the_key_of_a_server_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server = start_server(api_key="sesame")
    monkeypatch.setenv("QDRANT_API_KEY", "sesame")
    index = open_vector_index(f"qdrant:{server.address}", MODEL, folder=tmp_path)
    assert index.count() == 0
    index.close()
    server.shutdown()
    server.server_close()


def test_a_name_keeps_archives_on_one_server_apart(tmp_path: Path) -> None:
    first = open_vector_index(f"qdrant:{shared_qdrant()}#one", MODEL, folder=tmp_path)
    second = open_vector_index(f"qdrant:{shared_qdrant()}#two", MODEL, folder=tmp_path)
    first.clear()
    second.clear()
    fill(first, 4)
    second.add([PassageId(1)], [card(1)], np.eye(1, MODEL.dimensions, dtype=np.float32))
    second.commit()
    assert (first.count(), second.count()) == (4, 1)
    second.clear()
    assert first.count() == 4
    first.close()
    second.close()
