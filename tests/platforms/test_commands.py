"""`salon slack`, `salon discord`, `salon harmonica`: the platforms from the command line."""

import asyncio
import json
import os
import signal
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

pytest.importorskip("slack_bolt")
pytest.importorskip("aiohttp")
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "'audioop' is deprecated", DeprecationWarning)
    pytest.importorskip("discord")

import uvicorn
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from tests.cli.conftest import CommandLine
from tests.platforms.fake_discord import mention as discord_mention
from tests.platforms.fake_discord import running_discord
from tests.platforms.fake_harmonica import KEY, running_harmonica
from tests.platforms.fake_slack import FakeSlack, all_text, mention, running_slack
from tests.platforms.rooms import ADA, GARDEN_ANSWER, GARDEN_QUESTION, OLE, open_rooms

T = TypeVar("T")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    with open_rooms(home):
        pass
    return home


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandLine]:
    yield CommandLine(home, monkeypatch)
    (home / "salon.toml").unlink(missing_ok=True)


def write_settings(home: Path, **groups: Mapping[str, object]) -> None:
    lines = []
    for name, values in groups.items():
        lines.append(f"[{name}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    (home / "salon.toml").write_text("\n".join(lines), "utf-8")


@contextmanager
def elsewhere(
    make: Callable[[], AbstractAsyncContextManager[T]],
) -> Iterator[tuple[T, Callable[[Coroutine[Any, Any, None]], None]]]:
    """Run a fake platform in a loop of its own; what is handed over is played in it."""
    ready: list[T] = []
    is_ready, loop = threading.Event(), asyncio.new_event_loop()
    over = asyncio.Event()

    async def main() -> None:
        async with make() as fake:
            ready.append(fake)
            is_ready.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(main(),))
    thread.start()
    assert is_ready.wait(10)
    plays = []

    def play(scene: Coroutine[Any, Any, None]) -> None:
        async def then_stop() -> None:
            try:
                await scene
            finally:
                os.kill(os.getpid(), signal.SIGINT)

        plays.append(asyncio.run_coroutine_threadsafe(then_stop(), loop))

    try:
        yield ready[0], play
        for one in plays:
            one.result(30)
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(20)
        loop.close()


def test_slack_is_served_over_a_socket_until_somebody_ends_it(run: CommandLine) -> None:
    seen: list[str] = []

    async def scene(slack: FakeSlack) -> None:
        socket = await slack.socket()
        event = {
            "type": "event_callback", "event_id": "Ev1", "team_id": "T1",
            "event": mention(GARDEN_QUESTION),
        }  # fmt: skip
        envelope = {"type": "events_api", "envelope_id": "e1", "payload": event}
        await socket.send_str(json.dumps(envelope))
        seen.append(all_text((await slack.told())[1]))

    with elsewhere(running_slack) as (slack, play):
        group = {
            "bot_token": "xoxb-1", "app_token": "xapp-1", "base_url": f"{slack.url}api/",
            "default_avatar": ADA, "avatars": [ADA, OLE],
        }  # fmt: skip
        write_settings(run.home, slack=group)
        assert run("slack", "--check", "--json").json["team"] == "Valley"
        play(scene(slack))
        ran = run("slack")
    assert ran.code == 0
    assert "stopped" in ran.errors
    assert GARDEN_ANSWER in seen[0]


def test_slack_over_http_listens_where_it_is_told(
    run: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    listening: list[object] = []
    monkeypatch.setattr(uvicorn, "run", lambda _, **how: listening.append(how["port"]))
    with elsewhere(running_slack) as (slack, _):
        group = {"bot_token": "xoxb-1", "signing_secret": "s", "base_url": f"{slack.url}api/"}
        write_settings(run.home, slack=group)
        ran = run("slack", "--http", "--port", "1234")
    assert ran.code == 0
    assert listening == [1234]
    assert "/slack/events" in ran.errors


def test_the_manifest_needs_no_token(run: CommandLine) -> None:
    made = run("slack", "--manifest", "--json").json
    commands = [one["command"] for one in made["features"]["slash_commands"]]
    assert commands == ["/ask-berg", "/ask-holm", "/ask"]
    assert made["settings"]["socket_mode_enabled"] is True


def test_discord_is_served_until_somebody_ends_it(
    run: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    @asynccontextmanager
    async def pointed() -> AsyncIterator[Any]:
        async with running_discord() as fake:
            base = fake.url.replace("ws://", "http://").removesuffix("gateway/")
            monkeypatch.setattr(Route, "BASE", f"{base}api")
            monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(fake.url))
            yield fake

    async def scene(fake: Any) -> None:
        await fake.ready()
        await fake.send("MESSAGE_CREATE", discord_mention(f"Ada, {GARDEN_QUESTION}"))
        seen.append(json.dumps((await fake.told())[1]))

    write_settings(run.home, discord={"token": "abc"})
    with elsewhere(pointed) as (fake, play):
        assert run("discord", "--check", "--json").json["application_id"] == "800"
        play(scene(fake))
        assert run("discord").code == 0
    assert GARDEN_ANSWER in seen[0]


def test_a_harmonica_session_is_made_and_an_avatar_consulted(
    run: CommandLine, tmp_path: Path
) -> None:
    with running_harmonica() as fake:
        write_settings(run.home, harmonica={"api_key": KEY, "base_url": fake.url})
        assert run("harmonica", "--check", "--json").json["id"] == "u1"
        assert "consult" in run("harmonica").text
        made = run("harmonica", "create", "Water", "--avatar", ADA, "--json").json
        assert "session s" in run("harmonica", "create", "Fish", "--avatar", OLE).text
        fake.say(made["id"], "p1", "alice", GARDEN_QUESTION)
        ran = run("harmonica", "consult", made["id"], ADA, "--participant", "p1")
        assert GARDEN_ANSWER in ran.text
        assert len(fake.texts(made["id"], "p1")) == 2
        dialogue = tmp_path / "dialogue.json"
        dialogue.write_text(json.dumps([{"role": "bob", "content": GARDEN_QUESTION}]), "utf-8")
        given = ("--participant", "p2", "--context", str(dialogue))
        assert run("harmonica", "consult", made["id"], ADA, *given, "--json").json["participant"]
        dialogue.write_text("{}x", "utf-8")
        broken = run("harmonica", "consult", made["id"], ADA, *given, "--json")
        assert broken.code == 2
        assert "dialogue" in broken.error["message"]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("slack",), "SALON_SLACK__BOT_TOKEN"),
        (("discord", "--check"), "SALON_DISCORD__TOKEN"),
        (("harmonica", "--check"), "SALON_HARMONICA__API_KEY"),
    ],
    ids=["slack", "discord", "harmonica"],
)
def test_a_missing_token_is_named(run: CommandLine, command: tuple[str, ...], name: str) -> None:
    ran = run(*command, "--json")
    assert ran.code == 2
    assert name in ran.error["hint"]


def test_a_missing_extra_is_named(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("salon.cli.platforms.importlib.util.find_spec", lambda _: None)
    ran = run("slack", "--json")
    assert ran.code == 2
    assert "salon[slack]" in ran.error["hint"]
