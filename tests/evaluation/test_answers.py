"""Measuring answers on labelled questions, through the product as it is."""

import math
from pathlib import Path

import pytest

from salon.core.errors import InvalidInput
from salon.evaluation.answers import as_json, auroc, evaluate_answers
from salon.evaluation.questions import CharSpan, LabelledQuestion, LabelledQuestions
from salon.settings import Settings
from tests.experts.valley import BRIDGE, GARDEN, OTTERS

TEXTS = {"garden": GARDEN, "bridge": BRIDGE, "otters": OTTERS}


def _asked(text: str, name: str | None = None, answer: str = "") -> LabelledQuestion:
    answers: dict[str, tuple[CharSpan, ...]] = {}
    if name is not None:
        start = TEXTS[name].index(answer)
        answers = {name: ((start, start + len(answer)),)}
    return LabelledQuestion(id=text, text=text, group=name or "none", answers=answers)


QUESTIONS = (
    _asked("When was the bridge over the Alder built?", "bridge", "1874"),
    _asked("Where do the otters of the Alder sleep?", "otters", "dens under the roots"),
    _asked("Who proved the theorem about prime numbers?"),
)


def _settings(home: Path) -> Settings:
    return Settings.model_validate({"home": home, "actor": "test"})


@pytest.mark.parametrize("kind", ["squad", "claims"])
def test_quotes_silences_and_the_curve_are_measured(tmp_path: Path, kind: str) -> None:
    labelled = LabelledQuestions(kind=kind, texts=TEXTS, questions=QUESTIONS)
    figures, asked = evaluate_answers(labelled, _settings(tmp_path))
    assert (figures.questions, figures.answerable) == (3, 2)
    assert figures.quote_hit_1 == 1.0
    assert figures.quote_hit_1_inside == 1.0
    assert figures.auroc == 1.0
    assert (figures.miss_auroc is None) is (kind == "squad")
    assert len(asked) == (3 if kind == "squad" else 5)
    assert not any(one.is_right for one in asked if one.is_hidden)
    assert figures.curve[-1].coverage == 1.0
    assert as_json(figures)["kind"] == kind


def test_a_kept_home_is_used_again_and_another_is_refused(tmp_path: Path) -> None:
    labelled = LabelledQuestions(kind="squad", texts=TEXTS, questions=QUESTIONS)
    first, _ = evaluate_answers(labelled, _settings(tmp_path), limit=2)
    again, _ = evaluate_answers(labelled, _settings(tmp_path), limit=2)
    assert (first.questions, first.quote_hit_1) == (again.questions, again.quote_hit_1) == (2, 1.0)
    other = LabelledQuestions(kind="squad", texts={"bridge": BRIDGE}, questions=QUESTIONS[:1])
    with pytest.raises(InvalidInput, match="other documents"):
        evaluate_answers(other, _settings(tmp_path))


def test_questions_without_any_answer_measure_nothing(tmp_path: Path) -> None:
    labelled = LabelledQuestions(kind="squad", texts=TEXTS, questions=QUESTIONS[2:])
    with pytest.raises(InvalidInput, match="none of these questions"):
        evaluate_answers(labelled, _settings(tmp_path))


def test_auroc_is_how_often_one_is_above_the_other() -> None:
    assert auroc([0.9, 0.8], [0.1]) == 1.0
    assert auroc([0.5], [0.5]) == 0.5
    assert auroc([0.1, 0.9], [0.5, 0.5]) == 0.5
    assert math.isnan(auroc([], [0.1]))
