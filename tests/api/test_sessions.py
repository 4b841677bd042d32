"""Sessions over HTTP, on the real app and over a real socket."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from salon.api.limits import Limits
from tests.api.client import validator
from tests.api.homes import companion_home
from tests.api.serving import served


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with (
        companion_home(tmp_path_factory.mktemp("home")) as salon,
        served(salon, limits=Limits(rate=1000.0, burst=10_000)) as address,
        httpx.Client(base_url=address.http, timeout=60) as one,
    ):
        yield one


def say(client: httpx.Client, session: str, content: str, user: str = "user_123") -> Any:
    answer = client.post(
        f"/api/sessions/{session}/messages", json={"content": content, "user_id": user}
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_turn_over_http_brings_the_reply_and_all_its_events(client: httpx.Client) -> None:
    answer = say(client, "by-http", "I painted the door green.")
    assert answer["turn"] == 1
    assert answer["session_id"] == "by-http"
    for event in answer["events"]:
        validator(event["type"]).validate(event)
    last = answer["events"][-1]
    assert (last["type"], last["content"]) == ("bot_response", answer["content"])
    assert answer["ai_label"] == last["ai_label"]


def test_a_new_session_has_a_name_that_works(client: httpx.Client) -> None:
    made = client.post("/api/sessions")
    assert made.status_code == 201
    name = made.json()["session_id"]
    assert client.get(f"/api/sessions/{name}").status_code == 404
    assert say(client, name, "Hello.")["turn"] == 1


def test_looking_back_pages_through_the_turns(client: httpx.Client) -> None:
    for n in range(1, 6):
        say(client, "pages", f"Remark {n}.")
    shown = client.get("/api/sessions/pages").json()
    assert shown["turn_count"] == 5
    assert [turn["message"] for turn in shown["turns"]] == [f"Remark {n}." for n in range(1, 6)]
    assert {turn["user_id"] for turn in shown["turns"]} == {"user_123"}
    assert all("AI" in turn["ai_label"] for turn in shown["turns"])
    before = client.get("/api/sessions/pages", params={"limit": 2, "before": 4}).json()
    assert [turn["turn"] for turn in before["turns"]] == [2, 3]


def test_a_command_over_http_is_answered_and_is_no_turn(client: httpx.Client) -> None:
    say(client, "ordered", "Hello.")
    answer = say(client, "ordered", "/help")
    assert (answer["command"], answer["turn"], answer["events"]) == ("/help", 1, [])
    assert client.get("/api/sessions/ordered").json()["turn_count"] == 1


def test_a_deleted_session_is_gone(client: httpx.Client) -> None:
    say(client, "gone", "Forget this, please.")
    assert client.delete("/api/sessions/gone").json() == {"session_id": "gone", "deleted": True}
    for answer in (client.get("/api/sessions/gone"), client.delete("/api/sessions/gone")):
        assert answer.status_code == 404
        assert answer.json()["error"]["code"] == "not_found"
    assert say(client, "gone", "Again.")["turn"] == 1


def test_an_export_is_a_file_with_everything_of_the_user(client: httpx.Client) -> None:
    say(client, "exported", "My cat is called Minou.", user="carla")
    say(client, "exported-too", "It rains.", user="carla")
    answer = client.get("/api/sessions/exported/export")
    assert "salon-export-" in answer.headers["content-disposition"]
    held = json.loads(answer.content)
    assert held["user"] == "carla"
    assert [one["session"] for one in held["sessions"]] == ["exported", "exported-too"]
    assert client.get("/api/sessions/nobody/export").status_code == 404


BAD: dict[str, tuple[str, Any, int]] = {
    "no content": ("fine", {"user_id": "u"}, 422),
    "empty": ("fine", {"content": "", "user_id": "u"}, 422),
    "blank": ("fine", {"content": "  ", "user_id": "u"}, 422),
    "extra": ("fine", {"content": "x", "user_id": "u", "role": "system"}, 422),
    "a list": ("fine", [1], 422),
    "no user": ("fine", {"content": "x", "user_id": ""}, 422),
    "a session that cannot be": ("Not A Session", {"content": "x", "user_id": "u"}, 422),
    "an avatar that is not": ("fine", {"content": "x", "user_id": "u", "avatar": "nobody"}, 404),
    "a command that is not": ("fine", {"content": "/dance", "user_id": "u"}, 422),
}


@pytest.mark.parametrize("name", list(BAD))
def test_what_cannot_be_done_is_said_in_the_one_shape(client: httpx.Client, name: str) -> None:
    session, body, status = BAD[name]
    answer = client.post(f"/api/sessions/{session}/messages", json=body)
    assert answer.status_code == status, answer.text
    assert set(answer.json()["error"]) == {"code", "message", "hint", "details"}
    assert client.get("/api/sessions/fine").status_code == 404


def test_what_is_no_json_is_refused(client: httpx.Client) -> None:
    answer = client.post("/api/sessions/fine/messages", content=b"{")
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "invalid_input"


def test_the_server_says_that_it_runs_and_is_ready(client: httpx.Client) -> None:
    assert client.get("/health").json()["status"] == "ok"
    assert client.get("/ready").json() == {"ready": True, "checks": {"archive": "ok"}}


def test_the_description_for_machines_names_every_route(client: httpx.Client) -> None:
    described = client.get("/api/openapi.json").json()
    assert {
        "/api/sessions",
        "/api/sessions/{session_id}",
        "/api/sessions/{session_id}/messages",
        "/api/sessions/{session_id}/export",
        "/health",
        "/ready",
    } <= set(described["paths"])
    assert client.get("/docs").status_code == 404
