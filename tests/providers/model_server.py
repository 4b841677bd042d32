"""A real HTTP server on this machine that speaks as model servers do, well or badly."""

import http.server
import json
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from salon.providers.embedders.hashing import HashingEmbedder

DIMENSIONS = 32
DIGEST = "0a109f422b47e3a30ba2b10eca18548e944e8a23073ee3f3e947efcf3c45e59f"

Handler = http.server.BaseHTTPRequestHandler
Behave = Callable[[Handler], None]


@dataclass(frozen=True)
class Asked:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, object] = field(default_factory=dict)


class ModelServer(http.server.ThreadingHTTPServer):
    """Answers well, except that what is in `instead` answers first, once each.

    `clients` are closed before the server ends.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, host: str) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, 0), _Answers)
        self.asked: list[Asked] = []
        self.connections = 0
        self.instead: deque[Behave] = deque()
        self.always: Behave | None = None
        self.stop = threading.Event()
        self.clients = ExitStack()

    @property
    def url(self) -> str:
        host, port = self.server_address[:2]
        return f"http://[{host!s}]:{port}" if ":" in str(host) else f"http://{host!s}:{port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up early are what some tests are about."""


class _Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Small answers in two segments would wait for each other's acknowledgement.
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        assert isinstance(self.server, ModelServer)
        self.server.connections += 1

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        server = self.server
        assert isinstance(server, ModelServer)
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        server.asked.append(Asked(self.command, self.path, dict(self.headers), body))
        if server.instead:
            server.instead.popleft()(self)
        elif server.always:
            server.always(self)
        else:
            PATHS[self.path](body)(self)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def has_ipv6() -> bool:
    """Tell whether a server can listen on IPv6's own loopback here."""
    try:
        with socket.socket(socket.AF_INET6) as trying:
            trying.bind(("::1", 0))
    except OSError:
        return False
    return True


def say(content: object, status: int = 200, **headers: str) -> Behave:
    """Answer with JSON, or with the very bytes."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()

    def behave(request: Handler) -> None:
        request.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(data)

    return behave


def hang_up(request: Handler) -> None:
    """Close the connection without a word."""
    request.close_connection = True


def never_answer(request: Handler) -> None:
    """Keep the client waiting until the server is stopped."""
    assert isinstance(request.server, ModelServer)
    request.close_connection = True
    request.server.stop.wait(20)


def drip(request: Handler) -> None:
    """Send a byte now and then, for ever."""
    assert isinstance(request.server, ModelServer)
    request.close_connection = True
    request.send_response(200)
    request.end_headers()
    while not request.server.stop.wait(0.02):
        request.wfile.write(b" ")


def pour(request: Handler) -> None:
    """Send without an end and as fast as possible."""
    request.close_connection = True
    request.send_response(200)
    request.end_headers()
    while True:
        request.wfile.write(b" " * 10_000)


def vectors_for(texts: object) -> list[list[float]]:
    """Return vectors in which texts with common words are near; their length is not one."""
    assert isinstance(texts, list)
    embedder = HashingEmbedder(DIMENSIONS)
    return [[3.0 * float(number) for number in embedder.embed_query(text)] for text in texts]


def _ollama_embed(body: dict[str, object]) -> Behave:
    return say({"model": body["model"], "embeddings": vectors_for(body["input"]), "extra": 1})


def _ollama_tags(_: dict[str, object]) -> Behave:
    return say({"models": [{"name": "other:latest"}, {"name": "nomic:latest", "digest": DIGEST}]})


def _openai_embeddings(body: dict[str, object]) -> Behave:
    data = [
        {"object": "embedding", "index": place, "embedding": vector}
        for place, vector in enumerate(vectors_for(body["input"]))
    ]
    # In another order than asked for: the API allows it.
    return say({"object": "list", "data": data[::-1], "model": body["model"]})


def _echo(body: dict[str, object]) -> Behave:
    return say({"said": body.get("say", "nothing"), "more": [1, 2]})


PATHS: dict[str, Callable[[dict[str, object]], Behave]] = {
    "/api/embed": _ollama_embed,
    "/api/tags": _ollama_tags,
    "/v1/embeddings": _openai_embeddings,
    "/echo": _echo,
}


@contextmanager
def serving(host: str = "127.0.0.1") -> Iterator[ModelServer]:
    """Run a server while the block runs."""
    with ModelServer(host) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.clients.close()
            server.stop.set()
            server.shutdown()
            thread.join()
