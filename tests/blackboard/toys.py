"""Toy slots and steps, and a turn run with them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from salon.blackboard.board import Board
from salon.blackboard.checking import make_plan
from salon.blackboard.running import Runner
from salon.blackboard.slots import Dated, Given, Slot
from salon.blackboard.steps import Step, View
from salon.blackboard.triggers import EVERY_TURN, Trigger
from salon.blackboard.workers import Workers
from salon.core.absent import Absent

MESSAGE = Given("message", str)
NOBODY = Absent("nobody said")


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """A toy value: a number, names, shares, and something that may not be known."""

    grams: float
    labels: tuple[str, ...] = ()
    shares: dict[str, float | None] | None = None
    owner: str | Absent = NOBODY


WEIGHT = Slot("weight", Weight)
WORDS = Slot("words", int)
LOUD = Slot("loud", str)


def step(
    name: str,
    writes: Slot[Any],
    run: Callable[[View], Any],
    *,
    reads: tuple[Any, ...] = (),
    when: Trigger = EVERY_TURN,
    timeout_s: float = 5.0,
) -> Step[Any]:
    return Step(
        name=name,
        about=f"toy {name}",
        reads=reads,
        writes=writes,
        run=run,
        when=when,
        timeout_s=timeout_s,
    )


def says(value: Any) -> Callable[[View], Any]:
    return lambda _: value


def count_words(view: View) -> int | Absent:
    message = view[MESSAGE]
    return message if isinstance(message, Absent) else len(message.split())


def shout(view: View) -> str:
    return f"{view[MESSAGE]}! ({view[WORDS]} words)".upper()


COUNTING = step("counting", WORDS, count_words, reads=(MESSAGE,))
SHOUTING = step("shouting", LOUD, shout, reads=(MESSAGE, WORDS))


@contextmanager
def runner_of(*steps: Step[Any], given: tuple[Slot[Any], ...] = (MESSAGE,)) -> Iterator[Runner]:
    with Workers() as workers:
        yield Runner(make_plan(steps, given=given), workers)


def run(
    *steps: Step[Any],
    turn: int = 1,
    message: str = "good morning",
    past: Mapping[str, tuple[Dated[Any], ...]] | None = None,
) -> Board:
    with runner_of(*steps) as runner:
        return runner.run(turn, given={MESSAGE: message}, past=past or {})
