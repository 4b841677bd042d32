"""Rounds over HTTP, on the real app and over a real socket."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from salon.api import rounds as routes
from salon.api.limits import Limits
from salon.app import Salon
from salon.council.rounds import Phase
from salon.council.seats import Seat
from salon.settings import Settings
from tests.api.serving import served
from tests.parts.council_homes import (
    FOG,
    POOR,
    TOPIC_ID,
    act,
    copied,
    make_council_home,
    play_by_hand,
)

FAST = Limits(rate=1000.0, burst=10_000, caller_rate=1000.0, caller_burst=10_000)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    settings = make_council_home(
        tmp_path_factory.mktemp("council") / "home", council={"retries": 0}
    )
    with Salon(settings) as salon:
        assert play_by_hand(salon).phase is Phase.PUBLISHED
        assert play_by_hand(salon, POOR, topic=FOG).phase is Phase.NO_QUORUM
    return settings


@pytest.fixture(scope="module")
def salon(filled: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    home = tmp_path_factory.mktemp("served") / "home"
    with Salon(copied(filled, home, council={"retries": 0})) as opened:
        yield opened


@pytest.fixture(scope="module")
def client(salon: Salon) -> Iterator[httpx.Client]:
    with (
        served(salon, limits=FAST) as address,
        httpx.Client(base_url=address.http, timeout=60) as one,
    ):
        yield one


def get(client: httpx.Client, path: str) -> Any:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


def by_phase(client: httpx.Client) -> dict[str, str]:
    return {one["phase"]: one["id"] for one in get(client, "/api/rounds")["rounds"]}


def test_rounds_are_listed_in_short(client: httpx.Client) -> None:
    found = get(client, "/api/rounds?limit=2")["rounds"]
    assert len(found) == 2
    assert found[0]["opened_at"] > found[1]["opened_at"]
    assert by_phase(client).keys() >= {"published", "no_quorum"}
    assert client.get("/api/rounds?limit=0").status_code == 422


def test_a_round_is_shown_whole(client: httpx.Client) -> None:
    found = get(client, f"/api/rounds/{by_phase(client)['published']}")
    assert (found["topic_id"], found["handle"]) == (TOPIC_ID, f"completed/{TOPIC_ID}")
    assert found["is_over"] is True
    assert found["due"] == {}
    assert len(found["critiques"]) == 20
    assert {one["feedback"] for one in found["critiques"]} == {"Say when."}
    assert found["published"]["candidate"] in {one["id"] for one in found["candidates"]}
    for one in found["candidates"]:
        assert [cited["mark"] for cited in one["citations"]] == list(
            range(1, len(one["citations"]) + 1)
        )


def test_a_ballot_says_who_voted_how_and_what_is_not_known(client: httpx.Client) -> None:
    found = get(client, f"/api/rounds/{by_phase(client)['published']}/ballot")
    assert found["attempt"] == 0
    for row in found["rows"]:
        assert len(row["votes"]) == row["voters"]
        assert not {vote["seat"] for vote in row["votes"]} & set(row["authors"])
    assert isinstance(found["effective_votes"], float | dict)
    for name in ("position_bias", "self_preference"):
        # One round has too few grades for a slope, and says so.
        assert "points" in found[name] or "grades" in found[name]["absent"]
    assert set(found["weights"]) == set(Seat)
    fusions = [row for row in found["rows"] if row["is_fusion"]]
    verdicts = [one["verdict"] for one in found["ratification"]]
    assert len(verdicts) == sum(row["voters"] for row in fusions)
    other = client.get(f"/api/rounds/{by_phase(client)['published']}/ballot?attempt=3")
    assert other.status_code == 404


def test_a_candidate_a_chapter_and_its_check_can_be_read(client: httpx.Client) -> None:
    place = f"/api/rounds/{by_phase(client)['published']}"
    whole = get(client, place)
    one = get(client, f"{place}/candidates/{whole['candidates'][0]['id']}")
    assert one["markdown"].startswith("# Lamps")
    assert len(one["critiques"]) == 4
    chapter = get(client, f"{place}/chapter")
    assert chapter["text"] == whole["published"]["text"]
    assert chapter["record"]["consensus_metadata"]["voters"] >= 3
    assert chapter["citations"][0]["quote"] in chapter["markdown"]
    report = get(client, f"{place}/verify")
    assert report["holds"] is True
    assert all(check["holds"] for check in report["checks"])


def test_what_is_not_there_is_404_in_the_one_shape(client: httpx.Client) -> None:
    other = by_phase(client)["no_quorum"]
    for path, code in (
        ("/api/rounds/round_0", "round_not_found"),
        (f"/api/rounds/{other}/chapter", "not_found"),
        (f"/api/rounds/{other}/candidates/draft_0", "not_found"),
        ("/api/rounds/round_0/events", "round_not_found"),
        ("/api/rounds/round_0/ballot", "round_not_found"),
    ):
        answer = client.get(path)
        assert answer.status_code == 404, path
        assert answer.json()["error"]["code"] == code
    assert client.get("/api/rounds/..%2f..%2fcompleted").status_code in {404, 422}


@pytest.mark.parametrize(
    "body",
    [{}, {"topic": ""}, {"topic": "x", "seats": {"VI": "outside"}}, {"topic": "x", "more": 1}],
    ids=["nothing", "empty", "no such seat", "unknown field"],
)
def test_a_round_that_is_asked_for_wrongly_is_refused(
    client: httpx.Client, body: dict[str, Any]
) -> None:
    answer = client.post("/api/rounds", json=body)
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "invalid_input"


def test_a_seat_can_not_be_held_by_nobody_known(client: httpx.Client) -> None:
    answer = client.post("/api/rounds", json={"topic": "x", "seats": {"II": "ghost:x"}})
    assert answer.status_code == 422
    assert "can hold no seat" in answer.json()["error"]["message"]


def test_a_round_is_driven_beside_the_server_and_followed_to_its_end(
    salon: Salon, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salon.council.driving.POLL_S", 0.1)
    monkeypatch.setattr(routes, "POLL_S", 0.1)
    answer = client.post(
        "/api/rounds",
        json={"topic": "Oil", "topic_id": "oil", "seats": dict.fromkeys(Seat, "outside")},
    )
    assert answer.status_code == 201
    opened = answer.json()
    assert opened["due"] == {str(seat): ["draft"] for seat in Seat}
    assert client.post("/api/rounds", json={"topic": "Oil"}).status_code == 409
    again = client.post(f"/api/rounds/{opened['id']}/advance")
    assert again.status_code == 200
    ids, phases = [], []
    with client.stream("GET", f"/api/rounds/{opened['id']}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        for event in events_of(stream):
            ids.append(event["id"])
            phases.append(event["data"]["phase"])
            for seat in Seat:
                act(salon, seat, opened["id"])
    assert ids == sorted(set(ids))
    assert phases[0] == "sprint"
    assert phases[-1] == "published"
    with client.stream(
        "GET", f"/api/rounds/{opened['id']}/events", headers={"last-event-id": str(ids[-1] - 1)}
    ) as stream:
        (last,) = events_of(stream)
    assert (last["id"], last["data"]["phase"]) == (ids[-1], "published")
    seen = {"last-event-id": str(ids[-1])}
    with client.stream("GET", f"/api/rounds/{opened['id']}/events", headers=seen) as stream:
        assert list(stream.iter_lines()) == [], "whoever saw the end is not kept waiting"
    for odd in (b"\xb2", b"9" * 5_000, b"-1"):
        place = f"/api/rounds/{opened['id']}/events"
        with client.stream("GET", place, headers=[(b"last-event-id", odd)]) as stream:
            (last,) = events_of(stream)
        assert last["id"] == ids[-1]
    assert client.get(f"/api/rounds/{opened['id']}/ballot?attempt=9").status_code == 404


def events_of(stream: httpx.Response) -> Iterator[dict[str, Any]]:
    event: dict[str, Any] = {}
    for line in stream.iter_lines():
        name, _, value = line.partition(": ")
        if name == "id":
            event["id"] = int(value)
        elif name == "data":
            event["data"] = json.loads(value)
        elif not line and event:
            yield event
            event = {}


def test_a_stream_says_now_and_then_that_it_lives(
    salon: Salon, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "POLL_S", 0.05)
    monkeypatch.setattr(routes, "SILENCE_S", 0.1)
    opened = salon.open_round("Silence", holders=dict.fromkeys(Seat, "outside"))
    version = salon.round_version(opened.id)
    place = f"/api/rounds/{opened.id}/events"
    with client.stream("GET", place, headers={"last-event-id": str(version)}) as stream:
        assert next(stream.iter_lines()) == ": still here"


def test_souls_are_listed_with_their_seats(client: httpx.Client) -> None:
    found = get(client, "/api/souls")["souls"]
    assert [one["seat"] for one in found] == list(Seat)
    assert all(one["soul"] and one["hash"] for one in found)
    assert all(one["history"] for one in found)


def test_every_route_of_the_council_is_documented(client: httpx.Client) -> None:
    described = get(client, "/api/openapi.json")["paths"]
    mine = {path: value for path, value in described.items() if path.startswith("/api/rounds")}
    assert len(mine) == 8
    for value in mine.values():
        for operation in value.values():
            assert operation["description"]
            assert "422" in operation["responses"]


def test_a_round_goes_on_when_the_server_starts_again(filled: Settings, tmp_path: Path) -> None:
    settings = copied(filled, tmp_path / "home", council={"retries": 0, "patience_s": 0.01})
    with Salon(settings) as first:
        opened = first.open_round("Left off", holders=dict.fromkeys(Seat, "outside"))
    with Salon(settings) as second:
        assert second.resume_rounds() == 1
        second._drivers._threads[opened.id].join()
        assert second.round(opened.id).phase is Phase.NO_QUORUM
