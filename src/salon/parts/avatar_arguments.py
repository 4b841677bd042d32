"""The arguments of an avatar's capabilities on every surface, named as in both protocols.

Where the protocols call one thing by several names, each name is accepted, and values that
contradict each other are refused (DESIGN section 5, rows 1 and 3).
"""

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from salon.conversation.discussion import Discussion, Utterance, make_discussion
from salon.core.citations import Citation
from salon.core.errors import InvalidInput, UngroundedPassage
from salon.core.hashing import CardHash
from salon.experts.speaking import Mode
from salon.parts.shapes import Arguments

LONGEST_QUESTION = 10_000
MOST_PASSAGES = 50
_Question: TypeAlias = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]
_Limit: TypeAlias = Annotated[int, Field(ge=1, le=50)]


class NoArguments(Arguments):
    """For tools that take none."""


class Said(Arguments):
    """One thing that somebody said."""

    role: str = Field(description="Who said it, by name")
    content: str = Field(description="What they said")


class SessionMetadata(BaseModel):
    """What the platform knows of a conversation; more than these may be given."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    topic: str | None = Field(None, description="What the conversation is about")
    participant_count: int | None = Field(None, description="How many take part")
    platform: str | None = Field(None, description="Where it takes place")


class GivenPassage(Arguments):
    """A passage as `query_corpus` gave it; its `hash`, `start` and `end` prove it."""

    content: str = Field(description="The text, byte for byte as in the archive")
    hash: str | None = Field(None, description="The card that holds it")
    start: int | None = Field(None, description="Its first byte in the card")
    end: int | None = Field(None, description="The byte after its last")
    source: str | None = None
    page: int | None = None
    score: float | None = None
    relevance_score: float | None = None
    document_id: str | None = None
    verified: bool | None = None
    derived: bool | None = None


class GivenCitation(Arguments):
    """A citation as `generate_response` gives it."""

    hash: str = Field(description="The card that is cited")
    start: int = Field(description="The first byte of the quote in the card")
    end: int = Field(description="The byte after the last of the quote")
    quote: str = Field(description="The text at that place")
    source: str = Field(description="The title of the document")
    page: int | None = Field(None, description="The page, where the source has pages")

    def as_citation(self) -> Citation:
        """Return what the app checks."""
        return Citation(
            hash=CardHash(self.hash),
            start=self.start,
            end=self.end,
            quote=self.quote,
            source=self.source,
            page=self.page,
        )


Conversation: TypeAlias = list[Said]


class QueryArguments(Arguments):
    """What `query_corpus` takes."""

    query: _Question = Field(description="The search query to find relevant passages")
    context: str = Field(
        "",
        max_length=LONGEST_QUESTION,
        description="The situation in which it is asked; it joins the query",
    )
    limit: _Limit = Field(5, description="Maximum number of passages to return")
    max_results: _Limit = Field(5, description="The same as limit")
    threshold: float = Field(
        0.7, ge=0, le=1, description="Minimum score (0-1): the probability that it is relevant"
    )

    @property
    def most(self) -> int:
        """Return the limit under whichever name it was given."""
        return self.max_results if "max_results" in self.model_fields_set else self.limit

    @model_validator(mode="after")
    def _agree(self) -> "QueryArguments":
        both = {"limit", "max_results"} <= self.model_fields_set
        if both and self.limit != self.max_results:
            raise ValueError("`limit` and `max_results` are the same thing and must be equal")
        return self


class _InConversation(Arguments):
    context: Conversation = Field([], description="Conversation history for context")
    conversation_context: Conversation = Field([], description="The same as context")
    conversation: Conversation = Field([], description="The same as context")
    session_metadata: SessionMetadata | None = Field(
        None, description="What the platform knows of the conversation"
    )

    @model_validator(mode="after")
    def _agree(self) -> "_InConversation":
        given = [getattr(self, name) for name in _NAMES if name in self.model_fields_set]
        if any(one != given[0] for one in given):
            raise ValueError(
                "`context`, `conversation_context` and `conversation` are the same thing and "
                "must be equal"
            )
        return self

    def discussion(self) -> Discussion:
        """Return what was said so far, or raise `InvalidInput`."""
        said = self.context or self.conversation_context or self.conversation
        topic = self.session_metadata.topic if self.session_metadata else None
        return make_discussion(
            (Utterance(role=one.role, content=one.content) for one in said), topic=topic
        )


_NAMES = ("context", "conversation_context", "conversation")


class RespondArguments(_InConversation):
    """What `generate_response` takes."""

    question: _Question = Field(description="What to respond to now")
    passages: list[GivenPassage] = Field(
        [],
        max_length=MOST_PASSAGES,
        description="Retrieved passages to ground the response; without them it retrieves itself",
    )

    def given_passages(self) -> list[Citation] | None:
        """Return the passages as the app takes them; `None` where it should retrieve."""
        return [_proven(one, at) for at, one in enumerate(self.passages, 1)] or None


def _proven(passage: GivenPassage, number: int) -> Citation:
    if passage.hash is None or passage.start is None or passage.end is None:
        raise UngroundedPassage(
            f"passage {number} does not say where in the archive it is",
            hint="hand in passages as `query_corpus` returned them, with hash, start and end",
            passage=number,
        )
    return Citation(
        hash=CardHash(passage.hash),
        start=passage.start,
        end=passage.end,
        quote=passage.content,
        source=passage.source or "",
        page=passage.page,
    )


class SpeakArguments(_InConversation):
    """What `should_speak` takes."""

    mode: Mode | None = Field(None, description="When to speak; the avatar's own policy by default")

    def discussion(self) -> Discussion:
        """Return what was said so far; silence decides nothing."""
        found = super().discussion()
        if not found.utterances:
            raise InvalidInput(
                "should_speak needs `conversation`", hint="give what was said so far"
            )
        return found


class VerifyArguments(_InConversation):
    """What `verify_response` takes."""

    response: str = Field(
        min_length=1, max_length=100_000, description="The text of the response to check"
    )
    citations: list[GivenCitation] = Field(
        [], max_length=500, description="The citations it rests on, in order"
    )
