"""Servers on this machine that speak as Anthropic, Google and OpenAI do, and strictly so."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.providers.model_server import Asked, Behave, Handler, ModelServer, say

TEXT = "A commons can be governed by those who use it."
PIECES = ("A commons ", "can be governed ", "by those who use it.")
READ, WRITTEN = 21, 12
Body = dict[str, Any]


class NotThisProtocolError(AssertionError):
    """A request that the real server would not take."""


def need(condition: object, what: str) -> None:
    if not condition:
        raise NotThisProtocolError(what)


@dataclass(frozen=True)
class Protocol:
    """One way of speaking: how requests look, and how answers are written down."""

    check: Callable[[Asked], None]
    answer: Callable[[str, bool], Body]
    events: Callable[[Iterable[str], bool], Iterable[bytes]]
    error: Callable[[int, str], Body]
    suffix: str
    key_header: str
    system_of: Callable[[Body], object]
    texts_of: Callable[[Body], list[tuple[str, str]]]
    limits: Mapping[str, object] = field(default_factory=dict)


def say_json(content: object, status: int = 200, **headers: str) -> Behave:
    """Answer with JSON, or with bytes that claim to be JSON."""
    return say(content, status, Content_Type="application/json", **headers)


def speak(protocol: Protocol, pieces: Iterable[str] = PIECES, *, tells: bool = True) -> Behave:
    """Answer as this protocol does, whole or in pieces, as it was asked."""

    def behave(request: Handler) -> None:
        server = request.server
        assert isinstance(server, ModelServer)
        asked = server.asked[-1]
        try:
            protocol.check(asked)
        except (NotThisProtocolError, KeyError, TypeError) as error:
            say_json(protocol.error(400, f"not this protocol: {error!r}"), 400)(request)
            return
        if "stream" in asked.path or asked.body.get("stream"):
            stream(protocol.events(pieces, tells))(request)
        else:
            say_json(protocol.answer("".join(pieces), tells))(request)

    return behave


def stream(events: Iterable[bytes]) -> Behave:
    """Send events one by one, and end the connection after them."""

    def behave(request: Handler) -> None:
        request.close_connection = True
        request.send_response(200)
        request.send_header("Content-Type", "text/event-stream")
        request.end_headers()
        for event in events:
            request.wfile.write(event)
            request.wfile.flush()

    return behave


def event(data: object, name: str | None = None) -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


# OpenAI


def _openai_check(asked: Asked) -> None:
    need(asked.path == "/v1/chat/completions", asked.path)
    known = {"model", "messages", "max_tokens", "max_completion_tokens", "temperature", "stream"}
    need(set(asked.body) <= known | {"stream_options"}, sorted(asked.body).__repr__())
    need(asked.body["model"], "no model")
    messages = asked.body["messages"]
    assert isinstance(messages, list)
    for message in messages:
        need(set(message) <= {"role", "content"}, repr(message))
        need(message["role"] in {"system", "user", "assistant"}, message["role"])


def _openai_answer(text: str, tells: bool) -> Body:
    message = {"role": "assistant", "content": text}
    body: Body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "model-as-told",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
    total = {"prompt_tokens": READ, "completion_tokens": WRITTEN, "total_tokens": READ + WRITTEN}
    return body | ({"usage": total} if tells else {})


def _openai_events(pieces: Iterable[str], tells: bool) -> Iterable[bytes]:
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_790_000_000}
    base["model"] = "model-as-told"
    for piece in pieces:
        choice = {"index": 0, "delta": {"role": "assistant", "content": piece}}
        yield event(base | {"choices": [choice | {"finish_reason": None}]})
    yield event(base | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    if tells:
        whole = _openai_answer("", tells=True)
        yield event(base | {"choices": [], "usage": whole["usage"]})
    yield b"data: [DONE]\n\n"


def _openai_texts(body: Body) -> list[tuple[str, str]]:
    return [(m["role"], m["content"]) for m in body["messages"] if m["role"] != "system"]


def _openai_system(body: Body) -> object:
    return [m["content"] for m in body["messages"] if m["role"] == "system"]


OPENAI = Protocol(
    check=_openai_check,
    answer=_openai_answer,
    events=_openai_events,
    error=lambda status, text: {"error": {"message": text, "type": "some_error", "code": status}},
    suffix="/v1",
    key_header="Authorization",
    system_of=_openai_system,
    texts_of=_openai_texts,
    limits={"max_completion_tokens": 64},
)
COMPATIBLE = Protocol(
    **{**OPENAI.__dict__, "limits": {"max_tokens": 64}},
)


# Anthropic


def _anthropic_check(asked: Asked) -> None:
    need(asked.path.partition("?")[0] == "/v1/messages", asked.path)
    headers = {name.lower(): value for name, value in asked.headers.items()}
    need(headers.get("anthropic-version"), "no version")
    need(isinstance(asked.body["max_tokens"], int), "no max_tokens")
    messages = asked.body["messages"]
    assert isinstance(messages, list)
    for message in messages:
        need(message["role"] in {"user", "assistant"}, message["role"])


def _anthropic_answer(text: str, tells: bool) -> Body:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "model-as-told",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": READ * tells, "output_tokens": WRITTEN * tells},
    }


def _anthropic_events(pieces: Iterable[str], tells: bool) -> Iterable[bytes]:
    start = _anthropic_answer("", tells) | {"content": [], "stop_reason": None}
    start["usage"] = {"input_tokens": READ * tells, "output_tokens": 1 * tells}
    yield event({"type": "message_start", "message": start}, "message_start")
    block = {"type": "text", "text": ""}
    opened = {"type": "content_block_start", "index": 0, "content_block": block}
    yield event(opened, "content_block_start")
    for piece in pieces:
        delta = {"type": "text_delta", "text": piece}
        change = {"type": "content_block_delta", "index": 0, "delta": delta}
        yield event(change, "content_block_delta")
    yield event({"type": "content_block_stop", "index": 0}, "content_block_stop")
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    usage = {"output_tokens": WRITTEN * tells}
    yield event({"type": "message_delta", "delta": ended, "usage": usage}, "message_delta")
    yield event({"type": "message_stop"}, "message_stop")


def _anthropic_system(body: Body) -> object:
    system = body.get("system", [])
    return [system] if isinstance(system, str) else [part["text"] for part in system]


def _anthropic_texts(body: Body) -> list[tuple[str, str]]:
    found = []
    for message in body["messages"]:
        content = message["content"]
        parts = [content] if isinstance(content, str) else [part["text"] for part in content]
        found += [(message["role"], part) for part in parts]
    return found


def _anthropic_error(status: int, text: str) -> Body:
    kind = {401: "authentication_error", 429: "rate_limit_error"}.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": text}}


ANTHROPIC = Protocol(
    check=_anthropic_check,
    answer=_anthropic_answer,
    events=_anthropic_events,
    error=_anthropic_error,
    suffix="",
    key_header="Authorization",
    system_of=_anthropic_system,
    texts_of=_anthropic_texts,
    limits={"max_tokens": 64},
)


# Google


def _google_check(asked: Asked) -> None:
    path, _, query = asked.path.partition("?")
    need(path.startswith(("/v1/models/", "/v1beta/models/")), asked.path)
    need(path.endswith((":generateContent", ":streamGenerateContent")), asked.path)
    need(("stream" in path) == (query == "alt=sse"), asked.path)
    contents = asked.body["contents"]
    assert isinstance(contents, list)
    for content in contents:
        need(content["role"] in {"user", "model"}, content["role"])


def _google_answer(text: str, tells: bool) -> Body:
    content = {"role": "model", "parts": [{"text": text}]}
    body: Body = {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "modelVersion": "model-as-told",
        "responseId": "response-1",
    }
    counts = {"promptTokenCount": READ, "candidatesTokenCount": WRITTEN}
    counts["totalTokenCount"] = READ + WRITTEN
    return body | ({"usageMetadata": counts} if tells else {})


def _google_events(pieces: Iterable[str], tells: bool) -> Iterable[bytes]:
    for piece in pieces:
        part = _google_answer(piece, tells)
        del part["candidates"][0]["finishReason"]
        yield event(part)
    yield event(_google_answer("", tells))


def _google_texts(body: Body) -> list[tuple[str, str]]:
    names = {"user": "user", "model": "assistant"}
    return [
        (names[content["role"]], part["text"])
        for content in body["contents"]
        for part in content["parts"]
    ]


def _google_error(status: int, text: str) -> Body:
    name = {429: "RESOURCE_EXHAUSTED", 401: "UNAUTHENTICATED"}.get(status, "INTERNAL")
    return {"error": {"code": status, "message": text, "status": name}}


GOOGLE = Protocol(
    check=_google_check,
    answer=_google_answer,
    events=_google_events,
    error=_google_error,
    suffix="",
    key_header="X-Goog-Api-Key",
    system_of=lambda body: [part["text"] for part in body["systemInstruction"]["parts"]],
    texts_of=_google_texts,
)

PROTOCOLS = {
    "anthropic": ANTHROPIC,
    "google": GOOGLE,
    "openai": OPENAI,
    "compatible": COMPATIBLE,
    "ollama": COMPATIBLE,
}
