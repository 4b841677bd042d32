"""The page and its files, the headers of every answer, the limit of a caller, the measurements."""

import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from salon.api.access import Door
from salon.api.app import create_app
from salon.api.headers import ALWAYS, PAGE_POLICY
from salon.api.limits import Limits
from salon.api.metrics import Metrics
from salon.api.page_files import PageFiles, page_routes
from salon.api.patience import ASKING, caller_of
from salon.app import Salon
from salon.parts.measuring import Measurements
from tests.api.failing import failing
from tests.api.homes import companion_home
from tests.api.serving import Address, served

BEARER = {"authorization": "Bearer s3cret-token"}


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    with companion_home(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def guarded(salon: Salon) -> Iterator[Address]:
    with served(salon, door=Door(token="s3cret-token")) as where:
        yield where


# The page


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    page = tmp_path / "page"
    (page / "lib").mkdir(parents=True)
    (page / "index.html").write_text("<!doctype html><title>Salon</title>", "utf-8")
    (page / "main.js").write_text("// " + "long " * 200, "utf-8")
    (page / "lib" / "dom.js").write_text("export {};\n", "utf-8")
    (page / "notes.txt").write_text("not a part of the page", "utf-8")
    (tmp_path / "secret.js").write_text("secret", "utf-8")
    return page


@pytest.fixture
def page(folder: Path) -> Iterator[TestClient]:
    app = FastAPI()
    app.include_router(page_routes(PageFiles(folder)))
    with TestClient(app) as client:
        yield client


def test_files_come_with_their_type_a_tag_and_the_strict_policy(page: TestClient) -> None:
    front = page.get("/")
    assert front.headers["content-type"] == "text/html; charset=utf-8"
    assert front.headers["content-security-policy"] == PAGE_POLICY
    assert "unsafe" not in PAGE_POLICY
    script = page.get("/page/lib/dom.js")
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    known = {"if-none-match": script.headers["etag"]}
    assert page.get("/page/lib/dom.js", headers=known).status_code == 304
    assert page.head("/").status_code == 200


def test_what_is_long_is_packed_for_those_who_take_it(page: TestClient, folder: Path) -> None:
    plain = page.get("/page/main.js", headers={"accept-encoding": "identity"})
    with page.stream("GET", "/page/main.js", headers={"accept-encoding": "br, gzip"}) as packed:
        raw = b"".join(packed.iter_raw())
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["vary"] == "accept-encoding"
    assert gzip.decompress(raw) == plain.content == (folder / "main.js").read_bytes()
    assert len(raw) < len(plain.content)
    refusing = page.get("/page/main.js", headers={"accept-encoding": "gzip;q=0"})
    assert "content-encoding" not in refusing.headers
    small = page.get("/page/lib/dom.js", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in small.headers


def test_a_file_that_changed_is_sent_anew(page: TestClient, folder: Path) -> None:
    before = page.get("/page/lib/dom.js")
    (folder / "lib" / "dom.js").write_text("export const a = 1;\n", "utf-8")
    os.utime(folder / "lib" / "dom.js", ns=(1, 1))
    after = page.get("/page/lib/dom.js", headers={"if-none-match": before.headers["etag"]})
    assert (after.status_code, after.text) == (200, "export const a = 1;\n")


@pytest.mark.parametrize(
    "name",
    ["../secret.js", "..%2fsecret.js", "%2e%2e/secret.js", "notes.txt", "lib", "lib/", "",
     "a%00.js", "/etc/passwd", "lib/../../secret.js", "x" * 5_000 + ".js"],
    ids=lambda name: name[:12] or "empty",
)  # fmt: skip
def test_nothing_else_is_handed_out(page: TestClient, name: str) -> None:
    assert page.get(f"/page/{name}").status_code == 404


def test_the_page_of_the_package_is_whole_and_every_file_has_a_type(guarded: Address) -> None:
    names = PageFiles().names()
    assert "index.html" in names
    for name in names:
        answer = httpx.get(f"{guarded.http}/page/{name}", timeout=10)
        assert answer.status_code == 200
        assert answer.headers["content-security-policy"] == PAGE_POLICY


def test_the_page_needs_no_token_and_all_data_does(guarded: Address) -> None:
    assert httpx.get(f"{guarded.http}/", timeout=10).status_code == 200
    closed = ["/api/avatars", "/api/openapi.json", "/api/sessions", "/metrics", "/ready",
              "/mcp/x", "/pages", "/page%2f..%2fapi/avatars"]  # fmt: skip
    for path in closed:
        answer = httpx.get(guarded.http + path, timeout=10)
        assert answer.status_code in {401, 404}, path
        assert answer.status_code == 401 or path.startswith("/page")
    assert httpx.get(f"{guarded.http}/api/avatars", headers=BEARER, timeout=10).is_success
    refused = httpx.get(f"{guarded.http}/api/avatars", timeout=10)
    assert refused.headers["www-authenticate"] == "Bearer"


# Headers


@pytest.mark.parametrize(
    ("path", "headers"),
    [("/", {}), ("/api/avatars", {}), ("/api/avatars", BEARER), ("/nowhere", BEARER),
     ("/health", {"host": "evil.example"}), ("/api/search", BEARER)],
    ids=["page", "refused", "data", "not found", "foreign", "wrong method"],
)  # fmt: skip
def test_every_answer_carries_the_headers_that_keep_a_browser_safe(
    guarded: Address, path: str, headers: dict[str, str]
) -> None:
    answer = httpx.get(guarded.http + path, headers=headers, timeout=10)
    for name, value in ALWAYS.items():
        assert answer.headers[name] == value
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    if path != "/":
        assert answer.headers["cache-control"] == "no-store"


# How much a caller may ask for


@pytest.mark.requirement("cap/security/rate-limit")
def test_a_caller_above_the_limit_is_told_how_long_to_wait_and_others_are_not_slowed(
    salon: Salon,
) -> None:
    limits = Limits(caller_rate=0.001, caller_burst=30, ask_cost=10.0)
    body = {"query": "water"}
    with served(salon, limits=limits) as address:
        url = f"{address.http}/api/search"
        with httpx.Client(timeout=60) as hasty:
            statuses = [hasty.post(url, json=body).status_code for _ in range(4)]
            refused = hasty.post(url, json=body)
            looked = hasty.get(f"{address.http}/api/avatars")
        other = httpx.HTTPTransport(local_address="127.0.0.2")
        with httpx.Client(timeout=60, transport=other) as patient:
            assert [patient.post(url, json=body).status_code for _ in range(3)] == [200] * 3
        assert httpx.get(f"{address.http}/health", timeout=10).status_code == 200
    assert statuses == [200, 200, 200, 429]
    assert looked.status_code == 429
    error = refused.json()["error"]
    assert error["code"] == "limit_reached"
    assert 0 < error["details"]["retry_after_s"] <= 10_000
    assert int(refused.headers["retry-after"]) >= error["details"]["retry_after_s"]


@pytest.mark.parametrize(
    ("method", "path", "is_dear"),
    [
        ("POST", "/api/sessions/s/replay", True),
        ("POST", "/api/audit/verify", True),
        ("POST", "/api/rounds", True),
        ("GET", "/api/rounds/round_1/verify", True),
        ("GET", "/api/graph", True),
        ("POST", "/mcp/x", True),
        ("GET", "/api/sessions/s", False),
        ("GET", "/api/avatars", False),
        ("POST", "/api/sessions/s/messages", False),
    ],
)
def test_what_makes_work_costs_more(method: str, path: str, is_dear: bool) -> None:
    assert (ASKING.match(f"{method} {path}") is not None) is is_dear


def test_messages_of_a_session_that_come_too_fast_get_the_time_to_wait(salon: Salon) -> None:
    with served(salon, limits=Limits(rate=0.01, burst=1)) as address:
        url = f"{address.http}/api/sessions/hasty/messages"
        said = {"content": "Hello.", "user_id": "u"}
        answers = [httpx.post(url, json=said, timeout=60) for _ in range(2)]
    assert [one.status_code for one in answers] == [200, 429]
    assert int(answers[1].headers["retry-after"]) >= 1


def test_calls_over_mcp_are_counted_as_well() -> None:
    mounted = FastAPI()

    @mounted.post("/one")
    def one() -> dict[str, str]:
        return {}

    limits = Limits(caller_rate=0.1, caller_burst=10, ask_cost=10.0)
    app = create_app(failing(KeyError()), limits=limits, mounted={"/mcp": mounted})
    with TestClient(app, base_url="http://localhost") as client:
        assert [client.post("/mcp/one").status_code for _ in range(2)] == [200, 429]


@pytest.mark.parametrize(
    ("host", "name"),
    [("192.0.2.7", "192.0.2.7"), ("2001:db8::1", "2001:db8::/64"), ("fe80::1%eth0", "fe80::/64"),
     ("testclient", "testclient"), (None, "")],
    ids=["v4", "v6", "zone", "name", "nobody"],
)  # fmt: skip
def test_a_caller_is_an_address_or_the_network_of_a_household(host: Any, name: str) -> None:
    assert caller_of({"client": None if host is None else (host, 1)}) == name


# Measurements


def test_metrics_count_by_route_and_never_name_anybody(salon: Salon) -> None:
    with served(salon) as address, httpx.Client(base_url=address.http, timeout=60) as client:
        client.post("/api/sessions/private-name/messages",
                    json={"content": "my private words", "user_id": "private-user"})  # fmt: skip
        client.get("/api/sessions/private-name")
        client.get("/private-path")
        client.request("PROPFIND", "/health")
        client.post("/api/sessions/private-name/messages",
                    json={"content": " ", "user_id": "private-user"})  # fmt: skip
        text = client.get("/metrics").text
    assert "private" not in text
    lines = text.splitlines()
    route = 'method="GET",route="/api/sessions/{session_id}",status="200"'
    assert f"salon_http_requests_total{{{route}}} 1.0" in lines
    assert 'salon_http_requests_total{method="GET",route="elsewhere",status="404"} 1.0' in lines
    assert 'salon_http_requests_total{method="other",route="/health",status="405"} 1.0' in lines
    assert 'salon_turns_total{end="taken"} 1.0' in lines
    assert 'salon_turns_total{end="refused"} 1.0' in lines
    assert "salon_open_sockets 0.0" in lines
    names = {line.split("{")[0].split(" ")[0] for line in lines}
    assert {"salon_index_entries_behind", "salon_rounds", "salon_turn_seconds_count"} <= names


def test_orders_that_wait_are_counted_by_their_state(salon: Salon) -> None:
    metrics = Metrics()
    now = Measurements(
        audit_entries=3,
        orders={"waiting": 2},
        passages=5,
        passages_with_vector=4,
        index_behind=1,
        rounds=0,
    )
    metrics.watch(lambda: now)
    assert b'salon_outbox_orders{state="waiting"} 2.0' in metrics.text()
    assert salon.measurements().orders == {}
