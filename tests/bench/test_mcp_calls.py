"""The bench of MCP calls runs; how fast it is, is not a test's business."""

from pathlib import Path

from bench.mcp_calls import call_rows


def test_every_way_and_era_is_measured_beside_the_bare_sdk(tmp_path: Path) -> None:
    rows = call_rows(tmp_path, calls=2, rounds=1)
    assert [row.name for row in rows] == [
        "stdio-2025-11-25",
        "http-2025-11-25",
        "stdio-2026-07-28",
        "http-2026-07-28",
        "start",
    ]
    assert all(row.salon > 0 and row.peer for row in rows)
    assert [row.least_ratio for row in rows] == [0.8, 0.8, 0.8, 0.8, None]
