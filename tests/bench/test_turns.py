"""The bench of turns runs; how fast it is, is not a test's business."""

from pathlib import Path

from bench.turns import measure_memory, measure_turns
from salon.steps.companion import COMPANION


def test_a_turn_in_which_every_step_is_due_is_measured_with_and_without_the_board(
    tmp_path: Path,
) -> None:
    figures = measure_turns(tmp_path, samples=2)
    assert figures.samples == 2
    assert figures.steps_run == len(COMPANION)
    assert 0 < figures.board_ms <= figures.p99_ms
    assert figures.direct_ms > 0
    assert 0 <= figures.idle_share < 1
    assert figures.own_ms > 0
    assert figures.own_share > 0


def test_sessions_are_held_in_a_process_of_their_own(tmp_path: Path) -> None:
    answer = measure_memory(tmp_path, sessions=3)
    assert answer["sessions"] == 3
    assert answer["whole_mb"] > answer["grown_mb"]
