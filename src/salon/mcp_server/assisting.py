"""A turn with an assistant over MCP: what its flow asks travels as elicitation.

Where the client can show forms, the offer, each missing field and the draft to approve are put to
the person one after the other: in 2025-11-25 in the middle of the call, in 2026-07-28 by handing
the question back. An approval names the digest of what was shown, so nothing else is approved. A
client without forms gets the flow's question as text and answers it with its next message.
"""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

import anyio.from_thread
import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field, ValidationError

from salon.conversation.discussion import LONGEST_UTTERANCE
from salon.core.errors import ProviderFailed
from salon.core.ids import RandomIds
from salon.gate.forms import Form, FormAnswer
from salon.mcp_server.tables import Answer, Arguments, Call, Result, Tool
from salon.parts.assistant_turns import AssistedTurn
from salon.parts.avatar_results import Cited, cited

SECONDS = 300.0
"""How long a call may take: a person fills in forms meanwhile."""
_KEY = "form"
_APPROVE = "approve"


class AssistService(Protocol):
    """The part of the app that assists."""

    def assist(self, session: str, message: str, *, avatar: str, user: str) -> AssistedTurn:
        """Take one turn."""

    def flow_request(self, session: str) -> Form | None:
        """Return what a session's flow asks for."""

    def answer_flow(
        self, session: str, answer: FormAnswer, *, avatar: str, user: str
    ) -> AssistedTurn:
        """Answer a session's flow."""


class AssistArguments(Arguments):
    """What `assist` takes."""

    message: str = Field(
        min_length=1, max_length=LONGEST_UTTERANCE, description="What the person says"
    )
    session_id: str = Field(
        "", max_length=64, description="The conversation to go on with; a new one if left out"
    )
    user: str = Field("user", min_length=1, max_length=128, description="Who the person is")


class GateResult(Result):
    """What the gate decided in this turn, and by which rule."""

    action: str | None
    state: str
    rule: str
    reason: str


class FlowResult(Result):
    """What an action still needs; with a `digest` it waits for the approval of exactly that."""

    flow: str
    action: str
    step: str
    asks: str
    digest: str | None


class OrderResult(Result):
    """An approved action, and how it stands."""

    order: str
    action: str
    state: str


class Assisted(Result):
    """One turn with an assistant."""

    response: str
    session_id: str
    turn: int
    citations: list[Cited]
    outcome: str
    gate: GateResult | None
    flow: FlowResult | None
    order: OrderResult | None
    ai_label: str
    is_crisis: bool | None = Field(
        None,
        exclude_if=lambda value: value is None,
        description="True where this is the fixed reply with help lines",
    )


def assist_tool(service: AssistService, avatar: str, name: str) -> Tool:
    """Return the tool that takes a turn with an assistant."""
    return Tool(
        name="assist",
        title=f"Talk with {name}",
        description=f"Take one turn of a conversation with {name}, who asks before advising and "
        "offers to book a call or send a mail. Nothing is done before the person approved "
        "exactly that.",
        arguments=AssistArguments,
        result=Assisted,
        run=partial(_assist, service, avatar),
        read_only=False,
        destructive=False,  # it adds an event or sends a message, and overwrites nothing
        idempotent=False,
        open_world=True,
        seconds=SECONDS,
    )


def _assist(service: AssistService, avatar: str, call: Call, given: AssistArguments) -> Answer:
    if call.params.request_state is not None:
        return _next_round(service, avatar, call)
    session = given.session_id or RandomIds().new("session").replace("_", "-")
    taken = service.assist(session, given.message, avatar=avatar, user=given.user)
    return _go_on(service, avatar, call, taken, user=given.user)


def _go_on(
    service: AssistService, avatar: str, call: Call, taken: AssistedTurn, *, user: str
) -> Answer:
    """Put what the flow asks to the person as long as it asks something and forms can be shown."""
    session = taken.turn.session
    can_ask = _can_ask(call)
    while (form := service.flow_request(session)) is not None and can_ask:
        if call.context.session.protocol_version in MODERN_PROTOCOL_VERSIONS:
            state = json.dumps({"session": session, "flow": form.flow, "step": form.step,
                                "digest": form.digest, "user": user})  # fmt: skip
            return types.InputRequiredResult(
                input_requests={_KEY: elicitation(form)}, request_state=state
            )
        answer = _answer_of(form, _ask_now(call, form))
        if answer is None:
            break
        taken = service.answer_flow(session, answer, avatar=avatar, user=user)
    return _result(taken, form)


