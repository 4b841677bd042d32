"""Qdrant's REST interface over the local mode of its client, since no server can be had here.

Not Qdrant: it has no graph, no optimiser and no disk. It shows that what Salon sends to a server
is well formed (every body is read by Qdrant's own, strict models) and that the answers are
understood, from any number of processes.
"""

import json
import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pydantic import BaseModel, TypeAdapter
from qdrant_client import QdrantClient, models

VARIABLE = "QDRANT_UNDER_TEST"
"""The address of a server to use instead; here for the processes that tests start."""

Answer = object
Route = tuple[str, str, Callable[[QdrantClient, str, Any], Answer]]


def _create(client: QdrantClient, name: str, body: dict[str, Any]) -> Answer:
    asked = models.CreateCollection.model_validate(body)
    client.create_collection(name, vectors_config=asked.vectors, metadata=asked.metadata)
    return True


def _upsert(client: QdrantClient, name: str, body: dict[str, Any]) -> Answer:
    asked = models.PointsBatch.model_validate(body)
    return client.upsert(name, asked.batch)


def _delete_points(client: QdrantClient, name: str, body: dict[str, Any]) -> Answer:
    selector: models.FilterSelector | models.PointIdsList = TypeAdapter(
        models.FilterSelector | models.PointIdsList
    ).validate_python(body)
    return client.delete(name, selector)


def _query(client: QdrantClient, name: str, body: dict[str, Any]) -> Answer:
    asked = models.QueryRequest.model_validate(body)
    assert asked.params is not None
    assert asked.params.hnsw_ef is not None
    return client.query_points(
        name,
        query=asked.query,
        query_filter=asked.filter,
        limit=asked.limit or 10,
        with_payload=bool(asked.with_payload),
    )


def _retrieve(client: QdrantClient, name: str, body: dict[str, Any]) -> Answer:
    asked = models.PointRequest.model_validate(body)
    return client.retrieve(
        name, asked.ids, with_payload=bool(asked.with_payload), with_vectors=bool(asked.with_vector)
    )


def _count(client: QdrantClient, name: str, body: dict[str, Any]) -> Answer:
    return client.count(name, exact=models.CountRequest.model_validate(body).exact or False)


def _index_payload(client: QdrantClient, name: str, body: dict[str, Any]) -> Answer:
    asked = models.CreateFieldIndex.model_validate(body)
    assert asked.field_name == "card"
    return models.UpdateResult(operation_id=0, status=models.UpdateStatus.COMPLETED)


ROUTES: list[Route] = [
    ("GET", r"/collections", lambda client, _name, _body: client.get_collections()),
    ("GET", r"/collections/([^/]+)", lambda client, name, _body: client.get_collection(name)),
    ("PUT", r"/collections/([^/]+)", _create),
    ("DELETE", r"/collections/([^/]+)", lambda client, name, _body: client.delete_collection(name)),
    ("PUT", r"/collections/([^/]+)/index", _index_payload),
    ("PUT", r"/collections/([^/]+)/points", _upsert),
    ("POST", r"/collections/([^/]+)/points", _retrieve),
    ("POST", r"/collections/([^/]+)/points/delete", _delete_points),
    ("POST", r"/collections/([^/]+)/points/query", _query),
    ("POST", r"/collections/([^/]+)/points/count", _count),
]


class RestServer(ThreadingHTTPServer):
    """One server, its collections, and the key that it wants to see."""

    daemon_threads = True

    def __init__(self, *, api_key: str | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.api_key = api_key
        self.client = QdrantClient(":memory:")
        self.lock = threading.Lock()
        self.fails_with: tuple[int, bytes] | None = None

    @property
    def address(self) -> str:
        """Return where it listens."""
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, Answer]:
        """Return status and result of a request."""
        for verb, pattern, act in ROUTES:
            match = re.fullmatch(pattern, path.partition("?")[0])
            if verb == method and match:
                name = match[1] if match.groups() else ""
                with self.lock:
                    return self._act(act, name, json.loads(body or b"{}"))
        return 404, f"there is no {method} {path}"

    def _act(
        self, act: Callable[[QdrantClient, str, Any], Answer], name: str, body: object
    ) -> tuple[int, Answer]:
        try:
            return 200, act(self.client, name, body)
        except ValueError as error:
            return (404 if "not found" in str(error) else 409), str(error)


class _Requests(BaseHTTPRequestHandler):
    server: RestServer

    def do_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.server.fails_with is not None:
            self._send(*self.server.fails_with)
            return
        if self.server.api_key not in {None, self.headers.get("api-key")}:
            self._send(401, b"Must provide an API key")
            return
        status, result = self.server.answer(self.command, self.path, body)
        if status == 200:
            answer: dict[str, object] = {"result": _plain(result), "status": "ok", "time": 0.0}
        else:
            answer = {"status": {"error": result}, "time": 0.0}
        self._send(status, json.dumps(answer).encode())

    do_GET = do_PUT = do_POST = do_DELETE = do_any  # noqa: N815

    def _send(self, status: int, content: bytes) -> None:
        # Whoever asked may have been killed meanwhile.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def start_server(*, api_key: str | None = None) -> RestServer:
    """Start a server in a thread of this process."""
    server = RestServer(api_key=api_key)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@cache
def shared_qdrant() -> str:
    """Return the address of one server for the whole run, started when it is first needed."""
    given = os.environ.get(VARIABLE)
    if given:
        return given
    address = os.environ[VARIABLE] = start_server().address
    return address
