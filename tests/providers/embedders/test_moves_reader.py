"""The moves reader: what an assistant does next, read from the conversation so far."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.core.errors import IntegrityFailed
from salon.gate.features import Moment
from salon.gate.learned import MovesGate
from salon.gate.verdicts import Said, Side
from salon.providers.embedders.minilm_files import find_minilm_files
from salon.providers.embedders.moves_reader import LABELS, MovesReader, open_moves_reader


@pytest.fixture(scope="module")
def reader() -> Iterator[MovesReader]:
    with open_moves_reader() as opened:
        yield opened


def moment(*said: str) -> Moment:
    sides = (Side.PERSON, Side.ASSISTANT)
    return Moment(history=tuple(Said(sides[number % 2], text) for number, text in enumerate(said)))


CONFIRMED = moment("Book lunch with Mia on Friday at noon.", "Does this one look right?", "Yes.")
LOOKING = moment("What do I have on Thursday afternoon?")


def test_chances_add_up_to_one_over_all_moves(reader: MovesReader) -> None:
    chances = reader.chances(LOOKING)
    assert tuple(chances) == LABELS
    assert sum(chances.values()) == pytest.approx(1, abs=1e-5)


def test_a_confirmed_booking_is_acted_on_and_a_question_is_answered(reader: MovesReader) -> None:
    acted, answered = reader.chances(CONFIRMED), reader.chances(LOOKING)
    assert max(acted, key=lambda one: acted[one]) == "ACT"
    assert max(answered, key=lambda one: answered[one]) == "ANSWER"


def test_the_same_moment_gives_the_same_chances(reader: MovesReader) -> None:
    assert reader.chances(CONFIRMED) == reader.chances(CONFIRMED)


def test_nothing_said_and_far_too_much_said_are_read(reader: MovesReader) -> None:
    assert sum(reader.chances(moment()).values()) == pytest.approx(1, abs=1e-5)
    long = "please move it " * 500
    assert sum(reader.chances(moment(long, long, long)).values()) == pytest.approx(1, abs=1e-5)


def test_while_it_would_rather_ask_nothing_triggers(reader: MovesReader) -> None:
    gate = MovesGate(reader=reader)
    asks = gate.consider(moment("Set up a meeting.").history, "")
    acts = gate.consider(CONFIRMED.history, "")
    assert not asks.context_sufficient
    assert not asks.should_trigger
    assert acts.should_trigger
    assert acts.probability > asks.probability


def test_weights_of_another_reader_are_refused() -> None:
    other = Path(str(find_minilm_files().folder)).parent / "no-such-heads.npz"
    with pytest.raises(IntegrityFailed, match="no-such-heads"):
        MovesReader(find_minilm_files(), heads=other)
