"""Every row of the bench can be measured; how fast things are is not a test's business."""

import json
import math
from pathlib import Path

import pytest

from bench.figures import Row, Sizes, alternate
from bench.rows import ROWS
from bench.slow_disk import measure_sync_s

TINY = Sizes(
    repetitions=1,
    batch=20,
    writers=3,
    adds_per_writer=2,
    slow_adds_per_writer=1,
    single_commits=3,
    slow_single_commits=1,
    reads=10,
    stream_bytes=200_000,
    queries=2,
    embedded_passages=2,
)


@pytest.mark.parametrize("name", ROWS)
def test_every_row_can_be_measured(name: str, tmp_path: Path) -> None:
    row = ROWS[name](tmp_path, TINY)

    assert row.name == name
    assert row.repetitions == 1
    assert row.salon >= 0
    if row.peer is None:
        assert row.below is not None
    else:
        assert row.ratio is not None
        assert row.ratio > 0
        assert math.isfinite(row.ratio)


def test_a_row_for_machines_says_whether_the_goal_is_met() -> None:
    row = Row(
        name="reads",
        what="reads",
        unit="cards/s",
        salon=6.0,
        peer=10.0,
        peer_is="sqlite3",
        least_ratio=0.5,
        repetitions=3,
    )

    spoken = json.loads(json.dumps(row.as_json()))

    assert (spoken["ratio"], spoken["goal_ratio"], spoken["met"]) == (0.6, 0.5, True)


def test_a_figure_that_should_be_low_has_no_ratio() -> None:
    row = Row(name="m", what="m", unit="MB", salon=65.0, peer_is="", below=64.0, repetitions=1)

    assert (row.ratio, row.is_met) == (None, False)


def test_the_two_sides_take_turns_and_give_their_medians() -> None:
    order: list[str] = []
    salon, peer = iter([1.0, 9.0, 3.0]), iter([5.0, 4.0, 6.0])

    def measure_salon() -> float:
        order.append("salon")
        return next(salon)

    def measure_peer() -> float:
        order.append("peer")
        return next(peer)

    assert alternate(measure_salon, measure_peer, 3) == (3.0, 5.0)
    assert order == ["salon", "peer"] * 3


def test_the_sync_of_this_disk_is_measured_and_nothing_is_left(tmp_path: Path) -> None:
    assert measure_sync_s(tmp_path, syncs=3) > 0
    assert list(tmp_path.iterdir()) == []
