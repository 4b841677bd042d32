"""Measuring search: the whole way through the product, on a small collection."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from salon.app import Salon
from salon.core.archive import ArchiveTransaction
from salon.core.documents import Provenance
from salon.core.errors import InvalidInput, ProviderFailed, UnknownProvider
from salon.core.hashing import CardHash, content_hash
from salon.evaluation.beir import BeirDocument, Collection, read_collection
from salon.evaluation.progress import Show
from salon.evaluation.retrieval import evaluate_retrieval, settings_for
from salon.evaluation.systems import Bm25s, SalonMode
from salon.settings import Settings, load_settings
from tests.evaluation.collections_in_files import write_collection


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    files = write_collection(tmp_path)
    return read_collection(files.corpus, files.queries, files.qrels)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    mine = load_settings(home=tmp_path / "mine", environment={})
    return settings_for(tmp_path / "kept", mine)


def test_a_collection_goes_through_the_product(collection: Collection, settings: Settings) -> None:
    report = evaluate_retrieval(collection, settings, depths=(10, 2, 2))
    assert (report.collection.documents, report.collection.distinct_texts) == (9, 7)
    assert report.collection.empty_documents == 1
    assert (report.collection.queries, report.collection.queries_evaluated) == (5, 4)
    assert report.collection.queries_without_relevant == 1
    assert (report.collection.relevant_judgements, report.collection.relevant_not_in_corpus) == (
        7,
        1,
    )
    assert report.indexing.documents_stored.count == 7
    assert report.indexing.vectors_computed == report.indexing.passages == 7
    assert report.indexing.passages_without_vector == 0
    assert report.setup.depth == 10
    names = [one.system for one in report.systems]
    assert names == ["salon hybrid", "salon dense", "salon sparse", "bm25s"]
    for one in report.systems:
        assert list(one.recall) == [2, 10]
        assert one.ndcg_at_10 > 0.75
        assert one.latency.p50_ms >= one.latency.p50_without_embedding_ms > 0
        assert (one.calibration is None) == (one.system == "bm25s")
    dense, sparse = report.systems[1:3]
    assert dense.latency.p50_without_embedding_ms < dense.latency.p50_ms
    assert sparse.calibration is not None
    assert [one.peer for one in report.comparisons] == ["salon dense", "salon sparse", "bm25s"]


def test_documents_with_one_text_are_all_found_by_it(
    collection: Collection, settings: Settings
) -> None:
    rain = replace(collection, queries=collection.queries[:1])
    report = evaluate_retrieval(rain, settings, depths=(1, 2))
    for one in report.systems:
        assert one.recall == {1: pytest.approx(1 / 3), 2: pytest.approx(2 / 3)}


def test_a_kept_home_is_not_built_again(collection: Collection, settings: Settings) -> None:
    first = evaluate_retrieval(collection, settings)
    more = BeirDocument(id="new", title="On fog", text="Fog is a cloud that lies on the ground.")
    grown = replace(collection, documents=(*collection.documents, more))
    again = evaluate_retrieval(collection, settings)
    assert (again.indexing.documents_stored.count, again.indexing.documents_known) == (0, 7)
    assert again.indexing.documents_stored.per_second is None
    assert again.indexing.vectors_computed == 0
    assert [one.ndcg_at_10 for one in again.systems] == [one.ndcg_at_10 for one in first.systems]
    assert again.comparisons == first.comparisons
    third = evaluate_retrieval(grown, settings, limit_queries=1)
    assert third.indexing.documents_stored.count == third.indexing.vectors_computed == 1
    assert third.collection.queries_left_out == 3


def test_a_home_with_other_documents_is_refused_and_left_alone(
    collection: Collection, settings: Settings
) -> None:
    with Salon(settings) as salon:
        card = salon.archive.add(b"somebody's own notes").hash
        salon.archive.write(partial(_add_document, card=card))
    with pytest.raises(InvalidInput, match="1 documents that are not in this corpus"):
        evaluate_retrieval(collection, settings)
    with Salon(settings) as salon:
        assert [one.text for one in salon.archive.documents()] == [card]


def test_the_own_home_and_a_shared_vector_store_are_out_of_reach(tmp_path: Path) -> None:
    mine = load_settings(
        home=tmp_path,
        environment={
            "SALON_INDEX__VECTORS": "qdrant:http://shared",
            "SALON_INDEX__CHUNK_SIZE": "500",
        },
        flags={"archive": tmp_path / "mine.db"},
    )
    with pytest.raises(InvalidInput, match="your own archive"):
        settings_for(tmp_path / "." / "x" / "..", mine)
    chosen = settings_for(tmp_path / "other", mine, embedder="kind:name")
    assert chosen.archive_path == tmp_path / "other" / "salon.db"
    assert chosen.index.vectors == "embedded"
    assert (chosen.index.embedder, chosen.index.chunk_size) == ("kind:name", 500)
    assert settings_for(tmp_path / "other", mine).index.embedder == mine.index.embedder


@pytest.mark.parametrize("depths", [(), (0,), (10, 1001)])
def test_a_depth_that_is_none_is_refused(
    collection: Collection, settings: Settings, depths: tuple[int, ...]
) -> None:
    with pytest.raises(InvalidInput, match="recall cannot be measured"):
        evaluate_retrieval(collection, settings, depths=depths)
    assert not settings.home.exists()


def test_a_corpus_without_any_text_is_refused(collection: Collection, settings: Settings) -> None:
    blank = tuple(replace(document, title="", text="") for document in collection.documents)
    with pytest.raises(InvalidInput, match="no document of this corpus has any text"):
        evaluate_retrieval(replace(collection, documents=blank), settings)


@pytest.mark.parametrize("package", ["bm25s", "Stemmer"])
def test_a_missing_peer_is_said_before_anything_is_done(
    collection: Collection, settings: Settings, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UnknownProvider) as caught:
        evaluate_retrieval(collection, settings)
    assert caught.value.hint == "pip install 'salon[eval]'"
    assert not settings.home.exists()


def test_progress_tells_each_stage_to_its_end(collection: Collection, settings: Settings) -> None:
    said: dict[str, list[tuple[int, int]]] = {}

    @contextmanager
    def listen(label: str) -> Iterator[Show]:
        said[label] = []
        yield lambda done, total: said[label].append((done, total))

    evaluate_retrieval(collection, settings, progress=listen)
    assert list(said) == ["storing", "indexing words", "computing vectors", "searching"]
    for steps in said.values():
        assert steps[-1][0] == steps[-1][1] > 0


@pytest.mark.parametrize("stage", ["storing", "indexing words", "computing vectors", "searching"])
def test_an_interrupted_run_is_taken_up_again(
    collection: Collection, settings: Settings, stage: str
) -> None:
    @contextmanager
    def interrupt(label: str) -> Iterator[Show]:
        def stop(_done: int, _total: int) -> None:
            if label == stage:
                raise KeyboardInterrupt

        yield stop

    with pytest.raises(KeyboardInterrupt):
        evaluate_retrieval(collection, settings, progress=interrupt)
    report = evaluate_retrieval(collection, settings)
    assert report.indexing.documents_known == 7
    assert report.indexing.passages == 7
    assert report.systems[0].ndcg_at_10 > 0.75


def _add_document(transaction: ArchiveTransaction, *, card: CardHash) -> None:
    transaction.add_document(Provenance(title="a text"), source=card)


def test_a_long_document_does_not_crowd_out_the_others(settings: Settings) -> None:
    long = "".join(f"The lighthouse keeper wrote line {number}. " for number in range(2000))
    others = [f"Ship {number} once passed a lighthouse in the fog." for number in range(20)]
    with Salon(settings) as salon:
        cards = salon.archive.add_many([text.encode() for text in (long, *others)])
        for card in cards:
            salon.archive.write(partial(_add_document, card=card.hash))
        sparse = SalonMode(salon, "sparse")
        found = sparse.rank("lighthouse keeper", 10)
    assert len(found) == 10
    assert found[0].card == content_hash(long.encode())
    assert len({hit.card for hit in found}) == 10
    assert all(hit.probability is not None and 0 <= hit.probability <= 1 for hit in found)


def test_a_search_that_could_not_be_done_as_asked_is_not_measured(settings: Settings) -> None:
    with Salon(settings) as salon:
        card = salon.archive.add(b"A lighthouse without a vector.").hash
        salon.archive.write(partial(_add_document, card=card))
        assert SalonMode(salon, "sparse").rank("lighthouse", 10)[0].card == card
        with pytest.raises(ProviderFailed, match="could only do sparse") as caught:
            SalonMode(salon, "hybrid").rank("lighthouse", 10)
    assert "no passage has a vector" in str(caught.value.hint)


def test_bm25s_returns_only_texts_that_share_a_word() -> None:
    texts = {
        content_hash(text.encode()): text
        for text in ("Cats chase the mice.", "Dogs bark.", "A cat and a dog sleep.")
    }
    peer = Bm25s(texts)
    found = [texts[hit.card] for hit in peer.rank("a chasing cat", 10)]
    assert found == ["Cats chase the mice.", "A cat and a dog sleep."]
    assert [texts[hit.card] for hit in peer.rank("a chasing cat", 1)] == found[:1]
    assert peer.rank("zebra", 10) == []
    assert peer.rank("the and a", 10) == []
    assert peer.ask("cat") == 0.0
    assert "k1 1.5" in peer.description


def test_bm25s_bears_a_corpus_without_a_single_word() -> None:
    peer = Bm25s({content_hash(b"!"): "!", content_hash(b"the"): "the"})
    assert peer.rank("anything", 10) == []
