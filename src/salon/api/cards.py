"""The archive over HTTP: cards, the text around a span, handles with their history.

A card may hold anything, also a page with scripts: its bytes are handed out as an attachment of a
plain type, so that no browser ever runs them here.
"""

from collections.abc import Iterator
from functools import partial
from typing import Annotated, BinaryIO

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from salon.api import examples
from salon.api.documents import DocumentShown, document_shown
from salon.api.service import LibraryService
from salon.api.shapes import Responses, Shape, responses
from salon.api.talking import Talking
from salon.core.handles import Handle, as_handle_name
from salon.core.hashing import CardHash, as_card_hash
from salon.parts.proofs import Place

CHUNK = 256 * 1024
MOST_HANDLES = 1_000
TEXT_TYPE, BYTES_TYPE = "text/plain; charset=utf-8", "application/octet-stream"

Hash = Annotated[str, Path(description="The hash of a card.", examples=[examples.CARD])]
HandleAt = Annotated[
    str, Path(description="A handle; it may hold slashes.", examples=[examples.HANDLE])
]
_CONTENT: Responses = {
    200: {
        "content": {
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            "text/plain": {"schema": {"type": "string"}},
        },
        "description": "The bytes of the card; `ETag` is its hash.",
    },
    304: {"description": "The client has these bytes already."},
}


class CardShown(Shape):
    """A card without its content: what it is, and who needs it."""

    hash: str
    size: int
    g_time: str
    content_type: str = Field(description="What its first bytes look like")
    documents: list[DocumentShown] = Field(description="The documents whose text it is")
    handles: list[str] = Field(description="The handles that point at it")
    past_of_handles: list[str]
    citing_cards: list[str] = Field(description="The cards that cite it")


class PlaceShown(Shape):
    """A span of a card with the text around it, cut where its page ends."""

    hash: str
    start: int
    end: int
    quote: str
    before: str
    after: str
    starts_page: bool = Field(description="Whether `before` begins where the page begins")
    ends_page: bool = Field(description="Whether `after` ends where the page ends")
    page: int | None
    section: str | None
    size: int = Field(description="Bytes in the whole card")
    source: str | None = Field(description="The title of the document; null where it is none")
    verified: bool = Field(description="Whether somebody confirmed that the source is authentic")
    document: DocumentShown | None


class HandleShown(Shape):
    """A name and the card it points at now."""

    name: str
    current: str
    created_at: str
    updated_at: str


class Handles(Shape):
    """Handles by name; `next` is what to give as `after` for more, null where that is all."""

    handles: list[HandleShown]
    next: str | None


class Moved(Shape):
    """One step of a handle: made where nothing was before, removed where nothing is after."""

    previous: str | None
    current: str | None
    moved_at: str


class History(Shape):
    """Every step of a handle, the newest first."""

    name: str
    moves: list[Moved]


def archive_routes(talking: Talking, service: LibraryService) -> APIRouter:
    """Return the routes about cards and handles."""
    routes = APIRouter(prefix="/api", tags=["archive"])
    _cards(routes, talking, service)
    _handles(routes, talking, service)
    return routes


