"""The language model variant of the gate's decision, compiled with DSPy (`salon[dspy]`).

`CalendarDecision` takes the conversation and the reply and gives back whether the context suffices
and whether to trigger. It is compiled on the same feedback file as the small model, speaks through
the chat model of the settings, and is judged on rows that were held back. Like every learned
decision it can only withhold or suggest inside what the rules allow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from salon.core.chat import ChatMessage, ChatModel, ChatRequest, Speaker
from salon.core.errors import InvalidInput, UnknownProvider
from salon.gate.feedback import FeedbackRow, Rates, rates_of, read_feedback
from salon.gate.learned import LearnedDecision
from salon.gate.verdicts import Said, Side

NAME = "CalendarDecision"
_INSTRUCTIONS = (
    "Decide whether an assistant may offer an action now. It asks, then acts: never while it still "
    "asks, never before the person has answered."
)
_HELD_BACK = 3
"""One row in so many is held back, of each label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledDecision:
    """What was compiled: its name, its state as plain data, and how it did on held-back rows."""

    name: str
    program: dict[str, object]
    rates: Rates
    demonstrations: int


class ProgramDecision:
    """A compiled program as a decision model; the language model is asked once for each reply."""

    def __init__(self, program: Any, model: Any) -> None:
        self._program = program
        self._model = model

    def consider(self, history: tuple[Said, ...], reply: str) -> LearnedDecision:
        """Return what the language model says about a reply after a history."""
        with _dspy().context(lm=self._model):
            said = self._program(conversation_history=_as_text(history), era_response=reply)
        return LearnedDecision(
            context_sufficient=bool(said.context_sufficient),
            should_trigger=bool(said.should_trigger),
            probability=1.0 if said.should_trigger else 0.0,
        )


def make_signature() -> Any:
    """Return the signature, with the fields of the source protocol."""
    dspy = _dspy()
    return dspy.Signature(
        {
            "conversation_history": (str, dspy.InputField()),
            "era_response": (str, dspy.InputField()),
            "context_sufficient": (bool, dspy.OutputField()),
            "should_trigger": (bool, dspy.OutputField()),
        },
        instructions=_INSTRUCTIONS,
        signature_name=NAME,
    )


def compile_decision(content: bytes, model: Any) -> CompiledDecision:
    """Compile the decision on a reviewer's file with a DSPy language model."""
    dspy = _dspy()
    rows = read_feedback(content)
    kept, held = hold_back(rows)
    examples = [_example(one) for one in kept]
    with dspy.context(lm=model):
        optimizer = dspy.BootstrapFewShot(
            metric=lambda example, said, _trace=None: bool(
                example.should_trigger == said.should_trigger
            ),
            max_bootstrapped_demos=2,
            max_labeled_demos=min(8, len(examples)),
            max_errors=0,
        )
        program = optimizer.compile(dspy.Predict(make_signature()), trainset=examples)
        decision = ProgramDecision(program, model)
        chosen = [decision.consider(_history(one), one.reply).should_trigger for one in held]
    return CompiledDecision(
        name=NAME,
        program=program.dump_state(),
        rates=rates_of([one.should_trigger for one in held], chosen, "rows held back"),
        demonstrations=len(program.demos),
    )


def hold_back(rows: Sequence[FeedbackRow]) -> tuple[list[FeedbackRow], list[FeedbackRow]]:
    """Return the rows to compile on and those to judge by, both with both labels."""
    kept: list[FeedbackRow] = []
    held: list[FeedbackRow] = []
    for label in (False, True):
        mine = [one for one in rows if one.should_trigger is label]
        if len(mine) < 2:
            raise InvalidInput(
                f"{len(mine)} rows with should_trigger={label} are too few to compile on",
                hint="give at least two of each label",
            )
        held += mine[:: max(2, min(_HELD_BACK, len(mine)))]
        kept += [one for one in mine if one not in held]
    return kept, held


def as_language_model(chat: ChatModel | None) -> Any:
    """Return the chat model of the settings as one that DSPy can ask, or raise `InvalidInput`."""
    if chat is None:
        raise InvalidInput(
            "there is no chat model to compile with", hint="set chat.model: docs/guides/models.md"
        )
    dspy = _dspy()
    bound: ChatModel = chat

    class Bridge(dspy.BaseLM):  # type: ignore[misc, name-defined]
        """Asks Salon's chat model, so that its limits and its meter hold here too."""

        def forward(
            self, prompt: str | None = None, messages: Any = None, **_kwargs: object
        ) -> SimpleNamespace:
            given = messages or [{"role": "user", "content": prompt or ""}]
            answer = bound.complete(
                ChatRequest(
                    messages=tuple(
                        ChatMessage(speaker=Speaker(one["role"]), content=str(one["content"]))
                        for one in given
                    ),
                    temperature=0.0,
                )
            )
            message = SimpleNamespace(content=answer.text, tool_calls=None)
            choice = SimpleNamespace(message=message, finish_reason="stop")
            return SimpleNamespace(choices=[choice], usage={}, model=answer.model)

    return Bridge(model=bound.address)


def _example(row: FeedbackRow) -> Any:
    return (
        _dspy()
        .Example(
            conversation_history=_as_text(_history(row)),
            era_response=row.reply,
            context_sufficient=row.should_trigger,
            should_trigger=row.should_trigger,
        )
        .with_inputs("conversation_history", "era_response")
    )


def _history(row: FeedbackRow) -> tuple[Said, ...]:
    return (Said(Side.PERSON, row.user),)


def _as_text(history: Sequence[Said]) -> str:
    return "\n".join(f"{one.side}: {one.text}" for one in history)


def _dspy() -> Any:
    try:
        return import_module("dspy")
    except ImportError as error:
        raise UnknownProvider(
            "the language model variant needs DSPy, which is not installed",
            hint="pip install 'salon[dspy]'",
        ) from error
