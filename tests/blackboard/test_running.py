"""Running a turn: whatever a step does, the turn ends and the board says what happened."""

import math
import os
import threading
from typing import Any

import pytest

from salon.blackboard import running
from salon.blackboard.running import MOST_STUCK
from salon.blackboard.slots import Dated, Past, Resource, Slot
from salon.blackboard.steps import View
from salon.blackboard.triggers import Every, Holds
from salon.core.absent import Absent
from tests.blackboard.toys import (
    COUNTING,
    LOUD,
    MESSAGE,
    SHOUTING,
    WEIGHT,
    WORDS,
    Weight,
    run,
    runner_of,
    says,
    step,
)

A, B = Slot("a", int), Slot("b", int)


def _raise(error: BaseException) -> Any:
    def fail(_: View) -> Any:
        raise error

    return fail


class _Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.requirement("companion/pattern/shared-board", "companion/board/any-declared-data")
def test_a_step_reads_what_another_wrote() -> None:
    board = run(SHOUTING, COUNTING, message="good morning")
    assert board[WORDS] == 2
    assert board[LOUD] == "GOOD MORNING! (2 WORDS)"
    assert board.failures == ()
    assert set(board.times) == {"counting", "shouting"}


@pytest.mark.requirement("companion/board/overhead")
def test_a_value_reaches_its_reader_as_the_same_object() -> None:
    made = Weight(grams=1.5)
    seen: list[object] = []

    def keep(view: View) -> int:
        seen.append(view[WEIGHT])
        return 1

    run(step("weighing", WEIGHT, says(made)), step("keeping", A, keep, reads=(WEIGHT,)))
    assert seen[0] is made


def test_a_step_that_is_not_due_leaves_its_slot_empty() -> None:
    third = step("third", A, says(1), when=Every(3))
    assert run(third, turn=2)[A] == Absent("not due")
    assert run(third, turn=3)[A] == 1
    assert run(third, turn=2).times == {}


@pytest.mark.parametrize(
    ("error", "reason", "kind"),
    [
        (ValueError("no scale"), "failed: ValueError: no scale", "failed: ValueError"),
        (KeyError(), "failed: KeyError", "failed: KeyError"),
        (SystemExit(3), "failed: SystemExit: 3", "failed: SystemExit"),
        (_Mute(), "failed: _Mute", "failed: _Mute"),
        (
            TypeError("<toy object at 0x7f2a4c0d1e90> is wrong"),
            "failed: TypeError: <toy object at 0x…> is wrong",
            "failed: TypeError",
        ),
    ],
    ids=["words", "no-words", "exit", "mute", "address"],
)
def test_a_step_that_raises_says_why_and_spoils_nothing(
    error: BaseException, reason: str, kind: str
) -> None:
    board = run(step("weighing", WEIGHT, _raise(error)), COUNTING, SHOUTING)
    assert board[WEIGHT] == Absent(reason)
    assert board[LOUD] == "GOOD MORNING! (2 WORDS)"
    assert [(one.step, one.slot, one.kind) for one in board.failures] == [
        ("weighing", "weight", kind)
    ]


def test_a_long_reason_is_cut() -> None:
    reason = run(step("weighing", WEIGHT, _raise(ValueError("x" * 9_000))))[WEIGHT]
    assert isinstance(reason, Absent)
    assert len(reason.reason) < 350


class _Sly:
    def __eq__(self, other: object) -> bool:
        raise OSError("never compare me")

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "gave NoneType instead of Weight"),
        ("heavy", "gave str instead of Weight"),
        (Weight(grams=math.nan), "gave a Weight with a field that cannot be recorded"),
        (Weight(grams=1.0, shares={"a": math.inf}), "gave a Weight that does not read back"),
        (Weight(grams="1"), "gave a Weight with a field"),  # type: ignore[arg-type]
        (Weight(grams=1.0, labels=["a"]), "gave a Weight with a field"),  # type: ignore[arg-type]
        (Weight(grams=1.0, labels=("\ud800",)), "gave a Weight with a field"),
        (Weight(grams=1.0, labels=("x" * 1_000_001,)), "gave 1,000,0"),
        (Weight(grams=1.0, owner=object()), "gave a Weight with a field"),  # type: ignore[arg-type]
    ],
    ids=["none", "text", "nan", "inf", "type", "list", "half", "large", "object"],
)
def test_rubbish_never_reaches_a_reader(value: object, said: str) -> None:
    seen: list[object] = []

    def keep(view: View) -> int:
        seen.append(view[WEIGHT])
        return 1

    board = run(step("weighing", WEIGHT, says(value)), step("keeping", A, keep, reads=(WEIGHT,)))
    found = board[WEIGHT]
    assert isinstance(found, Absent)
    assert found.reason.startswith(said)
    assert seen == [found]
    assert [one.kind for one in board.failures] == ["gave rubbish"]


