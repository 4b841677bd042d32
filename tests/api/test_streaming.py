"""Answers in parts: over server-sent events and over the WebSocket, verified sentences alone."""

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from fastapi.testclient import TestClient
from uvicorn.protocols.http.h11_impl import H11Protocol

from salon.api import sockets, streaming
from salon.api.app import create_app
from salon.api.sessions import NewSession
from salon.api.streaming import MOST_PARTS, EventStream, Hear
from salon.app import Salon
from salon.core.errors import NotFound
from salon.settings import load_settings
from tests.api.client import talking
from tests.api.failing import failing
from tests.api.serving import Address, served
from tests.experts.valley import open_valley

AVATAR = "ada-berg"
QUESTION = "When was the bridge over the Alder built?"
TRUE = "The bridge over the Alder was built in 1874 by the people of the valley [1]."
SCRIPT = f"{TRUE} It was built in 1999 [1]. {TRUE} That is all."


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    home: Path = tmp_path_factory.mktemp("home")
    with open_valley(home):
        pass
    script = home / "script.json"
    script.write_text(json.dumps([SCRIPT] * 20), "utf-8")
    environment = {"SALON_CHAT__MODEL": f"scripted:{script}"}
    with Salon(load_settings(home=home, environment=environment)) as salon, served(salon) as where:
        yield where


def events(text: str) -> list[tuple[str, Any]]:
    found = []
    for block in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if line[0] != ":")
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def stream(address: Address, path: str, body: dict[str, Any]) -> list[tuple[str, Any]]:
    headers = {"accept": "text/event-stream"}
    answer = httpx.post(address.http + path, json=body, headers=headers, timeout=60)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    return events(answer.text)


def test_sentences_come_verified_before_the_whole_reply(address: Address) -> None:
    *parts, (name, whole) = stream(
        address, f"/api/avatars/{AVATAR}/respond", {"question": QUESTION}
    )
    assert name == "reply"
    assert {one for one, _ in parts} == {"reply_delta"}
    said = "".join(part["text"] for _, part in parts)
    assert said
    assert whole["response"].startswith(said)
    assert "1999" not in json.dumps([parts, whole])


def test_a_turn_of_a_session_streams_the_same(address: Address) -> None:
    body = {"content": QUESTION, "user_id": "anna", "avatar": AVATAR}
    *parts, (name, whole) = stream(address, "/api/sessions/streamed/messages", body)
    assert name == "reply"
    assert whole["content"].startswith("".join(part["text"] for _, part in parts))
    assert whole["events"][-1]["type"] == "bot_response"


def test_the_websocket_sends_parts_before_the_reply_and_replays_the_reply_alone(
    address: Address,
) -> None:
    with (
        talking(address, "parts", query=f"?avatar={AVATAR}", user="anna") as talk,
        talking(address, "parts", user="anna") as listener,
    ):
        first = talk.say("How many moons does Neptune have?")
        assert listener.until_reply() == first
        said = talk.say(QUESTION)
        assert listener.until_reply() == said
    *parts, whole = said
    assert whole["type"] == "bot_response"
    assert {one["type"] for one in parts} == {"reply_delta"}
    assert {one["event_id"] for one in parts} == {first[-1]["event_id"]}
    assert {one["turn"] for one in said} == {2}
    assert whole["content"].startswith("".join(one["content"] for one in parts))
    with talking(address, "parts", query="?last_event_id=0", user="anna") as late:
        assert [late.receive(), late.receive()] == [first[-1], whole]
        assert late.command("/help")["command"] == "/help"


def test_each_contribution_of_a_gathering_comes_as_it_is_made(address: Address) -> None:
    body = {"message": QUESTION, "avatars": [AVATAR, "ole-holm"], "speaker": "Anna"}
    *parts, (name, whole) = stream(address, "/api/gather", body)
    assert name == "reply"
    assert [one for one, _ in parts] == ["contribution"] * 2
    assert [part for _, part in parts] == whole["contributions"]


