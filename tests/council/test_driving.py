"""Driving a round: to its end with anybody's seats, and again after a crash at any point."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.errors import Conflict, ProviderFailed
from salon.core.ids import CountedIds
from salon.council.desk import CouncilDesk
from salon.council.driving import TRIES, RoundEvent, Step, drive
from salon.council.holders import Brief, Graded, Shown
from salon.council.rounds import Phase, Round, Scorecard
from salon.council.seats import Seat
from tests.council.conftest import IN_MEMORY
from tests.council.desks import Council
from tests.council.libraries import NOTHING_TOPIC, TOPIC, Library, library, opened

EVENTS = 116
"""What is reported of an undisturbed round: each is a place where a process may die."""
STEP = 1 if os.environ.get("EVERY_CRASH") else 9
"""`EVERY_CRASH=1` tries all of them."""


@contextmanager
def counted() -> Iterator[Council]:
    """A council that makes the same ids in every run."""
    folder = IN_MEMORY if IN_MEMORY.is_dir() else None
    with (
        TemporaryDirectory(prefix="salon-driving-", dir=folder) as place,
        SqliteArchive(Path(place) / "salon.db") as archive,
    ):
        yield Council(archive, ids=CountedIds())


@pytest.fixture
def council() -> Iterator[Council]:
    with counted() as there:
        yield there


@dataclass(slots=True)
class Told:
    """A holder that does as it is told, and notes what it was asked."""

    council: Council
    seat: Seat
    scores: Callable[[Shown], Scorecard] = lambda _: Scorecard(accuracy=9, depth=9, pedagogy=9)
    failures: int = 0
    """How often it fails before it does anything."""
    malformed: int = 0
    """How often its texts are worthless."""
    asked: list[str] = field(default_factory=list)
    failings: list[int] = field(default_factory=list)

    def draft(self, brief: Brief) -> str:
        return self._text(brief, "draft", 0)

    def review(self, brief: Brief, candidate: Shown) -> str:
        self._note("review")
        return f"seat {self.seat} would add a source"

    def refine(self, brief: Brief) -> str:
        return self._text(brief, "refine", 1)

    def grade(self, brief: Brief, candidate: Shown) -> Graded:
        self._note("grade")
        return Graded(scores=self.scores(candidate), rationale="because of its sources")

    def fuse(self, brief: Brief) -> str:
        return self._text(brief, "fuse", 5)

    def write_soul(self, goal: str, blind_spots: tuple[str, ...], old_soul: str) -> str:
        raise AssertionError("a round asks for no soul")

    def _text(self, brief: Brief, what: str, salt: int) -> str:
        self._note(what)
        self.failings.append(len(brief.failings))
        if self.malformed:
            self.malformed -= 1
            return "# A title\n\n## A section\n\nNobody ever said this sentence anywhere.\n"
        return self.council.draft(Seat.CHAIR if what == "fuse" else self.seat, salt=salt)

    def _note(self, what: str) -> None:
        self.asked.append(what)
        if self.failures:
            self.failures -= 1
            raise ProviderFailed("the server is asleep")


def holders_of(council: Council, **changes: Mapping[str, object]) -> dict[Seat, Told]:
    return {seat: Told(council, seat, **changes.get(seat.name, {})) for seat in Seat}  # type: ignore[arg-type]


def run(
    council: Council, round_: Round, holders: dict[Seat, Told]
) -> tuple[Round, list[RoundEvent]]:
    events: list[RoundEvent] = []
    over = drive(council.desk, round_.id, holders, patience=0, on_event=events.append)
    return over, events


def test_a_round_goes_to_its_end(council: Council) -> None:
    over, events = run(council, council.open(), holders_of(council))
    assert over.phase is Phase.PUBLISHED
    opened_phases = [event.phase for event in events if event.step is Step.PHASE]
    assert opened_phases == [
        Phase.SPRINT,
        Phase.CRITIQUE,
        Phase.REFINEMENT,
        Phase.VOTE,
        Phase.RUNOFF,
        Phase.RATIFICATION,
    ]
    assert events[-1].step is Step.PUBLISHED


def test_everybody_is_asked_exactly_for_what_is_due(council: Council) -> None:
    holders = holders_of(council)
    over, _ = run(council, council.open(), holders)
    authors = {council.desk.get(over.id).candidates[-1].authors}.pop()
    for seat, holder in holders.items():
        assert holder.asked.count("draft") == holder.asked.count("refine") == 1
        assert holder.asked.count("review") == 4
        assert holder.asked.count("grade") == (4 if seat in authors else 5)
        assert holder.asked.count("fuse") == (seat in authors)


def test_a_holder_that_fails_is_asked_again(council: Council) -> None:
    holders = holders_of(council, MINER={"failures": TRIES - 1})
    over, events = run(council, council.open(), holders)
    assert over.phase is Phase.PUBLISHED
    assert over.absences == ()
    failed = [event for event in events if event.step is Step.FAILED]
    assert len(failed) == TRIES - 1
    assert failed[0].detail == "the server is asleep"


def test_a_holder_that_keeps_failing_is_absent_and_the_others_go_on(council: Council) -> None:
    holders = holders_of(council, MINER={"failures": 1_000})
    over, events = run(council, council.open(), holders)
    assert over.phase is Phase.PUBLISHED
    assert {one.seat for one in over.absences} == {Seat.MINER}
    assert over.absences[0].reason == "the server is asleep"
    assert holders[Seat.MINER].asked[:TRIES] == ["draft"] * TRIES
    absent = [event for event in events if event.step is Step.ABSENT]
    assert {event.seat for event in absent} == {Seat.MINER}


def test_a_text_that_is_sent_back_is_written_again_with_what_was_wrong(council: Council) -> None:
    holders = holders_of(council, PROFESSOR={"malformed": 1})
    over, events = run(council, council.open(), holders)
    assert over.phase is Phase.PUBLISHED
    assert holders[Seat.PROFESSOR].failings[:2] == [0, 1]
    (sent_back,) = [event for event in events if event.step is Step.SENT_BACK]
    assert (sent_back.seat, sent_back.work) == (Seat.PROFESSOR, "draft")


def test_whoever_writes_only_worthless_texts_is_absent(council: Council) -> None:
    holders = holders_of(council, PROFESSOR={"malformed": 1_000})
    over, _ = run(council, council.open(), holders)
    assert over.phase is Phase.PUBLISHED
    (absence,) = [one for one in over.absences if one.phase is Phase.SPRINT]
    assert absence.seat is Seat.PROFESSOR
    assert "sent it back" in absence.reason


def test_too_few_voters_end_without_a_quorum(council: Council) -> None:
    asleep = {"failures": 1_000}
    holders = holders_of(council, CHAIR=asleep, MINER=asleep, AUDITOR=asleep)
    over, events = run(council, council.open(), holders)
    assert over.phase is Phase.NO_QUORUM
    assert events[-1].step is Step.NO_QUORUM
    assert events[-1].detail


def test_low_grades_are_tried_again_and_then_end_without_a_quorum(council: Council) -> None:
    low = {"scores": lambda _: Scorecard(accuracy=6, depth=6, pedagogy=6)}
    holders = holders_of(council, **{seat.name: low for seat in Seat})
    over, _ = run(council, council.open(), holders)
    assert over.phase is Phase.NO_QUORUM
    assert over.attempt == council.rules.retries


def test_grades_that_cannot_be_are_a_failure_of_the_seat(council: Council) -> None:
    wild = {"scores": lambda _: Scorecard(accuracy=11, depth=0, pedagogy=6)}
    over, _ = run(council, council.open(), holders_of(council, VIZIER=wild))
    assert over.phase is Phase.PUBLISHED
    assert {one.seat for one in over.absences} == {Seat.VIZIER}
    assert all(vote.seat is not Seat.VIZIER for vote in over.votes)


def test_a_round_that_is_over_is_left_alone(council: Council) -> None:
    holders = holders_of(council)
    over, _ = run(council, council.open(), holders)
    asked = [list(holder.asked) for holder in holders.values()]
    again, events = run(council, over, holders)
    assert again == over
    assert [event.step for event in events] == [Step.PUBLISHED]
    assert asked == [holder.asked for holder in holders.values()]


# Seats outside


def test_a_seat_outside_is_waited_for_and_its_acts_count(council: Council) -> None:
    holders = holders_of(council)
    outside = holders.pop(Seat.AUDITOR)
    round_ = council.open()
    waits: list[float] = []

    def act(seconds: float) -> None:
        """Do what is due, as a client would while the driver sleeps."""
        waits.append(seconds)
        brief = council.desk.brief(Seat.AUDITOR, round_.id)
        for work in brief.due:
            play(council.desk, outside, brief, work)

    events: list[RoundEvent] = []
    over = drive(council.desk, round_.id, holders, patience=60, wait=act, on_event=events.append)
    assert over.phase is Phase.PUBLISHED
    assert over.absences == ()
    assert any(vote.seat is Seat.AUDITOR for vote in over.votes)
    waiting = [event for event in events if event.step is Step.WAITING]
    assert {event.seat for event in waiting} == {Seat.AUDITOR}
    assert waits


def test_a_silent_seat_outside_is_absent_once_patience_has_ended(council: Council) -> None:
    holders = holders_of(council)
    del holders[Seat.VIZIER]
    waits: list[float] = []
    over = drive(council.desk, council.open().id, holders, patience=2.5, wait=waits.append)
    assert over.phase is Phase.PUBLISHED
    assert {one.seat for one in over.absences} == {Seat.VIZIER}
    assert waits[:3] == [1.0, 1.0, 0.5]
    assert "2.5 seconds" in over.absences[0].reason


def play(desk: CouncilDesk, holder: Told, brief: Brief, work: str) -> None:
    """Do one piece of work at the desk, as a client of the skills would."""
    seat = brief.seat
    if brief.phase is Phase.SPRINT:
        desk.submit_candidate(seat, holder.draft(brief), topic_id=brief.topic_id)
    elif brief.phase is Phase.REFINEMENT:
        desk.submit_candidate(seat, holder.refine(brief), topic_id=brief.topic_id)
    elif brief.phase is Phase.CRITIQUE:
        desk.peer_review(seat, work, "more sources, please")
    elif brief.phase is Phase.RUNOFF:
        desk.submit_fusion(seat, brief.collaborators, holder.fuse(brief))
    else:
        desk.cast_vote(seat, work, Scorecard(accuracy=9, depth=9, pedagogy=9), "good")


# Crashes


class Killed(Exception):
    """Stands for a process that dies."""


def killing(at: int) -> Callable[[RoundEvent], None]:
    left = at

    def on_event(_: RoundEvent) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed

    return on_event


@pytest.fixture(scope="module")
def undisturbed() -> tuple[str, list[tuple[str, Scorecard]]]:
    with counted() as there:
        over, events = run(there, there.open(), holders_of(there))
        assert over.published is not None
        assert len(events) == EVENTS
        return there.desk.text(over.published.text), _votes(over)


@pytest.mark.parametrize("at", range(0, EVENTS, STEP))
def test_a_round_killed_at_any_step_ends_with_the_same_chapter(
    at: int, council: Council, undisturbed: tuple[str, list[tuple[str, Scorecard]]]
) -> None:
    round_ = council.open()
    with pytest.raises(Killed):
        drive(council.desk, round_.id, holders_of(council), patience=0, on_event=killing(at))
    council.desk = council.new_desk()
    over, _ = run(council, round_, holders_of(council))
    assert over.published is not None
    assert (council.desk.text(over.published.text), _votes(over)) == undisturbed


def _votes(round_: Round) -> list[tuple[str, Scorecard]]:
    return [(str(vote.seat), vote.scores) for vote in round_.votes]


def test_killed_again_and_again_it_still_ends_and_does_nothing_twice(council: Council) -> None:
    round_ = council.open()
    kills = 0
    while kills < 100:
        try:
            over = drive(
                council.desk,
                round_.id,
                holders_of(council),
                patience=0,
                on_event=killing(30),
            )
            break
        except Killed:
            kills += 1
    assert 2 < kills < 100
    assert over.phase is Phase.PUBLISHED
    acts = [(vote.seat, vote.candidate, vote.attempt) for vote in over.votes]
    assert len(acts) == len(set(acts))
    said = [(one.seat, one.candidate, one.attempt) for one in over.critiques]
    assert len(said) == len(set(said)) == 20


def test_two_drivers_of_one_round_do_no_harm(council: Council) -> None:
    round_ = council.open()
    other = council.new_desk()

    def meddle(event: RoundEvent) -> None:
        if event.step is Step.ASKED and event.work == "draft" and event.seat is Seat.CHAIR:
            other.submit_candidate(
                Seat.CHAIR, council.draft(Seat.CHAIR), topic_id=round_.topic_id, round_id=round_.id
            )

    over = drive(council.desk, round_.id, holders_of(council), patience=0, on_event=meddle)
    assert over.phase is Phase.PUBLISHED
    assert len([one for one in over.candidates if one.authors == (Seat.CHAIR,)]) == 1


def test_a_round_that_waits_for_nobody_and_does_not_move_is_reported(council: Council) -> None:
    class Stuck:
        """A desk on which nothing ever happens."""

        def get(self, round_id: str) -> Round:
            return council.desk.get(round_id)

        def brief(self, seat: Seat, round_id: str) -> Brief:
            return replace(council.desk.brief(seat, round_id), due=())

        def advance(self, round_id: str) -> Round:
            return council.desk.get(round_id)

    with pytest.raises(Conflict, match="waits for nobody"):
        drive(Stuck(), council.open().id, holders_of(council), patience=5)  # type: ignore[arg-type]


# The offline seats, for real


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with library(tmp_path_factory.mktemp("driving")) as there:
        yield there


def test_five_offline_seats_publish_a_chapter_whose_every_sentence_holds(held: Library) -> None:
    desk = held.desk()
    over = drive(desk, opened(desk).id, held.seats(), patience=0)
    assert over.phase is Phase.PUBLISHED
    assert over.published is not None
    text = desk.text(over.published.text)
    candidate = next(one for one in over.candidates if one.id == over.published.candidate)
    assert len(candidate.citations) >= 8
    for cited in candidate.citations:
        said = held.archive.get(cited.hash).content[cited.start : cited.end].decode()
        assert said == cited.quote
        assert said in text


def test_a_topic_without_sources_ends_without_a_quorum_and_says_why(held: Library) -> None:
    desk = held.desk(ids=CountedIds())
    round_ = desk.open(NOTHING_TOPIC, topic_id="nothing", holders=dict.fromkeys(Seat, "offline"))
    over = drive(desk, round_.id, held.seats(), patience=0)
    assert over.phase is Phase.NO_QUORUM
    assert {one.reason for one in over.absences} == {"the archive has nothing on this"}
    assert {one.seat for one in over.absences} == set(Seat)


def test_a_topic_that_is_hardly_covered_is_not_published(held: Library) -> None:
    desk = held.desk()
    topic = "gardens of the valley"
    round_ = desk.open(topic, topic_id="gardens", holders=dict.fromkeys(Seat, "offline"))
    over = drive(desk, round_.id, held.seats(), patience=0)
    assert over.phase is Phase.NO_QUORUM


@pytest.mark.requirement("council/mcard/ten-thousand-documents")
def test_a_round_runs_on_an_archive_of_ten_thousand_documents(tmp_path: Path) -> None:
    with library(tmp_path, embedder="hashing:256", more=9_988) as large:
        assert sum(1 for _ in large.archive.documents()) > 10_000
        desk = large.desk()
        over = drive(desk, opened(desk, TOPIC).id, large.seats(), patience=0)
        assert over.phase is Phase.PUBLISHED
