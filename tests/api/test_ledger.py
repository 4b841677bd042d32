"""The audit log over HTTP: asked for by what an entry is, and page after page."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from salon.api import examples
from salon.app import Salon
from salon.core.entries import event_kinds
from tests.api.homes import example_home
from tests.api.serving import served

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "http.md"


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    with example_home(tmp_path_factory.mktemp("home")) as opened:
        opened.flush_uses()
        yield opened


@pytest.fixture(scope="module")
def client(salon: Salon) -> Iterator[httpx.Client]:
    with served(salon) as address, httpx.Client(base_url=address.http, timeout=60) as one:
        yield one


def ask(client: httpx.Client, **params: Any) -> Any:
    answer = client.get("/api/audit", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def walk(client: httpx.Client, cursor: str, **params: Any) -> list[int]:
    """Return the numbers of all pages, each asked for with what the one before it said."""
    found: list[int] = []
    while True:
        page = ask(client, limit=3, **params)
        found += [one["seq"] for one in page["entries"]]
        if page["next"] is None:
            return found
        params[cursor] = page["next"]


def test_pages_follow_each_other_in_either_order(client: httpx.Client, salon: Salon) -> None:
    head = salon.archive.checkpoint().seq
    everything = list(range(1, head + 1))
    assert walk(client, "after") == everything
    assert walk(client, "before", order="newest") == everything[::-1]
    whole = ask(client, limit=1000)
    assert (whole["next"], whole["matching"], whole["head"]["seq"]) == (None, head, head)


def test_the_filter_counts_in_every_page(client: httpx.Client, salon: Salon) -> None:
    wanted = [
        one.seq
        for one in salon.archive.audit_entries()
        if one.body["kind"] in {"handle_set", "turn_taken"}
    ]
    assert len(wanted) > 3
    kinds = ["handle_set", "turn_taken"]
    assert walk(client, "after", kind=kinds) == wanted
    assert walk(client, "before", kind=kinds, order="newest") == wanted[::-1]
    page = ask(client, kind=kinds, limit=1, after=wanted[0])
    assert (page["entries"][0]["seq"], page["matching"]) == (wanted[1], len(wanted))


def test_entries_are_found_by_what_they_are_about(client: httpx.Client, salon: Salon) -> None:
    turns = ask(client, session=examples.SESSION)["entries"]
    assert {one["body"]["session"] for one in turns} == {examples.SESSION}
    handle = ask(client, handle=examples.HANDLE)["entries"]
    assert [one["body"]["kind"] for one in handle] == ["handle_set"]
    document = salon.documents()[0].id
    about = ask(client, document=document, kind="document_added")
    assert [one["body"]["document"] for one in about["entries"]] == [document]
    assert ask(client, round="round_0")["entries"] == []
    with_avatar = ask(client, avatar=turns[0]["body"]["avatar"])["entries"]
    assert turns[0] in with_avatar
    by = turns[0]["by"]
    assert {one["by"] for one in ask(client, by=by)["entries"]} == {by}


def test_entries_are_found_by_their_time(client: httpx.Client) -> None:
    entries = ask(client, limit=1000)["entries"]
    middle = entries[len(entries) // 2]["at"]
    later = ask(client, since=middle, limit=1000)["entries"]
    assert later == [one for one in entries if one["at"] >= middle]
    earlier = ask(client, until=middle, limit=1000)["entries"]
    assert earlier == [one for one in entries if one["at"] <= middle]
    day = middle[:10]
    same = ask(client, since=day, until=day, limit=1000)["entries"]
    assert same == [one for one in entries if one["at"].startswith(day)]


@pytest.mark.parametrize(
    "params",
    [
        {"kind": "turn_token"},
        {"kind": ["turn_taken", ""]},
        {"since": "yesterday"},
        {"until": "2026-02-30"},
        {"session": ""},
        {"handle": "x" * 256},
        {"order": "random"},
        {"after": -1},
        {"before": 2**63},
        {"limit": 0},
        {"seesion": "misspelt"},
    ],
    ids=lambda one: "-".join(f"{name}" for name in one) + f"-{len(str(one))}",
)
def test_a_parameter_that_cannot_be_is_refused(client: httpx.Client, params: Any) -> None:
    answer = client.get("/api/audit", params=params)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (422, "invalid_input")
    assert set(error) == {"code", "message", "hint", "details"}


def test_the_description_names_every_kind(client: httpx.Client) -> None:
    described = client.get("/api/openapi.json").json()["paths"]["/api/audit"]["get"]
    kinds = next(one for one in described["parameters"] if one["name"] == "kind")
    assert kinds["schema"]["items"]["enum"] == list(event_kinds())
    assert ask(client, limit=1)["kinds"] == list(event_kinds())


def test_the_request_of_the_guide_is_answered(client: httpx.Client) -> None:
    text = GUIDE.read_text("utf-8")
    shown = re.search(r"<!-- audit -->\n```console\n.*?8765(\S+)'\n```", text)
    assert shown
    answer = client.get(shown[1])
    assert answer.status_code == 200, answer.text
    entries = answer.json()["entries"]
    assert entries
    assert {one["body"]["session"] for one in entries} == {examples.SESSION}


def test_the_parameters_of_the_guide_are_those_there_are(client: httpx.Client) -> None:
    _, _, section = GUIDE.read_text("utf-8").partition("## Read the audit log")
    section, _, _ = section.partition("\n## ")
    rows = "".join(line.split("|")[1] for line in section.splitlines() if line.startswith("| `"))
    described = client.get("/api/openapi.json").json()["paths"]["/api/audit"]["get"]
    there = {one["name"] for one in described["parameters"]}
    assert {*re.findall(r"`(\w+)`", rows), "limit", "order"} == there
