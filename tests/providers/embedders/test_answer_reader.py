"""The answer reader: question and passage read together, by weights that are checked."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from salon.core.errors import IntegrityFailed, InvalidInput
from salon.providers.embedders.answer_reader import HEADS, AnswerReader, open_answer_reader
from salon.providers.embedders.minilm_files import find_minilm_files

ORCHARD = (
    "The orchard was planted by Anna Hoffmann in the spring of 1921.",
    "Most of its trees are pears, and a few are quinces.",
    "A wall of field stones keeps the wind out.",
)
HARBOUR = (
    "The harbour freezes in most winters.",
    "Boats are then pulled over the ice to the boathouse.",
)


@pytest.fixture(scope="module")
def reader() -> Iterator[AnswerReader]:
    with open_answer_reader() as opened:
        yield opened


def test_the_sentence_that_answers_stands_out(reader: AnswerReader) -> None:
    found = reader.read("When was the orchard planted?", [ORCHARD], is_claim=False)[0]
    assert len(found.sentences) == len(ORCHARD)
    assert int(np.argmax(found.sentences)) == 0


def test_a_passage_that_answers_is_told_from_one_that_does_not(reader: AnswerReader) -> None:
    answering, other = reader.read(
        "Which trees grow in the orchard?", [ORCHARD, HARBOUR], is_claim=False
    )
    assert answering.passage > other.passage


def test_a_claim_is_borne_out_by_its_passage_and_not_with_another_name(
    reader: AnswerReader,
) -> None:
    true = reader.read("Anna Hoffmann planted the orchard.", [ORCHARD], is_claim=True)[0]
    false = reader.read("Peter Larsen planted the orchard.", [ORCHARD], is_claim=True)[0]
    assert true.support > false.support


def test_what_is_read_beside_a_passage_changes_nothing(reader: AnswerReader) -> None:
    alone = reader.read("Where are boats kept?", [HARBOUR], is_claim=False)
    beside = reader.read("Where are boats kept?", [ORCHARD, HARBOUR, ORCHARD], is_claim=False)
    assert beside[1] == alone[0]
    assert beside[0] == beside[2]


def test_a_long_passage_is_read_in_parts_and_every_sentence_is_judged(
    reader: AnswerReader,
) -> None:
    long = ORCHARD[1:] * 40 + ORCHARD[:1]
    found = reader.read("Who planted the orchard?", [long], is_claim=False)[0]
    assert len(found.sentences) == len(long)
    assert int(np.argmax(found.sentences)) == len(long) - 1


def test_a_sentence_or_question_without_end_is_cut(reader: AnswerReader) -> None:
    endless = "pear " * 2_000
    found = reader.read(endless, [(endless, *ORCHARD)], is_claim=False)[0]
    assert len(found.sentences) == 1 + len(ORCHARD)
    assert np.isfinite(found.sentences).all()


def test_an_empty_passage_says_nothing(reader: AnswerReader) -> None:
    found = reader.read("Who planted it?", [()], is_claim=False)[0]
    assert found.sentences == ()
    assert found.passage < -50


def test_what_is_not_text_is_refused(reader: AnswerReader) -> None:
    with pytest.raises(InvalidInput):
        reader.read("Who \ud800 planted it?", [ORCHARD], is_claim=False)


@pytest.mark.parametrize("damage", ["missing", "rubbish", "shape", "numbers", "name"])
def test_heads_that_do_not_fit_are_refused(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "heads.npz"
    with np.load(HEADS) as arrays:
        heads = {name: arrays[name] for name in arrays.files}
    if damage == "rubbish":
        path.write_bytes(b"PK\x03\x04 not weights")
    elif damage != "missing":
        changed = {
            "shape": {"passage.weight": np.zeros((3, 2))},
            "numbers": {"passage.bias": np.array([np.nan, 0.0])},
            "name": {},
        }[damage]
        kept = {
            name: one for name, one in heads.items() if damage != "name" or "support" not in name
        }
        np.savez(path, **{**kept, **changed})
    with pytest.raises(IntegrityFailed, match=r"heads\.npz"):
        AnswerReader(find_minilm_files(), heads=path)
