"""Every error has one status and one shape."""

import inspect

import httpx
import pytest
from starlette.applications import Starlette

from salon.api.errors import CLOSE_CODES, STATUSES, status_of
from salon.api.headers import ALWAYS
from salon.core import errors
from salon.core.errors import SalonError
from tests.api.failing import failing
from tests.api.serving import served

TREE = sorted(
    (one for _, one in inspect.getmembers(errors, inspect.isclass) if issubclass(one, SalonError)),
    key=lambda one: one.code,
)


@pytest.mark.parametrize("kind", TREE, ids=lambda kind: kind.code)
def test_every_error_of_the_tree_has_a_status_that_fits_its_family(kind: type[SalonError]) -> None:
    status = status_of(kind("example"))
    if kind is SalonError:
        assert status == 500
        return
    assert any(issubclass(kind, family) and status == said for family, said in STATUSES)
    is_callers = issubclass(
        kind,
        errors.InvalidInput
        | errors.NotFound
        | errors.Conflict
        | errors.Refused
        | errors.LimitReached,
    )
    assert (status < 500) == is_callers


def test_an_error_comes_back_in_the_one_shape() -> None:
    error = errors.HandleMoved("it moved", hint="look again", handle="sessions/x")
    with served(failing(error)) as address:
        answer = httpx.get(f"{address.http}/api/sessions/some", timeout=10)
    assert answer.status_code == 409
    assert answer.json() == {
        "error": {
            "code": "handle_moved",
            "message": "it moved",
            "hint": "look again",
            "details": {"handle": "sessions/x"},
        }
    }


def test_a_defect_says_nothing_of_what_went_wrong(caplog: pytest.LogCaptureFixture) -> None:
    with served(failing(ZeroDivisionError("what a person said"))) as address:
        answer = httpx.get(f"{address.http}/api/sessions/some", timeout=10)
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert "what a person said" not in answer.text
    assert "defect in GET /api/sessions/some" in caplog.text
    assert ALWAYS.items() <= dict(answer.headers).items(), "like every other answer"


def test_what_the_framework_refuses_has_the_same_shape() -> None:
    with served(failing(SalonError("unused"))) as address:
        url = address.http
        answers = {
            404: httpx.get(f"{url}/nowhere", timeout=10),
            405: httpx.post(f"{url}/health", timeout=10),
            422: httpx.get(f"{url}/api/sessions/some?limit=0", timeout=10),
        }
    for status, answer in answers.items():
        assert answer.status_code == status
        assert set(answer.json()["error"]) == {"code", "message", "hint", "details"}
    assert answers[422].json()["error"]["message"].startswith("query.limit")


def test_a_body_nobody_can_read_is_invalid_and_a_path_below_a_mounted_app_has_the_shape() -> None:
    beside = {"/mcp": Starlette()}
    with served(failing(SalonError("unused")), mounted=beside) as address:
        url = f"{address.http}/api/sessions/some/messages"
        deep = httpx.post(url, content=b"[" * 100_000, timeout=10)
        long = httpx.post(url, content=b'{"content": ' + b"9" * 5_000 + b"}", timeout=10)
        lost = httpx.get(f"{address.http}/mcp/nowhere", timeout=10)
    assert (deep.status_code, long.status_code, lost.status_code) == (422, 422, 404)
    for answer in (deep, long, lost):
        assert set(answer.json()["error"]) == {"code", "message", "hint", "details"}


def test_what_can_be_got_can_be_asked_for_by_its_head_alone() -> None:
    with served(failing(SalonError("unused"))) as address:
        head = httpx.head(f"{address.http}/health", timeout=10)
        got = httpx.get(f"{address.http}/health", timeout=10)
        assert httpx.head(f"{address.http}/nowhere", timeout=10).status_code == 404
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(got.content))


def test_close_codes_are_private_ones_and_differ() -> None:
    codes = [one.code for one in CLOSE_CODES]
    assert len(set(codes)) == len(codes)
    assert all(4000 <= code < 5000 for code in codes)
    assert all(len(one.reason.encode()) <= 123 for one in CLOSE_CODES)
