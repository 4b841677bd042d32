"""The blocks of an avatar's profile: what each field is called in JSON, and what it may hold.

Names are camelCase in JSON and snake_case here. A key that no block knows is refused; one that
begins with `x-` is an extension of somebody else's, kept as it came and never read.
"""

import difflib
import re
from datetime import date
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from salon.core.documents import DocumentType
from salon.core.errors import InvalidInput
from salon.core.text import require_text
from salon.corpus.manifest import as_avatar_id
from salon.gate.policy import PolicyName

EXTENSION = "x-"
UNKNOWN_FIELD = "unknown_field"

ToolName = Literal[
    "query_corpus",
    "generate_response",
    "get_avatar_info",
    "should_speak",
    "verify_response",
    "assist",
]


def _close_schema(schema: dict[str, Any]) -> None:
    schema["additionalProperties"] = False
    schema["patternProperties"] = {f"^{EXTENSION}": True}


class Block(BaseModel):
    """A part of a profile: frozen, closed but for extensions, camelCase in JSON."""

    model_config = ConfigDict(
        extra="allow",  # for `x-` alone; `_refuse_unknown` sees to the others
        frozen=True,
        alias_generator=to_camel,
        serialize_by_alias=True,
        allow_inf_nan=False,
        json_schema_extra=_close_schema,
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        known = cls.json_names()
        for name in data:
            if name in known or str(name).startswith(EXTENSION):
                continue
            near = difflib.get_close_matches(_bare(str(name)), {_bare(one) for one in known}, n=1)
            nearest = next((one for one in known if near and _bare(one) == near[0]), "")
            raise PydanticCustomError(
                UNKNOWN_FIELD,
                "there is no field of this name",
                {"field": str(name), "nearest": nearest},
            )
        return data

    @classmethod
    def json_names(cls) -> tuple[str, ...]:
        """Return the names of the fields as JSON has them."""
        return tuple(field.alias or name for name, field in cls.model_fields.items())


def _bare(name: str) -> str:
    """Return a name as people mistake it: without case and underscores."""
    return name.replace("_", "").lower()


# Values


def _checked_text(text: str) -> str:
    try:
        return require_text(text, "the profile")
    except InvalidInput as error:
        raise PydanticCustomError("not_text", "it holds something that is not text") from error


def _checked_id(text: str) -> str:
    try:
        return as_avatar_id(text)
    except InvalidInput as error:
        raise PydanticCustomError(
            "not_an_id", "it needs lower-case letters, digits and single hyphens, 64 at most"
        ) from error


def _said(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("empty_text", "it must say something")
    return text


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.hostname or re.search(r"\s", url):
        raise PydanticCustomError("not_a_url", "it must be an address that begins with http")
    return url


def _checked_file(path: str) -> str:
    pure = PurePosixPath(path)
    outside = pure.is_absolute() or ".." in pure.parts or re.search(r"[\\\x00]|^[A-Za-z]:", path)
    if outside or not pure.parts:
        raise PydanticCustomError(
            "not_inside", "it must be the path of a file inside the avatar's folder"
        )
    return path


def _iso_only(value: object) -> object:
    if isinstance(value, date) or (
        isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value)
    ):
        return value
    raise PydanticCustomError("not_a_date", "it must be a date such as 1863-01-01")


Text = Annotated[str, AfterValidator(_checked_text)]
SaidText = Annotated[Text, AfterValidator(_said), Field(min_length=1)]
IdText = Annotated[
    str,
    AfterValidator(_checked_id),
    WithJsonSchema(
        {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 64},
    ),
]
Url = Annotated[
    str,
    AfterValidator(_checked_url),
    WithJsonSchema({"type": "string", "format": "uri", "pattern": "^https?://"}),
]
FilePath = Annotated[Text, AfterValidator(_checked_file)]
Year = Annotated[StrictInt, Field(ge=-4000, le=9999)]
IsoDate = Annotated[date, BeforeValidator(_iso_only)]
Probability = Annotated[StrictFloat, Field(ge=0, le=1)]


# Blocks


class DateRange(Block):
    """The days between which the corpus lies; an end that is left out is open."""

    start: IsoDate | None = Field(None, description="The first day, as 1861-12-03.")
    end: IsoDate | None = Field(None, description="The last day: nothing later is ever used.")

    @model_validator(mode="after")
    def _in_order(self) -> "DateRange":
        if self.start and self.end and self.start > self.end:
            raise PydanticCustomError("not_in_order", "it ends before it starts")
        return self


class ProfileSource(Block):
    """One source of the corpus, as the public list of sources shows it."""

    id: Text | None = Field(None, description="A short name of the source, unique in the list.")
    title: SaidText = Field(description="Its title; citations show it.")
    authors: tuple[Text, ...] = Field((), description="Who wrote or said it.")
    year: Year | None = Field(None, description="When it was published or said.")
    type: DocumentType = Field(description="What kind of source it is.")
    description: Text | None = Field(None, description="What is in it, in a sentence.")
    url: Url | None = Field(None, description="Where the original is.")
    archive_url: Url | None = Field(None, description="Where a lasting copy is.")
    doi: Text | None = Field(None, description="Its digital object identifier.")
    hdl: Text | None = Field(None, description="Its handle in a library's system.")
    journal: Text | None = Field(None, description="The journal it appeared in.")
    volume: Text | StrictInt | None = Field(None, description="The volume of that journal.")
    issue: Text | StrictInt | None = Field(None, description="The issue of that volume.")
    pages: Text | StrictInt | None = Field(None, description="Its pages there.")
    license: Text | None = Field(None, description="Under which licence it stands.")
    format: Text | None = Field(None, description="The format of the file, such as PDF.")
    verified: StrictBool = Field(
        False, description="Whether somebody confirmed that it is authentic; `notes` say how."
    )
    priority: Literal["primary", "secondary"] | None = Field(
        None, description="Whether it is the person's own word or about it."
    )
    topics: tuple[Text, ...] = Field((), description="What it is about.")
    notes: Text | None = Field(None, description="How it was verified, or why it was not.")
    file: FilePath | None = Field(
        None, description="The file in the avatar's folder that holds it."
    )


class CorpusBlock(Block):
    """What the avatar knows, and nothing beyond it."""

    description: SaidText = Field(description="What the corpus is, in a sentence or two.")
    date_range: DateRange | None = Field(
        None, description="When the avatar lived or wrote; later documents are never used."
    )
    sources: tuple[ProfileSource, ...] = Field(description="The public list of its sources.")


class SystemPrompt(Block):
    """The persona: how the avatar presents what its corpus says."""

    identity: SaidText = Field(description="Who it represents, and on what ground.")
    tone: SaidText = Field(description="How it speaks.")
    constraints: tuple[SaidText, ...] = Field(description="What it never does.")
    citation_style: SaidText = Field(description="How it refers to its sources in a sentence.")


class VectorStoreBlock(Block):
    """Upstream's wishes for a vector store. Kept and shown; Salon's own settings decide."""

    table: Text = Field("avatar_chunks", description="The table of the passages.")
    embedding_model: Text = Field(
        "text-embedding-3-small", description="The model that makes vectors."
    )
    embedding_dimensions: Annotated[StrictInt, Field(ge=1)] = Field(
        1536, description="How many numbers one vector has."
    )
    chunk_size: Annotated[StrictInt, Field(ge=1)] = Field(512, description="Tokens in a passage.")
    chunk_overlap: Annotated[StrictInt, Field(ge=0)] = Field(
        50, description="Tokens that neighbouring passages share."
    )


class McpServerBlock(Block):
    """A server of this avatar that runs elsewhere. Kept and shown; Salon does not call it."""

    url: Url | None = Field(None, description="Its address.")
    tools: tuple[Text, ...] = Field((), description="The tools it offers.")


class McpBlock(Block):
    """What Salon's own MCP server for this avatar says of itself."""

    name: Text | None = Field(
        None, description="The server's name; `avatar-` and the id by default."
    )
    version: Text | None = Field(None, description="The server's version; Salon's by default.")
    tools: tuple[ToolName, ...] | None = Field(
        None, description="The tools that are offered; all of them by default."
    )


class GroundingBlock(Block):
    """How sure the avatar must be before it answers, and who puts the words together."""

    alpha: Probability = Field(
        0.1, description="The share of unsupported answers that is tolerated at most."
    )
    threshold: Probability | None = Field(
        None,
        description="The score below which it does not answer; calibrated where left out.",
    )
    composer: Literal["auto", "extractive", "chat"] = Field(
        "auto",
        description="`extractive` quotes, `chat` lets a model write and checks every sentence, "
        "`auto` takes a model where one is set up.",
    )
    most_quotes: Annotated[StrictInt, Field(ge=1, le=10)] = Field(
        3, description="How many quotations one answer holds at most."
    )


class SalonBlock(Block):
    """Salon's own block."""

    preset: Literal["expert", "assistant", "companion", "council"] = Field(
        "expert", description="The kind of conversation it holds."
    )
    voice: Literal["first_person", "student"] = Field(
        "first_person",
        description="`first_person` speaks as the person, `student` as one who studied them.",
    )
    speaking: Literal["always", "mentioned", "relevant"] = Field(
        "relevant", description="When it speaks in a group without being asked."
    )
    grounding: GroundingBlock = Field(
        default_factory=lambda: GroundingBlock.model_validate({}),
        description="How sure it must be.",
    )
    steps: tuple[Text, ...] = Field((), description="Further steps of its turn, by name.")
    actions: tuple[Text, ...] = Field((), description="Actions it may offer, by name.")
    gate_policy: PolicyName | None = Field(
        None,
        description="How strict the gate is before it offers one: `sentence` or `conservative`; "
        "the setting `actions.gate_policy` where left out.",
    )
