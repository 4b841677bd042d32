"""A flow as a form: what an edge shows that can ask for fields and approval by itself.

Over MCP this becomes an elicitation, on a web page a form. The digest travels with the form and
comes back with the approval, so what is approved is what was shown.
"""

from dataclasses import dataclass

from salon.gate.actions import Action, Reading
from salon.gate.flow_table import Step
from salon.gate.flows import Flow
from salon.gate.prompts import prompt
from salon.gate.time_answers import spell_time


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """One thing to fill in; where there are `choices`, any other answer is possible as well."""

    name: str
    label: str
    question: str
    is_required: bool = True
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What a flow asks for now. With a `digest` it asks for the approval of exactly that."""

    flow: str
    session: str
    action: str
    step: str
    text: str
    fields: tuple[FormField, ...] = ()
    digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FormAnswer:
    """What came back: the text of the one field, or the digest that is approved, or a cancel."""

    text: str | None = None
    approved_digest: str | None = None
    is_cancelled: bool = False


YES_OR_NO = FormField(
    name="accept", label="Go on", question="Shall I go on?", choices=("yes", "no")
)


def flow_request(flow: Flow, action: Action, reading: Reading) -> Form:
    """Return a flow as the form that an edge can show."""
    return Form(
        flow=flow.id,
        session=flow.session,
        action=flow.action,
        step=flow.step_name,
        text=prompt(flow, action, reading),
        fields=_fields(flow, action, reading),
        digest=flow.digest if flow.step is Step.CONFIRMING else None,
    )


def _fields(flow: Flow, action: Action, reading: Reading) -> tuple[FormField, ...]:
    if flow.step is Step.OFFERED:
        return (YES_OR_NO,)
    if flow.step is Step.CHOOSING:
        choices = tuple(spell_time(one, reading) for one in flow.starts)
        question = "Which time? You can also name another one."
        return (FormField(name="start", label="Time", question=question, choices=choices),)
    if flow.step is not Step.ASKING or flow.asking is None:
        return ()
    if flow.is_placeholder:
        question = prompt(flow, action, reading)
        return (FormField(name="variables", label=flow.asking, question=question),)
    asked = next(one for one in action.fields if one.name == flow.asking)
    return (
        FormField(
            name=asked.name,
            label=asked.label,
            question=prompt(flow, action, reading),
            is_required=asked.is_required,
        ),
    )