def _next_round(service: AssistService, avatar: str, call: Call) -> Answer:
    """Take what the person filled in, if the flow still asks for just that."""
    try:
        state = json.loads(call.params.request_state or "")
        session, user = str(state["session"]), str(state["user"])
    except (ValueError, KeyError, TypeError) as error:
        raise MCPError(INVALID_PARAMS, "this state did not come from this server") from error
    form = service.flow_request(session)
    found = (call.params.input_responses or {}).get(_KEY)
    asked = None if form is None else (form.flow, form.step, form.digest)
    if form is None or asked != (state["flow"], state["step"], state["digest"]):
        raise MCPError(INVALID_PARAMS, "the conversation has gone on since this was asked")
    answer = _answer_of(form, found) if isinstance(found, types.ElicitResult) else None
    if answer is None:
        raise MCPError(INVALID_PARAMS, "the form came back without an answer")
    taken = service.answer_flow(session, answer, avatar=avatar, user=user)
    return _go_on(service, avatar, call, taken, user=user)


def _can_ask(call: Call) -> bool:
    session = call.context.session
    declared = session.client_capabilities
    if declared is None or declared.elicitation is None:
        return False
    return session.protocol_version in MODERN_PROTOCOL_VERSIONS or session.can_send_request


def elicitation(form: Form) -> types.ElicitRequest:
    """Return a flow's form as MCP asks it: one text field, or yes and no to a draft."""
    properties: dict[str, Any] = {}
    if form.digest is not None:
        properties[_APPROVE] = {
            "type": "boolean", "title": "Approve", "description": "Do exactly this",
        }  # fmt: skip
    for one in form.fields:
        properties[one.name] = {"type": "string", "title": one.label, "description": one.question}
        if one.choices:
            properties[one.name]["description"] += f" ({'; '.join(one.choices)})"
    required = [one.name for one in form.fields if one.is_required]
    schema = {
        "type": "object",
        "properties": properties,
        "required": [*required, *([_APPROVE] if form.digest is not None else [])],
    }
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=form.text, requested_schema=schema)
    )


def _ask_now(call: Call, form: Form) -> types.ElicitResult:
    ask = partial(
        call.context.session.send_request,
        elicitation(form),
        types.ElicitResult,
        request_read_timeout_seconds=SECONDS,
        metadata=ServerMessageMetadata(related_request_id=call.context.request_id),
    )
    try:
        return anyio.from_thread.run(ask)
    except MCPError as error:
        raise ProviderFailed(f"the client could not ask: {error.message[:200]}") from error
    except ValidationError as error:
        raise ProviderFailed("the client answered with something else than a form") from error


def _answer_of(form: Form, found: types.ElicitResult) -> FormAnswer | None:
    """Return what a person answered; `None` where the form was put away unanswered."""
    if found.action == "cancel":
        return None
    if found.action == "decline":
        return FormAnswer(is_cancelled=True)
    content = found.content or {}
    if form.digest is not None:
        is_approved = content.get(_APPROVE) is True
        return FormAnswer(approved_digest=form.digest) if is_approved else _CANCEL
    texts = [str(content[one.name]) for one in form.fields if content.get(one.name)]
    if not texts:
        # What need not be filled in may be left out in words.
        return FormAnswer(text="skip") if not _required(form) else None
    return FormAnswer(text=texts[0])


_CANCEL = FormAnswer(is_cancelled=True)


def _required(form: Form) -> Sequence[str]:
    return [one.name for one in form.fields if one.is_required]


def _result(taken: AssistedTurn, form: Form | None) -> Assisted:
    verdict, order = taken.verdict, taken.order
    return Assisted(
        response=taken.text,
        session_id=taken.turn.session,
        turn=taken.turn.number,
        citations=[cited(one) for one in taken.reply.citations],
        outcome=taken.reply.outcome,
        gate=None
        if verdict is None
        else GateResult(
            action=verdict.action, state=verdict.state, rule=verdict.rule, reason=verdict.reason
        ),
        flow=None
        if form is None
        else FlowResult(
            flow=form.flow, action=form.action, step=form.step, asks=form.text, digest=form.digest
        ),
        order=None
        if order is None
        else OrderResult(order=order.key, action=order.action, state=order.state),
        ai_label=taken.reply.ai_label,
        is_crisis=taken.reply.is_crisis or None,
    )
