"""The examples of the guides are what a server really takes and gives."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from salon.parts.companion import COMMANDS
from tests.api.client import validator
from tests.api.homes import companion_home
from tests.api.serving import Address, served

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "guides"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    with companion_home(tmp_path_factory.mktemp("home")) as salon, served(salon) as where:
        yield where


def example(name: str) -> str:
    text = (GUIDES / "serving.md").read_text("utf-8")
    found = re.search(rf"<!-- {name} -->\n```\w+\n(.*?)```", text, re.DOTALL)
    assert found
    return found[1]


def test_the_client_of_the_guide_takes_a_turn(address: Address) -> None:
    made: dict[str, Any] = {}
    exec(example("client"), made)
    events = made["talk"](address.http.replace("http", "ws"), "guide", "I am glad to be here.")
    for event in events:
        validator(event["type"]).validate(event)
    assert events[-1]["turn"] == 1


def test_the_request_of_the_guide_takes_a_turn(address: Address) -> None:
    shown = example("http")
    path = re.search(r"http://127.0.0.1:8765(\S+)", shown)
    body = re.search(r"-d '(.*)'", shown)
    assert path
    assert body
    headers = {"content-type": "application/json"}
    answer = httpx.post(address.http + path[1], content=body[1], headers=headers, timeout=30)
    assert answer.json()["session_id"] == "morning"
    assert answer.json()["turn"] == 1


def test_the_paths_of_the_guide_are_those_of_the_server(address: Address) -> None:
    text = (GUIDES / "serving.md").read_text("utf-8")
    shown = set(re.findall(r"`(?:GET|POST|DELETE) (/api/[^`]+)`", text))
    described = httpx.get(f"{address.http}/api/openapi.json", timeout=10).json()["paths"]
    there = {path.replace("session_id", "id") for path in described if path.startswith("/api")}
    assert shown == there | {"/api/openapi.json"}


def test_the_commands_of_the_guide_are_those_there_are() -> None:
    text = (GUIDES / "companion.md").read_text("utf-8")
    assert re.findall(r"^\| `(/[a-z-]+)` \|", text, re.MULTILINE) == list(COMMANDS)
