"""Harmonica on this machine: sessions, dialogues, context sources, and what it was told."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

KEY = "hm_live_test"
Values = dict[str, Any]
_numbers = count(1)
"""Harmonica gives no two sessions the same id."""


class FakeHarmonica:
    """What Harmonica knows. It has no avatars: what they say is a message like any other."""

    def __init__(self) -> None:
        self.sessions: dict[str, Values] = {}
        self.sources: dict[str, list[Values]] = {}
        self.dialogues: dict[str, dict[str, Values]] = {}
        self.instead: list[tuple[int, dict[str, str], bytes]] = []
        self.is_cut_off = False
        """Whether the connection breaks once a message was taken, before that is said."""
        self.url = ""

    def answer(self, method: str, path: str, body: Values) -> tuple[int, object]:
        if (method, path) == ("GET", "/me"):
            return 200, {"id": "u1", "email": "host@valley.test", "plan": "free"}
        if (method, path) == ("POST", "/sessions"):
            return self._create(body)
        found = re.fullmatch(r"/sessions/([^/]+)(/.*)", path)
        if found is None or found[1] not in self.sessions:
            return 404, refusal("not_found", "Session not found")
        routes = {
            ("POST", "/context-sources/mcp"): self._add_source,
            ("GET", "/responses"): self._responses,
            ("POST", "/chat"): self._chat,
        }
        return routes[method, found[2]](found[1], body)

    def _create(self, body: Values) -> tuple[int, object]:
        if not body.get("topic") or not body.get("goal"):
            return 400, refusal("validation_error", "topic and goal are required")
        session = f"s{next(_numbers)}"
        self.sessions[session] = body
        self.sources[session] = []
        self.dialogues[session] = {}
        join = f"https://harmonica.test/chat?s={session}"
        return 201, {"id": session, "status": "active", "join_url": join, **body}

    def _add_source(self, session: str, body: Values) -> tuple[int, object]:
        self.sources[session].append(body)
        return 201, {"id": f"src{len(self.sources[session])}"}

    def _responses(self, session: str, _: Values) -> tuple[int, object]:
        return 200, {"data": list(self.dialogues[session].values())}

    def _chat(self, session: str, body: Values) -> tuple[int, object]:
        if not all(body.get(one) for one in ("content", "participant_id", "participant_name")):
            return 400, refusal("validation_error", "content and participant are required")
        self.say(session, body["participant_id"], body["participant_name"], body["content"])
        return 200, {"message": {"role": "assistant", "content": "Thank you.", "is_final": False}}

    def say(self, session: str, participant: str, name: str, content: str) -> None:
        """Have a participant say something, to which the facilitator answers."""
        fresh = {"participant_id": participant, "participant_name": name, "messages": []}
        dialogue = self.dialogues[session].setdefault(participant, fresh)
        dialogue["messages"] += [
            {"role": "user", "content": content},
            {"role": "assistant", "content": "Thank you."},
        ]

    def texts(self, session: str, participant: str) -> list[str]:
        found = self.dialogues[session].get(participant, {"messages": []})["messages"]
        return [one["content"] for one in found if one["role"] == "user"]


def refusal(code: str, message: str) -> Values:
    return {"error": {"code": code, "message": message}}


@contextmanager
def running_harmonica() -> Iterator[FakeHarmonica]:
    """Serve Harmonica on a free port of this machine."""
    fake = FakeHarmonica()

    class Door(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size) or b"{}")
            if fake.instead:
                status, headers, content = fake.instead.pop(0)
            elif self.headers.get("Authorization") != f"Bearer {KEY}":
                status, headers = 401, {}
                content = json.dumps(refusal("unauthorized", "Invalid API key")).encode()
            else:
                status, said = fake.answer(self.command, self.path, body)
                if fake.is_cut_off and self.path.endswith("/chat"):
                    self.close_connection = True
                    return
                headers, content = {}, json.dumps(said).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _serve  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield fake
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
