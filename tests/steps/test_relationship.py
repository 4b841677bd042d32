"""The relationship step: five steps, probabilities that are such, and nothing lost in silence."""

import json

import pytest
from pydantic import TypeAdapter

from salon.blackboard.slots import Past
from salon.blackboard.triggers import AnyOf, AtTurns, Every
from salon.blackboard.view import BoardView, declared
from salon.conversation.discussion import Discussion, Utterance
from salon.core.absent import Absent
from salon.core.chat import ChatAnswer, ChatRequest, ChatUsage
from salon.core.errors import ProviderFailed
from salon.steps.emotion import EMOTION, EmotionReading
from salon.steps.feature_list import ADVANCE, REL_TYPES, SENTIMENTS, STATUSES
from salon.steps.features import FEATURES
from salon.steps.memory_recall import MEMORIES
from salon.steps.milestones import MILESTONE
from salon.steps.relationship import (
    RELATIONSHIP,
    STEP,
    RelationshipResult,
    snapshots,
)
from salon.steps.relationship_advance import predict_advance
from salon.steps.relationship_context import MOST_LINES, compress, last_turns, sentiment_of
from salon.steps.relationship_cues import read_cues
from salon.steps.relationship_experts import (
    EXPERTS,
    Situation,
    assess,
    judge_behaviour,
    judge_emotion,
    judge_values,
    pooled,
)
from salon.steps.relationship_status import (
    Evidence,
    closeness,
    outlook,
    status_probabilities,
    transition_row,
    type_probabilities,
)
from tests.steps.trait_talk import BOT, USER_ID, Talk, feeling, memory

JOY = feeling("joy", 0.8)
LOVE = feeling("love", 0.9)
ANGER = feeling("anger", -0.8)


def _evidence(
    *messages: str,
    turn: int = 10,
    trust: float = 0.5,
    sentiment: str = "neutral",
    goals: str | None = None,
    age: float | None = None,
) -> Evidence:
    return Evidence(
        turn=turn, trust=trust, sentiment=sentiment, cues=read_cues(messages), goals=goals, age=age
    )


def _situation(*messages: str, felt: tuple[EmotionReading, ...] = (), **more: float) -> Situation:
    velocity = more.pop("velocity", None)
    return Situation(
        evidence=_evidence(*messages, **more),  # type: ignore[arg-type]
        velocity=velocity,
        emotions=felt,
        messages=messages,
        compressed="person: hello",
    )


@pytest.mark.requirement("companion/relationship/trigger")
def test_it_runs_every_fifth_turn_and_once_at_10_and_30() -> None:
    assert STEP.when == AnyOf((Every(5), AtTurns((10, 30))))
    talk = Talk()
    talk.until(30)
    ran = [board.turn for board in talk.boards if not isinstance(board[RELATIONSHIP], Absent)]
    assert ran == [5, 10, 15, 20, 25, 30]


@pytest.mark.requirement("companion/relationship/reads")
def test_it_reads_fifty_turns_memories_emotion_and_features() -> None:
    now = {one for one in STEP.reads if not isinstance(one, Past)}
    assert {EMOTION, MEMORIES, FEATURES} <= now
    said = tuple(
        Utterance(role=role, content=f"{role} {turn}")
        for turn in range(1, 61)
        for role in (USER_ID, BOT)
    )
    kept = last_turns(Discussion(utterances=said), "the last", USER_ID)
    own = [one for one in kept if one.role == USER_ID]
    assert len(own) == 50
    assert own[0].content == f"{USER_ID} 12"
    assert own[-1].content == "the last"


def _result(**more: EmotionReading) -> RelationshipResult:
    talk = Talk()
    talk.until(10, "I'm looking forward to our talks, thank you.", **more)
    return talk.latest(RELATIONSHIP)


@pytest.mark.requirement(
    "companion/relationship/sentiment",
    "companion/relationship/rel-type",
    "companion/relationship/rel-status",
    "companion/relationship/next-status",
    "companion/relationship/can-advance",
    "companion/relationship/advance-set",
    "companion/relationship/advance-coverage",
)
def test_what_it_says_is_among_what_can_be_said_and_adds_up() -> None:
    for found in (_result(), _result(felt=LOVE), _result(felt=ANGER)):
        assert found.sentiment in SENTIMENTS
        assert 0 <= found.sentiment_confidence <= 1
        for names, best, probabilities in (
            (REL_TYPES, found.rel_type, found.rel_type_probs),
            (STATUSES, found.rel_status, found.rel_status_probs),
            (STATUSES, found.next_status_prediction, found.next_status_probs),
        ):
            assert tuple(probabilities) == names
            assert sum(probabilities.values()) == pytest.approx(1, abs=1e-9)
            assert probabilities[best] == max(probabilities.values())
        assert found.advance_prediction_set
        assert set(found.advance_prediction_set) <= set(ADVANCE)
        assert not found.can_advance or "yes" in found.advance_prediction_set
        assert found.advance_coverage_guarantee == 1.0
        assert not found.advance_calibrated
        assert found.advance_prediction_set == ADVANCE, "nothing calibrates it, so all is said"


