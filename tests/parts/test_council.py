"""The council as the application has it: who sits where, driving, resuming, looking back."""

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from salon.app import Salon
from salon.core.clock import parse_instant
from salon.core.errors import InvalidInput, NotAllowed, NotFound, RoundNotFound
from salon.council.driving import RoundEvent, Step
from salon.council.rounds import Phase, Round, Verdict
from salon.council.seats import Seat
from salon.council.soul_cards import EVOLUTION, EVOLUTION_CARD
from salon.parts.council_driving import RoundIsDriven, RoundLeft
from salon.settings import Settings, load_settings
from salon.settings.council import CouncilSettings
from tests.parts.council_homes import (
    FOG,
    GOOD,
    PAST,
    POOR,
    TOPIC,
    TOPIC_ID,
    act,
    copied,
    make_council_home,
    play_by_hand,
    propose_retirement,
    vacate,
)
from tests.parts.council_scripts import write_script

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A home with documents and no round."""
    return make_council_home(tmp_path_factory.mktemp("council") / "filled")


@pytest.fixture(scope="module")
def played(filled: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A home with a round that was published and one that was not."""
    settings = copied(filled, tmp_path_factory.mktemp("council") / "played")
    with Salon(settings) as salon:
        assert play_by_hand(salon).phase is Phase.PUBLISHED
        assert play_by_hand(salon, POOR, topic=FOG).phase is Phase.NO_QUORUM
    return settings


@pytest.fixture
def salon(filled: Settings, tmp_path: Path) -> Iterator[Salon]:
    with Salon(copied(filled, tmp_path / "home")) as opened:
        yield opened


@pytest.fixture
def past(played: Settings, tmp_path: Path) -> Iterator[Salon]:
    """A home of its own in which both rounds lie in the past."""
    with Salon(copied(played, tmp_path / "home")) as opened:
        yield opened


def published_in(salon: Salon) -> Round:
    return next(one for one in salon.rounds() if one.published is not None)


def unpublished_in(salon: Salon) -> Round:
    return next(one for one in salon.rounds() if one.published is None)


# Who sits where


def test_the_settings_say_who_holds_a_seat(filled: Settings, tmp_path: Path) -> None:
    flags = {"council": {"seat_ii": "outside", "seat_iv": {"holder": "ollama:small"}}}
    with Salon(load_settings(home=tmp_path, environment={}, flags=flags)) as salon:
        opened = salon.open_round("Anything", holders={Seat.VIZIER: "outside"})
    assert opened.holders == {
        "I": "offline",
        "II": "outside",
        "III": "offline",
        "IV": "ollama:small",
        "V": "outside",
    }


@pytest.mark.parametrize("address", ["", "nobody", "ollama", "ollama:", "ghost:x", ":x"])
def test_an_address_that_can_hold_no_seat_is_refused(salon: Salon, address: str) -> None:
    with pytest.raises(InvalidInput, match="can hold no seat"):
        salon.open_round("Anything", holders={Seat.CHAIR: address})
    assert salon.rounds() == []


