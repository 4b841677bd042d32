"""Any seat acts, anybody looks, time passes and processes restart: souls do what a model says."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.errors import LimitReached, NotAllowed
from salon.core.ids import CountedIds
from salon.council.rounds import Verdict
from salon.council.rules import CouncilRules
from salon.council.seats import Seat
from salon.council.soul_keeping import SoulKeeper
from salon.council.souls import MOST_SUBMISSIONS, Stage
from tests.council.clocks import START, MovableClock
from tests.council.made_rounds import finished_round, keep

HOUR = timedelta(hours=1)
RULES = CouncilRules(evolve_every=1, probation=0, evolve_patience_s=HOUR.total_seconds())


@dataclass
class Model:
    """What must be so, told without any of the code that makes it so."""

    stage: Stage = Stage.SETTLED
    subject: Seat | None = None
    due: datetime = START
    votes: dict[Seat, Verdict] = field(default_factory=dict)
    said: dict[Seat, str] = field(default_factory=dict)
    times: dict[Seat, int] = field(default_factory=dict)
    is_late: bool = False
    absent: set[Seat] = field(default_factory=set)
    graves: int = 0
    births: int = 0
    moves: int = 1
    """The souls were laid down."""

    @property
    def survivors(self) -> set[Seat]:
        return set(Seat) - {self.subject}

    def time_passes(self, now: datetime) -> None:
        if self.stage is Stage.SETTLED or self.is_late or now < self.due:
            return
        self.moves += 1
        if self.stage is Stage.VOTING:
            self.absent = self.survivors - set(self.votes)
            self.stage, self.subject = Stage.SETTLED, None
            return
        self.absent = self.survivors - set(self.said)
        self.is_late = True
        self.be_born_if_agreed()

    def vote(self, seat: Seat, verdict: Verdict, now: datetime) -> bool:
        if self.stage is not Stage.VOTING or seat not in self.survivors - set(self.votes):
            return False
        self.moves += 1
        self.votes[seat] = verdict
        if verdict is Verdict.DOWN:
            self.stage, self.subject = Stage.SETTLED, None
        elif len(self.votes) == 4:
            self.stage, self.due, self.graves = Stage.VACANT, now + HOUR, self.graves + 1
        return True

    def write(self, seat: Seat, text: str) -> bool:
        if self.stage is not Stage.VACANT or seat is self.subject:
            return False
        if self.said.get(seat) == text:
            return True
        if self.times.get(seat, 0) >= MOST_SUBMISSIONS:
            return False
        self.moves += 1
        self.times[seat] = self.times.get(seat, 0) + 1
        self.said[seat] = text
        self.absent.discard(seat)
        self.be_born_if_agreed()
        return True

    def be_born_if_agreed(self) -> None:
        said = list(self.said.values())
        if any(said.count(one) >= (3 if self.is_late else 4) for one in said):
            self.stage, self.subject = Stage.SETTLED, None
            self.births += 1


class SoulsAndTime(RuleBasedStateMachine):
    """The keeper beside the model."""

    def __init__(self) -> None:
        super().__init__()
        self.archive = SqliteArchive.temporary()
        self.clock = MovableClock()
        self.model = Model()
        self.rounds = 0
        self.restart()

    def teardown(self) -> None:
        self.archive.close()

    @initialize()
    def first_look(self) -> None:
        self.keeper.state()

    @rule()
    def restart(self) -> None:
        # Another process: nothing is left but the archive and the time of day.
        self.clock = MovableClock(self.clock.moment)
        self.keeper = SoulKeeper(self.archive, clock=self.clock, ids=CountedIds(), rules=RULES)

    @rule(minutes=st.sampled_from([1, 29, 31, 60, 600]))
    def wait(self, minutes: int) -> None:
        self.clock.forward(minutes=minutes)

    @rule()
    def look(self) -> None:
        self.model.time_passes(self.clock.moment)
        assert self.keeper.settle() == self.keeper.state()

    @rule()
    def review(self) -> None:
        self.rounds += 1
        keep(self.archive, finished_round(self.rounds))
        self.model.time_passes(self.clock.moment)
        opened = self.keeper.open_retirement()
        assert (opened is not None) == (self.model.stage is Stage.SETTLED)
        if opened is not None:
            before = self.model
            self.model = Model(
                stage=Stage.VOTING,
                subject=opened.subject,
                due=self.clock.moment + HOUR,
                graves=before.graves,
                births=before.births,
                moves=before.moves + 1,
            )

    @rule(seat=st.sampled_from(Seat), verdict=st.sampled_from([Verdict.UP] * 5 + [Verdict.DOWN]))
    def vote(self, seat: Seat, verdict: Verdict) -> None:
        self.model.time_passes(self.clock.moment)
        is_taken = self.model.vote(seat, verdict, self.clock.moment)
        try:
            self.keeper.vote_retirement(seat, verdict)
        except NotAllowed:
            assert not is_taken
        else:
            assert is_taken

    @rule()
    def all_say_up(self) -> None:
        for seat in Seat:
            self.vote(seat, Verdict.UP)

    @rule(seat=st.sampled_from(Seat), text=st.sampled_from(["a", "a", "b"]))
    def write(self, seat: Seat, text: str) -> None:
        self.model.time_passes(self.clock.moment)
        text = f"{text}, number {self.model.graves}\n"
        is_taken = self.model.write(seat, text)
        try:
            self.keeper.synthesize(seat, system_prompt_content=text)
        except (NotAllowed, LimitReached):
            assert not is_taken
        else:
            assert is_taken

    @invariant()
    def nothing_is_lost_and_nothing_counts_twice(self) -> None:
        state, model = self.keeper.state(), self.model
        assert (state.stage, state.subject) == (model.stage, model.subject)
        assert {one.seat: one.verdict for one in state.votes} == model.votes
        assert len(state.votes) == len(model.votes)
        assert {one.seat for one in state.absences} == model.absent
        assert len(self.keeper.graveyard()) == model.graves
        assert sum(state.versions.values()) == 5 + model.births
        noted = [one for one in self.archive.audit_entries() if one.body["kind"] == "council_moved"]
        assert len(noted) == model.moves

    @invariant()
    def every_soul_is_where_the_state_says(self) -> None:
        active = {one.name: one.current for one in self.archive.handles(prefix="souls/active/")}
        souls = self.keeper.state().souls
        assert active == {f"souls/active/{seat}": card for seat, card in souls.items()}
        assert set(Seat) - set(souls) == {self.keeper.state().vacant} - {None}


TestSoulsAndTime = SoulsAndTime.TestCase
TestSoulsAndTime.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
