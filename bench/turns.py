"""`python -m bench.turns`: a companion's whole turn offline, the board's own share, and memory.

Turn 30 is the one in which every step is due. It is taken once in each of many sessions whose 29
turns before are copies of one real conversation, and forgotten afterwards. Beside it, in
alternation, the same steps are called one after another without any board. What the board costs by
itself is measured with steps that give the same values at once: steadier than a difference.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from bench.own_process import anonymous_mb, answer_of, give_answer
from salon.app import Salon
from salon.blackboard.steps import View
from salon.blackboard.triggers import is_due
from salon.blackboard.view import BoardView, declared, look
from salon.blackboard.workers import Workers
from salon.conversation.turns import Turn, as_session_id, session_handle, turn_to_json, walk_turns
from salon.core.archive import ArchiveTransaction
from salon.core.clock import instant
from salon.parts.conversations import TakenTurn
from salon.settings import load_settings
from salon.steps.turn_taking import TurnTaking

LATEST = 30
SCRIPT = (
    "Good morning! I slept badly, there was a storm all night.",
    "I work in a small bakery, and my sister Ines helps me on Saturdays.",
    "Sometimes I worry that I will never have time for anything else.",
    "Yesterday we finished a huge order, and I was really proud of us.",
    "What do you think, should I take a week off in spring?",
    "My friend Jonas wants to hike in the Alps, but I am afraid of heights.",
    "He laughed about it and that hurt me a little, to be honest.",
    "Anyway, thank you for listening. It helps to write this down.",
    "Tonight I will cook soup and call my mother, she lives in Porto.",
    "Do you remember what I told you about the bakery?",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFigures:
    """What was measured; times in milliseconds, shares of the steps' own time."""

    samples: int
    steps_run: int
    p50_ms: float
    p99_ms: float
    board_ms: float
    """Median time on the board."""
    direct_ms: float
    """Median time of the same steps called one after another, without a board."""
    idle_share: float
    """Median share of the board's time in which no step was running."""
    own_ms: float
    """Median processor time of the board with steps that give the same values at once."""
    own_share: float
    """That, as a share of the processor time of the steps called directly."""
    write_ms: float
    """Median time for everything else: session, record, audit, events."""
    cpu_ms: float
    """Median processor time of the whole turn, which a busy machine does not lengthen much."""


def measure_turns(home: Path, samples: int) -> TurnFigures:
    """Take turn 30 in many sessions."""
    with _opened(home) as salon:
        turns = _talk(salon, "model", LATEST - 1)
        whole, board, direct, idle, cpu, cpu_direct = ([] for _ in range(6))  # type: ignore[var-annotated]
        count = 0
        for number in range(samples):
            name = f"copy-{number}"
            _copy(salon, turns, name)
            message = f"{SCRIPT[number % len(SCRIPT)]} That was day {number}."
            cpu_direct.append(_direct(salon, name, f"{message} So.", direct))
            began, began_cpu = time.perf_counter(), time.process_time()
            taken = salon.take_turn(name, message)
            whole.append(time.perf_counter() - began)
            cpu.append(time.process_time() - began_cpu)
            board.append(taken.board.took_s)
            idle.append(taken.board.idle_s / taken.board.took_s)
            count = len(taken.board.times)
            assert taken.turn.number == LATEST
            assert not taken.board.failures, taken.board.failures
            if number < samples - 1:
                salon.forget_session(name)  # memory is that of one conversation, every time
        own = _own_cpu(salon, taken, samples)
    cuts = statistics.quantiles(whole, n=100) if samples > 1 else whole * 99
    return TurnFigures(
        samples=samples,
        steps_run=count,
        p50_ms=1000 * statistics.median(whole),
        p99_ms=1000 * cuts[98],
        board_ms=1000 * statistics.median(board),
        direct_ms=1000 * statistics.median(direct),
        idle_share=statistics.median(idle),
        own_ms=1000 * own,
        own_share=own / statistics.median(cpu_direct),
        write_ms=1000 * statistics.median(a - b for a, b in zip(whole, board, strict=True)),
        cpu_ms=1000 * statistics.median(cpu),
    )


def _direct(salon: Salon, session: str, message: str, times: list[float]) -> float:
    """Call the steps that are due one after another; return the processor time."""
    taking, given, past = _inputs(salon, session, message)
    values: dict[str, Any] = {slot.name: value for slot, value in given.items()}

    def see(slot: Any, latest: bool) -> Any:  # noqa: FBT001 - `triggers.Look`
        return look(slot, latest=latest, values=values, past=past)

    began, began_cpu = time.perf_counter(), time.process_time()
    for step in taking.plan.steps:
        if is_due(step.when, LATEST, see):
            view = BoardView(LATEST, declared(step), values, past)
            values[step.writes.name] = step.run(view)
    times.append(time.perf_counter() - began)
    return time.process_time() - began_cpu


