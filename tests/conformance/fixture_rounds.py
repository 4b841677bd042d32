"""Fixture tools that need several rounds: the server asks, the client answers, and calls again."""

import json
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from salon.mcp_server.tables import Answer, Call, Prompt, PromptAnswer, Tool
from tests.conformance.fixture_tools import NoArguments, fields, said, spoken, tool

NAME = fields(name={"type": "string"})


def ask(message: str, schema: dict[str, Any]) -> types.ElicitRequest:
    params = types.ElicitRequestFormParams(message=message, requested_schema=schema)
    return types.ElicitRequest(params=params)


def sample(text: str, max_tokens: int = 100) -> types.CreateMessageRequest:
    params = types.CreateMessageRequestParams(messages=[spoken(text)], max_tokens=max_tokens)
    return types.CreateMessageRequest(params=params)


def needed(
    requests: Mapping[str, types.InputRequest], state: str | None = None
) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=dict(requests), request_state=state)


def accepted(call: Call, key: str) -> dict[str, Any] | None:
    """Return what a person filled in, if the client sent it and it was accepted."""
    found = (call.params.input_responses or {}).get(key)
    if isinstance(found, types.ElicitResult) and found.action == "accept":
        return dict(found.content or {})
    return None


def _elicitation(call: Call, _: NoArguments) -> Answer:
    answer = accepted(call, "user_name")
    if answer is None or not isinstance(answer.get("name"), str):
        return needed({"user_name": ask("What is your name?", NAME)})
    return said(f"Hello, {answer['name']}!")


def _sampling(call: Call, _: NoArguments) -> Answer:
    found = (call.params.input_responses or {}).get("capital_question")
    if not isinstance(found, types.CreateMessageResult):
        return needed({"capital_question": sample("What is the capital of France?")})
    content = found.content
    return said(content.text if content.type == "text" else content.type)


def _list_roots(call: Call, _: NoArguments) -> Answer:
    found = (call.params.input_responses or {}).get("client_roots")
    if not isinstance(found, types.ListRootsResult):
        return needed({"client_roots": types.ListRootsRequest()})
    return said(", ".join(str(root.uri) for root in found.roots))


def _request_state(call: Call, _: NoArguments) -> Answer:
    answer = accepted(call, "confirm")
    if answer is None or call.params.request_state is None:
        confirm = ask("Please confirm", fields(ok={"type": "boolean"}))
        return needed({"confirm": confirm}, state="waiting")
    if call.params.request_state != "waiting":
        raise MCPError(INVALID_PARAMS, "this state is not ours")
    return said("state-ok")


def _multiple_inputs(call: Call, _: NoArguments) -> Answer:
    wanted: dict[str, types.InputRequest] = {
        "user_name": ask("What is your name?", NAME),
        "greeting": sample("Generate a greeting", 50),
        "client_roots": types.ListRootsRequest(),
    }
    if not wanted.keys() <= (call.params.input_responses or {}).keys():
        return needed(wanted, state="three questions")
    return said("all three are here")


def _multi_round(call: Call, _: NoArguments) -> Answer:
    before = json.loads(call.params.request_state or "{}")
    if (first := accepted(call, "step1")) is not None:
        before = {"name": first.get("name")}
    if "name" not in before:
        return needed({"step1": ask("Step 1: What is your name?", NAME)}, state="{}")
    second = accepted(call, "step2")
    if second is None:
        question = ask("Step 2: What is your favorite color?", fields(color={"type": "string"}))
        return needed({"step2": question}, state=json.dumps(before))
    return said(f"{before['name']} likes {second.get('color')}")


def _capabilities(call: Call, _: NoArguments) -> Answer:
    declared = call.context.session.client_capabilities
    wanted: dict[str, types.InputRequest] = {}
    if declared is not None and declared.elicitation is not None:
        wanted["user_name"] = ask("What is your name?", NAME)
    if declared is not None and declared.sampling is not None:
        wanted["greeting"] = sample("Generate a greeting", 50)
    if not wanted or wanted.keys() <= (call.params.input_responses or {}).keys():
        return said("nothing is missing")
    return needed(wanted)


def _streaming(call: Call, _: NoArguments) -> Answer:
    if accepted(call, "user_name") is None:
        return needed({"user_name": ask("What is your name?", NAME)})
    return said("thank you")


def _prompt(call: Call, _: NoArguments) -> PromptAnswer:
    answer = accepted(call, "user_context")
    if answer is None:
        schema = fields(context={"type": "string"})
        return needed({"user_context": ask("What context should the prompt use?", schema)})
    text = types.TextContent(text=f"Use this context: {answer.get('context')}")
    return [types.PromptMessage(role="user", content=text)]


ROUNDS: tuple[Tool, ...] = (
    tool("test_input_required_result_elicitation", _elicitation),
    tool("test_input_required_result_sampling", _sampling),
    tool("test_input_required_result_list_roots", _list_roots),
    tool("test_input_required_result_request_state", _request_state),
    tool("test_input_required_result_tampered_state", _request_state),
    tool("test_input_required_result_multiple_inputs", _multiple_inputs),
    tool("test_input_required_result_multi_round", _multi_round),
    tool("test_input_required_result_capabilities", _capabilities),
    tool("test_streaming_elicitation", _streaming),
)
ROUND_PROMPT = Prompt(
    name="test_input_required_result_prompt",
    title="A prompt that asks first",
    description="For the conformance suite.",
    arguments=NoArguments,
    run=_prompt,
)
