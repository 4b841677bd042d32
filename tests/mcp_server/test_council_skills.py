"""The registry as Agent Skills over MCP: `skill://`, digests, and no drift from the tools."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from mcp.client import Client
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams, Request, RequestParams, Result
from pydantic import ConfigDict

from salon.app import Salon
from salon.council.phases import ALIASES, PERMISSIONS
from salon.council.phases import Skill as SkillName
from salon.council.seats import Seat
from salon.mcp_server import paging
from salon.mcp_server.council_registry import REGISTRY
from salon.mcp_server.council_server import build_seat_server
from salon.mcp_server.council_skills import ROLES, council_skills
from salon.mcp_server.skills_extension import EXTENSION
from salon.settings import load_settings
from tests.mcp_server.talking import ERAS, read, talk

LIMITS = (512, 16 * 2**20)
"""Files and bytes of one skill that every host takes."""


class _Anything(Result):
    """A result whose fields are whatever came."""

    model_config = ConfigDict(extra="allow")


class _Asked(Request[Any, str]):
    """A request of the extension, for which the SDK has no type."""

    method: str
    params: Any = None


def ask(server: Server[Any], era: str, method: str, **params: Any) -> dict[str, Any]:
    shape = PaginatedRequestParams if set(params) <= {"cursor"} else _Params

    async def send(client: Client) -> _Anything:
        request = _Asked(method=method, params=shape(**params))
        return await client.session.send_request(request, _Anything)

    return talk(server, era, send).model_dump(by_alias=True, mode="json")


class _Params(RequestParams):
    model_config = ConfigDict(extra="allow")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server[Any]]:
    home = tmp_path_factory.mktemp("skills")
    with Salon(load_settings(home=home, environment={})) as salon:
        yield build_seat_server(salon, Seat.CHAIR)


def test_the_extension_is_declared(server: Server[Any]) -> None:
    async def capabilities(client: Client) -> Any:
        return client.server_capabilities

    declared = talk(server, ERAS[1], capabilities)
    assert declared.extensions == {EXTENSION: {"directoryRead": True}}
    # The revision before has no place for it; there the skills are resources like others.
    assert talk(server, ERAS[0], capabilities).extensions is None
    assert declared.resources is not None


@pytest.mark.parametrize("era", ERAS)
def test_every_skill_is_listed_with_the_digest_and_size_of_every_file(
    server: Server[Any], era: str
) -> None:
    found = ask(server, era, "skills/list")
    assert (found["ttlMs"], found["cacheScope"]) == (300_000, "public")
    assert len(found["skills"]) == len(SkillName) + 1
    for skill in found["skills"]:
        assert skill["uri"] == f"skill://council/{skill['frontmatter']['name']}/SKILL.md"
        uris = [one["uri"] for one in skill["resources"]]
        assert uris[0] == skill["uri"]
        assert len(set(uris)) == len(uris) <= LIMITS[0]
        for one in skill["resources"]:
            content = read(server, one["uri"], era).encode()
            assert len(content) == one["size"]
            assert f"sha256:{hashlib.sha256(content).hexdigest()}" == one["digest"]
        assert sum(one["size"] for one in skill["resources"]) <= LIMITS[1]


def test_the_frontmatter_is_what_stands_in_the_file(server: Server[Any]) -> None:
    yaml: Any = pytest.importorskip("yaml")
    for skill in ask(server, ERAS[1], "skills/list")["skills"]:
        text = read(server, skill["uri"])
        _, frontmatter, body = text.split("---\n", 2)
        assert yaml.safe_load(frontmatter) == skill["frontmatter"]
        name = skill["frontmatter"]["name"]
        assert name.replace("-", "").isalnum()
        assert name == name.lower()
        assert 1 <= len(skill["frontmatter"]["description"]) <= 1024
        assert body.strip().startswith("# ")


def test_one_skill_is_found_by_its_address(server: Server[Any]) -> None:
    listed = ask(server, ERAS[1], "skills/list")["skills"]
    for one in listed:
        found = ask(server, ERAS[1], "skills/get", uri=one["uri"])
        assert found["skill"] == one
        assert found["ttlMs"] == 300_000
    for wrong in ("skill://council/nothing/SKILL.md", "skill://council/cast-vote", "file:///etc"):
        with pytest.raises(MCPError, match="no skill is served") as refusal:
            ask(server, ERAS[1], "skills/get", uri=wrong)
        assert refusal.value.error.code == INVALID_PARAMS


def test_folders_can_be_listed_down_to_every_file(server: Server[Any]) -> None:
    def walk(folder: str) -> Iterator[str]:
        for child in ask(server, ERAS[1], "resources/directory/read", uri=folder)["resources"]:
            if child["mimeType"] == "inode/directory":
                yield from walk(child["uri"])
            else:
                yield child["uri"]

    listed = ask(server, ERAS[1], "skills/list")["skills"]
    files = {one["uri"] for skill in listed for one in skill["resources"]}
    assert set(walk("skill://council")) == files
    for wrong in ("skill://council/cast-vote/SKILL.md", "skill://nowhere"):
        with pytest.raises(MCPError, match="is no folder"):
            ask(server, ERAS[1], "resources/directory/read", uri=wrong)


def test_long_lists_come_in_pages(server: Server[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ask(server, ERAS[1], "skills/list")["skills"]
    monkeypatch.setattr(paging, "PAGE", 3)
    pages, cursor = [], None
    while True:
        found = ask(server, ERAS[1], "skills/list", **({"cursor": cursor} if cursor else {}))
        pages.append(found["skills"])
        cursor = found.get("nextCursor")
        if cursor is None:
            break
    assert [len(one) for one in pages] == [3, 3, 1]
    assert [one for page in pages for one in page] == whole
    with pytest.raises(MCPError, match="did not come from this server"):
        ask(server, ERAS[1], "skills/list", cursor="bm8=")


def test_a_client_that_does_not_know_the_extension_sees_ordinary_resources(
    server: Server[Any],
) -> None:
    listed = talk(server, ERAS[0], lambda client: client.list_resources()).resources
    mains = {one.uri: one for one in listed if str(one.uri).endswith("/SKILL.md")}
    assert len(mains) == len(SkillName) + 1
    for one in mains.values():
        assert one.mime_type == "text/markdown"
        assert one.name == str(one.uri).split("/")[-2]


def test_skills_and_tools_say_the_same(server: Server[Any]) -> None:
    tools = {one.name: one for one in talk(server, ERAS[0], lambda c: c.list_tools()).tools}
    texts = {skill.metadata["tool"]: skill for skill in council_skills()}
    assert set(texts) == {*map(str, SkillName), "council_brief"}
    for entry in REGISTRY:
        skill, tool = texts[entry.skill], tools[entry.skill]
        assert skill.description == tool.description
        files = {file.path: json.loads(file.content) for file in skill.files}
        assert files["references/input-schema.json"] == tool.input_schema
        assert files["references/output-schema.json"] == tool.output_schema
        assert ROLES[PERMISSIONS[entry.skill].role] in skill.body
        for phase in PERMISSIONS[entry.skill].phases:
            assert phase in skill.body
        for alias, meant in ALIASES.items():
            assert (f"`{alias}`" in skill.body) is (meant is entry.skill)


def test_the_way_of_a_round_names_the_skill_of_every_phase() -> None:
    (whole,) = [one for one in council_skills() if one.name == "play-a-round"]
    for name, permission in PERMISSIONS.items():
        for phase in permission.phases:
            (row,) = [line for line in whole.body.splitlines() if line.startswith(f"| {phase} ")]
            assert f"`{name}`" in row
