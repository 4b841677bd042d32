"""The gate over HTTP: what it decided and why, what a flow asks for, and the answer to that.

An approval names the digest of exactly the arguments that were shown; anything else is asked again.
"""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path
from pydantic import Field, model_validator

from salon.api import examples
from salon.api.service import ConversationService
from salon.api.sessions import Answer, answer_of
from salon.api.shapes import Shape, responses
from salon.api.talking import Talking
from salon.conversation.turns import as_session_id
from salon.gate.forms import FormAnswer
from salon.gate.states import State
from salon.parts.flows import FlowStanding
from salon.steps.wire_shapes import LONGEST_CONTENT, LONGEST_ID

AssistedSession = Annotated[
    str,
    Path(
        description="The id of a session with an assistant.", examples=[examples.ASSISTED_SESSION]
    ),
]


class GateShown(Shape):
    """What the gate decided last, by which rule and why."""

    turn: int
    state: str
    rule: str
    reason: str
    action: str | None = Field(description="What may be offered; null where nothing may")


class FieldShown(Shape):
    """One thing to fill in; where there are choices, any other answer is possible as well."""

    name: str
    label: str
    question: str
    is_required: bool
    choices: list[str]


class FormShown(Shape):
    """What a flow asks for now; with a digest it asks for the approval of exactly that."""

    action: str
    step: str
    text: str
    fields: list[FieldShown]
    digest: str | None


class FlowShown(Shape):
    """An action on its way."""

    id: str
    action: str
    step: str
    is_active: bool
    order: str | None = Field(description="The key of the order that it became, once approved")
    opened_at: str
    touched_at: str


class ProposalShown(Shape):
    """What an approval is bound to; the digest is the SHA-256 of this in canonical JSON."""

    action: str
    arguments: dict[str, str]
    policy: str
    session: str
    turn: int


class ReceiptShown(Shape):
    """The proof of what was done."""

    text: str
    reference: str


class OrderShown(Shape):
    """An approved action and how it stands."""

    key: str
    action: str
    state: str
    arguments: dict[str, str]
    digest: str
    approved_by: str
    approved_at: str
    attempt: int
    reason: str
    ended_at: str | None
    status: str = Field(description="How it stands, in a sentence")
    receipt: ReceiptShown | None


class FlowAnswer(Shape):
    """Where gate, flow and order of a session stand."""

    session_id: str
    state: str = Field(description="INITIAL, CLARIFYING, ANSWERING or GUIDING")
    rule: str | None = Field(description="Which rule decided last; null before the first reply")
    reason: str | None
    action: str | None = Field(description="What may be offered; null where nothing may")
    verdicts: list[GateShown] = Field(description="What was decided, turn by turn")
    flow: FlowShown | None = Field(description="The latest flow, whether it is over or not")
    form: FormShown | None = Field(description="What is asked for now")
    arguments: dict[str, str] = Field(description="As they would be carried out, so far")
    proposal: ProposalShown | None
    order: OrderShown | None


class FlowInput(Shape):
    """The answer to a flow: a text, or the digest that is approved, or a cancel."""

    user_id: str | None = Field(
        None, min_length=1, max_length=LONGEST_ID, description="Whose session it is, if null"
    )
    answer: str | None = Field(None, min_length=1, max_length=LONGEST_CONTENT)
    approve: str | None = Field(None, min_length=1, max_length=128)
    cancel: bool = False

    @model_validator(mode="after")
    def _one(self) -> "FlowInput":
        if (self.answer is not None) + (self.approve is not None) + self.cancel != 1:
            raise ValueError("give one of `answer`, `approve` and `cancel`")
        return self


class FlowMoved(FlowAnswer):
    """Where things stand now, and the turn that the answer was."""

    turn: Answer


def flow_routes(talking: Talking, service: ConversationService) -> APIRouter:
    """Return the routes about the flow of a session."""
    routes = APIRouter(prefix="/api/sessions", tags=["gate"])
    given: Any = Body(
        openapi_examples={
            "a digest that was not shown is asked for again": {"value": {"approve": "0" * 64}},
            "an answer to what is asked": {"value": {"answer": "yes"}},
            "cancel": {"value": {"user_id": examples.USER, "cancel": True}},
        }
    )

    @routes.get("/{session_id}/flow", responses=responses(404))
    async def show_flow(session_id: AssistedSession) -> FlowAnswer:
        """Return what the gate decided and why, what is asked for, and what was done."""
        name = as_session_id(session_id)
        return FlowAnswer(**_standing(await talking.look(partial(service.flow_standing, name))))

    @routes.post("/{session_id}/flow", responses=responses(404, 409, 413, 503, 504))
    async def answer_flow(
        session_id: AssistedSession, answered: Annotated[FlowInput, given]
    ) -> FlowMoved:
        """Answer a flow, approve exactly what it shows, or cancel it; this is a turn."""
        name = as_session_id(session_id)
        answer = FormAnswer(
            text=answered.answer, approved_digest=answered.approve, is_cancelled=answered.cancel
        )
        taken = await talking.answer_flow(name, answer, user=answered.user_id)
        standing = await talking.look(partial(service.flow_standing, name))
        return FlowMoved(**_standing(standing), turn=answer_of(name, taken))

    return routes


def _standing(found: FlowStanding) -> dict[str, Any]:
    last = found.verdicts[-1] if found.verdicts else None
    return {
        "session_id": found.session,
        "state": last.state if last else State.INITIAL.value,
        "rule": last.rule if last else None,
        "reason": last.reason if last else None,
        "action": last.action if last else None,
        "verdicts": [_pick(GateShown, one) for one in found.verdicts],
        "flow": _flow(found),
        "form": _form(found),
        "arguments": dict(found.flow.arguments) if found.flow else {},
        "proposal": _pick(ProposalShown, found.proposal),
        "order": _order(found),
    }


def _pick(shape: type[Shape], value: object, **more: Any) -> Any:
    if value is None:
        return None
    names = [name for name in shape.model_fields if name not in more]
    return shape(**{name: getattr(value, name) for name in names}, **more)


def _flow(found: FlowStanding) -> FlowShown | None:
    flow = found.flow
    made: FlowShown | None = _pick(FlowShown, flow, step=flow.step_name if flow else "")
    return made


def _form(found: FlowStanding) -> FormShown | None:
    form = found.form
    if form is None:
        return None
    fields = [_pick(FieldShown, one, choices=list(one.choices)) for one in form.fields]
    made: FormShown = _pick(FormShown, form, fields=fields)
    return made


def _order(found: FlowStanding) -> OrderShown | None:
    order = found.order
    if order is None:
        return None
    receipt = _pick(ReceiptShown, order.receipt)
    made: OrderShown = _pick(
        OrderShown, order, state=str(order.state), status=found.status or "", receipt=receipt
    )
    return made
