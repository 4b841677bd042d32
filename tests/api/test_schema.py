"""The whole API under generated requests with real ids: no 5xx, no status that is not documented.

A few requests for each operation by default; `API_EXAMPLES=500 pytest tests/api/test_schema.py`
looks harder.
"""

import json
import os
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from salon.api import examples
from salon.api.limits import Limits
from salon.app import Salon
from tests.api.homes import OTHER, example_home
from tests.api.serving import Address, served
from tools.openapi_page import openapi_text

EXAMPLES = int(os.environ.get("API_EXAMPLES", "5"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
BEGINS_ROUNDS = {"POST /api/rounds", "POST /api/rounds/{round_id}/advance"}
"""Each request would begin a tournament beside the server."""
UNLIMITED = Limits(rate=1e9, burst=10**9, caller_rate=1e9, caller_burst=10**9)
DESCRIBED = schemathesis.openapi.from_dict(json.loads(openapi_text()))
OPERATIONS = sorted(
    (one.ok() for one in DESCRIBED.get_all_operations() if isinstance(one, Ok)),
    key=lambda one: one.method == "delete",
)


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    with example_home(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def address(salon: Salon) -> Iterator[Address]:
    with served(salon, limits=UNLIMITED) as where:
        yield where


def real_ids(salon: Salon) -> dict[str, list[str]]:
    return {
        "avatar": [examples.AVATAR, OTHER, "mina"],
        "session_id": [examples.SESSION, examples.ASSISTED_SESSION],
        "hash": [examples.CARD, *(one.hash for one in salon.archive.cards(limit=10))],
        "document": [one.id for one in salon.documents()],
        "name": [one.name for one in salon.archive.handles()],
    }


@pytest.mark.parametrize(
    "operation",
    [one for one in OPERATIONS if one.label not in BEGINS_ROUNDS],
    ids=lambda one: one.label,
)
def test_no_request_is_answered_with_an_undocumented_status(
    operation: Any, salon: Salon, address: Address
) -> None:
    known = real_ids(salon)

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    @given(case=operation.as_strategy(), data=st.data())
    def ask(case: Any, data: st.DataObject) -> None:
        for name in sorted(set(case.path_parameters or {}) & set(known)):
            # Most requests ask for what there is.
            if data.draw(st.integers(0, 3)):
                case.path_parameters[name] = data.draw(st.sampled_from(known[name]))
        answer = send(client, case, address.http)
        case.validate_response(answer, checks=CHECKS)
        asked.append(answer.status_code)

    asked: list[int] = []
    with httpx.Client(timeout=60) as client:
        ask()
    assert asked
    assert max(asked) < 500


def send(client: httpx.Client, case: Any, base_url: str) -> httpx.Response:
    """Send a generated request over a real socket."""
    given = case.as_transport_kwargs(base_url=base_url)
    body = {"json": given["json"]} if "json" in given else {"content": given.get("data")}
    return client.request(
        given["method"],
        given["url"],
        params=given.get("params"),
        headers=dict(given.get("headers") or {}),
        **body,
    )