@pytest.mark.requirement("companion/relationship-workflow/sentiment-window")
def test_sentiment_is_that_of_the_last_five_readings() -> None:
    assert sentiment_of([ANGER] * 20 + [JOY] * 5) == ("positive", 1.0)
    assert sentiment_of([JOY] * 20 + [ANGER] * 5)[0] == "negative"
    assert sentiment_of([feeling("neutral", 0.2)] * 5) == ("neutral", 0.7)
    assert sentiment_of([]) == ("neutral", 0.0)


@pytest.mark.requirement("companion/relationship-workflow/compression")
def test_a_long_conversation_becomes_fifteen_lines_of_its_own_words() -> None:
    said = [
        Utterance(role=role, content=f"{role} said thing number {number} about the weather")
        for number in range(50)
        for role in (USER_ID, BOT)
    ]
    said.insert(3, Utterance(role=USER_ID, content="I feel lost since my divorce. " * 12))
    lines = compress(said, USER_ID).splitlines()
    assert len(lines) == MOST_LINES == 15
    assert any("since my divorce" in line for line in lines)
    for line in lines:
        words = line.split(": ", 1)[1].removesuffix("…")
        assert any(words in " ".join(one.content.split()) for one in said)
        assert len(line) < 180


@pytest.mark.requirement(
    "companion/relationship-workflow/three-experts",
    "companion/relationship-workflow/expert-weights",
)
def test_three_experts_weigh_04_03_and_03() -> None:
    views = assess(_situation("I feel fine", "I miss my mother", felt=(JOY,) * 10), None)
    assert [(one.name, one.weight) for one in views] == [
        ("emotion", 0.4), ("values", 0.3), ("behaviour", 0.3),
    ]  # fmt: skip
    assert pooled(views) == pytest.approx(0.4 * 0.7 + 0.3 * 0.5 + 0.3 * 0.65)
    assert not any(one.by_model for one in views)


def test_each_expert_judges_by_its_own_signs() -> None:
    assert judge_emotion(_situation(felt=(JOY,) * 7 + (ANGER,) * 3))[0] == 0.7
    assert judge_emotion(_situation(felt=(JOY,) * 5 + (ANGER,) * 5))[0] == 0.4
    assert judge_emotion(_situation())[0] == 0.5
    assert judge_values(_situation(trust=0.8, velocity=0.1))[0] == 0.75
    assert judge_values(_situation(trust=0.2))[0] == 0.3
    assert judge_values(_situation(goals="friendship"))[0] == 0.4  # type: ignore[arg-type]
    assert judge_behaviour(_situation("I feel fine", "ok"))[0] == 0.65
    assert judge_behaviour(_situation("fine", "ok"))[0] == 0.5
    assert judge_behaviour(_situation())[0] == 0.5


class Model:
    """A chat model that says the same to everybody."""

    address = "test:model"
    usage = ChatUsage()

    def __init__(self, text: str | None) -> None:
        self.text = text
        self.asked: list[str] = []

    def complete(self, request: ChatRequest) -> ChatAnswer:
        self.asked.append(request.messages[0].content)
        if self.text is None:
            raise ProviderFailed("it is down")
        return ChatAnswer(text=self.text, model=self.address, usage=self.usage)

    def stream(self, request: ChatRequest):  # type: ignore[no-untyped-def]
        yield self.complete(request).text

    def close(self) -> None:
        """Hold nothing."""


@pytest.mark.requirement("companion/relationship-workflow/three-experts")
def test_a_model_answers_in_the_same_form() -> None:
    model = Model('Sure: {"advance": 0.9, "finding": "They laugh a lot."}')
    talk = Talk(chat=model)
    talk.until(5)
    found = talk.latest(RELATIONSHIP)
    assert len(model.asked) == 3
    assert len(set(model.asked)) == 3, "each looks at something else"
    assert [one.advance for one in found.experts] == [0.9] * 3
    assert all(one.by_model for one in found.experts)
    assert "They laugh a lot." in found.reasoning_trace


