"""Harmonica's HTTP interface: sessions, dialogues, context sources.

A request is sent again only where Harmonica said that it did not take it (429), after the time it
named; whatever else goes wrong may have had its effect, so it is handed on.
"""

import time
from collections.abc import Callable, Mapping
from typing import TypeVar
from urllib.parse import quote

from salon.core.closing import Closable
from salon.core.errors import LimitReached, ProviderFailed
from salon.platforms.options import HarmonicaOptions
from salon.providers.http_json import Answer, JsonClient, JsonServer

_FULL = 429
_WAIT_S = 5.0
"""Where a full server does not say how long."""
_HINTS: Mapping[int, str] = {
    400: "see what Harmonica says about the request",
    401: "check harmonica.api_key; it begins with hm_live_",
    403: "the account of this key may not do that",
    404: "check the id of the session, and harmonica.base_url",
}

T = TypeVar("T")


class Account(Answer):
    """Whose key it is."""

    id: str
    email: str | None = None


class CreatedSession(Answer):
    """A session that was set up."""

    id: str
    topic: str
    join_url: str | None = None


class ContextSource(Answer):
    """An MCP server that a session's facilitator may ask."""

    id: str | None = None


class DialogueMessage(Answer):
    """One message of a dialogue; the role is `user` or `assistant`."""

    role: str
    content: str


class Dialogue(Answer):
    """What one participant and the facilitator said."""

    participant_id: str
    participant_name: str | None = None
    messages: tuple[DialogueMessage, ...] = ()


class Dialogues(Answer):
    """The dialogues of a session."""

    data: tuple[Dialogue, ...]


class Said(Answer):
    """The facilitator's answer to a message."""

    message: DialogueMessage
    thread_id: str | None = None


class HarmonicaClient(Closable):
    """Calls one Harmonica account; may be used by many threads at once."""

    def __init__(
        self, options: HarmonicaOptions, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._longest_wait_s = options.longest_wait_s
        self._sleep = sleep
        self._http = JsonClient(
            JsonServer(
                base_url=options.base_url,
                api_key=options.api_key,
                timeout_s=options.timeout_s,
                answer_bytes=8_000_000,
                waits_s=(),
                hint="check harmonica.base_url and the network",
                hints=_HINTS,
            )
        )

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def me(self) -> Account:
        """Return whose key it is."""
        return self._patiently(lambda: self._http.get("/me", Account))

    def create_session(
        self, *, topic: str, goal: str, context: str | None, prompt: str | None
    ) -> CreatedSession:
        """Set up a session; without a prompt Harmonica's own facilitator leads it."""
        optional = {"context": context, "prompt": prompt}
        body = {"topic": topic, "goal": goal} | {k: v for k, v in optional.items() if v}
        return self._patiently(lambda: self._http.post("/sessions", body, CreatedSession))

    def add_mcp_source(
        self, session: str, *, url: str, title: str, bearer: str | None, tools: tuple[str, ...]
    ) -> ContextSource:
        """Let the facilitator of a session ask an MCP server."""
        body: dict[str, object] = {"url": url, "title": title, "tool_allowlist": list(tools)}
        if bearer:
            body["bearer"] = bearer
        path = f"{_session(session)}/context-sources/mcp"
        return self._patiently(lambda: self._http.post(path, body, ContextSource))

    def dialogues(self, session: str) -> tuple[Dialogue, ...]:
        """Return what was said in a session, by participant."""
        path = f"{_session(session)}/responses"
        return self._patiently(lambda: self._http.get(path, Dialogues)).data

    def say(self, session: str, *, participant: str, name: str, content: str) -> Said:
        """Put a message into the dialogue of one participant."""
        body = {"content": content, "participant_id": participant, "participant_name": name}
        path = f"{_session(session)}/chat"
        return self._patiently(lambda: self._http.post(path, body, Said))

    def _patiently(self, ask: Callable[[], T]) -> T:
        waited = 0.0
        while True:
            try:
                return ask()
            except ProviderFailed as error:
                if error.details.get("status") != _FULL:
                    raise
                wanted = error.details.get("retry_after_s")
                # "At once" is not taken at its word, or a full server is asked without a pause.
                wait = max(1.0, wanted) if isinstance(wanted, int | float) else _WAIT_S
                if waited + wait > self._longest_wait_s:
                    raise LimitReached(
                        "Harmonica has had enough requests for now",
                        hint=f"try again in {wait:.0f} s",
                        retry_after_s=wait,
                    ) from error
            waited += wait
            self._sleep(wait)


def _session(session: str) -> str:
    return f"/sessions/{quote(session, safe='')}"
