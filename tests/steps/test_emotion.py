"""Agent 1, emotion: the contract, the eight names, and the chat model that may read instead."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter

from salon.blackboard.slots import Slot
from salon.blackboard.triggers import EVERY_TURN
from salon.conversation.discussion import Discussion, Utterance
from salon.core.absent import Absent
from salon.core.embedding import Embedder
from salon.core.errors import ProviderFailed
from salon.evaluation.emotion import open_emotion_embedder
from salon.providers.chat.scripted import ScriptedChat
from salon.providers.embedders import open_embedder
from salon.steps.emotion import (
    EMOTION_EMBEDDER,
    READINGS_CHAT,
    STEP,
    EmotionReading,
    emotion_of,
    read_by_model,
    read_emotion,
)
from salon.steps.emotion_model import ModelReading, parse_reading
from salon.steps.emotion_tables import EMOTIONS, fine_emotions, meetings
from salon.steps.given import EMBEDDER, HISTORY, MESSAGE
from tests.steps.readings import GivenView

CLEAR = {
    "joy": "I am so happy today, we won and I can't stop smiling!",
    "sadness": "I feel so sad and lonely since she died.",
    "anger": "I hate how you treat me, this makes me furious!",
    "fear": "I'm terrified of what will happen tomorrow.",
    "surprise": "Wow, I did not expect that at all!",
    "disgust": "That is disgusting, it makes me sick.",
    "neutral": "The bus leaves at nine from the station.",
    "love": "I love you with all my heart.",
}
SAD = '{"emotion": "sadness", "confidence": 0.9, "intensity": 0.7, "valence": -0.8, "arousal": 0.2}'


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    opened = open_emotion_embedder()
    yield opened
    opened.close()


def read(message: str, embedder: Embedder) -> EmotionReading:
    found = emotion_of(message, embedder)
    assert isinstance(found, EmotionReading)
    return found


@pytest.mark.requirement("companion/emotion/labels", "companion/emotion/current-emotion")
@pytest.mark.parametrize("emotion", list(CLEAR))
def test_a_clear_message_gets_its_name(emotion: str, embedder: Embedder) -> None:
    found = read(CLEAR[emotion], embedder)
    assert found.emotion == emotion
    assert found.confidence == found.probabilities[emotion] == max(found.probabilities.values())


def test_the_prediction_set_holds_the_named_emotion_and_is_smaller_where_it_is_clear(
    embedder: Embedder,
) -> None:
    clear, vague = read("Thank you so much, I love this!", embedder), read("hm, odd", embedder)
    for found in (clear, vague):
        assert found.emotion in found.prediction_set
        assert set(found.prediction_set) <= set(EMOTIONS)
        assert (found.coverage_guarantee, found.calibrated) == (0.9, True)
    assert len(clear.prediction_set) < len(EMOTIONS)
    assert len(clear.prediction_set) <= len(vague.prediction_set)


@pytest.mark.requirement("companion/emotion/ranges")
@pytest.mark.parametrize(
    "message",
    [*CLEAR.values(), "?", "\U0001f62d\U0001f62d", "AAAAAAA", "喜欢", "word " * 900],
    ids=[*CLEAR, "a mark", "emoji", "a cry", "chinese", "very long"],
)
def test_every_number_lies_in_its_range(message: str, embedder: Embedder) -> None:
    found = read(message, embedder)
    assert set(found.probabilities) == set(EMOTIONS)
    assert sum(found.probabilities.values()) == pytest.approx(1, abs=1e-4)
    assert all(0 <= one <= 1 for one in (found.confidence, found.intensity, found.arousal))
    assert -1 <= found.valence <= 1
    assert 1 <= len(found.fine) <= 3
    assert set(found.fine) <= set(fine_emotions())


@pytest.mark.requirement("companion/emotion/ranges")
def test_unpleasant_feelings_lie_below_zero_and_pleasant_ones_above(embedder: Embedder) -> None:
    valence = {name: read(message, embedder).valence for name, message in CLEAR.items()}
    assert max(valence[one] for one in ("sadness", "anger", "fear", "disgust")) < -0.2
    assert min(valence[one] for one in ("joy", "love")) > 0.2


def test_an_excited_message_is_more_aroused_and_more_intense_than_a_calm_one(
    embedder: Embedder,
) -> None:
    calm, excited = read(CLEAR["neutral"], embedder), read(CLEAR["anger"], embedder)
    assert excited.arousal > calm.arousal
    assert excited.intensity > calm.intensity


@pytest.mark.requirement("companion/emotion/reply-strategy")
def test_each_emotion_is_met_in_its_own_way(embedder: Embedder) -> None:
    assert set(meetings()) == set(EMOTIONS) == set(fine_emotions().values())
    assert len({one.strategy for one in meetings().values()}) == len(EMOTIONS)
    sad = read(CLEAR["sadness"], embedder)
    assert (sad.reply_strategy, sad.tone) == ("Comfort", "empathetic and supportive")


def test_there_are_28_fine_emotions() -> None:
    assert len(fine_emotions()) == 28
    assert [name for name, group in fine_emotions().items() if group == "love"] == [
        "caring",
        "love",
    ]


@pytest.mark.requirement("companion/emotion/trigger")
def test_the_step_is_due_every_turn() -> None:
    assert STEP.when == EVERY_TURN
    assert STEP.writes.name == "current_emotion"


def test_the_step_reads_the_message_with_the_embedder_it_is_given(embedder: Embedder) -> None:
    view = GivenView(STEP, {MESSAGE: CLEAR["joy"], EMOTION_EMBEDDER: embedder})
    assert read_emotion(view) == read(CLEAR["joy"], embedder)


@pytest.mark.parametrize("message", [None, "   "], ids=["no message", "an empty one"])
def test_without_a_message_there_is_no_reading(message: str | None) -> None:
    given: dict[Slot[Any], Any] = {} if message is None else {MESSAGE: message}
    assert read_emotion(GivenView(STEP, given)) == Absent("there is no message to read")


def test_vectors_of_another_model_are_never_read() -> None:
    view = GivenView(STEP, {MESSAGE: "hello", EMBEDDER: open_embedder("hashing:64")})
    assert read_emotion(view) == Absent("no emotion heads were trained for hashing:64")


def test_without_an_embedder_the_reason_is_passed_on() -> None:
    assert read_emotion(GivenView(STEP, {MESSAGE: "hello"})) == Absent("nothing was given")


def test_the_same_message_gives_the_same_bytes(embedder: Embedder) -> None:
    adapter = TypeAdapter(EmotionReading)
    first, second = (adapter.dump_json(read(CLEAR["love"], embedder)) for _ in range(2))
    assert first == second
    assert adapter.validate_json(first) == read(CLEAR["love"], embedder)


def test_reading_needs_neither_scikit_learn_nor_scipy() -> None:
    code = (
        "import sys\n"
        "from salon.evaluation.emotion import open_emotion_embedder\n"
        "from salon.steps.emotion import emotion_of\n"
        "from salon.steps.scam import scam_risk\n"
        "found = emotion_of('I am so happy', open_emotion_embedder())\n"
        "print(found.emotion, scam_risk(['hello']).scam_warning_level)\n"
        "print({'sklearn', 'scipy', 'torch'} & set(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.split("\n")[:2] == ["joy none", "set()"]


# The chat model


def test_a_chat_model_reads_with_the_same_contract(embedder: Embedder) -> None:
    chat = ScriptedChat([SAD])
    given = {MESSAGE: CLEAR["joy"], EMOTION_EMBEDDER: embedder, READINGS_CHAT: chat}
    found = read_emotion(GivenView(STEP, given))
    assert isinstance(found, EmotionReading)
    assert (found.emotion, found.confidence, found.valence) == ("sadness", 0.9, -0.8)
    assert (found.intensity, found.arousal, found.reply_strategy) == (0.7, 0.2, "Comfort")
    assert found.read_by == "scripted:code"
    assert sum(found.probabilities.values()) == pytest.approx(1, abs=1e-5)
    assert found.fine == read(CLEAR["joy"], embedder).fine


@pytest.mark.requirement("companion/emotion/reads")
def test_a_chat_model_sees_the_message_and_at_most_five_turns() -> None:
    chat = ScriptedChat([SAD])
    said = tuple(
        Utterance(role=("user", "Mina")[one % 2], content=f"number {one}") for one in range(30)
    )
    given = {
        MESSAGE: "me too",
        HISTORY: Discussion(utterances=said),
        READINGS_CHAT: chat,
    }
    read_emotion(GivenView(STEP, given))
    shown = json.loads(chat.asked[0].messages[-1].content)
    assert shown["message"] == "me too"
    assert [one["says"] for one in shown["earlier"]] == [f"number {one}" for one in range(20, 30)]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("I would say they are sad.", "holds no JSON object"),
        ('{"emotion": "sad"', "holds no JSON object"),
        (SAD.replace("sadness", "melancholy"), "does not fit: emotion"),
        (SAD.replace("-0.8", "-8"), "does not fit: valence"),
        (SAD.replace('"arousal": 0.2', '"mood": 1'), "does not fit: arousal"),
        ("{nothing}", "does not fit: JSON"),
    ],
    ids=["prose", "cut short", "unknown name", "out of range", "missing field", "no JSON"],
)
def test_rubbish_from_a_model_leaves_the_heads_reading_and_says_so(
    answer: str, reason: str, embedder: Embedder
) -> None:
    by_heads = read(CLEAR["fear"], embedder)
    found = read_by_model(ScriptedChat([answer]), "x", (), by_heads)
    assert isinstance(found, EmotionReading)
    assert found.emotion == "fear"
    assert found.read_by.startswith("heads: ")
    assert reason in found.read_by


def test_a_model_that_fails_leaves_the_heads_reading(embedder: Embedder) -> None:
    chat = ScriptedChat([ProviderFailed("the server is gone")])
    found = read_by_model(chat, "x", (), read(CLEAR["joy"], embedder))
    assert isinstance(found, EmotionReading)
    assert found.read_by == "heads: the model gave no answer: the server is gone"


def test_without_model_and_heads_both_reasons_are_told() -> None:
    chat = ScriptedChat(["no idea"])
    found = read_by_model(chat, "x", (), Absent("no heads"))
    assert found == Absent("the model's answer holds no JSON object; no heads")


def test_a_model_alone_shares_the_rest_out_evenly() -> None:
    found = read_by_model(ScriptedChat([SAD]), "x", (), Absent("no heads"))
    assert isinstance(found, EmotionReading)
    assert found.fine == {}
    assert len({found.probabilities[one] for one in EMOTIONS if one != "sadness"}) == 1


def test_json_inside_a_code_fence_is_read() -> None:
    found = parse_reading(f"Here it is:\n```json\n{SAD}\n```")
    assert isinstance(found, ModelReading)
    assert found.emotion == "sadness"
