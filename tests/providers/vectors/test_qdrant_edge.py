"""The index by the engine inside this process: its files, its graph, its one owner."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from salon.core.embedding import EmbeddingModel
from salon.core.errors import StorageFailed, StorageFull
from salon.core.indexes import PassageId
from salon.providers.vectors.edge_shard import edge_errors
from salon.providers.vectors.qdrant_edge_index import QdrantEdgeIndex
from tests.retrieval.dense.backends import MODEL, RETRAINED, Place, card, fill, unit_rows

ROOT = Path(__file__).parents[3]
QUERY = unit_rows(1, seed=99)[0]


def test_a_second_process_is_told_that_the_folder_is_in_use(tmp_path: Path) -> None:
    place = Place("qdrant-edge", tmp_path)
    index = place.open()
    fill(index, 2)
    other = subprocess.run(
        place.command("commit_once"), cwd=ROOT, text=True, capture_output=True, check=False
    )
    assert "StorageBusy: another process is using" in other.stderr
    place.close()
    other = subprocess.run(
        place.command("commit_once"), cwd=ROOT, text=True, capture_output=True, check=False
    )
    assert other.stdout == "committed\n"


def test_nothing_reaches_the_engine_before_commit(tmp_path: Path) -> None:
    with QdrantEdgeIndex(tmp_path, MODEL) as index:
        fill(index, 4)
        index.add([PassageId(2), PassageId(90)], [card(60), card(61)], unit_rows(2, seed=6))
        index.remove([card(0)])
        assert set(index.search(QUERY, 20).ids.tolist()) == {0, 1, 2, 3}
    with QdrantEdgeIndex(tmp_path, MODEL) as index:
        assert index.count() == 4


def test_nothing_of_what_was_removed_is_in_the_files_after_compacting(tmp_path: Path) -> None:
    def found_in_files(vector: bytes) -> bool:
        return any(vector in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())

    with QdrantEdgeIndex(tmp_path, MODEL) as index:
        rows = fill(index, 400)
        gone, kept = rows[0].tobytes(), rows[30].tobytes()
        assert found_in_files(gone)
        index.remove([card(0)])
        index.commit()
        index.compact()
        assert not found_in_files(gone)
        assert found_in_files(kept)
        index.clear()
        assert not found_in_files(kept)


def test_what_an_interrupted_rewriting_left_is_deleted_at_the_next_opening(tmp_path: Path) -> None:
    with QdrantEdgeIndex(tmp_path, MODEL) as index:
        fill(index, 4)
    half_built = tmp_path / "shard.1" / "temp_segments" / "half"
    half_built.mkdir(parents=True)
    unfinished = tmp_path / "shard.2"
    unfinished.mkdir()
    with QdrantEdgeIndex(tmp_path, MODEL) as index:
        assert index.count() == 4
        assert not half_built.exists()
        assert not unfinished.exists()
        index.clear()
        fill(index, 2)
    (tmp_path / "model.json").unlink()
    with QdrantEdgeIndex(tmp_path, MODEL) as index:
        assert index.count() == 0
        assert list(tmp_path.glob("shard.*")) == []


@pytest.mark.parametrize("written", ["", "[]", '{"model": {}}', '{"shard": "shard.1"}'])
def test_a_damaged_folder_is_reported_and_may_be_deleted(tmp_path: Path, written: str) -> None:
    with QdrantEdgeIndex(tmp_path, MODEL) as index:
        fill(index, 4)
    (tmp_path / "model.json").write_text(written)
    with pytest.raises(StorageFailed, match="damaged") as caught:
        QdrantEdgeIndex(tmp_path, MODEL)
    assert "delete the folder" in (caught.value.hint or "")


def test_a_shard_that_the_engine_cannot_read_is_reported(tmp_path: Path) -> None:
    with QdrantEdgeIndex(tmp_path, MODEL) as index:
        fill(index, 4)
    (tmp_path / "shard.1" / "edge_config.json").write_text("{")
    with pytest.raises(StorageFailed, match="cannot be used"):
        QdrantEdgeIndex(tmp_path, MODEL)


def test_a_folder_that_is_a_file_is_reported(tmp_path: Path) -> None:
    with QdrantEdgeIndex(tmp_path, MODEL) as index:
        (tmp_path / "shard.1").write_text("in the way")
        with pytest.raises(StorageFailed, match="cannot be used"):
            fill(index, 1)
        (tmp_path / "shard.1").unlink()
        fill(index, 1)
        assert index.count() == 1


@pytest.mark.parametrize("kind", [Exception, OSError])
def test_a_full_disk_is_told_by_its_name(tmp_path: Path, kind: type[Exception]) -> None:
    with pytest.raises(StorageFull), edge_errors(tmp_path):
        raise kind("Service internal error: No space left on device (os error 28)")


def test_a_mistake_is_not_taken_for_a_failure_of_the_engine(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), edge_errors(tmp_path):
        raise ZeroDivisionError


def test_a_closed_index_says_so(tmp_path: Path) -> None:
    index = QdrantEdgeIndex(tmp_path, MODEL)
    index.close()
    with pytest.raises(StorageFailed, match="is closed"):
        index.count()


def test_indexes_of_one_process_share_the_folder_also_across_a_clearing(tmp_path: Path) -> None:
    first, second = QdrantEdgeIndex(tmp_path, MODEL), QdrantEdgeIndex(tmp_path, MODEL)
    fill(first, 4)
    assert second.count() == 4
    first.clear()
    assert second.count() == 0
    fill(second, 3)
    first.close()
    assert second.count() == 3
    second.close()


def test_a_question_in_the_middle_of_a_clearing_is_asked_again(tmp_path: Path) -> None:
    with QdrantEdgeIndex(tmp_path, MODEL) as index:
        fill(index, 4)
        asked: list[object] = []

        def ask(shard: object) -> int:
            asked.append(shard)
            if len(asked) == 1:
                index.clear()
            return shard.info().points_count  # type: ignore[attr-defined, no-any-return]

        assert index._read(ask) == 0
        assert len(asked) == 2
        index.clear()
        held = index._find_own()
        assert held is not None
        held.shard.close()
        with pytest.raises(StorageFailed, match="not initialized"):
            index.count()


def test_the_model_is_written_down_before_the_first_vector(tmp_path: Path) -> None:
    with QdrantEdgeIndex(tmp_path, RETRAINED) as index:
        index.compact()
        assert not (tmp_path / "model.json").exists()
        index.clear()
        assert RETRAINED.fingerprint in (tmp_path / "model.json").read_text()


def test_many_passages_are_found_by_a_graph_with_a_recall_above_99_percent(tmp_path: Path) -> None:
    model = EmbeddingModel(address="test:graph", fingerprint="d" * 64, dimensions=48)
    with QdrantEdgeIndex(tmp_path, model, exact_up_to=500) as index:
        rows = fill(index, 4000, per_card=4)
        held = index._find_own()
        assert held is not None
        assert held.shard.info().indexed_vectors_count > 3000
        half = [card(n) for n in range(0, 1000, 2)]
        allowed = np.array([n // 4 % 2 == 0 for n in range(4000)])
        hits = filtered = 0
        for query in unit_rows(20, seed=77, dimensions=48):
            scores = rows @ query
            hits += len(set(np.argsort(-scores)[:10]) & set(index.search(query, 10).ids))
            scores[~allowed] = -9
            found = set(index.search(query, 10, cards=half).ids)
            filtered += len(set(np.argsort(-scores)[:10]) & found)
        assert hits / 200 >= 0.99
        assert filtered / 200 >= 0.99
