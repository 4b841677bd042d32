"""Recorded values are read back, or refused with the name of their slot."""

from typing import Any

import pytest

from salon.blackboard.board import Board, StepTime
from salon.blackboard.slots import Slot
from salon.blackboard.times import MOST_TIMES, StepTimes
from salon.blackboard.values import Unrecordable, decode, encode
from salon.core.absent import Absent
from salon.core.errors import InvalidDocument
from tests.blackboard.toys import WEIGHT


@pytest.mark.parametrize(
    "recorded",
    [{"value": {"grams": "much"}}, {"value": None}, {}, [], {"absent": 3}],
    ids=["field", "null", "empty", "list", "no-reason"],
)
def test_what_is_no_value_of_the_slot_is_refused(recorded: object) -> None:
    with pytest.raises(InvalidDocument, match="slot 'weight'"):
        decode(WEIGHT, recorded)


def test_a_reason_is_read_back_as_a_reason() -> None:
    assert decode(WEIGHT, {"absent": "not due"}) == Absent("not due")


def test_something_that_holds_itself_cannot_be_recorded() -> None:
    knot: list[Any] = []
    knot.append(knot)
    with pytest.raises(Unrecordable):
        encode(Slot("knot", list), knot)


def test_idle_time_is_what_no_step_covers() -> None:
    times = {
        "a": StepTime(began_s=1.0, took_s=2.0),
        "b": StepTime(began_s=2.0, took_s=2.0),
        "c": StepTime(began_s=2.5, took_s=0.5),
        "d": StepTime(began_s=6.0, took_s=1.0),
    }
    assert Board(turn=1, times=times, took_s=8.0).idle_s == pytest.approx(4.0)


def test_times_are_kept_in_a_file_and_are_not_needed(tmp_path: Any) -> None:
    path = tmp_path / "index" / "times.json"
    with StepTimes(path) as times:
        for number in range(MOST_TIMES + 10):
            times.note({"a": StepTime(began_s=0, took_s=float(number))})
        assert times.medians() == {"a": 109.5}
    assert StepTimes(path).medians() == {"a": 109.5}
    path.write_text("[rubbish")
    assert StepTimes(path).medians() == {}
    assert StepTimes(None).medians() == {}
    StepTimes(path).close()
    assert path.read_text() == "[rubbish"  # nothing new, nothing written


def test_a_home_that_cannot_be_written_keeps_no_times(tmp_path: Any) -> None:
    (tmp_path / "file").write_text("")
    with StepTimes(tmp_path / "file" / "times.json") as times:
        times.note({"a": StepTime(began_s=0, took_s=1.0)})
    assert (tmp_path / "file").read_text() == ""
