"""`python -m bench.mcp_servers SIDE WAY HOME [PORT]`: one of the two servers that are compared.

SIDE `salon` is an avatar's server as `salon mcp` runs it; `bare` is the SDK's own server with one
tool that gives the same answer, already put together. WAY is `stdio` or `http`.
"""

import sys
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server import MCPServer, Server

from salon.app import Salon
from salon.core.ids import AvatarId
from salon.corpus.sources import FileSource
from salon.experts.profile import make_profile, register_profile
from salon.mcp_server.avatar_server import build_avatar_server
from salon.mcp_server.transports import allowed_hosts, http_app, serve_stdio
from salon.parts.avatar_results import Info, info_of
from salon.settings import load_settings

AVATAR = "bench-avatar"
PROFILE = {
    "id": AVATAR,
    "name": "Benedicta Bench",
    "description": "Measures how fast she is asked who she is.",
    "expertise": ["measuring", "waiting", "counting"],
    "corpus": {"description": "Notes on measuring.", "sources": []},
    "systemPrompt": {
        "identity": "You represent the notes of Benedicta Bench.",
        "tone": "Brief.",
        "constraints": ["Measure twice."],
        "citationStyle": "As I noted.",
    },
}


def make_home(home: Path) -> None:
    """Put an avatar with one document into a home."""
    note = home / "note.txt"
    home.mkdir(parents=True, exist_ok=True)
    note.write_text("Whoever measures once believes; whoever measures twice knows.\n" * 50, "utf-8")
    with Salon(load_settings(home=home)) as salon:
        register_profile(salon.archive, make_profile(PROFILE))
        for result in salon.ingest([FileSource(path=note)]):
            salon.add_to_corpus(AvatarId(AVATAR), [result.document.id])  # type: ignore[union-attr]


def bare_server(info: Info) -> MCPServer[Any]:
    """Return a server of the SDK alone."""
    server = MCPServer("bare", version="1", log_level="WARNING")

    @server.tool()
    def get_avatar_info() -> Info:
        """Return who the avatar is."""
        return info

    return server


def main() -> None:
    """Serve until the client goes or the process is ended."""
    side, way, home = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    with Salon(load_settings(home=home)) as salon:
        if side == "salon":
            _serve(build_avatar_server(salon, AVATAR), way)
            return
        bare = bare_server(info_of(salon.avatar_info(AVATAR)))
        if way == "stdio":
            bare.run("stdio")
            return
        app = bare.streamable_http_app(streamable_http_path=f"/mcp/{AVATAR}")
        uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[4]), log_level="error")


def _serve(server: Server[Any], way: str) -> None:
    if way == "stdio":
        anyio.run(serve_stdio, server)
        return
    app = http_app({AVATAR: server}, allowed_hosts("127.0.0.1"))
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[4]), log_level="error")


if __name__ == "__main__":
    main()
