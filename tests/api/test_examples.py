"""Every example in the description of the routes, sent to a real app and held to its schema."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import jsonschema
import pytest

from salon.api import examples
from salon.app import Salon
from tests.api.homes import draft_a_call, example_home
from tests.api.serving import served
from tests.parts.council_homes import make_council_home, play_by_hand
from tools.openapi_page import PLACE, openapi_text

DESCRIBED: dict[str, Any] = json.loads(openapi_text())
METHODS = ("get", "post", "delete")  # in this order: what is deleted was looked at before


class Example(NamedTuple):
    """One documented request."""

    method: str
    path: str
    number: int
    operation: dict[str, Any]
    body: Any

    @property
    def id(self) -> str:
        return f"{self.method} {self.path} {self.number}"


def bodies(operation: dict[str, Any]) -> list[Any]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return [None]
    shown = content.get("examples") or {}
    found = [one["value"] for one in shown.values()]
    schema = resolved(content["schema"])
    return found or list(schema.get("examples", [])) or [by_fields(schema)]


def by_fields(schema: dict[str, Any]) -> dict[str, Any]:
    fields = schema["properties"].items()
    return {name: one["examples"][0] for name, one in fields if "examples" in one}


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    found: dict[str, Any] = DESCRIBED["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return found


def documented(*, council: bool = False) -> list[Example]:
    return [
        Example(method, path, number, operation, body)
        for method in METHODS
        for path, methods in DESCRIBED["paths"].items()
        if (operation := methods.get(method)) is not None
        if ("council" in operation.get("tags", ())) is council  # these are asked of another home
        for number, body in enumerate(bodies(operation), 1)
    ]


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    with example_home(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def client(salon: Salon) -> Iterator[httpx.Client]:
    with served(salon) as address, httpx.Client(base_url=address.http, timeout=60) as one:
        yield one


def values(operation: dict[str, Any], place: str) -> dict[str, Any]:
    return {
        one["name"]: one["schema"]["examples"][0] if "examples" in one["schema"] else one["example"]
        for one in operation.get("parameters", ())
        if one["in"] == place and ("examples" in one["schema"] or "example" in one)
    }


def send(client: httpx.Client, salon: Salon, example: Example, **headers: str) -> httpx.Response:
    names = values(example.operation, "path")
    if "document" in names:
        names["document"] = salon.documents()[0].id
    asked = values(example.operation, "query")
    return client.request(
        example.method,
        example.path.format(**names),
        params=asked,
        json=example.body,
        headers=headers,
    )


@pytest.mark.parametrize("example", documented(), ids=lambda one: one.id)
def test_a_documented_example_is_answered_as_documented(
    client: httpx.Client, salon: Salon, example: Example
) -> None:
    if example.method == "post" and example.path.endswith("/flow"):
        draft_a_call(salon)
    hold_to_schema(example, send(client, salon, example))


def hold_to_schema(example: Example, answer: httpx.Response) -> None:
    documented = example.operation["responses"].get(str(answer.status_code))
    assert answer.is_success, answer.text
    assert documented is not None
    kind = answer.headers["content-type"].split(";")[0]
    schema = documented["content"][kind]["schema"]
    if kind == "application/json":
        whole = schema | {"components": DESCRIBED["components"]}
        jsonschema.Draft202012Validator(whole).validate(answer.json())
    else:
        assert schema["type"] == "string"
        assert answer.text


@pytest.fixture(scope="module")
def council(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    home = tmp_path_factory.mktemp("council") / "home"
    with Salon(make_council_home(home, council={"retries": 0})) as opened:
        assert play_by_hand(opened).published is not None
        yield opened


@pytest.mark.parametrize("example", documented(council=True), ids=lambda one: one.id)
def test_a_documented_example_of_the_council_is_answered_as_documented(
    council: Salon, example: Example
) -> None:
    (round_,) = [one for one in council.rounds() if one.published is not None]
    assert round_.published is not None
    names = {examples.ROUND: round_.id, examples.CANDIDATE: round_.published.candidate}
    path = {name: names[value] for name, value in values(example.operation, "path").items()}
    with served(council) as address, httpx.Client(base_url=address.http, timeout=60) as client:
        answer = client.request(example.method, example.path.format(**path), json=example.body)
        hold_to_schema(example, answer)


STREAMED = [
    one
    for one in documented()
    if "text/event-stream" in one.operation["responses"].get("200", {}).get("content", {})
]


@pytest.mark.parametrize("example", STREAMED, ids=lambda one: one.id)
def test_the_last_event_of_a_streamed_example_is_the_whole_answer(
    client: httpx.Client, salon: Salon, example: Example
) -> None:
    if "sessions" in example.path:
        client.post(f"/api/sessions/{examples.SESSION}/messages", json=example.body)
    answer = send(client, salon, example, accept="text/event-stream")
    assert answer.headers["content-type"].startswith("text/event-stream")
    *_, last = answer.text.strip().split("\n\n")
    name, data = last.split("\n")
    assert name == "event: reply"
    schema = example.operation["responses"]["200"]["content"]["application/json"]["schema"]
    whole = schema | {"components": DESCRIBED["components"]}
    jsonschema.Draft202012Validator(whole).validate(json.loads(data.removeprefix("data: ")))


def test_every_parameter_that_must_be_given_has_an_example() -> None:
    missing = [
        (one.id, parameter["name"])
        for one in (*documented(), *documented(council=True))
        for parameter in one.operation.get("parameters", ())
        if parameter["required"] and parameter["name"] not in values(one.operation, parameter["in"])
    ]
    assert missing == []


def test_every_operation_says_what_it_does_and_which_errors_it_answers() -> None:
    for path, methods in DESCRIBED["paths"].items():
        for method, operation in methods.items():
            assert operation["description"], (method, path)
            statuses = set(operation["responses"])
            assert {"401", "403", "421", "422", "429", "500"} <= statuses, (method, path)


def test_the_description_in_the_docs_is_that_of_the_code() -> None:
    assert PLACE.read_text("utf-8") == openapi_text(), "run `make docs`"
