"""The reports of turns 10 and 30."""

from dataclasses import replace

import pytest
from pydantic import TypeAdapter

from salon.blackboard.slots import Dated, Past
from salon.blackboard.triggers import AtTurns
from salon.blackboard.view import BoardView, declared
from salon.core.absent import Absent
from salon.steps.feature_list import NAMES, STATUSES
from salon.steps.features import FEATURES
from salon.steps.given import CHAT
from salon.steps.milestone_reports import (
    Material,
    convergence,
    efficiency,
    memory_contribution,
    report_at,
    score_prediction,
    sentiment_trend,
    trajectory,
)
from salon.steps.milestones import MILESTONE, STEP, MilestoneReport, TrustTrajectory, by_turn
from salon.steps.relationship import RELATIONSHIP
from tests.steps.trait_talk import Talk, feeling, memory

JOY = feeling("joy", 0.8)


def _talk(**more: object) -> Talk:
    talk = Talk()
    talk.say("I'm 29 and I'm vegan.", **more)  # type: ignore[arg-type]
    talk.until(30, "Thank you, I love hiking.", felt=JOY, **more)
    return talk


def _reports(talk: Talk) -> tuple[MilestoneReport, MilestoneReport]:
    first, last = talk.boards[9][MILESTONE], talk.boards[29][MILESTONE]
    assert not isinstance(first, Absent)
    assert not isinstance(last, Absent)
    return first, last


@pytest.mark.requirement("companion/milestones/trigger", "companion/milestones/kept-by-turn")
def test_it_runs_at_10_and_30_and_each_report_is_kept_under_its_turn() -> None:
    assert STEP.when == AtTurns((10, 30))
    talk = _talk()
    talk.until(33)
    kept = by_turn(talk.past[MILESTONE.name])
    assert list(kept) == [10, 30]
    assert kept[10].turn == 10
    assert kept[30].turn == 30


@pytest.mark.requirement("companion/milestones/reads", "companion/milestones/statistics-only")
def test_it_reads_features_and_snapshots_with_their_history_and_no_model() -> None:
    slots = {one.slot if isinstance(one, Past) else one for one in STEP.reads}
    assert {FEATURES, RELATIONSHIP} <= slots
    assert {Past(FEATURES), Past(RELATIONSHIP)} <= set(STEP.reads)
    assert CHAT not in slots


@pytest.mark.requirement("companion/milestones/turn-10")
def test_turn_10_says_where_it_stands_and_what_turn_30_will_find() -> None:
    first, _ = _reports(_talk())
    assert first.current_status in STATUSES
    assert isinstance(first.predicted_status_probs, dict)
    assert sum(first.predicted_status_probs.values()) == pytest.approx(1)
    assert first.predicted_status_at_30 in STATUSES
    assert first.confidence == max(first.predicted_status_probs.values())
    assert isinstance(first.confidence, float)
    assert first.sentiment_trend in {"improving", "declining", "stable"}
    assert isinstance(first.trust_level, float)
    assert isinstance(first.final_status, Absent)


@pytest.mark.requirement("companion/milestones/turn-30")
def test_turn_30_has_every_field_with_something_in_it() -> None:
    talk = _talk()
    _, last = _reports(talk)
    assert last.final_status == talk.latest(RELATIONSHIP).rel_status
    for name in (
        "prediction_accuracy",
        "conformal_efficiency",
        "label_space_share",
        "memory_contribution",
        "feature_convergence",
        "trust_trajectory_analysis",
    ):
        assert not isinstance(getattr(last, name), Absent), name
    assert isinstance(last.predicted_status_at_30, Absent)


@pytest.mark.requirement("companion/milestones/prediction-accuracy")
def test_the_prediction_is_scored_by_what_came_true() -> None:
    talk = _talk()
    first, last = _reports(talk)
    assert isinstance(first.predicted_status_probs, dict)
    brier = sum(
        (share - (name == last.final_status)) ** 2
        for name, share in first.predicted_status_probs.items()
    )
    assert last.prediction_accuracy == pytest.approx(1 - brier / 2, abs=1e-6)
    sure = replace(first, predicted_status_probs={**dict.fromkeys(STATUSES, 0.0), "crush": 1.0})
    assert score_prediction(sure, "crush") == 1.0
    assert score_prediction(sure, "stranger") == 0.0
    assert isinstance(score_prediction(None, "crush"), Absent)


@pytest.mark.requirement("companion/milestones/conformal-efficiency")
def test_efficiency_is_the_mean_size_of_the_sets() -> None:
    talk = _talk()
    features = talk.latest(FEATURES)
    sets = features.conformal_result.prediction_sets
    size, part = efficiency(features)
    assert size == pytest.approx(sum(map(len, sets.values())) / len(sets), abs=1e-6)
    assert part == 1.0, "nothing is calibrated, so every set is whole"
    assert _reports(talk)[1].conformal_efficiency == size


