"""The flat index: recall beyond the exact scan, deaths at every step, damage, traces of removal."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.core.errors import SalonError, StorageFailed, StorageFull, StorageReadOnly
from salon.core.indexes import PassageId
from salon.retrieval.dense import flat_snapshot, ranking
from salon.retrieval.dense.flat_index import FlatVectorIndex
from salon.retrieval.dense.halves import Halves, Rows, dots
from tests.retrieval.dense.backends import MODEL, card, fill, pieces, unit_rows

QUERY = unit_rows(1, seed=99)[0]
ROOT = Path(__file__).parents[3]
WIDE = EmbeddingModel(address="test:wide", fingerprint="d" * 64, dimensions=128)
COUNT = 12_000
PER_CARD = 10


def clustered(count: int, *, seed: int) -> Vectors:
    """Return vectors as texts have them: many near some other, around few themes."""
    random = np.random.default_rng(seed)
    themes = unit_rows(count // 40, seed=3, dimensions=WIDE.dimensions)
    noise = random.normal(scale=0.8 / WIDE.dimensions**0.5, size=(count, WIDE.dimensions))
    rows = themes[random.integers(0, len(themes), count)] + noise.astype(np.float32)
    unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


@pytest.fixture(scope="module")
def rows() -> Vectors:
    return clustered(COUNT, seed=1)


@pytest.fixture(scope="module")
def large(rows: Vectors, tmp_path_factory: pytest.TempPathFactory) -> FlatVectorIndex:
    """An index that searches by sketches, filled in three commits."""
    index = FlatVectorIndex(tmp_path_factory.mktemp("large"), WIDE, exact_up_to=0)
    for start, stop in pieces(COUNT, 5000):
        numbers = range(start, stop)
        cards = [card(n // PER_CARD) for n in numbers]
        index.add([PassageId(n) for n in numbers], cards, rows[start:stop])
        index.commit()
    return index


@pytest.fixture
def scored(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each call scored by their whole vectors."""
    counts: list[int] = []

    def counting(vectors: Halves, query: Vector, picked: Rows) -> Vector:
        counts.append(len(picked))
        return dots(vectors, query, picked)

    monkeypatch.setattr(ranking, "dots", counting)
    return counts


