"""The examples of the guide are what a server really takes and gives."""

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from mcp.server import Server

from salon.app import Salon
from salon.mcp_server.avatar_server import build_avatar_server
from tests.mcp_server.guide_examples import examples, outcome
from tests.mcp_server.homes import AVATAR, make_home
from tests.mcp_server.talking import talk

VARYING = ("document_id", "confidence")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server[Any]]:
    with Salon(make_home(tmp_path_factory.mktemp("home"))) as salon:
        yield build_avatar_server(salon, AVATAR)


def settled(value: Any) -> Any:
    """Return a result as it is in every run: ids differ, and probabilities with every training."""
    if isinstance(value, dict):
        return {name: settled(one) for name, one in value.items() if name not in VARYING}
    if isinstance(value, list):
        return [settled(one) for one in value]
    return "a figure" if isinstance(value, float) else value


def test_the_guide_shows_every_tool(server: Server[Any]) -> None:
    tools = talk(server, "auto", lambda client: client.list_tools()).tools
    assert list(examples()) == [tool.name for tool in tools]
    for tool in tools:
        shown = examples()[tool.name]
        jsonschema.validate(shown["in"], tool.input_schema)
        jsonschema.validate(shown["out"], tool.output_schema or {})


@pytest.mark.parametrize("tool", list(examples()))
def test_every_example_comes_out_as_shown(server: Server[Any], tool: str) -> None:
    """Where it does not: `python -m tests.mcp_server.guide_examples` writes it anew."""
    shown = examples()[tool]
    assert settled(outcome(server, tool, shown["in"])) == settled(shown["out"])
