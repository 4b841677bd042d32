"""Avatars, the library, the archive and the ledger over HTTP, on a real home."""

import hashlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from salon.api import examples
from salon.app import Salon
from salon.core.errors import AuditBroken
from salon.parts import avatar_results
from tests.api.homes import OTHER, example_home
from tests.api.serving import served


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    with example_home(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def client(salon: Salon) -> Iterator[httpx.Client]:
    with served(salon) as address, httpx.Client(base_url=address.http, timeout=60) as one:
        yield one


def post(client: httpx.Client, path: str, **body: Any) -> Any:
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def get(client: httpx.Client, path: str, **params: Any) -> Any:
    answer = client.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_every_avatar_is_listed_with_its_kind_and_its_label(client: httpx.Client) -> None:
    shown = {one["id"]: one for one in get(client, "/api/avatars")["avatars"]}
    assert {examples.AVATAR, OTHER, "mina", "manager-assistant"} <= set(shown)
    assert shown["mina"]["preset"] == "companion"
    assert shown[examples.AVATAR]["preset"] == "expert"
    assert shown["manager-assistant"]["preset"] == "assistant"
    assert all(one["ai"] and one["ai_label"] for one in shown.values())
    assert get(client, f"/api/avatars/{OTHER}") == shown[OTHER]
    assert code(client.get("/api/avatars/nobody")) == (404, "avatar_not_found")


@pytest.mark.requirement("cap/verification/source-list-http")
def test_the_source_list_of_an_avatar_is_open_with_links_and_status(
    client: httpx.Client, salon: Salon
) -> None:
    listed = get(client, f"/api/avatars/{examples.AVATAR}/documents")
    assert listed["total"] == 2
    by_title = {one["title"]: one for one in listed["documents"]}
    first = by_title[examples.TITLE]
    assert first["url"] == "https://notes.example/canal"
    assert "archive_url" in first
    assert first["verification"]["status"] == "verified"
    assert first["verification"]["notes"] == "seen in the original"
    assert by_title["Water in a dry year"]["verification"]["status"] == "pending"
    assert code(client.get("/api/avatars/nobody/documents")) == (404, "avatar_not_found")
    whole = get(client, f"/api/documents/{first['id']}")
    assert [one["status"] for one in whole["judgements"]] == ["verified", "pending"]
    assert whole["size"] == len(examples.TEXT)
    assert code(client.get("/api/documents/doc_no")) == (404, "document_not_found")
    paged = get(client, "/api/documents", limit=1, offset=1)
    assert paged["total"] == len(salon.documents())
    assert len(paged["documents"]) == 1


def test_a_reply_has_the_published_fields_and_passes_the_check(client: httpx.Client) -> None:
    path = f"/api/avatars/{examples.AVATAR}"
    reply = post(client, f"{path}/respond", question=examples.QUESTION)
    assert set(reply) <= {*avatar_results.Response.model_fields, "session_id"}
    assert reply["outcome"] == "answered"
    checked = post(
        client,
        "/api/verify",
        response=reply["response"],
        citations=reply["citations"],
        avatar=examples.AVATAR,
    )
    assert checked["holds"]
    moved = [one | {"start": one["start"] + 1} for one in reply["citations"]]
    assert not post(client, "/api/verify", response=reply["response"], citations=moved)["holds"]
    missed = post(client, f"{path}/respond", question="How many moons does Neptune have?")
    assert missed["outcome"] in {"corpus_miss", "out_of_scope"}
    assert missed["ai_label"]


def test_looking_at_avatars_writes_nothing(salon: Salon, client: httpx.Client) -> None:
    salon.flush_uses()
    before = salon.archive.checkpoint().seq
    assert [one["id"] for one in get(client, "/api/avatars")["avatars"]]
    assert get(client, f"/api/avatars/{examples.AVATAR}")["id"] == examples.AVATAR
    salon.flush_uses()
    assert salon.archive.checkpoint().seq == before


def test_what_was_asked_is_kept_where_the_answer_says_and_can_be_deleted(
    client: httpx.Client,
) -> None:
    path = f"/api/avatars/{examples.AVATAR}/respond"
    kept = f"/api/sessions/{post(client, path, question=examples.QUESTION)['session_id']}"
    assert get(client, kept)["turns"][0]["message"] == examples.QUESTION
    assert client.delete(kept).status_code == 200
    assert client.get(kept).status_code == 404


def test_both_names_of_the_limit_are_taken_and_must_agree(client: httpx.Client) -> None:
    path = f"/api/avatars/{examples.AVATAR}/query"
    one = post(client, path, query=examples.QUESTION, threshold=0.0, max_results=1)["passages"]
    assert len(one) == 1
    assert set(one[0]) == set(avatar_results.PassageFound.model_fields)
    body = {"query": "x", "limit": 1, "max_results": 2}
    assert code(client.post(path, json=body)) == (422, "invalid_input")
    passages = [one[0] | {"content": "Something else."}]
    ungrounded = {"question": examples.QUESTION, "passages": passages}
    answer = client.post(f"/api/avatars/{examples.AVATAR}/respond", json=ungrounded)
    assert code(answer) == (422, "ungrounded_passage")


def test_who_speaks_in_a_gathering_and_why(client: httpx.Client) -> None:
    gathered = post(
        client,
        "/api/gather",
        message=examples.QUESTION,
        avatars=[examples.AVATAR, OTHER],
        conversation=[{"role": "Anna", "content": "Let us talk about water."}],
        speaker="Anna",
    )
    by_avatar = {one["avatar"]: one for one in gathered["contributions"]}
    spoke, silent = by_avatar[examples.AVATAR], by_avatar[OTHER]
    assert spoke["decision"]["speak"]
    assert spoke["reply"]["citations"]
    assert (silent["reply"], silent["outcome"]) == (None, "silent")
    assert silent["decision"]["reason"]
    turns = get(client, f"/api/sessions/{gathered['session_id']}")["turns"]
    assert [one["bot_id"] for one in turns] == [examples.AVATAR]
    blank = client.post("/api/gather", json={"message": " ", "avatars": [OTHER]})
    assert code(blank) == (422, "invalid_input")
    empty = client.post(f"/api/avatars/{OTHER}/should-speak", json={"conversation": []})
    assert code(empty) == (422, "invalid_input")


def test_search_says_how_each_passage_was_found(client: httpx.Client) -> None:
    ways = {
        mode: post(client, "/api/search", query=examples.QUESTION, mode=mode, limit=2)
        for mode in ("hybrid", "dense", "sparse")
    }
    assert {name: one["mode"] for name, one in ways.items()} == {name: name for name in ways}
    first = ways["hybrid"]["passages"][0]
    assert first["hash"] == examples.CARD
    assert first["why"]["lexical_rank"] == 1
    assert ways["sparse"]["passages"][0]["why"]["dense_rank"] is None
    of_one = post(client, "/api/search", query="fish", avatar=OTHER)
    assert {one["source"] for one in of_one["passages"]} == {"On Otters"}
    answer = client.post("/api/search", json={"query": "fish", "avatar": "nobody"})
    assert code(answer)[0] == 404


def test_the_graph_stands_around_a_name_or_a_passage(client: httpx.Client) -> None:
    around = get(client, "/api/graph", entity=examples.ENTITY)
    assert around["entities"][0]["name"] == examples.ENTITY
    assert around["entities"][0]["hops"] == 0
    names = {one["name"] for one in around["entities"]}
    assert "Orla Brandt" in names
    assert all({one["source"], one["target"]} <= names for one in around["links"])
    passage = get(client, "/api/graph", hash=examples.CARD)
    assert {"Orla Brandt", examples.ENTITY} <= {
        one["name"] for one in passage["entities"] if one["hops"] == 0
    }
    assert code(client.get("/api/graph"))[0] == 422
    assert code(client.get("/api/graph", params={"entity": "x", "hash": "y"}))[0] == 422
    assert code(client.get("/api/graph", params={"entity": "Nobody At All"}))[0] == 404


def test_a_citation_leads_to_its_place_and_to_bytes_that_hash_to_its_name(
    client: httpx.Client,
) -> None:
    where = {"start": examples.START, "end": examples.END}
    place = get(client, f"/api/cards/{examples.CARD}/place", **where)
    assert place["quote"] == examples.QUOTE
    assert place["before"] + place["quote"] + place["after"] == examples.TEXT
    assert place["starts_page"]
    assert place["ends_page"]
    assert place["verified"]
    assert place["source"] == examples.TITLE
    narrow = get(client, f"/api/cards/{examples.CARD}/place", **where, width=5)
    assert (len(narrow["before"]), narrow["starts_page"]) == (5, False)
    content = client.get(f"/api/cards/{examples.CARD}/content")
    assert hashlib.sha256(content.content).hexdigest() == examples.CARD
    assert content.headers["content-type"] == "text/plain; charset=utf-8"
    assert content.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in content.headers["content-security-policy"]
    known = {"if-none-match": content.headers["etag"]}
    again = client.get(f"/api/cards/{examples.CARD}/content", headers=known)
    assert (again.status_code, again.content) == (304, b"")
    shown = get(client, f"/api/cards/{examples.CARD}")
    assert [one["title"] for one in shown["documents"]] == [examples.TITLE]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/api/cards/xyz", (422, "invalid_hash")),
        (f"/api/cards/{'0' * 64}", (404, "card_not_found")),
        (f"/api/cards/{'0' * 64}/content", (404, "card_not_found")),
        (f"/api/cards/{examples.CARD}/place?start=5&end=5", (422, "invalid_input")),
        (f"/api/cards/{examples.CARD}/place?start=0&end=99999", (422, "invalid_input")),
        ("/api/handles/no/such", (404, "handle_not_found")),
        ("/api/handles/no/such/history", (404, "handle_not_found")),
        ("/api/handles/1x", (422, "invalid_handle")),
    ],
)
def test_what_is_not_there_is_said_in_the_one_shape(
    client: httpx.Client, path: str, said: tuple[int, str]
) -> None:
    assert code(client.get(path)) == said


