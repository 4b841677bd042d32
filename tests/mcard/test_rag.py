"""Retrieval under MCard's names: honest about what it has."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from salon.core.errors import InvalidInput, InvalidSettings
from salon.core.hashing import content_hash
from salon.mcard import CardCollection, MCard
from salon.mcard.rag import GraphRAGEngine, MCardRAGEngine, RAGConfig

BARAN = "We know that Paul Baran invented packet switching at RAND Corporation."
DAVIES = "Independently, one Donald Davies and Paul Baran named the packet."
OSTROM = "Then Elinor Ostrom studied the commons at Indiana University."


@pytest.fixture
def rag(collection: CardCollection) -> Iterator[MCardRAGEngine]:
    for text in (BARAN, DAVIES, OSTROM):
        collection.add(MCard(text))
    collection.add(MCard(b"\xff\0 packet"))
    with MCardRAGEngine(collection) as engine:
        yield engine


@pytest.mark.requirement("council/mcard/index-all-again")
def test_all_cards_are_indexed_once(rag: MCardRAGEngine) -> None:
    counts = rag.index_all()
    none = {"indexed": 0, "skipped": 0, "not_text": 0, "failed": 0, "removed": 0, "vectors": 0}
    assert counts == none | {"indexed": 3, "not_text": 1, "vectors": 3}
    assert rag.index_all() == none | {"skipped": 3}
    rag.collection.delete(MCard(OSTROM).hash)
    rag.collection.add(MCard("New words."))
    assert rag.index_all() == none | {"indexed": 1, "skipped": 2, "removed": 1, "vectors": 1}
    rebuilt = rag.index_all(force=True)
    assert (rebuilt["indexed"], rebuilt["vectors"]) == (3, 0)


@pytest.mark.requirement("council/search/snippet-search")
def test_a_search_names_the_card_the_span_and_the_text(rag: MCardRAGEngine) -> None:
    rag.index_all()
    results = rag.search("history of packet switching", k=2, hybrid=True)
    assert [result.hash for result in results] == [MCard(BARAN).hash, MCard(DAVIES).hash]
    assert all(0 <= result.score <= 1 for result in results)
    best = results[0]
    assert best.score > results[1].score > 0
    assert (best.chunk_index, best.chunk_text) == (0, BARAN)
    start, end = int(best.metadata["start"]), int(best.metadata["end"])
    assert MCard(BARAN).content[start:end].decode() == best.chunk_text


def test_without_k_the_configured_number_comes_back(collection: CardCollection) -> None:
    for number in range(12):
        collection.add(MCard(f"Gravity, text {number}."))
    with MCardRAGEngine(collection) as engine:
        engine.index_all()
        assert len(engine.search("gravity")) == 5
        assert len(engine.search("gravity", k=100)) == 12
    with MCardRAGEngine(collection, RAGConfig(top_k=7)) as engine:
        assert len(engine.search("gravity")) == 7


@pytest.mark.parametrize("k", [0, -1, 101])
def test_a_number_out_of_range_is_refused(rag: MCardRAGEngine, k: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        rag.search("packet", k=k)
    assert isinstance(caught.value, ValueError)


def test_a_search_can_go_by_vectors_alone(rag: MCardRAGEngine) -> None:
    rag.index_all()
    found = rag.search("research on commons at a university", k=1, hybrid=False)
    assert [result.chunk_text for result in found] == [OSTROM]


def test_indexing_one_card_makes_it_searchable(rag: MCardRAGEngine) -> None:
    assert rag.index(MCard("A card about quaggas, stored nowhere yet.")) is True
    assert rag.search("quaggas")[0].hash == MCard("A card about quaggas, stored nowhere yet.").hash
    assert rag.collection.get(MCard(BARAN).hash) is not None
    assert rag.index(MCard(b"\xff\xfe\0")) is False


def test_cards_that_mcard_itself_wrote_are_indexed_too(rag: MCardRAGEngine) -> None:
    rag.index_all()
    content = b"A quagga, written behind Salon's back."
    behind = apsw.Connection(str(rag.collection.archive.path))
    behind.execute(
        "INSERT INTO card VALUES (?, ?, 'sha256|2026-11-15T00:23:23.229924Z|UTC')",
        (content_hash(content), content),
    )
    behind.close()
    assert rag.index_all()["indexed"] == 1
    assert rag.search("quagga")[0].chunk_text == content.decode()


def test_the_information_says_what_is_there_and_how_current(rag: MCardRAGEngine) -> None:
    rag.index_all()
    info = rag.get_info()
    assert info["config"] == {
        "top_k": 5,
        "chunk_size": 1000,
        "chunk_overlap": 200,
        "embedder": "embedded:salon",
        "llm_url": None,
    }
    assert info["engine"] == "fast"
    assert info["path"] == str(rag.collection.archive.path.with_name("cards-index"))
    assert (info["cards"], info["passages"], info["with_vector"]) == (3, 3, 3)
    assert info["audit_entries_behind"] == 0
    assert str(info["model"]).startswith("embedded:salon@")


def test_the_index_goes_where_it_is_told(collection: CardCollection, tmp_path: Path) -> None:
    collection.add(MCard(BARAN))
    place = tmp_path / "elsewhere.db"
    with MCardRAGEngine(collection, vector_db_path=place) as engine:
        engine.index_all()
        assert engine.get_info()["path"] == str(place)
        assert engine.search("packet", k=1)[0].chunk_text == BARAN
    assert place.exists()
    assert not (tmp_path / "cards-index").exists()


def test_an_engine_without_a_collection_has_a_temporary_one() -> None:
    with MCardRAGEngine() as engine:
        assert engine.index(MCard(BARAN))
        place = engine.collection.engine.db_path
    assert not place.parent.exists()


@pytest.mark.parametrize(
    "settings",
    [{"top_k": 0}, {"top_k": 101}, {"chunk_size": 0}, {"chunk_overlap": 501}],
)
def test_a_configuration_that_makes_no_sense_is_refused(settings: dict[str, int]) -> None:
    with pytest.raises(InvalidSettings) as caught:
        RAGConfig(**settings)  # type: ignore[arg-type]
    assert isinstance(caught.value, ValueError)


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[GraphRAGEngine]:
    with GraphRAGEngine(vector_db_path=tmp_path / "vectors.db") as engine:
        yield engine


def test_cards_are_taken_into_the_graph_once(graph: GraphRAGEngine) -> None:
    assert graph.index(MCard(BARAN)) == {"vectors": 1, "entities": 2, "relationships": 1}
    nothing = {"vectors": 0, "entities": 0, "relationships": 0}
    assert graph.index(MCard(BARAN)) == nothing
    assert graph.index(MCard(DAVIES), extract_graph=False) == nothing | {"vectors": 1}
    assert graph.index(MCard(b"\xff")) == nothing
    assert graph.index(MCard(BARAN), force=True)["entities"] == 2


def test_the_graph_leads_from_one_document_to_another(graph: GraphRAGEngine) -> None:
    for text in (BARAN, DAVIES, OSTROM):
        graph.index(MCard(text))
    assert graph.find_connection("RAND Corporation", "Donald Davies") == [
        "RAND Corporation",
        "Paul Baran",
        "Donald Davies",
    ]
    assert graph.find_connection("Donald Davies", "Elinor Ostrom") is None
    assert graph.find_connection("Paul Baran", "paul baran") == ["Paul Baran"]
    found = graph.explore_entity("paul baran")
    assert found["entity"] == {
        "name": "Paul Baran",
        "type": "OTHER",
        "mentions": 2,
        "source_hashes": sorted([MCard(BARAN).hash, MCard(DAVIES).hash]),
    }
    assert graph.explore_entity("Nobody") == {"error": "Entity 'Nobody' not found"}
    assert graph.remove(MCard(DAVIES).hash)
    assert graph.find_connection("RAND Corporation", "Donald Davies") is None


def test_the_statistics_say_how_the_graph_was_made(graph: GraphRAGEngine, tmp_path: Path) -> None:
    graph.index(MCard(BARAN))
    stats = graph.get_stats()
    assert stats["graph"] == {
        "cards": 1,
        "entities": 2,
        "relationships": 1,
        "path": str(tmp_path / "vectors.graph.db"),
    }
    assert stats["extraction"] == {
        "by": "rules",
        "llm_model": None,
        "reason": "no language model is asked: names and terms are found by rules",
    }


def test_a_graph_without_a_path_is_temporary(tmp_path: Path) -> None:
    with GraphRAGEngine(llm_model="qwen3:0.6b") as engine:
        engine.index(MCard(BARAN))
        assert engine.llm_model == "qwen3:0.6b"
    with GraphRAGEngine(graph_db_path=tmp_path / "own.db") as engine:
        engine.index(MCard(BARAN))
    assert (tmp_path / "own.db").exists()
