"""Five hostile seats at once: no sequence publishes without consensus or changes what was voted on.

`COUNCIL_EXAMPLES=500 COUNCIL_STEPS=100` searches longer.
"""

from contextlib import suppress

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from salon.core.errors import SalonError
from tests.council.hostile import ACTS, EXAMPLES, STEPS, Act, Arena, Died

SEATS = st.integers(0, 31) | st.just(31)
GRADES = st.sampled_from(((9, 9, 9), (9, 9, 9), (7, 7, 8), (8, 8, 8), (10, 10, 4)))


class HostileSeats(RuleBasedStateMachine):
    """Seats that try anything, on two rounds, through desks that crash and overtake each other."""

    def __init__(self) -> None:
        super().__init__()
        self.arena = Arena()
        self.done: list[Act] = []

    def teardown(self) -> None:
        faults = list(self.arena.last_faults())
        self.arena.close()
        assert faults == []

    @initialize(played=st.tuples(st.integers(0, 5), st.sampled_from((0, 3, 3, 4, 5))))
    def some_phases_are_played(self, played: tuple[int, int]) -> None:
        for topic, phases in enumerate(played):
            for _ in range(phases):
                self.arena.do_what_is_due(topic, (9, 9, 9), 31, tied=topic == 1)

    @rule(act=ACTS)
    def one_tries_something(self, act: Act) -> None:
        self._try(act)

    @rule(acts=st.lists(ACTS, min_size=3, max_size=6))
    def somebody_floods(self, acts: list[Act]) -> None:
        for act in acts:
            self._try(act)

    @rule(number=st.integers(0, 50))
    def somebody_replays(self, number: int) -> None:
        if self.done:
            self._try(self.done[number % len(self.done)])

    @rule(first=ACTS, second=ACTS)
    def one_overtakes_another(self, first: Act, second: Act) -> None:
        other = self.arena.council.new_desk()

        def overtake() -> None:
            with suppress(SalonError):
                self.arena.carry_out(second, other)

        self.arena.crash.before = overtake
        with suppress(SalonError):
            self.arena.carry_out(first)
        self.arena.crash.before = None

    @rule(act=ACTS, dies=st.sampled_from(("before", "after")))
    def the_process_dies_in_an_act(self, act: Act, dies: str) -> None:
        self.arena.crash.dies = dies
        with suppress(SalonError, Died):
            self.arena.carry_out(act)
        self.arena.archive.close()
        self.arena.reopen()

    @rule(topic=st.integers(0, 1), scores=GRADES, seats=SEATS)
    def some_do_what_is_due(self, topic: int, scores: tuple[int, int, int], seats: int) -> None:
        self.arena.do_what_is_due(topic, scores, seats)

    @invariant()
    def everything_holds(self) -> None:
        assert list(self.arena.faults()) == []

    def _try(self, act: Act) -> None:
        before = self.arena.archive.stats()
        with suppress(SalonError):
            self.arena.carry_out(act)
            self.done.append(act)
            return
        assert self.arena.archive.stats() == before, "a refusal changes nothing"


TestHostileSeats = HostileSeats.TestCase
TestHostileSeats.settings = settings(max_examples=EXAMPLES, stateful_step_count=STEPS)


@pytest.mark.parametrize("scores", [(9, 9, 9), (7, 7, 8)], ids=["agree", "disagree"])
def test_the_arena_itself_reaches_both_ends(scores: tuple[int, int, int]) -> None:
    """What is searched holds rounds that are published and rounds that are not."""
    arena = Arena()
    try:
        for _ in range(20):
            arena.do_what_is_due(0, scores, 31)
            assert list(arena.faults()) == []
        phase = arena.desk.get(arena.rounds[0]).phase
        assert phase == ("published" if scores == (9, 9, 9) else "no_quorum")
        assert list(arena.last_faults()) == []
    finally:
        arena.close()
