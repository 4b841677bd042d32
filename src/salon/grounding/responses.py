"""Reading a response that comes from anywhere, to be checked."""

import json
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from salon.conversation.discussion import NOTHING_SAID, Discussion, Utterance, make_discussion
from salon.core.citations import Citation
from salon.core.errors import InvalidInput
from salon.core.hashing import CardHash


class _Citation(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    hash: str
    start: int
    end: int
    quote: str
    source: str
    page: int | None = None


class _Said(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    role: str
    content: str


class _Response(BaseModel):
    """What counts of a response; a reply has more fields, which change nothing here."""

    model_config = ConfigDict(extra="ignore", strict=True)

    response: str
    citations: list[_Citation] = Field(default_factory=list)
    conversation: list[_Said] = Field(default_factory=list)
    avatar: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseToCheck:
    """A response with its citations, whose it is, and what was said before it."""

    response: str
    citations: tuple[Citation, ...] = ()
    avatar: str | None = None
    discussion: Discussion = NOTHING_SAID


def read_response(content: bytes) -> ResponseToCheck:
    """Read JSON with `response` and `citations`, or plain text, or raise `InvalidInput`."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("the response is not UTF-8 text") from error
    if not text.lstrip().startswith("{"):
        return ResponseToCheck(response=text)
    try:
        found = _Response.model_validate(json.loads(text))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidInput(
            f"the response is wrong at {place!r}: {first['msg']}",
            hint="it needs `response` and `citations` with hash, start, end, quote and source",
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the response is not JSON: {error}") from error
    return ResponseToCheck(
        response=found.response,
        citations=tuple(_citation(one) for one in found.citations),
        avatar=found.avatar,
        discussion=make_discussion(
            Utterance(role=one.role, content=one.content) for one in found.conversation
        ),
    )


def _citation(given: _Citation) -> Citation:
    return Citation(
        hash=CardHash(given.hash),
        start=given.start,
        end=given.end,
        quote=given.quote,
        source=given.source,
        page=given.page,
    )
