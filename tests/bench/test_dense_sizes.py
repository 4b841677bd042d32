"""The ways of searching vectors can be compared; which is faster is not a test's business."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from bench.dense_sizes import DIMENSIONS, from_real, made_up, measure, ways

HAS_GRAPHS = find_spec("usearch") is not None  # of the extra `bench`


@pytest.mark.parametrize("kind", ["made up", "real"])
def test_every_way_finds_what_the_bare_product_finds(tmp_path: Path, kind: str) -> None:
    if kind == "real":
        passages, queries = made_up(50, 5)
        np.savez(tmp_path / "real.npz", E=passages, Q=queries)
        rows, asked = from_real(tmp_path / "real.npz", 300, 3)
    else:
        rows, asked = made_up(300, 3)
    assert rows.shape == (300, DIMENSIONS)
    assert asked.shape == (3, DIMENSIONS)
    built: dict[str, float] = {}
    found = ways(rows, tmp_path / "vectors", graphs=HAS_GRAPHS, built=built)
    figures = measure(found, asked, 10)
    others = {"graph f16", "graph i8"} if HAS_GRAPHS else set()
    assert {"bare", "exact", "sketches"} | others <= set(figures)
    assert set(built) == {"sketches"} | others
    for name, one in figures.items():
        assert len(one.clock) == 3
        assert np.mean(one.of_ten) >= 0.9, name
