"""The shipped models: loaded lazily, run by numpy, and the same as what was fitted."""

import json
from importlib import resources

import numpy as np
import pytest

from salon.gate.features import BUCKETS, SIGNALS, Fields, Moment, read_moment, vectors_of
from salon.gate.learned import CALLS, CALLS_FROM_TEXT, MOVES, choose, next_move, shipped
from salon.gate.verdicts import Said, Side
from salon.providers.embedders import open_embedder
from tests.gate.saying import talk


@pytest.mark.parametrize("name", [MOVES, CALLS, CALLS_FROM_TEXT])
def test_a_shipped_model_has_weights_for_every_feature(name: str) -> None:
    model = shipped(name)
    assert model.buckets.shape[0] == BUCKETS
    assert model.signals.shape[0] == len(SIGNALS)
    assert 0.0 <= model.threshold < 1.0
    assert model.acting in model.labels


def test_the_weights_are_small_and_say_where_they_come_from() -> None:
    place = resources.files("salon.gate").joinpath("weights")
    assert len(place.joinpath("gate.npz").read_bytes()) < 2_000_000
    about = json.loads(place.joinpath("gate.json").read_text("utf-8"))["models"]
    assert {one["trained_on"] for one in about.values()} == {"smcalflow", "sgd"}
    attribution = place.joinpath("ATTRIBUTION.md").read_text("utf-8")
    assert "CC BY-SA 4.0" in attribution
    assert "tools.train_gate" in attribution


def test_a_yes_to_a_shown_event_is_acted_on_and_a_new_wish_is_not() -> None:
    embedder = open_embedder("embedded:minilm")
    try:
        yes = next_move(
            Moment(history=talk("Put lunch on Friday", "Is this good?", "Yes it is")), embedder
        )
        wish = next_move(Moment(history=talk("Put a lunch with Dana on Friday at noon")), embedder)
    finally:
        embedder.close()
    assert sum(yes.values()) == pytest.approx(1.0, abs=1e-4)
    assert max(yes, key=lambda one: yes[one]) == "ACT"
    assert wish["ACT"] < 0.5


def test_a_call_is_likelier_when_the_fields_are_there_and_confirmed() -> None:
    model = shipped(CALLS)
    said = talk("Buy a lamp", "Please confirm: a lamp for noon?", "Yes, that is right")
    moments = [
        Moment(history=said, fields=Fields(required=2, given=given, commits=True))
        for given in (0, 2)
    ]
    vectors = np.zeros((2, model.vectors.shape[0]), np.float32)
    chances = model.chances([read_moment(one) for one in moments], vectors)
    assert chances.shape == (2, 2)
    assert chances.sum(axis=1) == pytest.approx([1.0, 1.0], abs=1e-5)
    assert chances[1, 1] > chances[0, 1]


def test_acting_needs_the_threshold_and_else_the_next_best_is_taken() -> None:
    chances = np.array([[0.6, 0.3, 0.1], [0.9, 0.05, 0.05]], np.float32)
    labels = ("ACT", "ASK", "REFUSE")
    assert choose(chances, labels, acting="ACT", threshold=0.7) == ["ASK", "ACT"]
    assert choose(chances, labels, acting="ACT", threshold=0.0) == ["ACT", "ACT"]


def test_a_moment_is_the_last_of_each_side() -> None:
    moment = Moment(history=(*talk("A", "B", "C"), Said(Side.ASSISTANT, "D")))
    assert (moment.message, moment.before) == ("C", "D")
    assert (Moment(history=()).message, Moment(history=()).before) == ("", "")


def test_features_are_stable_and_every_signal_is_named() -> None:
    moment = Moment(
        history=talk("Book a table", "For noon?", "Yes, please"),
        fields=Fields(required=2, given=2, commits=True),
    )
    features = read_moment(moment)
    assert tuple(features.signals) == SIGNALS
    assert features.signals["affirms asked"] == 1.0
    assert features.signals["full"] == 1.0
    assert read_moment(moment) == features
    assert read_moment(moment, ngrams=False).buckets == ()
    assert all(0 <= one < BUCKETS for one in features.buckets)


def test_nothing_said_is_the_zero_vector() -> None:
    embedder = open_embedder("hashing:256")
    found = vectors_of(["a word", ""], embedder)
    assert found[1].any() == np.False_
    assert found[0].any() == np.True_
    assert vectors_of([""], embedder).shape == (1, 0)