def _own_cpu(salon: Salon, taken: TakenTurn, samples: int) -> float:
    """Return the processor time of the board alone: order, threads, checks and recording."""
    steps = [
        replace(step, run=partial(_give, taken.board[step.writes]))
        for step in salon.companion_turns(()).plan.steps
    ]
    found = []
    with Workers() as workers:
        taking = TurnTaking(steps, workers)
        _, given, past = _inputs(salon, taken.turn.session, "How are you?")
        for _ in range(samples):
            began = time.process_time()
            taking.runner.run(LATEST, given=given, past=past)
            found.append(time.process_time() - began)
    return statistics.median(found)


def _give(value: Any, _: View) -> Any:
    return value


def _inputs(salon: Salon, session: str, message: str) -> tuple[Any, dict[Any, Any], Any]:
    state = salon.sessions.get(as_session_id(session))
    memory = salon.memory_of("user")
    incoming = salon.incoming_turn(state, salon.ensure_companion(), message, "user", memory)
    taking = salon.companion_turns(())
    return taking, taking.given(incoming), state.past


# Memory


def measure_memory(home: Path, sessions: int) -> dict[str, float]:
    """Fill a home with sessions of 30 turns, and hold them all in a process of their own."""
    with _opened(home) as salon:
        turns = _talk(salon, "model", LATEST)
        for number in range(sessions):
            _copy(salon, turns, f"copy-{number}")
    return answer_of("bench.turns", "--hold", home, "--sessions", sessions)


def hold(home: Path, sessions: int) -> None:
    """Hold sessions resident, and tell what that takes."""
    with _opened(home) as salon:
        salon.take_turn("warm", SCRIPT[0])  # the embedder and the steps are loaded now
        before = anonymous_mb()
        held = [salon.sessions.get(as_session_id(f"copy-{n}")) for n in range(sessions)]
        assert all(state.number == LATEST and state.past for state in held)
        assert len(salon.sessions) >= min(sessions, 1000)
        del held
        grown = anonymous_mb() - before
        give_answer({"sessions": sessions, "grown_mb": grown, "whole_mb": anonymous_mb()})


# Both


@contextmanager
def _opened(home: Path) -> Iterator[Salon]:
    with Salon(load_settings(home=home, environment={})) as salon:
        yield salon


def _talk(salon: Salon, session: str, turns: int) -> list[Turn]:
    for number in range(turns):
        salon.take_turn(session, SCRIPT[number % len(SCRIPT)])
    return list(walk_turns(salon.archive, as_session_id(session)))[::-1]


def _copy(salon: Salon, turns: list[Turn], name: str) -> None:
    """Write the turns of a session again under another name, in one transaction."""
    session = as_session_id(name)
    handle = session_handle(session)

    def write(tx: ArchiveTransaction) -> None:
        previous = None
        for turn in turns:
            at = instant(salon.clock.now())
            card = tx.add(turn_to_json(replace(turn, session=session, previous=previous, at=at)))
            tx.set_handle(handle, card.hash)
            previous = card.hash

    salon.archive.write(write)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.turns", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--samples", type=int, default=100, help="turns that are timed")
    parser.add_argument("--sessions", type=int, default=1000, help="sessions held resident")
    parser.add_argument("--hold", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.hold is not None:
        hold(given.hold, given.sessions)
        return
    with tempfile.TemporaryDirectory(prefix="salon-turns-") as folder:
        figures = measure_turns(Path(folder) / "turns", given.samples)
        memory = measure_memory(Path(folder) / "memory", given.sessions)
    if given.json:
        sys.stdout.write(json.dumps({"turn": asdict(figures), "memory": memory}) + "\n")
        return
    sys.stdout.write(_table(figures, memory))


def _table(figures: TurnFigures, memory: dict[str, float]) -> str:
    rows = [
        (
            f"turn {LATEST}, {figures.steps_run} steps due, p50",
            f"{figures.p50_ms:.1f} ms",
            "< 60 ms",
        ),
        ("the same, p99", f"{figures.p99_ms:.1f} ms", "< 200 ms"),
        ("processor time of that turn, median", f"{figures.cpu_ms:.1f} ms", ""),
        ("of it on the board", f"{figures.board_ms:.1f} ms", ""),
        ("the same steps called directly", f"{figures.direct_ms:.1f} ms", ""),
        ("session, record, audit, events", f"{figures.write_ms:.1f} ms", ""),
        ("board's time in which no step runs", f"{figures.idle_share:.1%}", "< 5 %"),
        ("processor time of the board itself", f"{figures.own_ms:.2f} ms", ""),
        ("that, of the steps' own", f"{figures.own_share:.1%}", "< 5 %"),
        (
            f"{memory['sessions']:,.0f} sessions of {LATEST} turns resident",
            f"{memory['grown_mb']:,.0f} MB",
            "< 1,000 MB",
        ),
        ("that whole process, embedder included", f"{memory['whole_mb']:,.0f} MB", ""),
    ]
    lines = [f"{what:44} {value:>12}  {limit}".rstrip() for what, value, limit in rows]
    return "\n".join([f"{figures.samples} turns timed", *lines]) + "\n"


if __name__ == "__main__":
    main()