def test_hostile_bytes_are_never_run_and_a_deleted_card_is_gone(
    client: httpx.Client, salon: Salon
) -> None:
    page = salon.archive.add(b"<!doctype html><script>alert(1)</script>").hash
    answer = client.get(f"/api/cards/{page}/content")
    assert answer.headers["content-type"].startswith(("text/plain", "application/octet-stream"))
    assert answer.headers["x-content-type-options"] == "nosniff"
    binary = salon.archive.add(b"\x89PNG\r\n\x1a\n\x00\xff\x00").hash
    kind = client.get(f"/api/cards/{binary}/content").headers["content-type"]
    assert kind == "application/octet-stream"
    assert code(client.get(f"/api/cards/{binary}/place?start=0&end=1"))[0] == 422
    salon.archive.write(lambda tx: tx.delete(page, reason="hostile"))
    for path in (f"/api/cards/{page}", f"/api/cards/{page}/content"):
        assert code(client.get(path)) == (410, "card_deleted")


def test_handles_are_listed_in_pages_with_their_history(client: httpx.Client, salon: Salon) -> None:
    for number in range(3):
        salon.archive.put("notes/today", f"version {number}".encode())
    everything = [one["name"] for one in get(client, "/api/handles")["handles"]]
    assert everything == sorted(everything)
    found: list[str] = []
    after = ""
    while True:
        page = get(client, "/api/handles", limit=3, after=after)
        found += [one["name"] for one in page["handles"]]
        if page["next"] is None:
            break
        after = page["next"]
    assert found == everything
    history = get(client, "/api/handles/notes/today/history")
    assert len(history["moves"]) == 3
    assert history["moves"][0]["current"] == get(client, "/api/handles/notes/today")["current"]
    under = get(client, "/api/handles", prefix="notes/")["handles"]
    assert [one["name"] for one in under] == ["notes/today"]


def test_the_ledger_is_read_in_pages_and_verified(
    client: httpx.Client, salon: Salon, monkeypatch: pytest.MonkeyPatch
) -> None:
    salon.flush_uses()
    first = get(client, "/api/audit", limit=2)
    assert [one["seq"] for one in first["entries"]] == [1, 2]
    rest = get(client, "/api/audit", after=2, limit=1)["entries"]
    assert rest[0]["previous"] == first["entries"][-1]["hash"]
    verdict = post(client, "/api/audit/verify")
    assert verdict["holds"]
    assert verdict["head"]["seq"] >= 3

    def broken() -> Any:
        raise AuditBroken("the audit log does not hold at entry 2", entry=2, reason="changed")

    monkeypatch.setattr(salon, "verify_audit", broken)
    verdict = post(client, "/api/audit/verify")
    assert (verdict["holds"], verdict["entry"]) == (False, 2)