def test_a_value_whose_own_code_raises_is_refused() -> None:
    board = run(step("sly", Slot("sly", _Sly), says(_Sly())))
    assert isinstance(board.values["sly"], Absent)
    assert board.failures[0].slot == "sly"


def test_a_step_may_have_nothing_to_say_and_that_is_no_failure() -> None:
    board = run(step("weighing", WEIGHT, says(Absent("there is no scale"))))
    assert board[WEIGHT] == Absent("there is no scale")
    assert board.failures == ()
    silent = run(step("weighing", WEIGHT, says(Absent(None))))  # type: ignore[arg-type]
    assert silent[WEIGHT] == Absent("the step gave no reason")


@pytest.mark.requirement("companion/pattern/no-direct-talk")
def test_touching_what_was_not_declared_stops_the_step() -> None:
    curious = step("curious", A, lambda view: view[WORDS], reads=(MESSAGE,))
    board = run(COUNTING, curious)
    assert board[A] == Absent("failed: Undeclared: step 'curious' did not declare 'words'")
    nosy = step("nosy", A, lambda view: len(view.past(WORDS)), reads=(WORDS,))
    found = run(COUNTING, nosy)[A]
    assert isinstance(found, Absent)
    assert "did not declare earlier values of 'words'" in found.reason
    half = step("half", A, lambda view: view.latest(WORDS), reads=(Past(WORDS),))
    assert isinstance(run(COUNTING, half)[A], Absent)


def test_what_nobody_gave_is_absent() -> None:
    scale = Resource("scale", object)
    weighing = step("weighing", LOUD, lambda view: str(view[scale]), reads=(scale,))
    with runner_of(weighing, given=(scale,)) as runner:
        board = runner.run(1, given={}, past={})
    assert board[LOUD] == str(Absent("nothing was given"))
    assert board[A] == Absent("no step writes it")


def test_earlier_values_are_read_oldest_first_and_the_latest_stands_in() -> None:
    past = {"words": (Dated(turn=1, value=4), Dated(turn=2, value=7))}
    rare = step("counting", WORDS, says(9), when=Every(5))
    seen = step(
        "seeing",
        LOUD,
        lambda view: f"{[one.value for one in view.past(WORDS)]} {view.latest(WORDS)}",
        reads=(WORDS, Past(WORDS)),
    )
    assert run(rare, seen, turn=3, past=past)[LOUD] == "[4, 7] 7"
    assert run(rare, seen, turn=5, past=past)[LOUD] == "[4, 7] 9"
    none = run(rare, seen, turn=3)[LOUD]
    assert none == f"[] {Absent('not due')}"


