"""Trust from message to message, and traits from wording."""

import numpy as np
import pytest

from salon.steps.trait_reader import load_text_model, read_wording
from salon.steps.trust import is_disclosing, trust_reading, update_trust, velocity_of
from tests.steps.trait_talk import Wordless, feeling

LONG = "The train to work was late again and I read the paper twice."


@pytest.mark.parametrize(
    ("text", "valence", "above"),
    [
        ("Thank you, I really like talking to you", 0.0, True),
        ("I've never told anybody, but I'm afraid of the dark", 0.0, True),
        ("Leave me alone", 0.0, False),
        ("You're lying, I don\u2019t trust you", 0.0, False),
        ("What a day", 0.9, True),
        ("What a day", -0.9, False),
    ],
)
def test_a_message_reads_trusting_or_not(text: str, valence: float, above: bool) -> None:
    assert (trust_reading(text, feeling("neutral", valence), "stable") > 0.5) is above


def test_nothing_either_way_is_in_the_middle_and_a_trend_moves_it() -> None:
    assert trust_reading("The shop opens at nine.", None, "stable") == 0.5
    assert trust_reading("The shop opens at nine.", None, "improving") == 0.55
    assert trust_reading("The shop opens at nine.", None, "declining") == 0.45


def test_trust_follows_and_never_becomes_certain() -> None:
    trust = None
    for _ in range(50):
        trust = update_trust(trust, 0.95)
    assert trust is not None
    assert trust.mean > 0.9
    assert trust.confidence < 0.8, "trust may move at any time"
    before = trust.mean
    for _ in range(5):
        trust = update_trust(trust, 0.05)
    assert trust.mean < before - 0.5


def test_speed_needs_two_readings() -> None:
    assert velocity_of((0.5,)) is None
    assert velocity_of((0.5, 0.6)) == 0.1


def test_opening_up_is_noticed() -> None:
    assert is_disclosing("I feel lost since my divorce")
    assert not is_disclosing("The shop opens at nine")


def test_wording_weighs_what_it_is_worth() -> None:
    first = read_wording([LONG], Wordless(), turn=3, earlier=0)
    tenth = read_wording([LONG], Wordless(), turn=30, earlier=9)
    r = load_text_model().r
    for one, later in zip(first, tenth, strict=True):
        assert one.weight == pytest.approx(r[one.feature] ** 2, abs=1e-6)
        assert later.weight == pytest.approx(one.weight / 10, abs=1e-6)
        assert one.weight < 0.15
        assert 0 <= float(one.value) <= 1
    assert {one.feature for one in first} == {name for name, value in r.items() if value >= 0.1}


def test_a_few_words_and_another_models_vectors_say_nothing() -> None:
    assert read_wording(["Hi.", ""], Wordless(), turn=3, earlier=0) == ()

    class Narrow(Wordless):
        def embed_passages(self, texts):  # type: ignore[no-untyped-def]
            return np.zeros((len(texts), 8), dtype=np.float32)

    assert read_wording([LONG], Narrow(), turn=3, earlier=0) == ()
