"""Entries for MCP clients, and their files, which belong to somebody else."""

import json
from pathlib import Path
from typing import Any

import pytest

from salon.core.errors import Conflict, InvalidInput
from salon.mcp_server.clients import CLIENTS, LARGEST_CONFIGURATION, configuration, launch_of
from salon.mcp_server.clients import merge_into as merge

LAUNCH = launch_of("ida-weir", command="salon", env={"SALON_HOME": "/h"})
ENTRY = {"command": "salon", "args": ["mcp", "--avatar", "ida-weir"], "env": {"SALON_HOME": "/h"}}


def _wanted(client: str = "claude-desktop") -> dict[str, Any]:
    return configuration(client, {"ida-weir": LAUNCH})


def test_the_entry_is_that_of_the_source_protocol() -> None:
    assert _wanted() == {"mcpServers": {"ida-weir": ENTRY}}


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_gets_command_arguments_and_environment(client: str) -> None:
    ((_, servers),) = _wanted(client).items()
    assert ENTRY.items() <= servers["ida-weir"].items()


def test_some_clients_want_other_words() -> None:
    assert _wanted("vscode") == {"servers": {"ida-weir": {"type": "stdio", **ENTRY}}}
    assert _wanted("zed")["context_servers"]["ida-weir"]["source"] == "custom"


def test_everything_else_in_a_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    before = {"theme": "dark", "mcpServers": {"other": {"command": "x"}}, "ü": [1, None]}
    path.write_text(json.dumps(before), "utf-8")
    path.chmod(0o640)
    assert merge(path, _wanted(), replace=False) == {"ida-weir": "added"}
    after = json.loads(path.read_text("utf-8"))
    assert after["mcpServers"].pop("ida-weir") == ENTRY
    assert after == before
    assert path.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in tmp_path.iterdir()] == ["config.json"]


def test_a_file_that_is_not_there_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new/folder/config.json"
    assert merge(path, _wanted(), replace=False) == {"ida-weir": "added"}
    assert json.loads(path.read_text()) == _wanted()
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_empty_file_counts_as_none(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(" \n")
    assert merge(path, _wanted(), replace=False) == {"ida-weir": "added"}


def test_the_same_entry_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    merge(path, _wanted(), replace=False)
    written = path.stat().st_mtime_ns
    assert merge(path, _wanted(), replace=False) == {"ida-weir": "unchanged"}
    assert path.stat().st_mtime_ns == written


def test_another_entry_of_the_same_name_is_replaced_only_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    text = json.dumps({"mcpServers": {"ida-weir": {"command": "mine"}}})
    path.write_text(text)
    with pytest.raises(Conflict, match="another server"):
        merge(path, _wanted(), replace=False)
    assert path.read_text() == text
    assert merge(path, _wanted(), replace=True) == {"ida-weir": "replaced"}
    assert json.loads(path.read_text()) == _wanted()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("{}")
    link.symlink_to(real)
    merge(link, _wanted(), replace=False)
    assert link.is_symlink()
    assert json.loads(real.read_text()) == _wanted()


@pytest.mark.parametrize(
    "content",
    [
        b'{"mcpServers": {} // a comment\n}',
        b"[]",
        b"\xff\xfe",
        b'{"mcpServers": []}',
        b"[" * 100_000,
        b" " * LARGEST_CONFIGURATION + b"{}",
    ],
    ids=["comment", "list", "bytes", "servers", "deep", "large"],
)
def test_a_file_that_is_not_understood_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInput):
        merge(path, _wanted(), replace=True)
    assert path.read_bytes() == content
