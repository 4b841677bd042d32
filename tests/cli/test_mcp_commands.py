"""`salon mcp` as clients and people start it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from salon.app import Salon
from salon.settings import load_settings
from tests.cli.conftest import CommandLine
from tests.conformance.programs import free_port
from tests.mcp_server.homes import AVATAR, PROFILE, make_home

BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("homes") / "home"
    make_home(place)
    return place


@pytest.fixture
def command(home: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(home, monkeypatch)


async def _info(entry: dict[str, Any]) -> Any:
    parameters = StdioServerParameters(
        command=entry["command"],
        args=entry["args"],
        env=entry["env"] | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
    )
    async with Client(stdio_client(parameters), mode="legacy") as client:
        assert client.server_info is not None
        assert client.server_info.name == f"avatar-{AVATAR}"
        assert len((await client.list_tools()).tools) == 5
        reply = await client.call_tool("generate_response", {"question": "Who digs in March?"})
        assert not reply.is_error
        return (await client.call_tool("get_avatar_info", {})).structured_content


@pytest.mark.requirement(
    "cap/overview/served-over-mcp",
    "sdk/connection/client-configuration",
    "sdk/connection/environment",
)
def test_a_server_started_from_the_printed_entry_answers(command: CommandLine) -> None:
    command.patch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")
    ran = command("mcp", "install", "--avatar", AVATAR, "--env", "SALON_ACTOR=desk")
    assert ran.code == 0
    entry = ran.json["mcpServers"][AVATAR]
    assert entry == {
        "command": "salon",
        "args": ["mcp", "--avatar", AVATAR],
        "env": {"SALON_HOME": str(command.home), "SALON_ACTOR": "desk"},
    }
    info = anyio.run(_info, entry)
    assert info["id"] == AVATAR
    assert info["ai"] is True
    with Salon(load_settings(home=command.home, environment={})) as salon:
        *_, last = salon.archive.audit_entries()
    assert last.by == "desk", "the setting in the entry reached the server"


def test_where_the_path_does_not_find_salon_the_entry_names_the_program_itself(
    command: CommandLine, tmp_path: Path
) -> None:
    command.patch.setenv("PATH", str(tmp_path))
    (entry,) = command("mcp", "install", "--avatar", AVATAR).json["mcpServers"].values()
    assert entry["command"] == str(BIN / "salon")
    other = tmp_path / "salon"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    (entry,) = command("mcp", "install", "--avatar", AVATAR).json["mcpServers"].values()
    assert entry["command"] == str(BIN / "salon"), "another program of that name is not this one"
    words = ("mcp", "install", "--avatar", AVATAR, "--command", "/opt/salon")
    (entry,) = command(*words).json["mcpServers"].values()
    assert entry["command"] == "/opt/salon"


@pytest.mark.parametrize("way", ["stdio", "http"])
def test_a_server_computes_the_vectors_that_are_missing(
    command: CommandLine, tmp_path: Path, way: str
) -> None:
    settings = make_home(tmp_path / "home")
    shutil.rmtree(settings.index_path)
    with Salon(settings) as salon:
        salon.index_words()
        assert salon.index_coverage().with_vector == 0

    def wait() -> None:
        with Salon(settings) as salon:
            for _ in range(1200):
                coverage = salon.index_coverage()
                if coverage.with_vector == coverage.passages > 0:
                    return
                threading.Event().wait(0.05)
        raise AssertionError("no vectors came")

    async def serve(_: Any) -> None:
        await anyio.to_thread.run_sync(wait)

    with command.patch.context() as patch:
        patch.setattr("salon.mcp_server.transports.serve_stdio", serve)
        patch.setattr("uvicorn.run", lambda *_, **__: wait())
        words = ("--http",) if way == "http" else ()
        ran = CommandLine(settings.home, command.patch)("mcp", *words, "--avatar", AVATAR)
    assert ran.code == 0, ran.errors


def test_a_companion_is_not_served_and_the_entry_leaves_it_out(
    command: CommandLine, tmp_path: Path
) -> None:
    settings = make_home(tmp_path / "home")
    with Salon(settings) as salon:
        salon.ensure_companion()
    ask = CommandLine(settings.home, command.patch)
    ran = ask("mcp", "--avatar", "mina")
    assert ran.code == 2
    assert "salon companion --avatar mina" in ran.errors
    assert list(ask("mcp", "install").json["mcpServers"]) == [AVATAR]


@pytest.mark.requirement("sdk/configuration/config-file")
def test_what_was_edited_in_the_folder_is_what_is_served(
    command: CommandLine, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    make_home(home)
    folder = home / "avatars" / AVATAR
    folder.mkdir(parents=True)
    config = PROFILE | {"mcp": {"name": "weir-notes", "tools": ["query_corpus"]}}
    (folder / "config.json").write_text(json.dumps(config))
    served: list[Any] = []

    async def serve(server: Any) -> None:
        served.append(server)

    with command.patch.context() as patch:
        patch.setattr("salon.mcp_server.transports.serve_stdio", serve)
        ran = CommandLine(home, command.patch)("mcp", "--avatar", AVATAR)
        assert ran.code == 0, ran.errors
        assert served[0].name == "weir-notes"
        (folder / "config.json").write_text("{}")
        assert CommandLine(home, command.patch)("mcp", "--avatar", AVATAR).code == 2
    assert len(served) == 1


@pytest.mark.requirement("sdk/connection/command")
def test_an_unknown_avatar_ends_with_the_known_ones(command: CommandLine) -> None:
    ran = command("mcp", "--avatar", "nobody")
    assert ran.code == 3
    assert ran.output == b""
    assert AVATAR in ran.errors


def test_a_home_without_avatars_says_so(salon: CommandLine) -> None:
    for words in (("mcp",), ("mcp", "--http"), ("mcp", "install")):
        ran = salon(*words)
        assert ran.code == 2
        assert "salon avatar new" in ran.errors


def test_two_avatars_do_not_share_standard_input(command: CommandLine, tmp_path: Path) -> None:
    home = tmp_path / "home"
    make_home(home)
    make_home(home, {"id": "otto-weir", "name": "Otto Weir"})
    ran = CommandLine(home, command.patch)("mcp")
    assert ran.code == 2
    assert "one avatar" in ran.errors


@pytest.mark.requirement("sdk/connection/stdio")
def test_nothing_but_messages_is_on_standard_output(home: Path) -> None:
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {"name": "query_corpus", "arguments": {"query": "who digs"}}},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call",
         "params": {"name": "generate_response", "arguments": {"question": "who digs?"}}},
    ]  # fmt: skip
    with subprocess.Popen(
        [str(BIN / "salon"), "--home", str(home), "mcp", "--avatar", AVATAR],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(3)]
        process.stdin.close()
        rest = process.stdout.read()
    assert {one["id"] for one in answers} == {1, 2, 3}
    assert all("result" in one for one in answers)
    assert rest == ""
    assert process.returncode == 0


def test_an_interrupt_ends_the_server_though_no_line_comes(home: Path) -> None:
    with subprocess.Popen(
        [str(BIN / "salon"), "--home", str(home), "mcp", "--avatar", AVATAR],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"not a message\n")
        process.stdin.flush()
        assert b"-32700" in process.stdout.readline()  # it is up, and waits for more
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130


def test_avatars_are_served_over_http(home: Path) -> None:
    port = free_port()
    with subprocess.Popen(
        [str(BIN / "salon"), "--home", str(home), "mcp", "--http", "--port", str(port)],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            url = f"http://127.0.0.1:{port}/mcp/{AVATAR}"
            assert process.stderr.readline().strip() == f"{AVATAR}: {url}"
            _wait_for(url)

            async def ask() -> Any:
                async with Client(url, mode="auto") as client:
                    return (await client.call_tool("get_avatar_info", {})).structured_content

            assert anyio.run(ask)["id"] == AVATAR
            forged = httpx.post(url, headers={"host": "evil.example"}, json={}, timeout=10)
            assert forged.status_code == 421
        finally:
            process.terminate()


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_whoever_listens_to_all_is_told_so(command: CommandLine, host: str) -> None:
    started: list[dict[str, Any]] = []
    with command.patch.context() as patch:
        patch.setattr("uvicorn.run", lambda app, **how: started.append(how | {"app": app}))
        ran = command("mcp", "--http", "--host", host, "--port", "99", "--avatar", AVATAR)
    assert ran.code == 0
    assert (started[0]["host"], started[0]["port"]) == (host, 99)
    assert started[0]["app"].routes[0].path == f"/mcp/{AVATAR}"
    assert ("whoever reaches this address" in ran.errors) is (host == "0.0.0.0")


def test_over_stdio_the_one_avatar_there_is_needs_no_name(command: CommandLine) -> None:
    served: list[str] = []
    left: list[int] = []
    before = signal.getsignal(signal.SIGINT)

    async def serve(server: Any) -> None:
        served.append(server.name)
        signal.raise_signal(signal.SIGINT)

    with command.patch.context() as patch:
        patch.setattr("salon.mcp_server.transports.serve_stdio", serve)
        patch.setattr("os._exit", left.append)
        ran = command("mcp")
    assert ran.code == 0, ran.errors
    assert served == [f"avatar-{AVATAR}"]
    assert left == [130]
    assert signal.getsignal(signal.SIGINT) is before


def _wait_for(url: str) -> None:
    for _ in range(400):
        try:
            httpx.get(url, timeout=1)
        except httpx.TransportError:
            threading.Event().wait(0.05)
        else:
            return
    raise AssertionError("the server did not start")


def test_the_entry_is_put_into_a_file(command: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"theme": "dark"}')
    words = ("mcp", "install", "--client", "vscode", "--write", str(path))
    assert command(*words, "--json").json == {"file": str(path), "servers": {AVATAR: "added"}}
    found = json.loads(path.read_text())
    assert found["theme"] == "dark"
    assert found["servers"][AVATAR]["type"] == "stdio"
    assert "unchanged" in command(*words).text
    other = (*words, "--command", "/opt/salon")
    assert command(*other).code == 4
    assert command(*other, "--force").code == 0


def test_an_environment_entry_needs_a_value(command: CommandLine) -> None:
    ran = command("mcp", "install", "--env", "NAME", "--json")
    assert ran.code == 2
    assert ran.error["code"] == "invalid_settings"
