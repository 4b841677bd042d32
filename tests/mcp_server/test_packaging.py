"""What registries and bundles read about Salon agrees with their formats and with Salon."""

import json
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator
from pydantic.alias_generators import to_camel

from salon import __version__
from salon.experts.profile_blocks import ToolName

ROOT = Path(__file__).resolve().parents[2]
SERVER = ROOT / "server.json"
MANIFEST = ROOT / "packaging/mcpb/manifest.json"
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Camel(Closed):
    model_config = ConfigDict(alias_generator=to_camel)


# server.json, revision 2025-12-11


class Input(Camel):
    description: str | None = None
    is_required: bool = False
    is_secret: bool = False
    format: Literal["string", "number", "boolean", "filepath"] = "string"
    value: str | None = None
    default: str | None = None
    placeholder: str | None = None
    choices: list[str] | None = None
    variables: dict[str, Any] | None = None


class Positional(Input):
    type: Literal["positional"]
    value_hint: str | None = None
    is_repeated: bool = False

    @model_validator(mode="after")
    def _says_what(self) -> "Positional":
        assert self.value or self.value_hint, "a positional argument needs value or valueHint"
        return self


class Named(Input):
    type: Literal["named"]
    name: str
    is_repeated: bool = False


class Variable(Input):
    name: str = Field(pattern=r"^[A-Z][A-Z0-9_]*$")


class Stdio(Camel):
    type: Literal["stdio"]


class Package(Camel):
    registry_type: Literal["npm", "pypi", "oci", "nuget", "mcpb"]
    identifier: str = Field(min_length=1)
    version: str = Field(pattern=r"^[0-9]")
    runtime_hint: str | None = None
    transport: Stdio
    package_arguments: list[Annotated[Positional | Named, Field(discriminator="type")]] = Field(
        default_factory=list
    )
    environment_variables: list[Variable] = Field(default_factory=list)


class ServerJson(Camel):
    schema_: Literal[
        "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    ] = Field(alias="$schema")
    name: str = Field(pattern=r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", min_length=3, max_length=200)
    title: str | None = Field(None, min_length=1, max_length=100)
    description: str = Field(min_length=1, max_length=100)
    version: str = Field(max_length=255)
    packages: list[Package] = Field(min_length=1)


# manifest.json, version 0.4


class Author(Closed):
    name: str


class Launch(Closed):
    command: str
    args: list[str]
    env: dict[str, str]


class BundledServer(Closed):
    type: Literal["uv"]
    entry_point: str
    mcp_config: Launch


class NamedTool(Closed):
    name: str
    description: str


class Compatibility(Closed):
    platforms: list[Literal["darwin", "win32", "linux"]]
    runtimes: dict[Literal["python", "node"], str]


class Asked(Closed):
    type: Literal["string", "number", "boolean", "directory", "file"]
    title: str
    description: str
    required: bool = False
    default: str | None = None


class Manifest(Closed):
    manifest_version: Literal["0.4"]
    name: str
    display_name: str
    version: str
    description: str
    long_description: str
    author: Author
    license: str
    keywords: list[str]
    server: BundledServer
    tools: list[NamedTool]
    tools_generated: bool
    prompts_generated: bool
    compatibility: Compatibility
    user_config: dict[str, Asked]


def test_server_json_keeps_to_its_schema() -> None:
    server = ServerJson.model_validate_json(SERVER.read_bytes())
    (package,) = server.packages
    assert server.version == package.version == __version__
    assert package.identifier == "salon"
    words = [one.name if isinstance(one, Named) else one.value for one in package.package_arguments]
    assert words == ["mcp", "--avatar"]


def test_the_manifest_of_the_bundle_keeps_to_its_schema() -> None:
    manifest = Manifest.model_validate_json(MANIFEST.read_bytes())
    assert manifest.version == __version__
    assert (MANIFEST.parent / manifest.server.entry_point).is_file()
    asked = set(re.findall(r"\$\{user_config\.(\w+)\}", " ".join(manifest.server.mcp_config.args)))
    assert asked == set(manifest.user_config)


def test_the_bundle_installs_this_version() -> None:
    project = tomllib.loads((MANIFEST.parent / "pyproject.toml").read_text())["project"]
    assert project["dependencies"] == [f"salon=={__version__}"]
    assert project["version"] == __version__


def test_the_manifest_names_every_tool() -> None:
    tools = {one["name"] for one in json.loads(MANIFEST.read_bytes())["tools"]}
    assert tools == set(TypeAdapter(ToolName).json_schema()["enum"])


@pytest.mark.parametrize("path", [SERVER, MANIFEST], ids=lambda path: path.name)
def test_an_unknown_field_would_be_seen(path: Path) -> None:
    model: type[Closed] = ServerJson if path is SERVER else Manifest
    with pytest.raises(ValueError, match="extra"):
        model.model_validate(json.loads(path.read_bytes()) | {"surprise": 1})
