"""Calibration of one avatar: questions made or given, one half to choose, the other to check."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.app import Salon
from salon.core.errors import InvalidDocument, InvalidInput
from salon.experts.abstention import shipped
from salon.experts.calibrating import (
    Calibration,
    Probe,
    abstention_of,
    calibration_handle,
    find_calibration,
    make_probes,
    read_probes,
    save_calibration,
)
from tests.experts.valley import open_valley, profile_of

MADE = Calibration(
    alpha=0.1, threshold=0.42, questions="made", chosen_on=50, checked_on=50, answered=20,
    unsupported=1,
)  # fmt: skip


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    with open_valley(tmp_path_factory.mktemp("home")) as opened:
        yield opened


def test_questions_are_made_of_sentences_with_and_without_their_document(salon: Salon) -> None:
    documents = salon.documents(avatar="ada-berg")
    probes = make_probes(documents, lambda one: salon.archive.get(one.text).content.decode())
    asked = [one for one in probes if one.answer is not None]
    hidden = [one for one in probes if one.answer is None]
    assert len(asked) == len(hidden) >= 2
    assert sorted(one.question for one in asked) == sorted(one.question for one in hidden)
    for probe in asked:
        assert probe.answer is not None
        words = probe.question.removeprefix("What about ").removesuffix("?").split()
        assert 4 <= len(words) < len(probe.answer.split())
        assert all(word in probe.answer for word in words)
        assert probe.hidden is None
    assert {one.hidden for one in hidden} <= {document.id for document in documents}
    again = make_probes(documents, lambda one: salon.archive.get(one.text).content.decode())
    assert again == probes


def test_labelled_questions_are_read() -> None:
    content = b'{"question": "When?", "answer": "1874"}\n\n{"question": "Who?", "answer": null}\n'
    assert read_probes(content) == [
        Probe(question="When?", answer="1874"),
        Probe(question="Who?", answer=None),
    ]


@pytest.mark.parametrize("line", [b"x", b'{"question": ""}', b'{"question": "a", "more": 1}'])
def test_a_line_that_is_none_is_named(line: bytes) -> None:
    with pytest.raises(InvalidInput, match="line 2"):
        read_probes(b'{"question": "When?"}\n' + line)


def test_its_own_threshold_counts_where_it_is_strict_enough(salon: Salon) -> None:
    profile = profile_of("ada-berg", "Ada Berg")
    assert find_calibration(salon.archive, profile) is None
    assert abstention_of(salon.archive, profile, shipped()) == shipped()
    save_calibration(salon.archive, profile, MADE)
    assert find_calibration(salon.archive, profile) == MADE
    assert MADE.risk == 0.05
    assert abstention_of(salon.archive, profile, shipped()).threshold(0.1) == 0.42
    strict = profile_of("ada-berg", "Ada Berg", grounding={"alpha": 0.05})
    assert abstention_of(salon.archive, strict, shipped()) == shipped()


@pytest.mark.parametrize("content", [b"x", b"[]", b'{"kind": "other", "version": 1}'])
def test_a_card_that_is_no_calibration_is_refused(salon: Salon, content: bytes) -> None:
    profile = profile_of("ole-holm", "Ole Holm")
    salon.archive.put(calibration_handle("ole-holm"), content)
    with pytest.raises(InvalidDocument, match="ole-holm"):
        find_calibration(salon.archive, profile)


def test_too_little_to_promise_is_said(tmp_path: Path) -> None:
    with open_valley(tmp_path) as salon, pytest.raises(InvalidInput, match="too few"):
        salon.calibrate("ada-berg")
