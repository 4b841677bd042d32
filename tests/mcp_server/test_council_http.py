"""The council over real HTTP: the token decides the seat, and nothing else gets in."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp.client import Client

from salon.app import Salon
from salon.core.clock import SystemClock
from salon.core.errors import InvalidSettings
from salon.council.seats import Seat
from salon.mcp_server.council_server import seat_door
from salon.mcp_server.seat_tokens import BODY_BYTES
from salon.mcp_server.transports import allowed_hosts, http_app
from salon.parts.council_tokens import SeatTokens
from tests.mcp_server.council_playing import GOOD, calling, draft, outside
from tests.mcp_server.serving import served
from tests.parts.council_homes import TOPIC, TOPIC_ID, make_council_home

MALFORMED = "Error: Invalid JSON. Please retry adhering strictly to the schema."
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
LEGACY, MODERN = "2025-11-25", "2026-07-28"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    with Salon(make_council_home(tmp_path_factory.mktemp("council"))) as opened:
        opened.open_round(TOPIC, holders=dict.fromkeys(Seat, "outside"))
        yield opened


@pytest.fixture(scope="module")
def tokens(salon: Salon) -> dict[Seat, str]:
    return {seat: salon.issue_seat_token(seat).token for seat in Seat}


@pytest.fixture(scope="module")
def address(salon: Salon) -> Iterator[str]:
    security = allowed_hosts("127.0.0.1")
    app = http_app({}, security, doors={"council": seat_door(salon, security)})
    with served(app) as url:
        yield f"{url}/mcp/council"


def post(
    address: str, body: object, token: str | None, version: str = LEGACY, **more: str
) -> httpx.Response:
    headers = HEADERS | {"mcp-protocol-version": version} | more
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx.post(address, content=content, headers=headers, timeout=60)


def modern(method: str, params: dict[str, Any]) -> dict[str, Any]:
    about = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": about}}


def call(address: str, token: str | None, name: str, arguments: object) -> httpx.Response:
    body = modern("tools/call", {"name": name, "arguments": arguments})
    return post(address, body, token, MODERN, **{"mcp-method": "tools/call", "mcp-name": name})


def result_of(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    text = answer.text
    if answer.headers["content-type"].startswith("text/event-stream"):
        text = next(line[5:] for line in text.splitlines() if line.startswith("data: {"))
    found: dict[str, Any] = json.loads(text)["result"]
    return found


# Who comes in


@pytest.mark.requirement("council/overview/mcp-tools", "council/registry/all-seats")
def test_the_token_decides_the_seat(address: str, tokens: dict[Seat, str]) -> None:
    for seat, token in tokens.items():
        brief = result_of(call(address, token, "council_brief", {}))["structuredContent"]
        assert brief["seat"] == seat
        assert brief["due"] == ["draft"]


@pytest.mark.requirement("council/registry/all-seats")
@pytest.mark.parametrize(
    "token",
    [None, "II", "salon-seat-II-guess", "x" * 10_000, "é", "Bearer"],
    ids=["none", "numeral", "guess", "huge", "accent", "word"],
)
def test_without_a_token_that_counts_there_is_401_and_nothing_else(
    address: str, tokens: dict[Seat, str], salon: Salon, token: str | None
) -> None:
    before = salon.archive.checkpoint().seq
    headers = {name.encode(): value.encode() for name, value in HEADERS.items()}
    if token is not None:
        headers[b"authorization"] = f"Bearer {token}".encode("latin-1")
    for method in ("GET", "POST", "DELETE", "PUT"):
        answer = httpx.request(
            method, address, content=json.dumps(PING), headers=headers, timeout=60
        )
        assert answer.status_code == 401, method
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert answer.json()["error"]["code"] == "unauthorised"
        assert tokens[Seat.MINER] not in answer.text
    assert salon.archive.checkpoint().seq == before


def test_a_token_in_the_wrong_place_does_not_count(address: str, tokens: dict[Seat, str]) -> None:
    token = tokens[Seat.MINER]
    for headers in (
        {"authorization": f"Basic {token}"},
        {"authorization": token},
        {"x-authorization": f"Bearer {token}"},
        {"cookie": f"token={token}"},
    ):
        answer = httpx.post(address, json=PING, headers={**HEADERS, **headers}, timeout=60)
        assert answer.status_code == 401
    assert httpx.post(f"{address}?token={token}", json=PING, headers=HEADERS).status_code == 401


def test_a_session_of_one_seat_means_nothing_in_another(
    address: str, tokens: dict[Seat, str]
) -> None:
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": LEGACY,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    opened = post(address, initialize, tokens[Seat.MINER])
    session = {"mcp-session-id": opened.headers["mcp-session-id"]}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    assert post(address, listing, tokens[Seat.MINER], **session).status_code == 200
    assert post(address, listing, tokens[Seat.VIZIER], **session).status_code == 404
    assert post(address, listing, None, **session).status_code == 401


def test_a_page_under_another_name_is_refused_before_the_token(
    address: str, tokens: dict[Seat, str]
) -> None:
    answer = post(address, PING, tokens[Seat.CHAIR], host="evil.example")
    assert answer.status_code == 421


def test_a_token_that_was_revoked_or_replaced_opens_nothing_more(
    salon: Salon, address: str, tokens: dict[Seat, str]
) -> None:
    first = tokens[Seat.PROFESSOR]
    assert call(address, first, "council_brief", {}).status_code == 200
    second = salon.issue_seat_token(Seat.PROFESSOR)
    assert second.replaced
    assert call(address, first, "council_brief", {}).status_code == 401
    assert call(address, second.token, "council_brief", {}).status_code == 200
    assert salon.revoke_seat_token(Seat.PROFESSOR)
    assert not salon.revoke_seat_token(Seat.PROFESSOR)
    assert call(address, second.token, "council_brief", {}).status_code == 401
    tokens[Seat.PROFESSOR] = salon.issue_seat_token(Seat.PROFESSOR).token


# What is kept of tokens


def test_only_digests_are_kept_and_only_for_the_owner(tmp_path: Path) -> None:
    kept = SeatTokens(tmp_path / "keys" / "seats.json", SystemClock())
    made = {seat: kept.issue(seat).token for seat in Seat}
    assert len(set(made.values())) == len(Seat)
    file = tmp_path / "keys" / "seats.json"
    text = file.read_text()
    assert not [token for token in made.values() if token in text or token[-20:] in text]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]
    for seat, token in made.items():
        assert kept.find_seat(token) is seat
        assert kept.find_seat(token[:-1]) is None
        assert kept.find_seat(token.upper()) is None
    assert set(kept.issued()) == set(Seat)


def test_a_file_of_tokens_that_cannot_be_read_lets_nobody_in(tmp_path: Path) -> None:
    file = tmp_path / "seats.json"
    for spoilt in ("", "[]", '{"VI": {"sha256": "x", "issued_at": "y"}}', '{"II": "x"}'):
        file.write_text(spoilt)
        with pytest.raises(InvalidSettings, match="does not hold the digests"):
            SeatTokens(file, SystemClock()).find_seat("anything")


# What is sent


@pytest.mark.requirement("council/errors/malformed")
@pytest.mark.parametrize(
    "arguments", ['{"query": "oil"}', ["oil"], 5], ids=["text", "list", "number"]
)
def test_arguments_that_are_no_object_are_malformed_too(
    address: str, tokens: dict[Seat, str], arguments: object
) -> None:
    result = result_of(call(address, tokens[Seat.MINER], "skill_qdrant_search", arguments))
    assert result["isError"] is True
    assert result["content"] == [{"type": "text", "text": MALFORMED}]
    assert result["structuredContent"]["error"]["code"] == "invalid_input"


def test_what_is_no_json_or_too_large_never_reaches_a_skill(
    salon: Salon, address: str, tokens: dict[Seat, str]
) -> None:
    before = salon.archive.checkpoint().seq
    token = tokens[Seat.MINER]
    broken = post(address, b'{"jsonrpc": "2.0", "id": 1, "meth', token)
    assert broken.status_code == 400
    huge = call(
        address,
        token,
        "skill_submit_candidate",
        {"topic_id": TOPIC_ID, "markdown_content": "x" * BODY_BYTES},
    )
    assert huge.status_code == 413
    assert salon.archive.checkpoint().seq == before


def test_forged_and_foreign_ids_are_refused(
    salon: Salon, address: str, tokens: dict[Seat, str]
) -> None:
    (opened,) = salon.open_rounds()
    before = salon.archive.checkpoint().seq
    forged = (
        "completed/anything",
        "../completed/x",
        f"{opened.id}.draft_{'0' * 20}",
        f"round_{'0' * 20}.draft_{'0' * 20}",
        opened.id,
    )
    for candidate in forged:
        for name, arguments in (
            ("skill_peer_review", {"target_candidate_id": candidate, "feedback": "Hm."}),
            (
                "skill_cast_vote",
                {"target_draft_id": candidate, "scores": GOOD, "rationale": "Good."},
            ),
        ):
            result = result_of(call(address, tokens[Seat.MINER], name, arguments))
            assert result["isError"] is True, (name, candidate)
            assert result["structuredContent"]["error"]["code"] in {
                "invalid_input",
                "not_allowed",
                "not_found",
                "round_not_found",
            }
    for topic in ("completed/x", "../x", "no-such-topic"):
        arguments = {"topic_id": topic, "markdown_content": "# x"}
        result = result_of(call(address, tokens[Seat.MINER], "skill_submit_candidate", arguments))
        assert result["isError"] is True, topic
    assert salon.archive.checkpoint().seq == before


def test_a_flood_of_drafts_of_one_seat_is_stopped_and_hurts_no_other(
    salon: Salon, address: str, tokens: dict[Seat, str]
) -> None:
    limit = salon.council_desk.rules.limits.returns

    async def flood() -> tuple[list[str], dict[str, Any]]:
        codes: list[str] = []

        async def send(client: Client, number: int) -> None:
            bad = f"# Flood {number}\n\n## A\n\nNothing bears this out.\n"
            arguments = {"topic_id": TOPIC_ID, "markdown_content": bad}
            result = await client.call_tool("skill_submit_candidate", arguments)
            said = result.structured_content or {}
            codes.append(said["error"]["code"] if result.is_error else said["status"])

        async with outside(address, tokens[Seat.VIZIER]) as flooding:
            async with anyio.create_task_group() as tasks:
                for number in range(6 * limit):
                    tasks.start_soon(send, flooding, number)
            async with outside(address, tokens[Seat.AUDITOR]) as other:
                text = await draft(calling(other), TOPIC, "III")
                arguments = {"topic_id": TOPIC_ID, "markdown_content": text}
                made = await calling(other)("skill_submit_candidate", arguments)
        return codes, made

    codes, made = anyio.run(flood)
    assert codes.count("sent_back") == limit
    assert set(codes) <= {"sent_back", "limit_reached", "not_allowed"}
    assert made["status"] == "awaiting_peer_review"
    (opened,) = salon.open_rounds()
    assert len([one for one in opened.returns if one.seat is Seat.VIZIER]) == limit
