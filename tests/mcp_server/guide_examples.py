"""`python -m tests.mcp_server.guide_examples`: writes the outputs in docs/guides/mcp.md anew.

The guide shows what goes into each tool; what comes out is what a server really gave.
"""

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from mcp.server import Server

from salon.app import Salon
from salon.mcp_server.avatar_server import build_avatar_server
from tests.mcp_server.homes import AVATAR, make_home
from tests.mcp_server.talking import call

GUIDE = Path(__file__).resolve().parents[2] / "docs/guides/mcp.md"
EXAMPLE = re.compile(r"(<!-- (in|out) (\w+) -->\n```json\n)(.*?)(```)", re.DOTALL)


def examples() -> dict[str, dict[str, Any]]:
    """Return what the guide shows of each tool: what goes in and what comes out."""
    found: dict[str, dict[str, Any]] = {}
    for match in EXAMPLE.finditer(GUIDE.read_text("utf-8")):
        found.setdefault(match[3], {})[match[2]] = json.loads(match[4])
    return found


def outcome(server: Server[Any], tool: str, given: dict[str, Any]) -> Any:
    """Return what a tool gives for what the guide puts in."""
    return call(server, tool, **given).structured_content


def main() -> None:
    """Ask a server everything and write down what it says."""
    shown = examples()
    with tempfile.TemporaryDirectory() as folder, Salon(make_home(Path(folder) / "home")) as salon:
        server = build_avatar_server(salon, AVATAR)
        given = {tool: outcome(server, tool, one["in"]) for tool, one in shown.items()}

    def written(match: re.Match[str]) -> str:
        if match[2] == "in":
            return match[0]
        text = json.dumps(_short(given[match[3]]), ensure_ascii=False, indent=2)
        return f"{match[1]}{text}\n{match[5]}"

    GUIDE.write_text(EXAMPLE.sub(written, GUIDE.read_text("utf-8")), "utf-8")


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _short(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_short(one) for one in value]
    return round(value, 2) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