@pytest.mark.requirement("companion/milestones/memory-contribution")
def test_memory_is_worth_what_is_lost_without_it() -> None:
    without = _reports(_talk())[1].memory_contribution
    talk = _talk(recalled=(memory("I'm a heavy smoker"), memory("I love jazz")))
    with_memory = _reports(talk)[1].memory_contribution
    assert without == 0.0
    assert isinstance(with_memory, float)
    assert with_memory > 0
    history = talk.past[FEATURES.name]
    assert memory_contribution(history) == with_memory
    assert memory_contribution(()) == 0.0


@pytest.mark.requirement("companion/milestones/feature-convergence")
def test_what_has_settled_is_told_from_what_moves_and_what_was_never_seen() -> None:
    found = convergence(_talk().past[FEATURES.name])
    assert set(found) == set(NAMES)
    assert found["age"].settled
    assert found["lifestyle_diet"].settled
    assert found["lifestyle_diet"].recent_change == 0.0
    assert not found["lifestyle_smokes"].settled
    assert found["lifestyle_smokes"].updates == 0
    assert isinstance(found["lifestyle_smokes"].recent_change, Absent)
    changed = Talk()
    changed.until(6, "I'm vegan.")
    changed.until(9, "I eat everything.")
    assert convergence(changed.past[FEATURES.name])["lifestyle_diet"].recent_change == 1.0


@pytest.mark.requirement("companion/milestones/trust-trajectory")
def test_the_course_of_trust_has_a_slope_and_turning_points() -> None:
    talk = Talk()
    talk.until(9, "Thank you, that means a lot.", felt=JOY)
    talk.until(18, "Leave me alone.", felt=feeling("anger", -0.8))
    found = trajectory(talk.past[FEATURES.name])
    assert isinstance(found, TrustTrajectory)
    assert found.turning_points == (9,)
    assert found.highest > found.start
    assert found.end < found.highest
    assert found.direction == "falling"
    rising = trajectory(_talk().past[FEATURES.name])
    assert isinstance(rising, TrustTrajectory)
    assert rising.slope > 0
    assert rising.direction == "rising"
    assert isinstance(trajectory(()), Absent)
    once = Dated(turn=3, value=replace(talk.latest(FEATURES)))
    state = replace(once.value.state, trust_history=(0.5,))
    level = trajectory((Dated(turn=3, value=replace(once.value, state=state)),))
    assert isinstance(level, TrustTrajectory)
    assert level.direction == "level"


def test_the_trend_of_feelings_compares_five_with_the_five_before() -> None:
    sad = feeling("sadness", -0.7)
    assert sentiment_trend([sad] * 5 + [JOY] * 5) == "improving"
    assert sentiment_trend([JOY] * 5 + [sad] * 5) == "declining"
    assert sentiment_trend([JOY] * 10) == "stable"
    assert sentiment_trend([JOY]) == "stable"


def test_good_feelings_and_rising_trust_make_the_prediction_bolder() -> None:
    happy, unhappy = Talk(), Talk()
    happy.until(10, "Thank you, that means a lot.", felt=JOY)
    unhappy.until(10, "Whatever.", felt=feeling("sadness", -0.7))
    one, other = happy.boards[9][MILESTONE], unhappy.boards[9][MILESTONE]
    assert isinstance(one, MilestoneReport)
    assert isinstance(other, MilestoneReport)
    assert isinstance(one.predicted_status_probs, dict)
    assert isinstance(other.predicted_status_probs, dict)
    assert one.predicted_status_probs["stranger"] < other.predicted_status_probs["stranger"]


def test_without_features_the_last_report_says_what_it_cannot_say() -> None:
    shares = {**dict.fromkeys(STATUSES, 0.0), "crush": 1.0}
    material = Material(features=(), emotions=(), status="crush", status_probs=shares, trust=0.5)
    last = report_at(30, material)
    assert last is not None
    assert isinstance(last.memory_contribution, Absent)
    assert isinstance(last.feature_convergence, Absent)
    assert report_at(11, material) is None


def test_where_the_relationship_was_never_read_there_is_no_report() -> None:
    found = STEP.run(BoardView(10, declared(STEP), {}, {}))
    assert isinstance(found, Absent)
    assert "relationship" in found.reason


def test_where_only_an_earlier_reading_is_there_the_report_stands_on_it() -> None:
    talk = Talk()
    talk.until(9)
    found = STEP.run(BoardView(10, declared(STEP), {}, talk.past))
    assert isinstance(found, MilestoneReport)
    assert found.current_status == talk.latest(RELATIONSHIP).rel_status
    late = STEP.run(BoardView(11, declared(STEP), {}, talk.past))
    assert isinstance(late, Absent)


def test_a_report_survives_being_written_down() -> None:
    adapter = TypeAdapter(MilestoneReport)
    for one in _reports(_talk()):
        assert adapter.validate_json(adapter.dump_json(one)) == one