def recall(
    index: FlatVectorIndex, rows: Vectors, limit: int, allowed: "list[int] | None" = None
) -> float:
    """Return the share of the right passages that are found."""
    numbers = np.arange(len(rows)) if allowed is None else np.asarray(allowed)
    cards = None if allowed is None else {card(n // PER_CARD) for n in allowed}
    shares = []
    for query in clustered(40, seed=2):
        best = numbers[np.argsort(-(rows[numbers] @ query), kind="stable")[:limit]]
        found = index.search(query, limit, cards=cards).ids
        shares.append(len(np.intersect1d(found, best)) / limit)
    return float(np.mean(shares))


@pytest.mark.parametrize("limit", [1, 10, 100])
def test_search_by_sketches_finds_99_in_100(
    large: FlatVectorIndex, rows: Vectors, scored: list[int], limit: int
) -> None:
    assert recall(large, rows, limit) >= 0.99
    assert sum(scored) < 40 * COUNT / 2, "most rows are never scored"


def test_the_scores_by_sketches_are_those_of_whole_vectors(
    large: FlatVectorIndex, rows: Vectors
) -> None:
    query = clustered(40, seed=2)[0]
    found = large.search(query, 50)
    np.testing.assert_allclose(found.scores, rows[found.ids] @ query, atol=2e-3)
    assert (np.diff(found.scores) <= 0).all()


def test_a_wide_filter_narrows_what_is_compared_and_loses_nothing(
    large: FlatVectorIndex, rows: Vectors, scored: list[int]
) -> None:
    allowed = [n for n in range(COUNT) if n // PER_CARD % 3]
    assert recall(large, rows, 10, allowed) >= 0.99
    assert sum(scored) < 40 * len(allowed) / 2


def test_a_narrow_filter_is_searched_exactly(
    large: FlatVectorIndex, rows: Vectors, scored: list[int]
) -> None:
    allowed = [n for n in range(COUNT) if n // PER_CARD % 40 == 7]
    assert recall(large, rows, 10, allowed) == 1.0
    assert set(scored) == {len(allowed)}


def test_removed_rows_are_not_found_by_their_sketches(tmp_path: Path, rows: Vectors) -> None:
    with FlatVectorIndex(tmp_path, WIDE, exact_up_to=0) as index:
        numbers = range(6000)
        index.add([PassageId(n) for n in numbers], [card(n % 600) for n in numbers], rows[:6000])
        index.commit()
        best = index.search(rows[17], 10).ids.tolist()
        assert best[0] == 17
        index.remove([card(n % 600) for n in best])
        index.commit()
        assert not set(best) & set(index.search(rows[17], 100).ids.tolist())
        index.compact()
        assert not set(best) & set(index.search(rows[17], 100).ids.tolist())
        assert index.count() == 6000 - 10 * len({n % 600 for n in best})


def test_rows_written_without_sketches_are_found_beside_those_with(
    tmp_path: Path, rows: Vectors
) -> None:
    exact, likely = (FlatVectorIndex(tmp_path, WIDE, exact_up_to=n) for n in (10**6, 0))

    def add(index: FlatVectorIndex, start: int, stop: int) -> None:
        numbers = range(start, stop)
        cards = [card(n // PER_CARD) for n in numbers]
        index.add([PassageId(n) for n in numbers], cards, rows[start:stop])
        index.commit()

    add(exact, 0, 100)
    assert likely.search(rows[7], 5).ids.tolist() == exact.search(rows[7], 5).ids.tolist()
    add(likely, 100, 6000)
    add(exact, 6000, 6500)
    assert recall(likely, rows[:6500], 10) >= 0.99
    assert recall(exact, rows[:6500], 10) >= 0.995
    exact.remove([card(n) for n in range(50)])
    exact.compact()
    assert recall(likely, rows[:6500], 10, list(range(500, 6500))) >= 0.99
    add(likely, 6500, 6600)
    assert recall(likely, rows[:6600], 10, list(range(500, 6600))) >= 0.99
    exact.close()
    likely.close()


def files_with(folder: Path, needle: bytes) -> list[str]:
    return [path.name for path in sorted(folder.iterdir()) if needle in path.read_bytes()]


def traces(vector: Vector) -> bytes:
    return vector.astype("<f2").tobytes()


@pytest.mark.parametrize("exact_up_to", [0, 1000])
def test_no_byte_of_a_removed_vector_is_left_after_compacting(
    tmp_path: Path, exact_up_to: int
) -> None:
    with FlatVectorIndex(tmp_path, MODEL, exact_up_to=exact_up_to) as index:
        rows = fill(index, 40)
        index.add([PassageId(8)], [card(4)], unit_rows(1, seed=77))  # replaces a vector
        index.remove([card(1)])
        index.commit()
        assert len(files_with(tmp_path, traces(rows[2]))) == 1
        index.compact()
        for gone in (2, 3, 8):
            assert files_with(tmp_path, traces(rows[gone])) == []
            assert files_with(tmp_path, traces(rows[gone])[:8]) == []
        assert files_with(tmp_path, card(1).encode()) == []
        assert len(files_with(tmp_path, traces(rows[4]))) == 1
        index.clear()
        assert files_with(tmp_path, traces(rows[4])) == []


def test_compacting_also_wipes_what_a_killed_writer_left(tmp_path: Path) -> None:
    with FlatVectorIndex(tmp_path, MODEL) as index:
        fill(index, 6)
        lost = unit_rows(1, seed=50)
        index.add([PassageId(70)], [card(70)], lost)
        index.close()  # like a kill: nothing was committed
        assert len(files_with(tmp_path, traces(lost[0]))) == 1
        index.compact()
        assert files_with(tmp_path, traces(lost[0])) == []
        assert index.count() == 6
        before = sorted(path.name for path in tmp_path.iterdir())
        index.compact()
        assert sorted(path.name for path in tmp_path.iterdir()) == before, "nothing to do"


def test_what_a_killed_first_writer_left_is_wiped_too(tmp_path: Path) -> None:
    with FlatVectorIndex(tmp_path, MODEL) as index:
        lost = unit_rows(1, seed=50)
        index.add([PassageId(70)], [card(70)], lost)
        index.close()
        index.compact()
        assert files_with(tmp_path, traces(lost[0])) == []
        assert index.count() == 0


@pytest.mark.parametrize("change", ["commit", "compact", "clear"])
def test_a_death_at_any_step_leaves_the_index_as_before_or_as_after(
    tmp_path: Path, change: str
) -> None:
    with FlatVectorIndex(tmp_path / "base", MODEL, exact_up_to=0) as index:
        rows = fill(index, 20)
        index.remove([card(3)])
        index.commit()
    before = {n for n in range(20) if n not in {6, 7}}
    after = {
        "commit": (before - {0, 1}) | set(range(100, 110)),
        "compact": before,
        "clear": set[int](),
    }[change]
    said = subprocess.run(
        [sys.executable, "-m", "tests.retrieval.dense.dying", str(tmp_path), change],
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # a fork must not meet other threads
        capture_output=True,
        text=True,
        check=True,
    )
    steps = int(said.stdout)
    assert steps > 5
    seen = set()
    for step in range(1, steps + 1):
        with FlatVectorIndex(tmp_path / str(step), MODEL, exact_up_to=0) as index:
            found = set(index.search(QUERY, 100).ids.tolist())
            assert found in (before, after)
            seen.add(len(found))
            index.add([PassageId(2)], [card(1)], rows[2:3])
            index.compact()
            assert set(index.search(QUERY, 100).ids.tolist()) == found | {2}
            assert files_with(tmp_path / str(step), traces(rows[6])) == []
    assert seen == {len(before), len(after)}


@pytest.mark.parametrize(
    ("number", "error"), [(errno.ENOSPC, StorageFull), (errno.EIO, StorageFailed)]
)
def test_a_disk_that_fails_is_named_and_the_commit_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, error: type[SalonError]
) -> None:
    def fail(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    with FlatVectorIndex(tmp_path, MODEL, exact_up_to=0) as index:
        fill(index, 10)
        index.add([PassageId(50)], [card(50)], unit_rows(1, seed=4))
        index.remove([card(0)])
        for call in ("pwrite", "fsync"):
            with monkeypatch.context() as patch:
                patch.setattr(os, call, fail)
                with pytest.raises(error):
                    index.commit()
            assert index.count() == 10
        index.commit()
        assert index.count() == 9
        assert len(index.search(QUERY, 100).ids) == 9


def test_an_index_that_is_mostly_dead_compacts_itself(tmp_path: Path) -> None:
    with FlatVectorIndex(tmp_path, MODEL) as index:
        rows = fill(index, 40)
        index.remove([card(n) for n in range(9)])
        index.commit()
        assert len(files_with(tmp_path, traces(rows[1]))) == 1
        index.remove([card(n) for n in range(9, 12)])
        index.commit()
        assert files_with(tmp_path, traces(rows[1])) == []
        assert index.count() == 16
        assert len(index.search(QUERY, 100).ids) == 16


def test_a_file_in_the_place_of_the_folder_is_left_alone(tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Elinor")
    with FlatVectorIndex(letter, MODEL) as index:
        with pytest.raises(StorageReadOnly):
            index.count()
        with pytest.raises(StorageReadOnly):
            index.add([PassageId(1)], [card(1)], unit_rows(1, seed=1))
    assert letter.read_text() == "Dear Elinor"


def _cut(kind: str) -> Callable[[Path], None]:
    def cut(folder: Path) -> None:
        (path,) = folder.glob(f"*.{kind}")
        path.write_bytes(path.read_bytes()[:-3])

    return cut


def _lose_vectors(folder: Path) -> None:
    next(folder.glob("*.vectors")).unlink()


def _garble_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_bytes(b"{")


def _empty_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_bytes(b'{"format": 1}')


def _later_manifest(folder: Path) -> None:
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"format": 1', '"format": 2'))


@pytest.mark.parametrize(
    "damage",
    [
        _cut("vectors"),
        _cut("passages"),
        _lose_vectors,
        _garble_manifest,
        _empty_manifest,
        _later_manifest,
    ],
    ids=["short vectors", "short passages", "lost", "garbled", "empty", "later"],
)
def test_damage_is_told_and_not_searched(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    with FlatVectorIndex(tmp_path, MODEL) as index:
        fill(index, 10)
    damage(tmp_path)
    with FlatVectorIndex(tmp_path, MODEL) as index, pytest.raises(StorageFailed) as told:
        index.search(QUERY, 1)
    assert isinstance(told.value, SalonError)
    assert "delete it" in (told.value.hint or "")


def test_a_reader_starts_over_when_the_files_go_under_its_hands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FlatVectorIndex(tmp_path, MODEL) as writer, FlatVectorIndex(tmp_path, MODEL) as reader:
        fill(writer, 10)
        writer.remove([card(0)])
        writer.commit()
        compacted: list[bool] = []
        real = flat_snapshot.Snapshot.__init__

        def after_a_compaction(self: flat_snapshot.Snapshot, *words: object) -> None:
            if not compacted:
                compacted.append(True)
                writer.compact()
            real(self, *words)  # type: ignore[arg-type]

        monkeypatch.setattr(flat_snapshot.Snapshot, "__init__", after_a_compaction)
        assert reader.count() == 8
        assert compacted == [True]


def test_an_index_that_is_deleted_and_made_again_is_noticed(tmp_path: Path) -> None:
    with FlatVectorIndex(tmp_path, MODEL) as reader:
        with FlatVectorIndex(tmp_path, MODEL) as writer:
            fill(writer, 10)
            assert reader.count() == 10
            for path in tmp_path.iterdir():
                path.unlink()
        assert reader.count() == 0
        with FlatVectorIndex(tmp_path, MODEL) as writer:
            rows = fill(writer, 10, seed=8)
        assert reader.search(rows[3], 1).ids.tolist() == [3]


def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    with FlatVectorIndex(tmp_path / "vectors", MODEL, exact_up_to=0) as index:
        fill(index, 3)
    assert (tmp_path / "vectors").stat().st_mode & 0o077 == 0
    for path in (tmp_path / "vectors").iterdir():
        assert path.stat().st_mode & 0o077 == 0, path.name


def test_many_small_commits_find_the_same_as_one_large_one(tmp_path: Path) -> None:
    rows = unit_rows(120, seed=6)
    with FlatVectorIndex(tmp_path, MODEL) as index:
        for start, stop in pieces(120, 7):
            numbers = [PassageId(n) for n in range(start, stop)]
            index.add(numbers, [card(n // 3) for n in numbers], rows[start:stop])
            index.commit()
            found, vectors = index.vectors([PassageId(start), PassageId(10**6), PassageId(0)])
            assert found == [start, 0]
            np.testing.assert_allclose(vectors, rows[[start, 0]], atol=2e-3)
            assert len(index.search(QUERY, 1000).ids) == stop
