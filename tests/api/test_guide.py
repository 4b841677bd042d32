"""The examples of the guides are what a server really takes and gives."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from salon.core.canonical import canonical_json
from salon.core.hashing import content_hash
from salon.parts.companion import COMMANDS
from tests.api.client import validator
from tests.api.homes import companion_home, example_home
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


def test_the_routes_of_the_guide_are_those_of_the_server(address: Address) -> None:
    text = (GUIDES / "http.md").read_text("utf-8")
    rows = "\n".join(line for line in text.splitlines() if line.startswith("| `"))
    shown = set(re.findall(r"`((?:GET|POST|DELETE) /[^`]+)`", rows))
    described = httpx.get(f"{address.http}/api/openapi.json", timeout=10).json()["paths"]
    there = {
        f"{method.upper()} {NAMES.sub('{id}', path)}"
        for path, methods in described.items()
        for method in methods
    }
    assert shown == there


NAMES = re.compile(r"\{(?:session_id|avatar)\}")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    with example_home(tmp_path_factory.mktemp("home")) as salon, served(salon) as where:
        yield where


def shown_in_http(name: str) -> list[str]:
    text = (GUIDES / "http.md").read_text("utf-8")
    return re.findall(rf"<!-- {name} -->\n```\w+\n(.*?)```", text, re.DOTALL)


def run_curl(address: Address, shown: str) -> httpx.Response:
    path = re.search(r"http://127.0.0.1:8765(\S+)", shown)
    assert path
    body = re.search(r"-d '(.*)'", shown)
    headers = dict(one.split(": ") for one in re.findall(r"-H '(.*?)'", shown))
    method = "POST" if body else "GET"
    content = body[1] if body else None
    url = address.http + path[1]
    answer = httpx.request(method, url, content=content, headers=headers, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer


def test_the_requests_of_the_http_guide_are_answered(whole: Address) -> None:
    asked, streamed, standing = [run_curl(whole, one) for one in shown_in_http("curl")]
    assert asked.json()["outcome"] == "answered"
    assert streamed.text.startswith("event: reply\n")
    assert standing.json()["form"]["digest"]


def test_the_citations_of_an_answer_are_checked_as_the_guide_shows(whole: Address) -> None:
    made: dict[str, Any] = {}
    exec(shown_in_http("check")[0], made)
    reply = made["ask"](whole.http, "ida-weir", "How is the canal paid for and mended?")
    assert reply["citations"]


def test_an_approval_names_the_digest_as_the_guide_shows(whole: Address) -> None:
    (shown,) = shown_in_http("approve")
    flow = httpx.get(f"{whole.http}/api/sessions/report/flow", timeout=60).json()
    canonical = canonical_json({"kind": "salon.proposal"} | flow["proposal"])
    assert content_hash(canonical) == flow["form"]["digest"]
    moved = run_curl(whole, shown.replace("DIGEST", flow["form"]["digest"])).json()
    assert moved["order"]["state"] == "done"
    assert "is in the calendar" in moved["order"]["receipt"]["text"] or moved["order"]["status"]


def test_the_commands_of_the_guide_are_those_there_are() -> None:
    text = (GUIDES / "companion.md").read_text("utf-8")
    assert re.findall(r"^\| `(/[a-z-]+)` \|", text, re.MULTILINE) == list(COMMANDS)
