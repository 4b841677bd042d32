"""The synthesis of what was found, and the room in which experts agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from salon.blackboard.slots import Slot
from salon.blackboard.triggers import Every
from salon.core.absent import Absent
from salon.core.errors import InvalidInput, ProviderFailed
from salon.providers.chat.scripted import ScriptedChat
from salon.steps import discussion
from salon.steps.discussion import SYNTHESIS, Synthesis
from salon.steps.discussion_room import (
    ADVANCE_TOPIC,
    DISCUSSION_ROOM,
    Consensus,
    Proposal,
    discuss,
    discuss_advance,
)
from salon.steps.emotion import EMOTION
from salon.steps.feature_changes import TRANSITIONS, FeatureChanges
from salon.steps.feature_values import FEATURES
from salon.steps.given import CHAT
from salon.steps.matching import MATCHES, Candidate, Matches
from salon.steps.memory_recall import MEMORIES, Memories
from salon.steps.milestones import MILESTONE
from salon.steps.probes import PROBES, Probe, Probes
from salon.steps.relationship import RELATIONSHIP
from salon.steps.scam import SCAM, ScamReading
from tests.steps.findings import features, relationship
from tests.steps.trait_talk import feeling, memory
from tests.steps.views import TurnView

ASK = Probes(
    items=(Probe(feature="interest_music", current_confidence=0.2, probe_question="?", priority=1),)
)


def scam(level: str) -> ScamReading:
    return ScamReading(
        scam_risk_score=0.8,
        scam_warning_level=level,
        scam_patterns=("money_request",),
        spans=(),
    )


def everything() -> dict[Slot[Any], Any]:
    best = Candidate(
        bot_id="mina", name="Mina", score=0.81, shared_dimensions=5, learned_score=Absent("no"),
        prediction_set=("yes",), calibrated=False,
    )  # fmt: skip
    return {
        EMOTION: feeling("joy"),
        SCAM: scam("high"),
        MEMORIES: Memories(items=(memory("I keep bees"),)),
        FEATURES: features(attachment_style="secure"),
        TRANSITIONS: FeatureChanges(
            likely_to_change=("trust_score",), predicted_direction={"trust_score": "+"},
            change_probability={"trust_score": 0.7}, stable_features=(),
        ),
        RELATIONSHIP: relationship(),
        PROBES: ASK,
        MATCHES: Matches(ranked_candidates=(best,), compatibility_scores={"mina": 0.81}),
    }  # fmt: skip


def synthesise(
    given: Mapping[Slot[Any], Any], past: Mapping[Slot[Any], Any] | None = None
) -> Synthesis:
    found = discussion.synthesise(TurnView(discussion.STEP, given, turn=3, past=past))
    assert isinstance(found, Synthesis)
    return found


@pytest.mark.requirement("companion/synthesis/output")
def test_the_synthesis_sums_up_what_was_found_in_one_text() -> None:
    found = synthesise(everything())
    for words in ("joy", "money_request", "I keep bees", "attachment style secure", "trust score",
                  "acquaintance", "interest music", "Mina"):  # fmt: skip
        assert words in found.text
    assert found.unknown == ("milestone_report",)
    assert "milestone" not in found.text


@pytest.mark.requirement("companion/synthesis/output")
def test_what_is_absent_is_left_out_of_the_text_and_named_apart() -> None:
    found = synthesise({EMOTION: feeling("joy"), SCAM: Absent("it failed")})
    assert found.text.count(".") >= 1
    assert "failed" not in found.text
    assert "scam" in found.unknown
    assert "relationship_result" in found.unknown


def test_nothing_found_is_no_synthesis() -> None:
    quiet = {
        SCAM: scam("none"),
        MEMORIES: Memories(),
        FEATURES: features(),
        PROBES: Probes(items=()),
        MATCHES: Matches(ranked_candidates=(), compatibility_scores={}),
        TRANSITIONS: FeatureChanges(
            likely_to_change=(), predicted_direction={}, change_probability={}, stable_features=()
        ),
    }
    view = TurnView(discussion.STEP, quiet, turn=3)
    assert discussion.synthesise(view) == Absent("no step has found anything yet")


def test_earlier_findings_stand_where_this_turn_has_none_but_no_earlier_mood() -> None:
    past = {RELATIONSHIP: [(5, relationship("dating"))]}
    assert "dating" in synthesise({EMOTION: feeling("joy")}, past).text
    with pytest.raises(AssertionError, match="was not declared"):
        TurnView(discussion.STEP, {}).past(EMOTION)


@pytest.mark.requirement("companion/synthesis/reads", "companion/synthesis/trigger")
def test_the_step_reads_the_findings_of_all_other_steps_every_three_turns() -> None:
    names = {getattr(one, "name", "") for one in discussion.STEP.reads}
    found = (EMOTION, SCAM, MEMORIES, FEATURES, TRANSITIONS, RELATIONSHIP, MILESTONE, PROBES)
    assert {one.name for one in (*found, MATCHES)} <= names
    assert discussion.STEP.when == Every(3)
    assert discussion.STEP.writes is SYNTHESIS


# The room


@pytest.mark.requirement("companion/discussion-room/off-by-default")
@pytest.mark.parametrize("given", [{}, {DISCUSSION_ROOM: False}], ids=["unset", "off"])
def test_the_room_is_closed_unless_the_setting_opens_it(given: dict[Slot[Any], Any]) -> None:
    chat = ScriptedChat(["{}"])
    found = synthesise({**everything(), **given, CHAT: chat})
    assert found.consensus == Absent("the discussion room is off")
    assert chat.asked == []


@pytest.mark.requirement("companion/discussion-room/before-writing")
@pytest.mark.parametrize(
    ("changes", "strategy", "decision"),
    [
        ({}, "ask", "caution"),
        ({SCAM: scam("none"), EMOTION: feeling("sadness")}, "engage", "engage"),
        ({SCAM: Absent("no")}, "ask", "engage"),
        ({SCAM: Absent("no"), PROBES: Absent("no")}, "recall", "engage"),
        ({PROBES: Absent("no"), MEMORIES: Absent("no")}, "engage", "caution"),
        ({EMOTION: Absent("no"), SCAM: scam("low"), PROBES: Absent("no")}, "recall", "engage"),
    ],
    ids=["danger", "hurt", "something to ask", "something remembered", "danger alone", "no mood"],
)
def test_three_perspectives_agree_on_how_to_meet_the_person(
    changes: dict[Slot[Any], Any], strategy: str, decision: str
) -> None:
    found = synthesise({**everything(), **changes, DISCUSSION_ROOM: True}).consensus
    assert isinstance(found, Consensus)
    proposals = {one.expert: one.proposal for one in found.votes}
    assert set(proposals) == {"emotional intelligence", "conversation strategy", "safety"}
    assert proposals["conversation strategy"] == strategy
    assert found.decision == decision == found.votes[0].proposal


@dataclass(kw_only=True)
class Seat:
    """An expert who notes when it was asked what."""

    name: str
    weight: float
    says: str
    sure: float
    agrees: Mapping[str, float]
    log: list[str] = field(default_factory=list)

    def propose(self, topic: str) -> Proposal:
        self.log.append(f"{self.name} proposes on {topic}")
        return Proposal(expert=self.name, proposal=self.says, confidence=self.sure)

    def critique(self, topic: str, proposals: Sequence[Proposal]) -> Mapping[str, float]:
        self.log.append(f"{self.name} hears {len(proposals)} on {topic}")
        return self.agrees


@pytest.mark.requirement("companion/discussion-room/propose", "companion/discussion-room/critique")
def test_all_propose_one_after_another_before_anybody_criticises() -> None:
    log: list[str] = []
    seats = [
        Seat(name=name, weight=0.5, says="yes", sure=0.5, agrees={}, log=log) for name in "abc"
    ]
    discuss("tea?", seats)
    assert log == [
        *(f"{name} proposes on tea?" for name in "abc"),
        *(f"{name} hears 3 on tea?" for name in "abc"),
    ]


@pytest.mark.requirement("companion/discussion-room/weighted-vote")
def test_the_score_is_confidence_times_weight_plus_agreement_times_the_critics_weights() -> None:
    found = discuss(
        "tea?",
        [
            Seat(name="a", weight=0.4, says="yes", sure=0.9, agrees={"b": 0.5, "c": 0.25}),
            Seat(name="b", weight=0.3, says="no", sure=0.8, agrees={"a": 0.1, "c": 1.0}),
            Seat(name="c", weight=0.3, says="later", sure=0.2, agrees={"a": 0.2, "b": 5.0}),
        ],
    )
    scores = {one.expert: one.score for one in found.votes}
    assert scores["a"] == pytest.approx(0.9 * 0.4 + 0.1 * 0.3 + 0.2 * 0.3)
    assert scores["b"] == pytest.approx(0.8 * 0.3 + 0.5 * 0.4 + 1.0 * 0.3)
    assert scores["c"] == pytest.approx(0.2 * 0.3 + 0.25 * 0.4 + 1.0 * 0.3)
    assert found.decision == "no"
    assert [one.expert for one in found.votes] == ["b", "c", "a"]


def test_of_equal_scores_the_weightier_expert_decides() -> None:
    found = discuss(
        "tea?",
        [
            Seat(name="a", weight=0.2, says="yes", sure=1.0, agrees={}),
            Seat(name="b", weight=0.4, says="no", sure=0.5, agrees={}),
        ],
    )
    assert found.decision == "no"


@pytest.mark.parametrize("names", ["", "aa"], ids=["nobody", "namesakes"])
def test_a_room_needs_experts_with_different_names(names: str) -> None:
    seats = [Seat(name=name, weight=1, says="yes", sure=1, agrees={}) for name in names]
    with pytest.raises(InvalidInput, match="different names"):
        discuss("tea?", seats)


@pytest.mark.parametrize(
    ("chances", "decision"),
    [
        ({"emotion": 0.8, "values": 0.75, "behaviour": 0.65}, "yes"),
        ({"emotion": 0.2, "values": 0.3, "behaviour": 0.4}, "no"),
        ({"emotion": 0.5, "values": 0.52, "behaviour": 0.9}, "uncertain"),
    ],
)
def test_the_relationships_experts_decide_whether_it_can_advance(
    chances: dict[str, float], decision: str
) -> None:
    found = discuss_advance(relationship("acquaintance", **chances).experts)
    assert (found.topic, found.decision) == (ADVANCE_TOPIC, decision)
    assert {one.expert for one in found.votes} == {"emotion", "values", "behaviour"}


def test_with_a_model_each_expert_criticises_once_and_is_heard() -> None:
    answers = [
        '{"agreement": {"values": 0, "behaviour": 0}}',
        'Well: {"agreement": {"emotion": 1, "behaviour": 0}}',
        '{"agreement": {"emotion": 1, "values": 0}}',
    ]
    chat = ScriptedChat(answers)
    found = discuss_advance(relationship(emotion=0.7, values=0.2, behaviour=0.2).experts, chat)
    assert len(chat.asked) == 3
    assert found.decision == "yes"
    assert found.votes[0].agreement == {"values": 1.0, "behaviour": 1.0}


def test_a_model_that_fails_or_talks_rubbish_leaves_the_rules() -> None:
    views = relationship(emotion=0.8, values=0.75, behaviour=0.65).experts
    chat = ScriptedChat([ProviderFailed("down"), "no idea", '{"agreement": {"emotion": "much"}}'])
    assert discuss_advance(views, chat) == discuss_advance(views)
