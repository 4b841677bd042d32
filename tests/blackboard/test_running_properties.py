"""Whatever graph of steps and whatever failures: order, values and records hold."""

import json
import threading
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from salon.blackboard.slots import Slot
from salon.blackboard.steps import Step, View
from salon.blackboard.values import as_record, decode, encode
from salon.core.absent import Absent
from salon.core.canonical import canonical_json
from tests.blackboard.toys import Weight, run, step


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Step n may read the slots of steps before it in a hidden order; some steps fail."""

    reads: tuple[frozenset[int], ...]
    failing: frozenset[int]
    listed: tuple[int, ...]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 12))
    reads = tuple(
        frozenset(draw(st.sets(st.integers(0, number - 1), max_size=4))) if number else frozenset()
        for number in range(size)
    )
    failing = draw(st.frozensets(st.integers(0, size - 1), max_size=3))
    return Graph(reads=reads, failing=failing, listed=tuple(draw(st.permutations(range(size)))))


def _steps(graph: Graph, done: list[int], lock: threading.Lock) -> list[Step[Any]]:
    slots = [Slot(f"s{number}", int) for number in range(len(graph.reads))]

    def work(number: int) -> Any:
        def calculate(view: View) -> int:
            found = [view[slots[one]] for one in sorted(graph.reads[number])]
            with lock:
                done.append(number)
            if number in graph.failing:
                raise ValueError(str(number))
            return 1 + sum(value for value in found if not isinstance(value, Absent))

        return calculate

    return [
        step(
            f"t{number}",
            slots[number],
            work(number),
            reads=tuple(slots[one] for one in sorted(graph.reads[number])),
        )
        for number in graph.listed
    ]


def _expected(graph: Graph) -> dict[str, object]:
    values: dict[int, int | None] = {}
    for number, reads in enumerate(graph.reads):
        total = 1 + sum(values[one] or 0 for one in reads)
        values[number] = None if number in graph.failing else total
    return {
        f"s{number}": Absent(f"failed: ValueError: {number}") if value is None else value
        for number, value in values.items()
    }


@given(graphs())
def test_steps_run_after_what_they_read_and_a_failure_loses_nothing_else(graph: Graph) -> None:
    done: list[int] = []
    board = run(*_steps(graph, done, threading.Lock()))
    assert sorted(done) == list(range(len(graph.reads)))
    for number, reads in enumerate(graph.reads):
        assert all(done.index(one) < done.index(number) for one in reads)
    assert {name: board.values[name] for name in board.recorded} == _expected(graph)
    assert {one.step for one in board.failures} == {f"t{number}" for number in graph.failing}


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_NUMBER = st.floats(allow_nan=False, allow_infinity=False)
_WEIGHTS = st.builds(
    Weight,
    grams=_NUMBER,
    labels=st.lists(_TEXT, max_size=4).map(tuple),
    shares=st.none() | st.dictionaries(_TEXT, _NUMBER, max_size=4),
    owner=_TEXT | st.builds(Absent, _TEXT),
)


@given(_WEIGHTS)
def test_what_is_recorded_reads_back_equal_and_records_the_same_again(weight: Weight) -> None:
    slot = Slot("weight", Weight)
    written = canonical_json(as_record(encode(slot, weight)))
    read = decode(slot, json.loads(written))
    assert read == weight
    assert not isinstance(read, Absent)
    assert canonical_json(as_record(encode(slot, read))) == written
