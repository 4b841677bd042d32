"""Configuration of MCP clients: the entry that each wants, and putting it into their files.

A client's file belongs to its user: what is in it stays, an entry of the same name is replaced only
if asked, and the file is written whole or not at all.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from salon.core.errors import Conflict, InvalidInput

LARGEST_CONFIGURATION = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientKind:
    """How one client writes servers down: under which key, and with which fields of its own."""

    key: str
    extra: Mapping[str, str] = field(default_factory=dict)


CLIENTS: Mapping[str, ClientKind] = {
    "claude-desktop": ClientKind(key="mcpServers"),
    "claude-code": ClientKind(key="mcpServers", extra={"type": "stdio"}),
    "cursor": ClientKind(key="mcpServers"),
    "gemini-cli": ClientKind(key="mcpServers"),
    "inspector": ClientKind(key="mcpServers", extra={"type": "stdio"}),
    "vscode": ClientKind(key="servers", extra={"type": "stdio"}),
    "windsurf": ClientKind(key="mcpServers"),
    "zed": ClientKind(key="context_servers", extra={"source": "custom"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How a client starts a server."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]


def launch_of(avatar: str, *, command: str, env: Mapping[str, str]) -> Launch:
    """Return how to start the server of an avatar."""
    return Launch(command=command, args=("mcp", "--avatar", avatar), env=env)


def configuration(client: str, servers: Mapping[str, Launch]) -> dict[str, Any]:
    """Return the configuration of a client that knows these servers."""
    kind = CLIENTS[client]
    entries = {
        name: {
            **kind.extra,
            "command": one.command,
            "args": list(one.args),
            "env": dict(one.env),
        }
        for name, one in servers.items()
    }
    return {kind.key: entries}


Change = Literal["added", "replaced", "unchanged"]


def merge_into(path: Path, wanted: Mapping[str, Any], *, replace: bool) -> dict[str, Change]:
    """Put servers into a client's file and tell what became of each, or change nothing."""
    place = path.resolve()  # a link stays a link
    there = _read(place)
    changes: dict[str, Change] = {}
    for key, servers in wanted.items():
        known = there.setdefault(key, {})
        if not isinstance(known, dict):
            raise InvalidInput(f"`{key}` in {path} is not an object", hint="mend it by hand first")
        for name, entry in servers.items():
            changes[name] = _change(known.get(name), entry)
            if changes[name] == "replaced" and not replace:
                raise Conflict(
                    f"{path} has another server called {name}", hint="--force replaces it"
                )
            known[name] = entry
    if set(changes.values()) != {"unchanged"}:
        _write(place, there)
    return changes


def _change(known: object, entry: object) -> Change:
    if known is None:
        return "added"
    return "unchanged" if known == entry else "replaced"


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    content = path.read_bytes()
    if len(content) > LARGEST_CONFIGURATION:
        raise InvalidInput(f"{path} is too large to be a client's configuration")
    if not content.strip():
        return {}
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{path} is not plain JSON: {error}",
            hint="a file with comments must be edited by hand; leave out --write to see the entry",
        ) from error
    if not isinstance(found, dict):
        raise InvalidInput(f"{path} holds no JSON object")
    return found


def _write(path: Path, values: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    try:
        fresh.touch(mode)
        fresh.write_text(json.dumps(values, ensure_ascii=False, indent=2) + "\n", "utf-8")
        fresh.chmod(mode)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
