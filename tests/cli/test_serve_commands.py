"""`salon serve`: it says where it is, serves, stops when told, and refuses what would be unsafe."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import click
import httpx
import pytest
import uvicorn
from mcp.client import Client
from mcp.client.sse import sse_client
from websockets.sync.client import connect

from salon.app import Salon
from salon.cli.serve import make_config, prepare, run
from salon.core.errors import SalonError, UnknownProvider
from salon.settings import load_settings
from tests.api.client import talking
from tests.api.serving import running
from tests.cli.conftest import CommandLine
from tests.mcp_server.homes import AVATAR, make_home


@contextmanager
def program(home: Path, **given: str) -> Iterator["subprocess.Popen[str]"]:
    """Start `salon serve` as a program of its own, and end it whatever happens."""
    started = subprocess.Popen(
        [sys.executable, "-m", "salon.cli.main", "serve", "--port", "0", "--no-demo"],
        env=os.environ | {"SALON_HOME": str(home), "PYTHONUNBUFFERED": "1"} | given,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def test_it_says_where_it_is_takes_turns_and_stops_when_told(tmp_path: Path) -> None:
    bearer = {"authorization": "Bearer s3cret-token-0123"}
    message = {
        "type": "user_message",
        "content": "Hello",
        "user_id": "user_123",
        "session_id": "first",
    }
    with program(tmp_path, SALON_SERVE__TOKEN="s3cret-token-0123") as started:
        assert started.stdout is not None
        found = re.search(r"http://\S+", started.stdout.readline())
        assert found
        address = found[0]
        assert httpx.get(f"{address}/ready", timeout=30).status_code == 401
        assert httpx.get(f"{address}/ready", headers=bearer, timeout=30).json()["ready"] is True
        with connect(f"ws{address[4:]}/ws/first", additional_headers=bearer) as connection:
            connection.send(json.dumps(message))
            kinds = []
            while "bot_response" not in kinds:
                kinds.append(json.loads(connection.recv(timeout=60))["type"])
        started.send_signal(signal.SIGINT)
        assert started.wait(30) == 0
        assert started.stdout.read() == "stopped\n"
    assert kinds[0] == "emotion_update"
    with Salon(load_settings(home=tmp_path, environment={})) as salon:
        assert [turn.message for turn in salon.session_turns("first")] == ["Hello"]


def test_it_opens_a_browser_where_it_is_asked_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    is_open = threading.Event()

    def launch(url: str) -> int:
        opened.append(url)
        is_open.set()
        return 0

    def serve_once(self: uvicorn.Server, sockets: list[socket.socket]) -> None:
        assert sockets[0].getsockname()[1] > 0
        raise KeyboardInterrupt

    monkeypatch.setattr(click, "launch", launch)
    monkeypatch.setattr(uvicorn.Server, "run", serve_once)
    with Salon(load_settings(home=tmp_path, environment={})) as salon:
        run(make_config(salon, host="localhost", port=0), open_page=True)
    assert is_open.wait(10)
    said = capsys.readouterr().out
    assert f"Salon is at {opened[0]} " in said
    assert said.endswith("stopped\n")


def test_the_avatars_of_the_home_are_served_by_socket_and_over_mcp(tmp_path: Path) -> None:
    async def ask(address: str) -> list[str]:
        async with Client(f"{address}/mcp/{AVATAR}", mode="auto") as client:
            tools = await client.list_tools()
        async with Client(sse_client(f"{address}/mcp/{AVATAR}/sse"), mode="legacy") as client:
            assert (await client.list_tools()).tools == tools.tools
        return [tool.name for tool in tools.tools]

    with (
        Salon(make_home(tmp_path)) as salon,
        running(make_config(salon, host=None, port=0)) as address,
    ):
        assert "query_corpus" in anyio.run(ask, address.http)
        assert httpx.get(f"{address.http}/health", timeout=10).status_code == 200
        forged = httpx.post(
            f"{address.http}/mcp/{AVATAR}", headers={"host": "evil.example"}, timeout=10
        )
        assert forged.status_code == 421
        with talking(address, "canals", query=f"?avatar={AVATAR}") as talk:
            (reply,) = talk.say("What happens to a canal that everyone uses and nobody mends?")
        assert reply["bot_id"] == AVATAR
        assert "silt" in reply["content"]
        assert reply["citations"][0]["source"]
        assert "AI" in reply["ai_label"]
        with talking(address, "canals", query="?last_event_id=0") as talk:
            assert talk.until_reply() == [reply]
            # The session goes on with whom it began.
            assert talk.say("When is the digging done?")[-1]["bot_id"] == AVATAR


def test_another_address_needs_a_token(salon: CommandLine) -> None:
    ran = salon("serve", "--host", "0.0.0.0")
    assert ran.code == 2
    assert "no token" in ran.errors


def test_a_port_that_is_taken_is_said_to_be(salon: CommandLine) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ran = salon("serve", "--port", str(taken.getsockname()[1]))
    assert ran.code == 2
    assert "cannot listen on 127.0.0.1" in ran.errors
    assert "--port 0" in ran.errors


def test_an_origin_that_is_none_is_refused(salon: CommandLine) -> None:
    salon.home.mkdir(parents=True)
    (salon.home / "salon.toml").write_text('[serve]\norigins = ["nonsense"]\n')
    ran = salon("serve")
    assert ran.code == 2
    assert "is no origin" in ran.errors


def test_the_first_start_has_somebody_to_talk_to_and_builds_the_demo_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    built: list[str] = []

    def build_none(self: Salon, **_: object) -> dict[str, SalonError | None]:
        built.append(str(self.settings.home))
        return {
            "abraham-lincoln": UnknownProvider("no texts", hint="install the demo"),
            "salon-guide": None,
        }

    monkeypatch.setattr(Salon, "ensure_demo", build_none)
    with Salon(load_settings(home=tmp_path, environment={})) as salon:
        prepare(salon, demo=False)
        assert built == []
        present = {one.id for one in salon.avatars()}
        assert {"mina", "manager-assistant"} <= present
        prepare(salon, demo=None)
        assert built == [str(tmp_path)]
    said = capsys.readouterr().err
    assert "building the demo" in said
    assert "abraham-lincoln could not be built: no texts (install the demo)" in said
    with Salon(make_home(tmp_path / "other")) as salon:
        prepare(salon, demo=None)
        assert len(built) == 1  # there is an expert already
        prepare(salon, demo=True)
        assert len(built) == 2
