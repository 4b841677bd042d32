"""The bench of documents runs; how fast it is, is not a test's business."""

from pathlib import Path

from bench.documents import measure


def test_both_sides_make_the_same_documents_searchable(tmp_path: Path) -> None:
    time, memory = measure(tmp_path, 12)
    assert "12 documents made searchable (12 and 12 vectors)" in time.what
    assert time.peer is not None
    assert time.salon > 0 < time.peer
    assert memory.peer is not None
    assert memory.salon > 0 < memory.peer
