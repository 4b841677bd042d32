"""The standard way to hand out skills over MCP: the extension `io.modelcontextprotocol/skills`.

A skill is a folder with a `SKILL.md` and perhaps more files. Each file is a resource under
`skill://`, `skills/list` and `skills/get` name every file with its digest and size, and
`resources/directory/read` lists a folder. To a client that does not know the extension they are
ordinary resources. What a skill says is made elsewhere; nothing here knows any particular one.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from salon.mcp_server.paging import page
from salon.mcp_server.tables import FIVE_MINUTES_MS, Resource

EXTENSION = "io.modelcontextprotocol/skills"
MAIN_FILE = "SKILL.md"
MARKDOWN, FOLDER = "text/markdown", "inode/directory"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFile:
    """One file of a skill beside `SKILL.md`."""

    path: str
    title: str
    mime_type: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A skill as it is written; `place` is its folder, whose last part is its name."""

    place: str
    description: str
    body: str
    metadata: dict[str, str] = field(default_factory=dict)
    files: tuple[SkillFile, ...] = ()

    @property
    def name(self) -> str:
        """Return the name, in the letters that Agent Skills allow."""
        return self.place.rpartition("/")[2]

    @property
    def root(self) -> str:
        """Return the address of its folder."""
        return f"skill://{self.place}"

    @property
    def uri(self) -> str:
        """Return the address of its `SKILL.md`."""
        return f"{self.root}/{MAIN_FILE}"

    @property
    def frontmatter(self) -> dict[str, Any]:
        """Return what stands above the text of `SKILL.md`."""
        more = {"metadata": dict(self.metadata)} if self.metadata else {}
        return {"name": self.name, "description": self.description, **more}

    @property
    def main(self) -> SkillFile:
        """Return `SKILL.md`; a JSON string is also one of YAML, so no quoting can go wrong."""
        lines = ["---", f"name: {self.name}", f"description: {_quoted(self.description)}"]
        if self.metadata:
            lines.append("metadata:")
            lines += [f"  {_quoted(key)}: {_quoted(value)}" for key, value in self.metadata.items()]
        text = "\n".join([*lines, "---", "", self.body.strip(), ""])
        return SkillFile(path=MAIN_FILE, title=self.name, mime_type=MARKDOWN, content=text)

    def all_files(self) -> tuple[SkillFile, ...]:
        """Return every file, `SKILL.md` first."""
        return (self.main, *self.files)


def skill_resources(skills: Sequence[Skill]) -> tuple[Resource, ...]:
    """Return every file of every skill as a resource."""
    return tuple(
        Resource(
            uri=f"{skill.root}/{file.path}",
            name=skill.name if file.path == MAIN_FILE else file.path.rpartition("/")[2],
            title=file.title,
            description=skill.description,
            mime_type=file.mime_type,
            read=partial(str, file.content),
            fresh_ms=FIVE_MINUTES_MS,
        )
        for skill in skills
        for file in skill.all_files()
    )


class _GetParams(types.RequestParams):
    uri: str


class _FolderParams(types.PaginatedRequestParams):
    uri: str


def serve_skills(server: Server[Any], skills: Sequence[Skill]) -> None:
    """Let a server that has the files as resources also answer the methods of the extension."""
    entries = {skill.uri: _entry(skill) for skill in skills}
    folders = _folders(skills)

    async def list_skills(
        _: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams
    ) -> dict[str, Any]:
        return _paged(list(entries.values()), "skills", params.cursor) | _fresh()

    async def get_skill(_: ServerRequestContext[Any, Any], params: _GetParams) -> dict[str, Any]:
        if params.uri not in entries:
            raise MCPError(INVALID_PARAMS, f"no skill is served at {params.uri[:200]}")
        return {"skill": entries[params.uri]} | _fresh()

    async def read_folder(
        _: ServerRequestContext[Any, Any], params: _FolderParams
    ) -> dict[str, Any]:
        if params.uri not in folders:
            raise MCPError(INVALID_PARAMS, f"{params.uri[:200]} is no folder")
        children = list(folders[params.uri].values())
        return _paged(children, "resources", params.cursor) | _fresh()

    server.extensions[EXTENSION] = {"directoryRead": True}
    server.add_request_handler("skills/list", types.PaginatedRequestParams, list_skills)
    server.add_request_handler("skills/get", _GetParams, get_skill)
    server.add_request_handler("resources/directory/read", _FolderParams, read_folder)


def _entry(skill: Skill) -> dict[str, Any]:
    return {
        "uri": skill.uri,
        "frontmatter": skill.frontmatter,
        "resources": [
            {
                "uri": f"{skill.root}/{file.path}",
                "digest": f"sha256:{hashlib.sha256(file.content.encode()).hexdigest()}",
                "size": len(file.content.encode()),
            }
            for file in skill.all_files()
        ],
    }


def _folders(skills: Sequence[Skill]) -> dict[str, dict[str, dict[str, str]]]:
    """Return the children of every folder, by their address."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for skill in skills:
        for file in skill.all_files():
            parts = f"{skill.place}/{file.path}".split("/")
            for depth in range(1, len(parts)):
                folder = "skill://" + "/".join(parts[:depth])
                child = "skill://" + "/".join(parts[: depth + 1])
                is_file = depth == len(parts) - 1
                found.setdefault(folder, {})[child] = {
                    "uri": child,
                    "name": parts[depth],
                    "mimeType": file.mime_type if is_file else FOLDER,
                }
    return found


def _paged(items: list[Any], name: str, cursor: str | None) -> dict[str, Any]:
    shown, following = page(items, cursor)
    return {name: shown} | ({"nextCursor": following} if following else {})


def _fresh() -> dict[str, Any]:
    return {"ttlMs": FIVE_MINUTES_MS, "cacheScope": "public"}


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
