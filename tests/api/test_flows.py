"""The gate and the readings over HTTP: shown as they are, answered as a turn, told to listeners."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from salon.api import examples
from salon.app import Salon
from tests.api.client import talking
from tests.api.homes import draft_a_call, example_home
from tests.api.serving import Address, served


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    with example_home(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def address(salon: Salon) -> Iterator[Address]:
    with served(salon) as where:
        yield where


@pytest.fixture(scope="module")
def client(address: Address) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address.http, timeout=60) as one:
        yield one


def flow_of(client: httpx.Client, session: str) -> Any:
    return client.get(f"/api/sessions/{session}/flow").json()


def answer(client: httpx.Client, session: str, **body: Any) -> httpx.Response:
    return client.post(f"/api/sessions/{session}/flow", json=body)


def test_a_draft_is_shown_with_the_rule_and_the_exact_arguments(
    client: httpx.Client, salon: Salon
) -> None:
    draft_a_call(salon, "shown")
    shown = flow_of(client, "shown")
    assert shown["state"] == "GUIDING"
    assert shown["rule"] == "recommendation"
    assert shown["reason"]
    assert [one["turn"] for one in shown["verdicts"]] == [1, 2]
    assert shown["form"]["digest"]
    assert shown["arguments"]["employee_name"] == "Sam Hill"
    assert shown["proposal"]["arguments"] == shown["arguments"]
    assert shown["order"] is None


def test_only_the_digest_that_was_shown_approves_and_only_once(
    client: httpx.Client, salon: Salon, address: Address
) -> None:
    draft_a_call(salon, "approved")
    digest = flow_of(client, "approved")["form"]["digest"]
    with talking(address, "approved", user=examples.USER) as listener:
        wrong = answer(client, "approved", approve="f" * 64).json()
        assert wrong["order"] is None
        assert wrong["form"]["digest"] is not None
        digest = wrong["form"]["digest"]
        done = answer(client, "approved", approve=digest).json()
        heard = [*listener.until_reply(), *listener.until_reply()]
    assert done["order"]["state"] == "done"
    assert done["order"]["approved_by"] == examples.USER
    assert done["order"]["receipt"]["reference"]
    assert not done["flow"]["is_active"]
    assert [one["type"] for one in heard] == ["flow_update", "bot_response"] * 2
    assert done["turn"]["events"][-1] == heard[-1]
    again = answer(client, "approved", approve=digest)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "conflict")
    written = list((salon.settings.home / "actions" / "calendar").glob("*.ics"))
    assert len(written) == 1


def test_a_flow_is_cancelled_and_answered_by_its_own_person_alone(
    client: httpx.Client, salon: Salon
) -> None:
    draft_a_call(salon, "cancelled")
    foreign = answer(client, "cancelled", user_id="somebody-else", cancel=True)
    assert (foreign.status_code, foreign.json()["error"]["code"]) == (409, "conflict")
    gone = answer(client, "cancelled", user_id=examples.USER, cancel=True).json()
    assert gone["flow"]["step"] == "cancelled"
    assert gone["form"] is None


@pytest.mark.parametrize(
    "body",
    [{}, {"answer": "yes", "cancel": True}, {"approve": "x", "answer": "y"}, {"cancel": False}],
    ids=["nothing", "answer and cancel", "approve and answer", "no cancel"],
)
def test_an_answer_is_one_of_three(client: httpx.Client, body: dict[str, Any]) -> None:
    refused = client.post(f"/api/sessions/{examples.ASSISTED_SESSION}/flow", json=body)
    assert refused.status_code == 422


def test_where_nothing_waits_that_is_said(client: httpx.Client) -> None:
    calm = flow_of(client, examples.SESSION)
    assert (calm["state"], calm["rule"], calm["form"], calm["flow"]) == ("INITIAL",) + (None,) * 3
    assert answer(client, examples.SESSION, answer="yes").status_code == 409
    assert answer(client, "nobody", answer="yes").status_code == 404
    assert client.get("/api/sessions/nobody/flow").status_code == 404


def test_sessions_are_listed_by_kind_the_latest_first(client: httpx.Client) -> None:
    listed = client.get("/api/sessions").json()["sessions"]
    assert listed == sorted(listed, key=lambda one: one["last_at"], reverse=True)
    mine = next(one for one in listed if one["session_id"] == examples.SESSION)
    assert mine["preset"] == "companion"
    assert mine["user_id"] == examples.USER
    kinds = client.get("/api/sessions?preset=assistant").json()["sessions"]
    assert {one["preset"] for one in kinds} == {"assistant"}
    assert len(client.get("/api/sessions?limit=1").json()["sessions"]) == 1


def test_readings_hold_what_the_board_held_and_say_what_is_not_known(client: httpx.Client) -> None:
    read = client.get(f"/api/sessions/{examples.SESSION}/readings").json()
    assert [one["turn"] for one in read["turns"]] == [1, 2]
    slots = read["turns"][0]["slots"]
    assert slots["current_emotion"]["emotion"]
    absent = [one for one in slots.values() if isinstance(one, dict) and set(one) == {"absent"}]
    assert absent
    assert all(one["absent"] for one in absent)
    assert read["labels"]
    later = client.get(f"/api/sessions/{examples.SESSION}/readings?after=1").json()["turns"]
    assert [one["turn"] for one in later] == [2]
    replayed = client.post(f"/api/sessions/{examples.SESSION}/replay").json()
    assert replayed["identical"] is True
    assert replayed["holds"] is None
    assert [one["turn"] for one in replayed["turns"]] == [1, 2]
    assert client.post("/api/sessions/nobody/replay").status_code == 404


def test_a_replay_claims_nothing_of_turns_that_it_cannot_run(client: httpx.Client) -> None:
    for content in (examples.QUESTION, "What about quantum computers?"):
        body = {"content": content, "avatar": examples.AVATAR, "user_id": examples.USER}
        assert client.post("/api/sessions/an-expert/messages", json=body).status_code == 200
    found = client.post("/api/sessions/an-expert/replay").json()
    assert found["turns"] == []
    assert found["identical"] is None, "nothing was run again"
    assert found["checked"] == [{"turn": 1, "holds": True, "why": None}]
    assert found["holds"] is True
    assert [one["turn"] for one in found["not_compared"]] == [2]


def test_a_companion_answers_no_single_question_over_http(client: httpx.Client) -> None:
    refused = client.post("/api/avatars/mina/respond", json={"question": "Who are you?"})
    assert refused.status_code == 422
    assert "salon companion --avatar mina" in refused.json()["error"]["hint"]