def test_what_fails_at_once_has_its_usual_status(address: Address) -> None:
    headers = {"accept": "text/event-stream"}
    for path, body, status in (
        ("/api/avatars/nobody/respond", {"question": "?"}, 404),
        (f"/api/avatars/{AVATAR}/respond", {"question": ""}, 422),
        ("/api/sessions/new/messages", {"content": "/dance", "user_id": "u"}, 422),
    ):
        answer = httpx.post(address.http + path, json=body, headers=headers, timeout=60)
        assert answer.status_code == status
        assert set(answer.json()["error"]) == {"code", "message", "hint", "details"}


def test_a_defect_says_nothing_of_what_went_wrong(caplog: pytest.LogCaptureFixture) -> None:
    app = create_app(failing(ZeroDivisionError("what a person said")))
    with TestClient(app, base_url="http://localhost") as client:
        answer = client.post(
            "/api/avatars/x/respond",
            json={"question": "?"},
            headers={"accept": "text/event-stream"},
        )
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert "what a person said" not in answer.text
    assert "defect in a stream" in caplog.text


class Sink:
    """A client, as an application sees it; it leaves when it is told to."""

    def __init__(self) -> None:
        self.body = b""
        self.status = 0
        self.leave = anyio.Event()

    async def send(self, message: Any) -> None:
        self.status = message.get("status", self.status)
        self.body += message.get("body", b"")

    async def receive(self) -> Any:
        await self.leave.wait()
        return {"type": "http.disconnect"}


def test_parts_that_nobody_takes_are_left_out_and_the_whole_is_not() -> None:
    async def work(hear: Hear) -> Any:
        for number in range(10 * MOST_PARTS):
            hear("reply_delta", {"text": str(number)})
        return NewSession(session_id="one")

    async def main() -> Sink:
        sink = Sink()
        await EventStream(work)({"type": "http"}, sink.receive, sink.send)
        return sink

    told = events(anyio.run(main).body.decode())
    assert len(told) == MOST_PARTS + 1
    assert told[-1] == ("reply", {"session_id": "one"})


def test_an_error_after_the_first_part_is_an_event() -> None:
    async def work(hear: Hear) -> Any:
        hear("reply_delta", {"text": "one"})
        raise NotFound("it is gone")

    async def main() -> Sink:
        sink = Sink()
        await EventStream(work)({"type": "http"}, sink.receive, sink.send)
        return sink

    sink = anyio.run(main)
    assert sink.status == 200
    (_, _), (name, error) = events(sink.body.decode())
    assert (name, error["error"]["code"]) == ("error", "not_found")


def test_a_client_that_leaves_ends_the_stream_and_silence_is_filled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streaming, "KEEP_ALIVE_S", 0.001)

    async def main() -> Sink:
        sink = Sink()

        async def work(hear: Hear) -> Any:
            hear("reply_delta", {"text": "one"})
            await anyio.sleep_forever()

        async def send(message: Any) -> None:
            await sink.send(message)
            if b": still at it" in sink.body:
                sink.leave.set()

        await EventStream(work)({"type": "http"}, sink.receive, send)
        return sink

    body = anyio.run(main).body
    assert b"event: reply_delta" in body
    assert b"event: reply\n" not in body


def test_a_client_that_asks_and_never_reads_is_cut_off_and_others_go_on(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "STUCK_S", 0.2)
    cut_off = threading.Event()
    abort = H11Protocol.connection_lost

    def lost(self: Any, error: Exception | None) -> None:
        abort(self, error)
        cut_off.set()

    monkeypatch.setattr(H11Protocol, "connection_lost", lost)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", address.port))
        request = f"GET /api/openapi.json HTTP/1.1\r\nHost: 127.0.0.1:{address.port}\r\n\r\n"
        client.sendall(request.encode() * 40)
        assert httpx.get(f"{address.http}/health", timeout=10).status_code == 200
        assert cut_off.wait(30)
    assert httpx.get(f"{address.http}/health", timeout=10).status_code == 200
