"""Borrowing the client's model for one call, where the client declared that it samples.

In 2025-11-25 the server asks in the middle of the call; in 2026-07-28 it hands the question back
and the client calls again with what its model wrote. A client that declared nothing is never
asked. A client that refuses, fails, takes too long or calls again empty-handed gets a reply made
of quotes, as if it had lent nothing.
"""

from collections.abc import Callable
from functools import partial

import anyio.from_thread
import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from salon.core.chat import ChatMessage, ChatRequest, Speaker
from salon.core.errors import ProviderFailed
from salon.mcp_server.tables import Answer, Call
from salon.providers.chat.backend import Written
from salon.providers.chat.client import Lend, NotWrittenYet, lent_by

SECONDS = 20.0
"""How long a client may take; what is left of a call's time is enough to answer with quotes."""
_KEY = "reply"
_ASKED = "asked"


def with_client_model(call: Call, answer: Callable[[], Answer]) -> Answer:
    """Run what answers a call so that it may use the client's model."""
    try:
        with lent_by(_find_lender(call)):
            return answer()
    except NotWrittenYet as waiting:
        wanted = _as_message(waiting.request)
        return types.InputRequiredResult(input_requests={_KEY: wanted}, request_state=_ASKED)


def _find_lender(call: Call) -> Lend | None:
    session = call.context.session
    declared = session.client_capabilities
    if declared is None or declared.sampling is None:
        return None
    if session.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return partial(_in_rounds, call)
    return partial(_ask_now, call) if session.can_send_request else None


def _in_rounds(call: Call, request: ChatRequest) -> Written:
    if call.params.request_state != _ASKED:
        raise NotWrittenYet(request)
    found = (call.params.input_responses or {}).get(_KEY)
    if not isinstance(found, types.CreateMessageResult):
        raise ProviderFailed("the client called again without what its model wrote")
    return _as_written(found)


def _ask_now(call: Call, request: ChatRequest) -> Written:
    ask = partial(
        call.context.session.send_request,
        _as_message(request),
        types.CreateMessageResult,
        request_read_timeout_seconds=SECONDS,
        metadata=ServerMessageMetadata(related_request_id=call.context.request_id),
    )
    try:
        return _as_written(anyio.from_thread.run(ask))
    except MCPError as error:
        raise ProviderFailed(f"the client's model did not write: {error.message[:200]}") from error
    except ValidationError as error:
        raise ProviderFailed("the client answered with something else than a message") from error


def _as_message(request: ChatRequest) -> types.CreateMessageRequest:
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(
            system_prompt="\n".join(
                one.content for one in request.messages if one.speaker is Speaker.SYSTEM
            ),
            messages=[
                _as_said(one) for one in request.messages if one.speaker is not Speaker.SYSTEM
            ],
            max_tokens=request.max_tokens,
            temperature=request.temperature,
        )
    )


def _as_said(message: ChatMessage) -> types.SamplingMessage:
    role: types.Role = "assistant" if message.speaker is Speaker.ASSISTANT else "user"
    return types.SamplingMessage(role=role, content=types.TextContent(text=message.content))


def _as_written(found: types.CreateMessageResult) -> Written:
    if not isinstance(found.content, types.TextContent):
        raise ProviderFailed("the client's model did not write text")
    return Written(text=found.content.text, model=found.model, tokens=None)
