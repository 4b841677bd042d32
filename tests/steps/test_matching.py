"""Matching: 42 dimensions, a cosine over what both have, and candidates as files."""

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from salon.blackboard.triggers import AnyOf, AtTurns, Every
from salon.core.absent import Absent
from salon.core.errors import InvalidProfile
from salon.steps.feature_list import NAMES
from salon.steps.match_model import load_match_model, pair_values
from salon.steps.match_profiles import (
    candidate_schema,
    read_candidate,
    read_candidates,
    schema_text,
    shipped_candidates,
)
from salon.steps.match_vector import GOALS, TALK, compare, cosine, person_vector
from salon.steps.matching import MATCHES, STEP, Matches, rank
from tests.steps.trait_talk import Talk

MINA = next(one for one in shipped_candidates() if one.bot_id == "mina")


def _mina(**changes: object) -> str:
    raw = json.loads(MINA.model_dump_json(exclude_none=True))
    raw["features"].update(changes)
    return json.dumps(raw)


@pytest.mark.requirement("companion/matching/trigger")
def test_it_runs_at_the_start_and_every_tenth_turn() -> None:
    assert STEP.when == AnyOf((AtTurns((1,)), Every(10)))
    talk = Talk()
    talk.until(20)
    ran = [board.turn for board in talk.boards if not isinstance(board[MATCHES], Absent)]
    assert ran == [1, 10, 20]


@pytest.mark.requirement("companion/matching/vector")
def test_a_person_has_a_vector_of_42_dimensions() -> None:
    vector = person_vector({"age": 49.0, "lifestyle_diet": "vegan", "trust_history": (0.2, 0.4)})
    assert len(vector.values) == len(vector.known) == len(NAMES) == 42
    known = {name: value for name, value, is_known in zip(NAMES, *vector, strict=True) if is_known}
    assert known == pytest.approx({"age": 0.0, "lifestyle_diet": 1.0, "trust_history": -0.4})
    assert person_vector({"trust_velocity": -3.0, "trust_history": ()}).values[36] == -1.0


@pytest.mark.requirement("companion/matching/cosine")
def test_the_score_is_the_cosine_over_what_both_have() -> None:
    person = {"interest_music": 0.9, "interest_books": 0.2, "age": 30.0}
    candidate = {"interest_music": 0.7, "interest_books": 0.4}
    found = compare(person, candidate)
    expected = (0.8 * 0.4 + -0.6 * -0.2) / ((0.64 + 0.36) ** 0.5 * (0.16 + 0.04) ** 0.5)
    assert found.cosine == pytest.approx(expected, abs=1e-6)
    assert found.shared == 2, "age is masked: the candidate has none"
    assert compare(person, person).cosine == 1.0
    assert compare({}, candidate) == (0.0, 0)
    middle = {"interest_music": 0.5}
    assert cosine(person_vector(middle), person_vector(middle)).cosine == 0.0


def test_options_without_an_order_agree_as_the_tables_say() -> None:
    style = {"communication_style": "humorous"}
    assert compare(style, {"communication_style": "casual"}).cosine == 1.0
    assert compare(style, {"communication_style": "formal"}).cosine == -1.0
    assert compare({}, style) == (0.0, 0), "nothing is known of the person"
    assert len(TALK) == 21
    assert len(GOALS) == 10
    same = {"lifestyle_diet": "vegan"}
    assert compare(same, {"lifestyle_diet": "other"}).cosine == -1.0
    ordered = {"lifestyle_drinks": "not_at_all"}
    assert compare(ordered, {"lifestyle_drinks": "rarely"}).cosine == 1.0


@pytest.mark.requirement("companion/matching/output")
def test_candidates_come_in_falling_order_with_a_number_for_each() -> None:
    talk = Talk()
    talk.say("I love music and I love painting.")
    talk.say("I'm creative and I'm messy.")
    talk.until(10, "I'm 27 and vegan.")
    found = talk.latest(MATCHES)
    scores = [one.score for one in found.ranked_candidates]
    assert scores == sorted(scores, reverse=True)
    assert set(found.compatibility_scores) == {one.bot_id for one in shipped_candidates()}
    assert found.ranked_candidates[0].bot_id == "vera"
    assert found.ranked_candidates[0].shared_dimensions > 4
    assert all(-1 <= one <= 1 for one in scores)
    assert all(not one.calibrated for one in found.ranked_candidates)


def test_at_the_start_nothing_is_known_and_that_is_said() -> None:
    talk = Talk()
    talk.say("Hello.")
    found = talk.latest(MATCHES)
    assert set(found.compatibility_scores.values()) == {0.0}
    for one in found.ranked_candidates:
        assert one.shared_dimensions == 0
        assert isinstance(one.learned_score, Absent)


def test_somebody_under_18_is_matched_with_nobody() -> None:
    talk = Talk()
    talk.until(10, "I'm 16.")
    found = talk.boards[-1][MATCHES]
    assert isinstance(found, Absent)
    assert "under 18" in found.reason


@pytest.mark.requirement("companion/matching/candidates")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"bot_id": "x"}', "x.json"),
        (_mina(big_five_openness=7), "big_five_openness"),
        (_mina(age=16), "age"),
        (_mina(communication_style="shouting"), "communication_style"),
        (_mina(shoe_size=44), "shoe_size"),
        (_mina(trust_score=0.5), "trust_score"),
    ],
    ids=["empty", "too large", "too young", "unknown option", "unknown feature", "of the talk"],
)
def test_a_candidate_that_cannot_be_compared_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(InvalidProfile, match=r"x\.json") as caught:
        read_candidate(text, "x.json")
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["interest_music", "big_five_neuroticism", "communication_style"])
def test_what_the_vector_needs_cannot_be_left_out(name: str) -> None:
    raw = json.loads(_mina())
    del raw["features"][name]
    with pytest.raises(InvalidProfile, match=name):
        read_candidate(json.dumps(raw), "mina.json")


def test_two_candidates_with_one_id_are_refused(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(_mina())
    (tmp_path / "notes.txt").write_text("not a profile")
    with pytest.raises(InvalidProfile, match="mina"):
        read_candidates(tmp_path)
    (tmp_path / "b.json").unlink()
    assert [one.bot_id for one in read_candidates(tmp_path)] == ["mina"]


def test_there_are_at_least_six_candidates_and_each_says_that_it_is_invented() -> None:
    assert len(shipped_candidates()) >= 6
    assert all(one.is_invented for one in shipped_candidates())
    schema = candidate_schema()
    assert set(schema["required"]) >= {"bot_id", "features", "is_invented"}  # type: ignore[call-overload]
    assert json.loads(schema_text()) == schema


def test_the_learned_score_is_a_probability_and_the_same_both_ways() -> None:
    one, other = {"age": 25.0, "interest_arts": 0.9}, {"age": 30.0, "interest_arts": 0.8}
    model = load_match_model()
    score = model.probability(pair_values(one, other))
    assert 0 < score < 1
    assert score == model.probability(pair_values(other, one))
    unknown = model.probability(pair_values({}, {}))
    assert unknown == pytest.approx(0.165, abs=0.05), "about as often as anybody matched"
    older = model.probability(pair_values(one, {**other, "age": 42.0}))
    assert older < score


def test_ranking_is_stable_and_survives_being_written_down() -> None:
    found = rank({"interest_music": 0.9, "age": 31.0}, shipped_candidates())
    adapter = TypeAdapter(Matches)
    assert adapter.validate_json(adapter.dump_json(found)) == found
    assert found == rank({"interest_music": 0.9, "age": 31.0}, shipped_candidates()[::-1])
