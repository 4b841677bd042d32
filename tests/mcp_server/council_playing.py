"""An outside seat as a program over MCP: it does whatever its brief says is due, and no more."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from salon.council.seats import Seat

Calling: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Calls a tool and returns its structured content."""
GOOD = {"accuracy": 9, "depth": 8, "pedagogy": 9}


def look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let whoever waits for a seat look again soon; nobody needs to be spared here."""
    monkeypatch.setattr("salon.council.driving.POLL_S", 0.2)
    monkeypatch.setattr("salon.mcp_server.council_server.POLL_S", 0.2)


def calling(client: Client) -> Calling:
    """Return a way to call tools through a client, in which an error is a failure of the test."""

    async def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = await client.call_tool(name, arguments)
        assert not result.is_error, (name, result.structured_content)
        found: dict[str, Any] = result.structured_content
        return found

    return call


async def play(call: Calling, *, wait_s: int = 5) -> list[str]:
    """Hold a seat until no round is open; return which skills were used, in order."""
    used: list[str] = []
    while True:
        brief = await call("council_brief", {"wait_s": wait_s})
        if brief["round_id"] is None:
            return used
        used += [await act(call, brief, due) for due in brief["due"]]


async def act(call: Calling, brief: dict[str, Any], due: str) -> str:
    """Do one piece of work that is due, and return the skill that did it."""
    topic, phase = brief["topic"], brief["phase"]
    if due in {"draft", "refinement"}:
        name = "skill_submit_candidate" if due == "draft" else "skill_broadcast_draft"
        text = (
            brief["own"]["markdown"]
            if due == "refinement"
            else await draft(call, topic, brief["seat"])
        )
        await call(name, {"topic_id": brief["topic_id"], "markdown_content": text})
    elif due == "fusion":
        name = "skill_submit_fusion"
        text = brief["fusing"][0]["markdown"]
        await call(name, {"collaborator_ids": brief["collaborators"], "markdown_content": text})
    elif phase == "critique":
        name = "skill_peer_review"
        await call(name, {"target_candidate_id": due, "feedback": "Say when each thing was so."})
    else:
        name = "skill_cast_vote"
        await call(name, {"target_draft_id": due, "scores": GOOD, "rationale": "Each is quoted."})
    return name


async def draft(call: Calling, topic: str, seat: str) -> str:
    """Write a draft of quotes that a search found, each seat in an order of its own."""
    found = await call("skill_qdrant_search", {"query": topic, "limit": 8})
    # What the council wrote itself may not stand alone.
    sources = [one for one in found["results"] if not one["derived"]]
    first = list(Seat).index(Seat(seat)) % len(sources)
    results = sources[first:] + sources[:first]
    lines, notes = [], []
    for mark, passage in enumerate(results, start=1):
        text = passage["text"]
        sentence = text[: text.index(".") + 1]
        end = passage["start"] + len(sentence.encode())
        place = f"card:{passage['hash']}#{passage['start']}-{end}"
        lines.append(f"{sentence}[^{mark}]")
        notes.append(f"[^{mark}]: {json.dumps(sentence)} {place}")
    return "\n".join(
        [f"# {topic}, by seat {seat}", "", "## What is known", "", " ".join(lines), "", *notes, ""]
    )


@asynccontextmanager
async def outside(address: str, token: str, mode: str = "auto") -> AsyncIterator[Client]:
    """Connect the SDK's client over HTTP with a seat's token."""
    headers = {"authorization": f"Bearer {token}"}
    async with (
        create_mcp_http_client(headers=headers) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        yield client