@pytest.mark.parametrize(
    "text",
    [
        None,
        "I would rather not say.",
        json.dumps({"advance": 7, "finding": "x"}),
        json.dumps({"advance": "0.5", "finding": "x"}),
        json.dumps({"advance": 0.5, "finding": "x", "more": 1}),
        "{not json}",
    ],
)
def test_a_model_that_fails_is_replaced_by_the_rule_and_that_is_said(text: str | None) -> None:
    views = assess(_situation("hello"), Model(text))
    assert not any(one.by_model for one in views)
    assert all("by rule" in one.finding for one in views)


@pytest.mark.requirement("companion/relationship/reasoning-trace")
def test_the_trace_names_what_each_expert_found() -> None:
    trace = _result(felt=JOY).reasoning_trace
    for expert in EXPERTS:
        assert f"the {expert.name} expert (weight {expert.weight})" in trace


@pytest.mark.requirement("companion/relationship-workflow/five-steps")
def test_the_five_steps_come_in_their_order() -> None:
    trace = _result().reasoning_trace
    places = [
        trace.index(word)
        for word in ("Compression:", "Sentiment:", "Assessment:", "Advancing:", "Next:")
    ]
    assert places == sorted(places)


@pytest.mark.requirement("companion/relationship/snapshot", "companion/relationship/snapshots-kept")
def test_each_run_leaves_a_snapshot_and_earlier_ones_stay() -> None:
    talk = Talk()
    talk.until(10)
    first = snapshots(talk.past[RELATIONSHIP.name])
    talk.until(20, "I love you", felt=LOVE)
    all_of_them = snapshots(talk.past[RELATIONSHIP.name])
    assert all_of_them[: len(first)] == first
    assert [one.turn for one in all_of_them] == [5, 10, 15, 20]
    last, result = all_of_them[-1], talk.latest(RELATIONSHIP)
    assert last.rel_status == result.rel_status
    assert last.trust_score == result.trust_score
    assert last.sentiment == result.sentiment
    assert last.timestamp == "2026-11-15T10:20:00Z"


@pytest.mark.requirement("companion/discussion-room/decision")
def test_what_the_experts_decide_in_the_room_becomes_can_advance() -> None:
    talk = Talk(has_room=True)
    talk.until(5, "I love you", felt=LOVE)
    found = talk.latest(RELATIONSHIP)
    decided = found.reasoning_trace.partition("the room decided ")[2].split(".")[0]
    assert decided in {"yes", "no", "uncertain"}
    assert found.advance == decided
    assert found.can_advance == (decided == "yes")
    without = Talk()
    without.until(5, "I love you", felt=LOVE)
    assert "the room" not in without.latest(RELATIONSHIP).reasoning_trace


@pytest.mark.requirement("companion/relationship/milestone-field")
def test_the_milestone_report_is_there_at_10_and_30_and_nowhere_else() -> None:
    talk = Talk()
    talk.until(30)
    for dated in talk.past[RELATIONSHIP.name]:
        assert (dated.value.milestone_report is not None) == (dated.turn in {10, 30})
    for turn in (10, 30):
        board = talk.boards[turn - 1]
        found = board[RELATIONSHIP]
        assert not isinstance(found, Absent)
        assert found.milestone_report == board[MILESTONE]


@pytest.mark.requirement("companion/relationship-workflow/markov-next")
@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("chance", [0.1, 0.3, 0.6])
def test_each_row_of_the_chain_sums_to_one(status: str, chance: float) -> None:
    row = transition_row(status, chance)
    assert sum(row.values()) == pytest.approx(1)
    assert row[status] == (1.0 if status == "committed" else pytest.approx(1 - chance))


def test_the_chances_are_those_of_the_source() -> None:
    assert outlook(0.8, 0.1, "positive") == "favourable"
    assert outlook(0.8, None, "positive") == "usual"
    assert outlook(0.4, 0.1, "positive") == "unfavourable"
    assert outlook(0.8, 0.1, "negative") == "unfavourable"


@pytest.mark.requirement("companion/relationship-workflow/advance-set-inputs")
def test_advancing_depends_on_trust_sentiment_and_status() -> None:
    warm = _evidence(trust=0.8, sentiment="positive")
    assert predict_advance(warm, "crush", 0.7).label == "yes"
    assert predict_advance(warm, "crush", 0.4).label == "uncertain"
    cold = _evidence(trust=0.3)
    assert predict_advance(cold, "crush", 0.7).label == "no"
    end = predict_advance(warm, "committed", 0.7)
    assert (end.label, end.labels, end.confidence) == ("no", ("no",), 1.0)