def test_a_trigger_that_raises_fails_its_step_alone() -> None:
    due = Holds(WORDS, "words are odd", lambda _: 1 // 0 == 1)
    board = run(COUNTING, step("odd", A, says(1), when=due))
    assert board[WORDS] == 2
    found = board[A]
    assert isinstance(found, Absent)
    assert found.reason.startswith("failed: ZeroDivisionError")


@pytest.mark.requirement("companion/pipeline/step-1-together")
def test_ready_steps_run_at_the_same_time() -> None:
    meeting = threading.Barrier(3, timeout=30)

    def meet(_: View) -> int:
        return meeting.wait() * 0 + 1  # nobody passes before all three are there

    slots = [Slot(f"s{number}", int) for number in range(3)]
    board = run(*(step(f"t{number}", slots[number], meet) for number in range(3)))
    assert [board[slot] for slot in slots] == [1, 1, 1]


@pytest.mark.requirement("companion/boundaries/in-process")
def test_steps_run_in_the_process_that_takes_the_turn() -> None:
    assert run(step("where", A, lambda _: os.getpid()))[A] == os.getpid()


def test_quick_steps_share_one_thread() -> None:
    names: set[str] = set()

    def note(_: View) -> int:
        names.add(threading.current_thread().name)
        return 1

    slots = [Slot(f"s{number}", int) for number in range(20)]
    steps = [step(f"t{number}", slot, note) for number, slot in enumerate(slots)]
    assert len(run(*steps).times) == 20
    assert threading.current_thread().name not in names


def test_a_step_that_hangs_does_not_hold_the_turn() -> None:
    release = threading.Event()
    back = threading.Event()

    def hang(view: View) -> int:
        release.wait(60)
        try:
            view[MESSAGE]
        finally:
            back.set()
        return 1

    hanging = step("hanging", A, hang, reads=(MESSAGE,), timeout_s=0.05)
    after = step("after", B, lambda view: 7 if not view[A] else 0, reads=(A,))
    with runner_of(hanging, COUNTING, after) as runner:
        board = runner.run(1, given={MESSAGE: "hello"}, past={})
        assert board[A] == Absent("timed out after 0.05 s")
        assert board[WORDS] == 1
        assert board[B] == 7
        assert [one.kind for one in board.failures] == ["timed out after 0.05 s"]
        assert runner.stuck("hanging") == 1
        release.set()
        assert back.wait(60)
        while runner.stuck("hanging"):
            pass  # the thread is on its last lines
    assert board[A] == Absent("timed out after 0.05 s")


def test_a_step_that_keeps_hanging_is_not_begun_until_one_run_returns() -> None:
    release = threading.Event()
    begun: list[int] = []

    def hang(view: View) -> int:
        begun.append(view.turn)
        release.wait(60)
        return view.turn

    with runner_of(step("hanging", A, hang, timeout_s=0.02), COUNTING) as runner:
        boards = [
            runner.run(turn, given={MESSAGE: "hello"}, past={}) for turn in range(1, MOST_STUCK + 3)
        ]
        assert begun == list(range(1, MOST_STUCK + 1))
        assert boards[-1][A] == Absent(f"refused: {MOST_STUCK} earlier runs have not come back")
        assert boards[-1].failures[0].kind == "refused"
        assert all(board[WORDS] == 1 for board in boards)
        release.set()
        while runner.stuck("hanging"):
            pass
        again = runner.run(9, given={MESSAGE: "hello"}, past={})
    assert again[A] == 9


def test_a_settled_slot_keeps_its_reason_and_its_step_does_not_run() -> None:
    begun: list[int] = []

    def note(view: View) -> int:
        begun.append(view.turn)
        return 1

    late = step("late", A, note)
    reason = Absent("timed out after 5.0 s")
    with runner_of(late, COUNTING) as runner:
        board = runner.run(1, given={MESSAGE: "hello"}, past={}, settled={"a": reason})
    assert board[A] == reason
    assert begun == []
    assert board.failures[0].kind == "timed out after 5.0 s"


@pytest.mark.requirement("companion/board/inspectable")
def test_the_whole_board_can_be_looked_at() -> None:
    steps = (
        COUNTING,
        SHOUTING,
        step("weighing", WEIGHT, _raise(ValueError("no scale"))),
        step("third", A, says(1), when=Every(3)),
    )
    board = run(*steps)
    assert board.record() == {
        "a": {"absent": "not due"},
        "loud": {"value": "GOOD MORNING! (2 WORDS)"},
        "weight": {"absent": "failed: ValueError: no scale"},
        "words": {"value": 2},
    }
    assert 0 <= board.idle_s <= board.took_s


def test_steps_that_keep_others_waiting_get_company(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "PATIENCE_S", 0.0)
    other = threading.Event()

    def wait(_: View) -> int:
        assert other.wait(30)
        return 1

    def wake(_: View) -> int:
        other.set()
        return 2

    board = run(step("waiting", A, wait), step("waking", B, wake))
    assert (board[A], board[B]) == (1, 2)


def test_threads_are_used_again() -> None:
    seen: set[int] = set()

    def note(_: View) -> int:
        seen.add(threading.get_ident())
        return 1

    with runner_of(step("noting", A, note)) as runner:
        for turn in range(1, 31):
            runner.run(turn, given={}, past={})
    assert len(seen) < 30
