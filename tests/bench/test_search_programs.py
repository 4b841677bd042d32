"""Every program about search runs at a tiny size; how fast things are is not a test's business."""

import json
import math
import sys
from pathlib import Path

import pytest

from bench import engines, growth, ingest, search, vector_engines
from bench.corpora import INDEX, build, opened, passage_texts
from bench.figures import Row, Sizes
from bench.own_process import WorkFailed, answer_of, disk_mb
from bench.searching import GivenVectors, make_queries
from bench.synthetic import SyntheticEmbedder, Texts

TINY = Sizes(
    repetitions=1,
    passages=60,
    passage_characters=200,
    queries=3,
    embedded_passages=20,
    readers=2,
)


def by_name(rows: list[Row]) -> dict[str, Row]:
    named = {row.name: row for row in rows}
    assert len(named) == len(rows)
    assert all(math.isfinite(row.salon) for row in rows)
    return named


def test_search_is_measured_beside_the_bare_engines(tmp_path: Path) -> None:
    rows = by_name(search.search_rows(tmp_path, TINY))

    assert rows["hybrid-p50"].salon > rows["part-words"].salon
    assert rows["hybrid-p50"].most_ratio == rows["hybrid-p99"].most_ratio == 1.5
    assert rows["hybrid-p99"].salon >= rows["hybrid-p50"].salon
    assert rows["dense-recall"].salon == 1.0
    assert rows["with-embedding"].salon > rows["largest-other-part"].salon
    assert rows["resident"].salon > rows["resident"].peer  # type: ignore[operator]
    assert rows["words-engine"].least == rows["words-ingest"].least == 20.0
    assert rows["words-engine"].salon > 0


def test_a_growing_corpus_is_measured_size_by_size(tmp_path: Path) -> None:
    rows = by_name(growth.growth_rows(tmp_path, 60, TINY))

    assert rows["growth-60-disk"].salon == pytest.approx(disk_mb(tmp_path / INDEX))
    assert rows["growth-60-memory"].is_met
    assert rows["growth-60-build-memory"].is_met
    assert rows["growth-60-p99"].salon >= rows["growth-60-p50"].salon > 0


def test_taking_in_and_searching_meanwhile_are_measured(tmp_path: Path) -> None:
    filling = ingest.filling_row(tmp_path, TINY)
    rows = by_name(ingest.reader_rows(tmp_path, TINY, searches=2))

    assert filling.least_ratio == 0.85
    assert filling.ratio is not None
    assert filling.ratio > 0
    assert rows["readers-consistent"].salon == 0
    assert rows["readers-consistent"].is_met
    assert rows["readers-p99"].most_ratio == 2.0
    assert rows["readers-p99"].repetitions == TINY.readers * 2
    assert rows["readers-ingest"].salon > 0


def test_engines_for_vectors_stand_side_by_side(tmp_path: Path) -> None:
    rows = by_name(vector_engines.engine_rows(tmp_path, ["qdrant-local"], TINY))

    assert rows["qdrant-local-recall"].salon == rows["qdrant-local-recall"].peer == 1.0
    for part in ("build", "disk", "p50", "memory"):
        assert rows[f"qdrant-local-{part}"].ratio is not None
    assert "60 vectors" in rows["qdrant-local-p50"].what


def test_an_engine_that_is_not_installed_is_named_with_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda _: None)

    (row,) = vector_engines.engine_rows(tmp_path, ["chromadb"], TINY)

    assert row.peer is None
    assert row.peer_is == "chromadb: not installed (pip install chromadb)"
    assert row.salon > 0


def test_an_engine_that_is_slow_to_build_is_measured_smaller() -> None:
    assert engines.ENGINES["qdrant-local"].most == 20_000
    assert engines.ENGINES["salon"].most is None


def test_growth_speaks_json_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--sizes", "40", "--characters", "200", "--queries", "2", "--folder", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["bench.growth", *words, "--json"])

    growth.main()

    spoken = json.loads(capsys.readouterr().out)
    assert {row["name"] for row in spoken} >= {"growth-40-p50", "growth-40-memory"}
    assert list(tmp_path.iterdir()) == []


def test_vector_engines_prints_a_table_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda _: None)
    words = ["--passages", "40", "--queries", "2", "--folder", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["bench.vector_engines", *words, "--engine", "lancedb"])

    vector_engines.main()

    assert "lancedb, no index: not installed (pip install lancedb)" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_made_up_texts_and_vectors_are_the_same_every_time() -> None:
    first, second = (list(Texts().documents(2, 500)) for _ in range(2))
    vectors = SyntheticEmbedder().embed_passages([*first, "another"])

    assert first == second
    assert first[0] != first[1]
    assert all(400 < len(text) < 600 for text in first)
    assert (SyntheticEmbedder().embed_passages(second) == vectors[:2]).all()
    assert (vectors**2).sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert not (vectors[0] == vectors[2]).all()


def test_a_corpus_has_about_as_many_passages_as_asked_for(tmp_path: Path) -> None:
    built = build(tmp_path, 250, 300)

    with opened(tmp_path, 300) as corpus:
        stats = corpus.index.stats()
        texts = [passage.text for passage in passage_texts(corpus)]
    assert stats.passages == stats.with_vector == built.passages == len(texts)
    assert 150 < built.passages < 300
    assert max(map(len, texts)) <= 300


def test_queries_have_vectors_beforehand() -> None:
    queries = make_queries(4)
    spent: list[str] = []
    given = GivenVectors(queries, lambda: spent.append("embedding"))

    assert len(set(queries)) == 4
    assert (given.embed_query(queries[1]) == given.embed_passages(queries)[1]).all()
    assert spent == ["embedding"]


def test_work_that_fails_in_its_process_is_told() -> None:
    with pytest.raises(WorkFailed, match=r"bench\.engines sing .* ended with 1"):
        answer_of("bench.engines", "sing", "salon", "nowhere", "nowhere")
