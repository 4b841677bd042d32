"""Who may come in: names, origins, tokens, sizes."""

import json
from typing import Any

import anyio
import httpx
import pytest
from starlette.types import Message
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from salon.api.access import Access, Door
from salon.api.limits import Limits
from salon.core.errors import InvalidSettings
from tests.api.homes import companion_home
from tests.api.serving import Address, served


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Any:
    door = Door(token="s3cret-token", origins=("https://salon.example",))
    with (
        companion_home(tmp_path_factory.mktemp("home")) as salon,
        served(salon, door=door, limits=Limits(body_bytes=2_000)) as address,
    ):
        yield address


BEARER = {"authorization": "Bearer s3cret-token"}


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "[::1", ""]
)
def test_a_foreign_host_is_refused(guarded: Address, host: str) -> None:
    answer = httpx.get(f"{guarded.http}/health", headers={"host": host}, timeout=10)
    assert answer.status_code in {400, 421}
    if answer.status_code == 421:
        assert answer.json()["error"]["code"] == "foreign_host"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:9999", "salon.example", "[::1]:80"])
def test_the_names_of_this_machine_and_of_the_allowed_origins_are_ours(
    guarded: Address, host: str
) -> None:
    answer = httpx.get(f"{guarded.http}/health", headers={"host": host}, timeout=10)
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:1", "https://salon.example:444"]
)
def test_pages_of_other_origins_are_refused_on_both_ways(
    guarded: Address, origin: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = httpx.get(f"{guarded.http}/health", headers={"origin": origin}, timeout=10)
    assert answer.status_code == 403
    with pytest.raises(InvalidStatus) as refused:
        connect(guarded.ws("one"), origin=Origin(origin), additional_headers=BEARER)
    assert refused.value.response.status_code == 403
    assert json.loads(refused.value.response.body)["error"]["code"] == "foreign_origin"
    assert caplog.text == ""  # a refusal is no defect


def test_a_page_of_the_same_or_an_allowed_origin_may_connect(guarded: Address) -> None:
    for origin in (guarded.http, "https://salon.example"):
        with connect(guarded.ws("one"), origin=Origin(origin), additional_headers=BEARER) as open_:
            assert open_.response is not None


def test_what_a_page_elsewhere_loads_without_asking_is_refused(guarded: Address) -> None:
    elsewhere = {"sec-fetch-site": "cross-site"} | BEARER
    for path in ("/api/avatars", "/metrics", "/mcp/x"):
        answer = httpx.get(f"{guarded.http}{path}", headers=elsewhere, timeout=10)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "foreign_origin")
    # A link from elsewhere leads to the page, which holds no data.
    assert httpx.get(f"{guarded.http}/", headers=elsewhere, timeout=10).status_code == 200


def test_a_page_of_an_allowed_origin_may_read_answers_and_asks_first(guarded: Address) -> None:
    origin = "https://salon.example"
    asking = {"origin": origin, "access-control-request-method": "POST"}
    url = f"{guarded.http}/api/avatars"
    first = httpx.options(url, headers=asking, timeout=10)
    assert first.status_code == 204
    assert first.headers["access-control-allow-origin"] == origin
    assert "authorization" in first.headers["access-control-allow-headers"]
    then = httpx.get(url, headers={"origin": origin} | BEARER, timeout=10)
    assert then.status_code == 200
    assert then.headers["access-control-allow-origin"] == origin
    assert "Origin" in then.headers["vary"]
    refused = httpx.get(url, headers={"origin": origin}, timeout=10)
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == origin, "the page may read why"
    evil = httpx.options(url, headers=asking | {"origin": "https://evil.example"}, timeout=10)
    assert evil.status_code == 403
    assert "access-control-allow-origin" not in evil.headers


def test_a_token_is_asked_for_everywhere_but_at_the_health_check(guarded: Address) -> None:
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic s3cret-token"}):
        answer = httpx.get(f"{guarded.http}/ready", headers=headers, timeout=10)
        assert answer.status_code == 401
        assert answer.json()["error"]["code"] == "unauthorised"
    assert httpx.get(f"{guarded.http}/ready", headers=BEARER, timeout=10).status_code == 200
    assert httpx.get(f"{guarded.http}/health", timeout=10).status_code == 200


def test_a_browser_hands_the_token_in_as_a_subprotocol(guarded: Address) -> None:
    offered = [Subprotocol("salon"), Subprotocol("bearer.s3cret-token")]
    with connect(guarded.ws("one"), subprotocols=offered) as connection:
        assert connection.subprotocol == "salon"
    with pytest.raises(InvalidStatus) as refused:
        connect(guarded.ws("one"), subprotocols=[Subprotocol("salon"), Subprotocol("bearer.no")])
    assert refused.value.response.status_code == 401


def test_a_body_that_is_too_large_is_refused_with_and_without_its_length(guarded: Address) -> None:
    url = f"{guarded.http}/api/sessions/one/messages"
    body = json.dumps({"content": "x" * 3_000, "user_id": "u"}).encode()
    for content in (body, iter([body[:1_500], body[1_500:]])):
        answer = httpx.post(url, content=content, headers=BEARER, timeout=10)
        assert answer.status_code == 413
        assert answer.json()["error"]["code"] == "content_too_large"


def test_an_address_that_others_reach_needs_a_token() -> None:
    with pytest.raises(InvalidSettings, match="no token"):
        Door(host="0.0.0.0")
    assert "0.0.0.0" not in Door(host="0.0.0.0", token="t").names
    assert "192.0.2.7" in Door(host="192.0.2.7", token="t").names


@pytest.mark.parametrize("origin", ["salon.example", "ftp://salon.example", "https://"])
def test_an_origin_must_be_one(origin: str) -> None:
    with pytest.raises(InvalidSettings, match="is no origin"):
        Door(origins=(origin,))


def test_a_token_does_not_show_when_a_door_is_printed() -> None:
    assert "s3cret" not in repr(Door(token="s3cret"))


def test_a_server_without_handshake_answers_closes_a_refused_socket() -> None:
    sent: list[Message] = []

    async def never(*_: object) -> None:
        raise AssertionError("it came in")

    async def main() -> None:
        async def send(message: Message) -> None:
            sent.append(message)

        async def receive() -> Message:
            return {"type": "websocket.connect"}

        scope = {"type": "websocket", "path": "/ws/x", "headers": [(b"host", b"evil")]}
        await Access(never, Door(), body_bytes=1)(scope, receive, send)

    anyio.run(main)
    assert sent == [{"type": "websocket.close", "code": 1008}]
