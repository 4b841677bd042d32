"""The vector index in a SQLite file: shared files, traces of removal, a missing extension."""

import sys
from pathlib import Path

import numpy as np
import pytest

from salon.core.errors import UnknownProvider
from salon.core.indexes import PassageId
from salon.retrieval.dense.sqlite_vec_index import SqliteVecIndex
from salon.retrieval.index_file import IndexFile
from tests.retrieval.dense.backends import DIMENSIONS, MODEL, card, fill, unit_rows

QUERY = unit_rows(1, seed=99)[0]


def test_a_commit_inside_a_transaction_is_a_part_of_it(tmp_path: Path) -> None:
    file = IndexFile(tmp_path / "shared.db")
    index = SqliteVecIndex(file, MODEL)

    def fail() -> None:
        with file.write():
            fill(index, 3)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert index.count() == 0
    with file.write():
        fill(index, 3)
        assert index.count() == 0
    assert index.count() == 3
    index.close()
    with file.read() as connection:
        assert connection.execute("SELECT count(*) FROM dense_vectors").get == 3
    file.close()


def test_no_byte_of_a_removed_vector_is_left_after_compacting(tmp_path: Path) -> None:
    with SqliteVecIndex(tmp_path / "vectors.db", MODEL) as index:
        rows = fill(index, 300)
        kept = [rows[n].astype("<f4").tobytes() for n in (4, 299)]
        gone = [rows[n].astype("<f4").tobytes() for n in (2, 3, 8, 100)]
        index.add([PassageId(8)], [card(4)], unit_rows(1, seed=77))
        index.remove([card(1), card(50)])
        index.compact()
        held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert [needle in held for needle in kept] == [True, True]
        assert [needle in held for needle in gone] == [False] * 4
        index.clear()
        index.compact()
        held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert [needle in held for needle in kept] == [False, False]


def test_a_vector_of_zeros_is_like_an_unrelated_one(tmp_path: Path) -> None:
    with SqliteVecIndex(tmp_path / "vectors.db", MODEL) as index:
        rows = np.stack([QUERY, np.zeros(DIMENSIONS, dtype=np.float32), -QUERY])
        index.add([PassageId(n) for n in (1, 2, 3)], [card(1)] * 3, rows)
        index.commit()
        found = index.search(QUERY, 3)
        assert found.ids.tolist() == [1, 2, 3]
        np.testing.assert_allclose(found.scores, [1, 0, -1], atol=1e-6)


def test_more_than_4096_passages_can_be_asked_for(tmp_path: Path) -> None:
    with SqliteVecIndex(tmp_path / "vectors.db", MODEL) as index:
        fill(index, 5000)
        assert len(index.search(QUERY, 4999).ids) == 4999


def test_a_missing_extension_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    with pytest.raises(UnknownProvider, match="sqlite-vec") as told:
        SqliteVecIndex(tmp_path / "vectors.db", MODEL)
    assert "single-file" in (told.value.hint or "")
    assert not (tmp_path / "vectors.db").exists()
