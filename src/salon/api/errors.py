"""From the error tree to HTTP statuses and to the codes with which a WebSocket is closed."""

import logging
from dataclasses import dataclass
from math import ceil
from typing import cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

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


def answer_errors(app: FastAPI) -> None:
    """Have every failure answered in the one shape."""

    async def salon_error(_: Request, error: Exception) -> JSONResponse:
        return error_response(cast("SalonError", error))

    async def invalid(_: Request, error: Exception) -> JSONResponse:
        return error_response(_explain(cast("RequestValidationError", error)))

    async def refused(_: Request, error: Exception) -> JSONResponse:
        said = cast("HTTPException", error)
        shaped = SalonError(str(said.detail), hint="GET /api/openapi.json lists the routes")
        body = shaped.as_json()
        code = _CODES.get(said.status_code, "refused")
        cast("dict[str, object]", body["error"])["code"] = code
        return JSONResponse(body, status_code=said.status_code, headers=said.headers)

    async def defect(request: Request, error: Exception) -> JSONResponse:
        log.error("defect in %s %s", request.method, request.scope["path"], exc_info=error)
        return JSONResponse(internal(), status_code=500)

    app.add_exception_handler(SalonError, salon_error)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(Exception, defect)


def _explain(error: RequestValidationError) -> InvalidInput:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    return InvalidInput(
        f"{place or 'the body'}: {first['msg']}", hint="GET /api/openapi.json describes each route"
    )