@pytest.mark.requirement("council/overview/any-holder")
def test_a_model_an_outsider_and_offline_strategies_sit_together(
    filled: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salon.council.driving.POLL_S", 0.1)
    with Salon(copied(filled, tmp_path / "home", council={"retries": 0})) as salon:
        _sit_together(salon, tmp_path)


def _sit_together(salon: Salon, tmp_path: Path) -> None:
    model = write_script(tmp_path / "script.json")
    opened = salon.open_round(TOPIC, holders={Seat.AUDITOR: model, Seat.VIZIER: "outside"})
    acted: dict[Seat, int] = {}

    def hear(event: RoundEvent) -> None:
        if event.step is Step.WAITING:
            act(salon, Seat.VIZIER, opened.id)
        if event.step is Step.ACTED and event.seat:
            acted[event.seat] = acted.get(event.seat, 0) + 1

    over = salon.run_round(opened.id, on_event=hear)
    assert over.is_over
    assert acted[Seat.AUDITOR] >= 3
    assert acted[Seat.CHAIR] >= 3
    authors = {seat for one in over.candidates for seat in one.authors}
    assert {Seat.AUDITOR, Seat.VIZIER} <= authors
    assert {Seat.AUDITOR, Seat.VIZIER, Seat.CHAIR} <= {vote.seat for vote in over.votes}
    assert salon.verify_round(opened.id).holds


# Ends


def test_a_round_is_published_and_can_be_read_and_checked(past: Salon) -> None:
    over = published_in(past)
    chapter = past.chapter(over.id)
    assert chapter.handle == f"completed/{TOPIC_ID}"
    assert chapter.markdown.startswith("# ")
    assert chapter.citations
    assert chapter.record["round"] == over.id
    report = past.verify_round(over.id)
    assert report.holds, report.checks
    ballot = past.ballot(over.id)
    assert all(len(row.votes) == row.voters for row in ballot.rows)
    assert {vote.rationale for row in ballot.rows for vote in row.votes} == {"It is quoted."}
    assert over.id in {one.id for one in past.rounds()}
    assert past.open_rounds() == []
    assert past.round_due(over.id) == {}


def test_a_chapter_is_found_again_as_derived(past: Salon) -> None:
    over = published_in(past)
    assert over.published is not None
    found = past.search("The lamp and the keepers", limit=20).passages
    assert {one.document_id for one in found if one.derived} == {over.published.document}


@pytest.mark.requirement("council/security/no-quorum")
def test_a_round_without_a_quorum_publishes_nothing_and_a_person_is_told(
    filled: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    once = {"council": {"retries": 1}}
    with (
        Salon(copied(filled, tmp_path / "home", **once)) as salon,
        caplog.at_level(logging.WARNING),
    ):
        over = play_by_hand(salon, POOR)
        assert over.phase is Phase.NO_QUORUM
        assert (over.attempt, len(over.reasons)) == (1, 2)
        assert f"{over.id} ended without a quorum" in caplog.text
        assert list(salon.archive.handles(prefix="completed/")) == []
        assert salon.verify_round(over.id).holds
        with pytest.raises(NotFound, match="has published nothing"):
            salon.chapter(over.id)


def test_three_retries_are_the_most_and_the_default() -> None:
    field = CouncilSettings.model_fields["retries"]
    assert field.default == 3
    with pytest.raises(ValueError, match="less than or equal to 3"):
        CouncilSettings.model_validate({"retries": 4})


def test_a_check_of_a_round_finds_what_somebody_changed(past: Salon) -> None:
    over = published_in(past)
    assert over.published is not None
    text = over.published.text
    past.archive.write(lambda tx: tx.delete(text, reason="spite", force=True))
    report = past.verify_round(over.id)
    assert not report.holds
    assert "cannot be read" in "".join(one.reason for one in report.checks)


def test_what_a_round_did_not_publish_may_not_stand_in_completed(past: Salon) -> None:
    over = unpublished_in(past)
    assert past.verify_round(over.id).holds
    text = over.candidates[0].text
    handle = f"completed/{over.topic_id}"
    past.archive.write(lambda tx: tx.set_handle(handle, text), by="somebody")
    report = past.verify_round(over.id)
    assert not report.holds
    assert "leads to its text" in report.checks[-1].reason


# Looking


def test_candidates_are_found_by_their_id_with_or_without_the_round(past: Salon) -> None:
    over = published_in(past)
    one = over.candidates[0]
    whole = past.candidate(over.id, one.id)
    assert whole == past.candidate(over.id, one.id.rpartition(".")[2])
    assert whole.markdown.startswith("# Lamps")
    assert len(whole.critiques) == 4
    assert {text for _, text in whole.critiques} == {"Say when."}
    with pytest.raises(NotFound, match="has no candidate"):
        past.candidate(over.id, "draft_0")
    with pytest.raises(RoundNotFound):
        past.round("round_0")


def test_a_round_counts_its_changes(salon: Salon) -> None:
    opened = salon.open_round(TOPIC, holders=dict.fromkeys(Seat, "outside"))
    first = salon.round_version(opened.id)
    act(salon, Seat.CHAIR, opened.id)
    assert salon.round_version(opened.id) == first + 1
    assert salon.round_due(opened.id) == {
        seat: ("draft",) for seat in Seat if seat is not Seat.CHAIR
    }


def test_outcomes_change_what_votes_weigh(past: Salon) -> None:
    over = published_in(past)
    before = past.ballot(over.id).weights
    assert set(before.values()) == {1.0}
    weights = past.record_outcome(over.id, held=True)
    assert min(weights.values()) > 0
    assert set(weights.values()) != {1.0}
    assert past.ballot(over.id).weights == before, "nothing is weighed by what came of itself"
    later = unpublished_in(past).id
    assert past.ballot(later).weights == {str(seat): value for seat, value in weights.items()}
    assert past.verify_round(over.id).holds
    with pytest.raises(NotAllowed, match="published nothing"):
        past.record_outcome(unpublished_in(past).id, held=False)


def test_souls_are_shown_with_who_holds_the_seat(past: Salon) -> None:
    past.issue_seat_token(Seat.MINER)
    found = {one.seat: one for one in past.souls()}
    assert set(found) == set(Seat)
    miner = found[Seat.MINER]
    assert (miner.title, miner.virtue, miner.holder) == ("Miner", "precision", "offline")
    assert (miner.has_token, found[Seat.CHAIR].has_token) == (True, False)
    assert miner.text
    assert miner.handle == "souls/active/II"
    assert miner.performance["rounds"] == 2
    assert [one["version"] for one in miner.history] == ["1"]


# Driving


def test_a_round_that_was_left_off_goes_on_where_it_stood(
    filled: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salon.council.driving.POLL_S", 0.1)
    settings = copied(filled, tmp_path / "home", council={"retries": 0})
    with Salon(settings) as first:
        opened = first.open_round(TOPIC, holders=dict.fromkeys(Seat, "outside"))
        act(first, Seat.CHAIR, opened.id)
        kept = first.round(opened.id)
    with Salon(settings) as second:
        assert second.round(opened.id) == kept
        assert [one.id for one in second.open_rounds()] == [opened.id]

        def hear(event: RoundEvent) -> None:
            if event.step is Step.WAITING:
                for seat in Seat:
                    act(second, seat, opened.id)

        over = second.run_round(opened.id, on_event=hear)
        assert over.phase is Phase.PUBLISHED
        assert over.candidates[0].authors == kept.candidates[0].authors


def test_two_processes_do_not_drive_the_same_round(salon: Salon) -> None:
    opened = salon.open_round(TOPIC, holders=dict.fromkeys(Seat, "outside"))
    program = (
        "import sys\nfrom pathlib import Path\nfrom salon.app import Salon\n"
        "from salon.settings import load_settings\n"
        "with Salon(load_settings(home=Path(sys.argv[1]), environment={})) as salon:\n"
        "    with salon._drivers.driving(sys.argv[2]):\n"
        "        print('driving', flush=True)\n        sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program, str(salon.settings.home), opened.id]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "driving\n"
        with pytest.raises(RoundIsDriven, match="driven by another process"):
            salon.run_round(opened.id)
        other.communicate("")
    salon.council_desk.mark_absent(opened.id, Seat.CHAIR, "gone")
    over = salon.run_round(opened.id, patience=0.0)
    assert over.phase is Phase.NO_QUORUM


def test_rounds_in_the_background_end_with_the_application_and_go_on_later(
    filled: Settings, tmp_path: Path
) -> None:
    settings = copied(filled, tmp_path / "home")
    with Salon(settings) as first:
        opened = first.open_round(TOPIC, holders=dict.fromkeys(Seat, "outside"))
        assert first.start_round(opened.id)
        assert not first.start_round(opened.id)
        assert first.resume_rounds() == 0
    assert [one for one in threading.enumerate() if one.name.startswith("round ")] == []
    with Salon(settings) as second:
        assert not second.round(opened.id).is_over
        assert second.resume_rounds() == 1
        assert second.resume_rounds() == 0
    with Salon(settings) as third:
        over = third.run_round(opened.id, patience=0.0)
        assert over.phase is Phase.NO_QUORUM
        assert not third.start_round(opened.id)


def test_no_more_rounds_are_driven_at_once_than_there_is_room_for(
    salon: Salon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salon.parts.council_driving.MOST_AT_ONCE", 2)
    for number in range(4):
        salon.open_round(f"Matter {number}", holders=dict.fromkeys(Seat, "outside"))
    assert salon.resume_rounds() == 2
    assert len(salon.open_rounds()) == 4


def test_a_listener_is_told_when_the_application_closes(salon: Salon) -> None:
    opened = salon.open_round(TOPIC, holders=dict.fromkeys(Seat, "outside"))

    def close(_: RoundEvent) -> None:
        salon._drivers.close()

    with pytest.raises(RoundLeft):
        salon.run_round(opened.id, on_event=close)
    assert not salon.round(opened.id).is_over
    assert not salon.start_round(opened.id)


def test_a_failure_in_the_background_is_logged(
    salon: Salon, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    missing = f"scripted:{tmp_path / 'nowhere.json'}"
    opened = salon.open_round(TOPIC, holders=dict.fromkeys(Seat, missing))
    with caplog.at_level(logging.WARNING):
        assert salon.start_round(opened.id)
        salon._drivers.close()
    assert f"round {opened.id} stopped" in caplog.text


# Skills of a seat


def test_a_seat_sees_the_round_in_which_something_is_due(salon: Salon) -> None:
    older = salon.open_round(TOPIC, holders=dict.fromkeys(Seat, "outside"))
    newer = salon.open_round(FOG, holders=dict.fromkeys(Seat, "outside"))
    skills = salon.seat_skills(Seat.CHAIR)
    rounds, brief = skills.brief()
    assert [one.id for one in rounds] == [newer.id, older.id]
    assert brief is not None
    assert brief.round_id == newer.id
    act(salon, Seat.CHAIR, newer.id)
    assert skills.brief()[1].round_id == older.id  # type: ignore[union-attr]
    act(salon, Seat.CHAIR, older.id)
    assert skills.brief()[1].round_id == newer.id  # type: ignore[union-attr]


def test_a_fusion_finds_its_round_by_itself(salon: Salon) -> None:
    opened = salon.open_round(TOPIC, holders=dict.fromkeys(Seat, "outside"))
    with pytest.raises(NotAllowed, match="in no runoff"):
        salon.seat_skills(Seat.CHAIR).submit_fusion(["I", "II"], "# x")
    offline = salon.open_round(FOG)
    with pytest.raises(NotAllowed, match="not held outside"):
        salon.seat_skills(Seat.CHAIR).submit_fusion(["I", "II"], "# x", round_id=offline.id)
    for _ in range(4):
        for seat in Seat:
            act(salon, seat, opened.id)
        salon.council_desk.advance(opened.id)
    assert salon.round(opened.id).phase is Phase.RUNOFF
    (one, other) = salon.round(opened.id).finalists
    authors = [
        str(seat)
        for name in (one, other)
        for seat in salon.round(opened.id).find_candidate(name).authors  # type: ignore[union-attr]
    ]
    text = salon.candidate(opened.id, one).markdown
    fused = salon.seat_skills(Seat(authors[0])).submit_fusion(authors, text)
    assert fused.status == "pending_ratification"
    salon.council_desk.advance(opened.id)
    (voter, *_) = [seat for seat in Seat if str(seat) not in authors]
    counted = salon.seat_skills(voter).cast_vote(
        fused.fusion_id, GOOD, "Both are in it.", verdict=Verdict.UP
    )
    assert counted.current_average == pytest.approx(26 / 3)
    assert not counted.consensus_met


@pytest.mark.requirement("council/synthesize-soul/survivors-only")
def test_without_a_vacancy_no_soul_can_be_written(salon: Salon) -> None:
    skills = salon.seat_skills(Seat.CHAIR)
    assert skills.vacancy() is None
    with pytest.raises(NotAllowed, match="no seat is vacant"):
        skills.synthesize_soul("Be exact.")


def test_survivors_see_the_vacancy_and_write_the_soul_together(salon: Salon) -> None:
    keeper = salon._soul_keeper
    opened = keeper.state()
    assert opened.vacant is None
    vacate(salon, Seat.VIZIER)
    gone = salon.seat_skills(Seat.VIZIER)
    assert gone.vacancy() is None
    with pytest.raises(NotAllowed, match="no say in its own succession"):
        gone.synthesize_soul("Let me stay.")
    survivors = [seat for seat in Seat if seat is not Seat.VIZIER]
    for number, seat in enumerate(survivors):
        skills = salon.seat_skills(seat)
        vacancy = skills.vacancy()
        assert vacancy is not None
        assert vacancy.seat is Seat.VIZIER
        assert [consents for _, consents in vacancy.proposals] == ([number] if number else [])
        made = skills.synthesize_soul("Join distant sources.", goal="Links")
        is_last = seat is survivors[-1]
        assert made.status == ("born" if is_last else "awaiting_survivors")
        assert made.new_soul_path == "souls/active/V"
    shown = {one.seat: one for one in salon.souls()}[Seat.VIZIER]
    assert shown.text == "Join distant sources.\n"
    assert shown.on_probation
    assert [one["version"] for one in shown.history] == ["1", "2"]


# Survivors who stay silent


def test_until_when_survivors_have_time_comes_from_the_settings(
    filled: Settings, tmp_path: Path
) -> None:
    council = {"evolve_patience_s": 90.0, "evolve_every": 1}
    with Salon(copied(filled, tmp_path / "home", council=council)) as salon:
        assert salon.evolution().due_at == ""
        play_by_hand(salon)
        opened = salon._soul_keeper.open_retirement()
        assert opened is not None
        waits = parse_instant(opened.due_at) - parse_instant(opened.touched_at)
        assert waits.total_seconds() == 90
        shown = salon.evolution()
        assert (shown.stage, shown.seat, shown.due_at) == (
            "voting",
            opened.subject,
            opened.due_at,
        )
        assert shown.waiting_for == opened.survivors


def test_a_retirement_out_of_time_has_ended_whoever_looks_first(
    salon: Salon, caplog: pytest.LogCaptureFixture
) -> None:
    propose_retirement(salon, Seat.VIZIER, due_at=PAST)
    shown = salon.evolution()
    assert (shown.stage, shown.seat, shown.waiting_for, shown.to_do) == ("settled", None, (), "")
    assert shown.absent == dict.fromkeys(["I", "II", "III", "IV"], f"nothing came by {PAST}")
    assert shown.ended.startswith("seat V stays: 0 of the 4 Up")
    assert caplog.messages == [f"review_1: {shown.ended}"]
    assert salon.seat_skills(Seat.CHAIR).retirement() is None
    assert salon.evolution() == shown


def test_a_vacancy_out_of_time_is_settled_before_a_round_opens(
    salon: Salon, caplog: pytest.LogCaptureFixture
) -> None:
    vacate(salon, Seat.VIZIER)
    for seat in list(Seat)[:3]:
        salon.seat_skills(seat).synthesize_soul("Join distant sources.")
    state = replace(salon._soul_keeper.state(), due_at=PAST)
    salon.archive.put(EVOLUTION, EVOLUTION_CARD.write(asdict(state)))
    opened = salon.open_round(TOPIC)
    assert Seat.VIZIER in opened.souls, "born before"
    assert opened.on_probation == (Seat.VIZIER,)
    assert salon.evolution().ended == "seat V has a new soul by I, II and III; IV stayed silent"
    assert len(caplog.messages) == 1


def test_a_vacancy_that_stays_open_says_what_to_do_and_the_seats_held_here_can_do_it(
    salon: Salon, caplog: pytest.LogCaptureFixture
) -> None:
    vacate(salon, Seat.VIZIER, due_at=PAST)
    salon.seat_skills(Seat.CHAIR).synthesize_soul("Join distant sources.")
    shown = salon.evolution()
    assert (shown.stage, shown.seat, shown.overdue) == ("vacant", Seat.VIZIER, True)
    assert (shown.consents, shown.consents_needed) == (((Seat.CHAIR,),), 3)
    assert shown.waiting_for == (Seat.MINER, Seat.AUDITOR, Seat.PROFESSOR)
    assert shown.to_do.startswith("have II, III and IV hand in a text with skill_synthesize_soul")
    assert "--seat II=offline" in shown.to_do
    assert caplog.messages == [
        "review_1: seat V is still vacant; `salon council status` says what to do"
    ]
    opened = salon.open_round(TOPIC, holders={Seat.CHAIR: "outside"})
    assert Seat.VIZIER not in opened.souls
    salon.run_round(opened.id, patience=0.0)
    after = salon.evolution()
    assert (after.stage, list(after.absent)) == ("settled", ["IV"])
    assert after.ended == "seat V has a new soul by I, II and III; IV stayed silent"


def test_the_application_leaves_no_lock_behind(salon: Salon) -> None:
    opened = salon.open_round(TOPIC, holders=dict.fromkeys(Seat, "outside"))
    salon.run_round(opened.id, patience=0.0)
    assert list((salon.settings.home / "rounds").iterdir()) == []
