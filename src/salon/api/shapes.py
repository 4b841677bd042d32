"""The base of the shapes over HTTP, the one error shape, and which statuses a route may answer."""

from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict

Responses: TypeAlias = dict[int | str, dict[str, Any]]


class Shape(BaseModel):
    """Data that enters or leaves over HTTP: nothing unknown, nothing changed later."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ErrorBody(Shape):
    """What went wrong; the same on every surface."""

    code: str
    message: str
    hint: str | None
    details: dict[str, Any]


class ErrorAnswer(Shape):
    """The one shape of an error."""

    error: ErrorBody


_SAID: dict[int, str] = {
    400: "What was sent is no HTTP request.",
    401: "The token is missing or wrong.",
    403: "A page of another origin asked.",
    404: "There is nothing of that name.",
    405: "This path knows other methods; `Allow` names them.",
    409: "The state has moved on, or something stands against it.",
    410: "It was deleted; `details` say when and why.",
    413: "Too large.",
    421: "This server does not answer to that host.",
    422: "The input is wrong; the message says where.",
    429: "Too fast, or a limit is used up; `Retry-After` says when to try again.",
    500: "A defect, or stored bytes that do not agree with what vouches for them.",
    503: "Something outside Salon failed.",
    504: "It took longer than it may.",
}
ANYWHERE = (401, 403, 421, 422, 429, 500)
"""What every route may answer."""


def responses(*statuses: int) -> Responses:
    """Return the documented errors of a route: these, and what every route may answer."""
    return {
        status: {"model": ErrorAnswer, "description": _SAID[status]}
        for status in sorted({*statuses, *ANYWHERE})
    }
