"""What a flow says in each step. Pure: the same flow says the same, also after a restart."""

from collections.abc import Callable

from salon.core.clock import parse_instant
from salon.gate.actions import Action, Reading
from salon.gate.flow_table import Step
from salon.gate.flows import Flow
from salon.gate.orders import Order, OrderState
from salon.gate.time_answers import spell_time


def prompt(flow: Flow, action: Action, reading: Reading) -> str:
    """Return the question that a flow waits for, or how it ended."""
    return PROMPTS[flow.step](flow, action, reading)


def _offer(flow: Flow, action: Action, _: Reading) -> str:
    return action.offer + (" Please say yes or no." if flow.unclear else "")


def _choose(flow: Flow, _action: Action, reading: Reading) -> str:
    if not flow.slots:
        return (
            "I found no free time in the coming days. When shall it be? "
            "Name a day and a time, such as 2026-11-20 15:00, or say cancel."
        )
    listed = [
        f"{number}. {spell_time(start, reading)}" for number, start in enumerate(flow.starts, 1)
    ]
    return "\n".join(
        ["These times are free:", *listed, "Which one? You can also name another time, or cancel."]
    )


def _ask(flow: Flow, action: Action, _: Reading) -> str:
    if flow.is_placeholder:
        return f"The draft leaves one thing open: [{flow.asking}]. What shall stand there?"
    asked = next(one for one in action.fields if one.name == flow.asking)
    known = flow.suggested.get(asked.name, ())
    if not known:
        return asked.question
    if len(known) == 1:
        return asked.guess.format(known[0])
    return f"{asked.question} You spoke of {', '.join(known[:-1])} and {known[-1]}."


def _confirm(flow: Flow, action: Action, reading: Reading) -> str:
    draft = action.describe(flow.arguments, reading)
    names = ", ".join(one.label.lower() for one in action.fields)
    return (
        f"This is what I would do ({action.title}):\n\n{draft}\n\n"
        f"Shall I do exactly this? Say yes or no, or `change … to …` ({names})."
    )


PROMPTS: dict[Step, Callable[[Flow, Action, Reading], str]] = {
    Step.OFFERED: _offer,
    Step.FETCHING: lambda _flow, _action, _reading: "I am looking for free times.",
    Step.CHOOSING: _choose,
    Step.ASKING: _ask,
    Step.CONFIRMING: _confirm,
    Step.APPROVED: lambda _flow, _action, _reading: "Approved.",
    Step.CANCELLED: lambda _flow, _action, _reading: "All right, I leave it. Nothing was done.",
    Step.EXPIRED: lambda _flow, _action, _reading: (
        "That offer has expired, since there was no answer for a while. Nothing was done."
    ),
}

STATUS: dict[OrderState, str] = {
    OrderState.APPROVED: "It is approved and waits to be carried out.",
    OrderState.EXECUTING: "It is being carried out.",
    OrderState.COMMITTING: "It is being carried out.",
    OrderState.WAITING: "It did not work yet ({reason}). I try again after {again}.",
    OrderState.DONE: "Done: {receipt}",
    OrderState.FAILED: (
        "It was not done: {reason}. It stays in the outbox as {key}; try it again or withdraw it."
    ),
    OrderState.UNKNOWN: (
        "I cannot tell whether it was done: {reason}. So that it does not happen twice, I do not "
        "try again by myself. It stays in the outbox as {key}: look whether it arrived, then mark "
        "it as done, try it again or withdraw it."
    ),
    OrderState.WITHDRAWN: "It was withdrawn. Nothing was done.",
}


def status(order: Order, reading: Reading) -> str:
    """Return how an order stands, in a sentence or two."""
    again = spell_time(parse_instant(order.not_before), reading) if order.not_before else "a while"
    return STATUS[order.state].format(
        reason=order.reason.rstrip("."),
        again=again,
        receipt=order.receipt.text if order.receipt else "",
        key=order.key[:12],
    )