def test_closeness_needs_time_and_romance_needs_words() -> None:
    start, later = _evidence(turn=1), _evidence(turn=30, trust=0.9)
    assert closeness(start) < closeness(later) < 1.5, "trust alone makes nobody a couple"
    words = ["I love you", "you are so beautiful", "I dream of you"]
    assert closeness(_evidence(*words, turn=30, trust=0.9)) > 2
    assert closeness(_evidence("we are dating", *words, turn=30)) > 3
    assert closeness(_evidence("we are engaged", "we are dating", *words)) == 4
    assert closeness(_evidence("I need some space", turn=2)) == pytest.approx(0, abs=0.05)


def test_kinds_of_relationship_follow_the_words() -> None:
    def kind(*messages: str, goals: str | None = None) -> str:
        probabilities = type_probabilities(_evidence(*messages, goals=goals))
        return max(probabilities, key=lambda name: probabilities[name])

    assert kind("I love you", "my love", "you're so cute") == "love"
    assert kind("you are a good friend") == "friendship"
    assert kind("you are like family", "you're my sister", "like a brother to me") == "family"
    assert max(type_probabilities(_evidence(turn=1)).items(), key=lambda one: one[1])[0] == "other"


def test_one_dull_reading_loses_no_status_and_a_lost_one_is_named() -> None:
    talk = Talk()
    talk.until(15, "I love you, you're so beautiful", felt=LOVE)
    before = talk.latest(RELATIONSHIP)
    assert before.rel_status in {"crush", "dating"}
    assert isinstance(before.regressed_from, Absent)
    talk.until(65, "It's over. I need some space. I don't trust you.", felt=ANGER)
    found = [dated.value for dated in talk.past[RELATIONSHIP.name]]
    went_back = [one for one in found if not isinstance(one.regressed_from, Absent)]
    assert went_back
    for one in went_back:
        assert f"It went back from {one.regressed_from}" in one.reasoning_trace
    assert STATUSES.index(found[-1].rel_status) < STATUSES.index(before.rel_status)


def test_nothing_romantic_is_read_with_somebody_under_18() -> None:
    talk = Talk()
    talk.say("I'm 15 and I love you.", felt=LOVE)
    talk.until(30, "I love you, you're so beautiful", felt=LOVE)
    for dated in talk.past[RELATIONSHIP.name]:
        assert dated.value.rel_type != "love"
        assert dated.value.rel_type_probs["love"] == 0
        assert dated.value.rel_status in {"stranger", "acquaintance"}
        assert not dated.value.can_advance


def test_words_from_memory_count_but_not_twice() -> None:
    quiet, reminded = Talk(), Talk()
    quiet.until(5, "Good morning.")
    reminded.until(5, "Good morning.", recalled=(memory("I love you"),))
    one, other = quiet.latest(RELATIONSHIP), reminded.latest(RELATIONSHIP)
    assert other.rel_type_probs["love"] > one.rel_type_probs["love"]
    echo = Talk()
    echo.until(5, "Good morning, I love you.", recalled=(memory("I love you"),))
    plain = Talk()
    plain.until(5, "Good morning, I love you.")
    assert echo.latest(RELATIONSHIP).rel_type_probs == plain.latest(RELATIONSHIP).rel_type_probs


def test_without_features_trust_is_read_from_the_messages() -> None:
    talk = Talk()
    talk.until(4, "Thank you, that means a lot.")
    talk.past[FEATURES.name] = ()
    talk.until(5, "Thank you, that means a lot.")
    assert talk.latest(RELATIONSHIP).trust_score > 0.6


def test_with_trust_and_joy_it_can_advance() -> None:
    found = _result(felt=LOVE)
    assert found.trust_score > 0.7
    assert found.can_advance
    assert found.advance == "yes"


def test_status_probabilities_move_from_where_they_were() -> None:
    evidence = _evidence(turn=30, trust=0.6)
    fresh = status_probabilities(evidence, None)
    after = status_probabilities(evidence, {**dict.fromkeys(STATUSES, 0.0), "dating": 1.0})
    assert after["dating"] > fresh["dating"]


def test_with_nothing_given_a_stranger_says_nothing() -> None:
    found = STEP.run(BoardView(5, declared(STEP), {}, {}))
    assert isinstance(found, RelationshipResult)
    assert found.rel_status == "stranger"
    assert found.sentiment_confidence == 0


def test_a_result_survives_being_written_down() -> None:
    found = _result(felt=JOY)
    adapter = TypeAdapter(RelationshipResult)
    assert adapter.validate_json(adapter.dump_json(found)) == found
