"""The language model variant of the decision, on DSPy's own dummy model and on a scripted one."""

from typing import Any

import pytest

from salon.core.errors import InvalidInput
from salon.gate.feedback import FeedbackRow, read_feedback
from salon.gate.verdicts import Said, Side
from salon.providers.chat.scripted import ScriptedChat, ScriptLine
from salon.providers.dspy_gate import (
    ProgramDecision,
    as_language_model,
    compile_decision,
    hold_back,
    make_signature,
)

HEAD = "Turn,User,ERA,Improvement,Label\n"
FEEDBACK = (
    HEAD
    + "".join(
        f'2,"My {who} is absent","Have you called the {who}?","Early",should_trigger=False\n'
        f'4,"Yes, twice","Thanks. Schedule a call with the {who}?","Good",should_trigger=True\n'
        for who in ("employee", "coach", "driver", "trainer")
    )
).encode()


@pytest.fixture
def dspy() -> Any:
    return pytest.importorskip("dspy", reason="DSPy is not installed: pip install 'salon[dspy]'")


def test_held_back_rows_have_both_labels_and_are_not_compiled_on() -> None:
    rows = read_feedback(FEEDBACK)
    kept, held = hold_back(rows)
    assert (
        {one.should_trigger for one in held}
        == {one.should_trigger for one in kept}
        == {True, False}
    )
    assert not {one.line for one in held} & {one.line for one in kept}
    assert len(kept) + len(held) == len(rows)


def test_one_row_of_a_label_is_too_few() -> None:
    row = FeedbackRow(line=2, turn=2, user="a", reply="b", improvement="", should_trigger=True)
    with pytest.raises(InvalidInput, match="too few"):
        hold_back([row])


def test_without_a_chat_model_there_is_nothing_to_compile_with() -> None:
    with pytest.raises(InvalidInput, match="no chat model"):
        as_language_model(None)


@pytest.mark.requirement("gate/learned/dspy-variant")
def test_the_decision_is_compiled_from_the_feedback_file(dspy: Any) -> None:
    answers = [{"context_sufficient": "True", "should_trigger": "True"}] * 40
    made = compile_decision(FEEDBACK, dspy.utils.DummyLM(answers))
    assert made.name == make_signature().__name__ == "CalendarDecision"
    assert list(make_signature().output_fields) == ["context_sufficient", "should_trigger"]
    assert made.demonstrations > 0
    assert (made.rates.premature, made.rates.missed) == (1.0, 0.0)
    assert made.program["demos"]


def test_it_speaks_through_the_chat_model_of_the_settings(dspy: Any) -> None:
    fields = {"context_sufficient": "True", "should_trigger": "False", "completed": ""}
    said = "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in fields.items())
    chat = ScriptedChat([ScriptLine(when="era_response", say=said)])
    decision = ProgramDecision(dspy.Predict(make_signature()), as_language_model(chat))
    found = decision.consider((Said(Side.PERSON, "My employee is absent"),), "Call them.")
    assert (found.context_sufficient, found.should_trigger, found.probability) == (True, False, 0.0)
