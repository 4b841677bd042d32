"""From the error tree to HTTP statuses and to the codes with which a WebSocket is closed."""

import logging
from dataclasses import dataclass
from math import ceil
from typing import cast

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from salon.core.errors import (
    CardDeleted,
    Conflict,
    ContentTooLarge,
    ForeignHost,
    ForeignOrigin,
    IntegrityFailed,
    InvalidInput,
    LimitReached,
    NotFound,
    OutsideFailed,
    Refused,
    SalonError,
    TimedOut,
    Unauthorised,
)

log = logging.getLogger(__name__)

STATUSES: tuple[tuple[type[SalonError], int], ...] = (
    (Unauthorised, 401),
    (ForeignOrigin, 403),
    (ForeignHost, 421),
    (Refused, 403),
    (ContentTooLarge, 413),
    (InvalidInput, 422),
    (CardDeleted, 410),
    (NotFound, 404),
    (Conflict, 409),
    (LimitReached, 429),
    (TimedOut, 504),
    (OutsideFailed, 503),
    (IntegrityFailed, 500),
)
"""The first family that an error belongs to decides."""

_CODES = {404: "not_found", 405: "method_not_allowed", 413: "content_too_large"}
"""What the framework itself refuses, by its status."""
_UNREADABLE = 400
"""What the framework says of a body that is nested too deep, or of a number that is too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseCode:
    """Why a server closed a connection."""

    code: int
    reason: str
    about: str


TOO_MANY_MALFORMED = CloseCode(
    code=4400,
    reason="too many malformed frames",
    about="The limit of frames that are no message was reached; each had got its `error`.",
)
SESSION_GONE = CloseCode(
    code=4404,
    reason="the session was deleted",
    about="Somebody deleted the session while this connection listened to it.",
)
TOO_SLOW = CloseCode(
    code=4408,
    reason="too slow",
    about="The client did not read, and more events waited than are kept. Connect again with "
    "`last_event_id`.",
)
CLOSE_CODES = (TOO_MANY_MALFORMED, SESSION_GONE, TOO_SLOW)


def status_of(error: SalonError) -> int:
    """Return the HTTP status of an error's family."""
    return next((status for family, status in STATUSES if isinstance(error, family)), 500)


def internal() -> dict[str, object]:
    """Return what is said of a defect: nothing of its text, which may hold what a person said."""
    return {
        "error": {
            "code": "internal",
            "message": "something is wrong in Salon",
            "hint": "the server's log says more",
            "details": {},
        }
    }


def error_response(error: SalonError) -> JSONResponse:
    """Return the one JSON shape of an error with its status."""
    return JSONResponse(error.as_json(), status_code=status_of(error), headers=wait_of(error))


def wait_of(error: SalonError) -> dict[str, str]:
    """Return the header that says when to try again, where that is known."""
    seconds = error.details.get("retry_after_s")
    return {"retry-after": str(ceil(seconds))} if isinstance(seconds, int | float) else {}


def answer_errors(app: Starlette) -> None:
    """Have every failure answered in the one shape; defects are `Defects`' business."""

    async def salon_error(_: Request, error: Exception) -> JSONResponse:
        return error_response(cast("SalonError", error))

    async def invalid(_: Request, error: Exception) -> JSONResponse:
        return error_response(_explain(cast("RequestValidationError", error)))

    async def refused(_: Request, error: Exception) -> JSONResponse:
        said = cast("HTTPException", error)
        if said.status_code == _UNREADABLE:
            return error_response(InvalidInput("the body cannot be read", hint="send JSON"))
        shaped = SalonError(str(said.detail), hint="GET /api/openapi.json lists the routes")
        body = shaped.as_json()
        code = _CODES.get(said.status_code, "refused")
        cast("dict[str, object]", body["error"])["code"] = code
        return JSONResponse(body, status_code=said.status_code, headers=said.headers)

    app.add_exception_handler(SalonError, salon_error)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, refused)


class Defects:
    """Answers a defect like every other failure, so that it passes through the same hands."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on one request, and answer for what breaks."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def sending(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception:
            log.exception("defect in %s %s", scope["method"], scope["path"])
            if has_begun:
                raise  # half an answer is out; the server breaks the connection
            await JSONResponse(internal(), status_code=500)(scope, receive, send)


def _explain(error: RequestValidationError) -> InvalidInput:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    return InvalidInput(
        f"{place or 'the body'}: {first['msg']}", hint="GET /api/openapi.json describes each route"
    )
