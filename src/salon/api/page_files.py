"""The page: files of the package, handed out with their type, a tag and small where wanted.

They hold no data, so they need no token. A name is looked up among the files that are there, never
put together into a path.
"""

import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from salon.api.headers import PAGE_POLICY

FOLDER = Path(__file__).parent / "page"
FRONT = "index.html"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
"""What may be handed out; a file of another kind is not part of the page."""
_SMALL_ALREADY = frozenset({".png", ".woff2"})
_LEAST_TO_PACK = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFile:
    """A file as it is sent."""

    content: bytes
    packed: bytes | None
    media_type: str
    tag: str
    stamp: tuple[int, int]


class PageFiles:
    """The files of a folder, read when first asked for and again when they have changed."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._read: dict[str, PageFile] = {}

    def names(self) -> list[str]:
        """Return the files that there are, by their path below the folder."""
        found = (one for one in self._folder.rglob("*") if one.is_file() and one.suffix in TYPES)
        return sorted(one.relative_to(self._folder).as_posix() for one in found)

    def find(self, name: str) -> PageFile | None:
        """Return a file by its path below the folder, or `None`."""
        path = self._folder / name
        known = self._read.get(name)
        try:
            now = path.stat()
        except (OSError, ValueError):  # a name with a NUL, or one that is too long
            return None
        stamp = (now.st_mtime_ns, now.st_size)
        if known is not None and known.stamp == stamp:
            return known
        if name not in self.names():
            return None
        self._read[name] = made = _load(path, stamp)
        return made


def _load(path: Path, stamp: tuple[int, int]) -> PageFile:
    content = path.read_bytes()
    is_worth_it = len(content) >= _LEAST_TO_PACK and path.suffix not in _SMALL_ALREADY
    return PageFile(
        content=content,
        packed=gzip.compress(content, 9, mtime=0) if is_worth_it else None,
        media_type=TYPES[path.suffix],
        tag=hashlib.sha256(content).hexdigest()[:32],
        stamp=stamp,
    )


def page_routes(files: PageFiles) -> APIRouter:
    """Return the routes of the page; they are no part of the description for machines."""
    routes = APIRouter(include_in_schema=False)

    @routes.api_route("/", methods=["GET", "HEAD"])
    def front(request: Request) -> Response:
        return _send(files, FRONT, request)

    @routes.api_route("/page/{name:path}", methods=["GET", "HEAD"])
    def file(request: Request, name: str) -> Response:
        return _send(files, name, request)

    return routes


def _send(files: PageFiles, name: str, request: Request) -> Response:
    found = files.find(name)
    if found is None:
        raise HTTPException(404, "there is no such file")
    is_packed = found.packed is not None and _takes_gzip(request)
    tag = f'"{found.tag}{"-gz" if is_packed else ""}"'
    headers = {
        "etag": tag,
        "cache-control": "no-cache",  # kept, and asked for again: a new Salon shows at once
        "vary": "accept-encoding",
        "content-security-policy": PAGE_POLICY,
    }
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if is_packed:
        headers["content-encoding"] = "gzip"
    body = found.packed if is_packed else found.content
    return Response(body, media_type=found.media_type, headers=headers)


def _takes_gzip(request: Request) -> bool:
    offered = (one.strip() for one in request.headers.get("accept-encoding", "").split(","))
    return any(one.split(";")[0] == "gzip" and not one.endswith("q=0") for one in offered)