def _cards(routes: APIRouter, talking: Talking, service: LibraryService) -> None:
    @routes.get("/cards/{hash}", responses=responses(404, 410))
    async def show_card(hash: Hash) -> CardShown:  # noqa: A002
        """Return what a card is and who needs it."""
        return await talking.look(partial(_card, service, as_card_hash(hash)))

    @routes.get(
        "/cards/{hash}/content",
        responses=responses(404, 410) | _CONTENT,
        response_class=Response,
    )
    async def get_content(request: Request, hash: Hash) -> Response:  # noqa: A002
        """Return the bytes of a card, to be hashed by whoever wants to check them."""
        card = as_card_hash(hash)
        # A deleted card is gone from here at once, so the client asks each time.
        headers = {"etag": f'"{card}"', "cache-control": "no-cache"}
        kind = await talking.look(partial(_kind, service, card))
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        size = await talking.look(lambda: service.archive.info(card).size)
        stream = await talking.look(partial(service.archive.open, card))
        headers |= {
            "content-length": str(size),
            "content-disposition": f'attachment; filename="{card[:16]}"',
        }
        return StreamingResponse(_pieces(stream), media_type=kind, headers=headers)

    @routes.get("/cards/{hash}/place", responses=responses(404, 410))
    async def show_place(
        hash: Hash,  # noqa: A002
        start: Annotated[int, Query(ge=0, le=2**62, examples=[examples.START])],
        end: Annotated[int, Query(ge=1, le=2**62, examples=[examples.END])],
        width: Annotated[int, Query(ge=0, le=4_000)] = 1_500,
    ) -> PlaceShown:
        """Return a span with the text around it: what a citation points at, in its page."""
        card = as_card_hash(hash)
        return _place(await talking.look(partial(service.place_of, card, start, end, width=width)))


def _handles(routes: APIRouter, talking: Talking, service: LibraryService) -> None:
    @routes.get("/handles", responses=responses())
    async def list_handles(
        prefix: Annotated[str, Query(max_length=255)] = "",
        after: Annotated[str, Query(max_length=255)] = "",
        limit: Annotated[int, Query(ge=1, le=MOST_HANDLES)] = 100,
    ) -> Handles:
        """List handles by name."""

        def find() -> list[Handle]:
            there = (one for one in service.archive.handles(prefix=prefix) if one.name > after)
            return sorted(there, key=lambda one: one.name)[: limit + 1]

        found = await talking.look(find)
        shown = [_handle(one) for one in found[:limit]]
        return Handles(handles=shown, next=shown[-1].name if len(found) > limit else None)

    @routes.get("/handles/{name:path}/history", responses=responses(404))
    async def show_history(name: HandleAt) -> History:
        """Return every step of a handle."""
        handle = as_handle_name(name)

        def find() -> History:
            moves = [
                Moved(previous=one.previous, current=one.current, moved_at=one.moved_at)
                for one in service.archive.history(handle)
            ]
            if not moves:
                service.archive.resolve(handle)  # says that there is none
            return History(name=handle, moves=moves)

        return await talking.look(find)

    @routes.get("/handles/{name:path}", responses=responses(404))
    async def show_handle(name: HandleAt) -> HandleShown:
        """Return where a handle points now."""
        handle = as_handle_name(name)
        return _handle(await talking.look(partial(service.archive.resolve, handle)))


def _card(service: LibraryService, card: CardHash) -> CardShown:
    archive = service.archive
    info, needs = archive.info(card), archive.needs(card)
    return CardShown(
        hash=info.hash,
        size=info.size,
        g_time=info.g_time,
        content_type=archive.content_type(card),
        documents=[document_shown(one) for one in archive.documents_of(card)],
        handles=list(needs.handles),
        past_of_handles=list(needs.past_of_handles),
        citing_cards=list(needs.citing_cards),
    )


def _kind(service: LibraryService, card: CardHash) -> str:
    said = service.archive.content_type(card)
    is_text = said.startswith("text/") or said == "application/json"
    return TEXT_TYPE if is_text else BYTES_TYPE


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    with stream:
        while piece := stream.read(CHUNK):
            yield piece


def _place(place: Place) -> PlaceShown:
    document = None if place.document is None else document_shown(place.document)
    names = ("hash", "start", "end", "quote", "before", "after", "starts_page", "ends_page",
             "page", "section", "size")  # fmt: skip
    return PlaceShown(
        **{name: getattr(place, name) for name in names},
        source=None if document is None else document.title,
        verified=document is not None and document.verification.status == "verified",
        document=document,
    )


def _handle(handle: Handle) -> HandleShown:
    return HandleShown(**{name: getattr(handle, name) for name in HandleShown.model_fields})
