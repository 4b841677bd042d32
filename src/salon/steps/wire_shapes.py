"""The messages of the WebSocket: every shape that a client may send and that a server sends.

The names and fields of the source protocol stand as they are; what Salon adds (`event_id` on every
event, `ai_label` and a few optional fields on `bot_response`) is additional and documented. The
shapes know nothing of how a turn is taken; `salon.steps.wire` fills them.

Invariant: whatever is sent validates against the published JSON Schema of its type.
"""

from functools import cache
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from salon.core.errors import ContentTooLarge, InvalidInput

LONGEST_CONTENT = 32_000
"""Characters in one message of a person; about eight thousand words."""
LONGEST_ID = 128


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


Id = Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
Share = Annotated[float, Field(ge=0, le=1)]


class AbsentValue(_Shape):
    """What stands in place of a value that is not known: why it is not."""

    absent: str


# What a client sends


class UserMessage(_Shape):
    """What a person says; a content that starts with `/` is a command and no turn."""

    type: Literal["user_message"]
    content: str = Field(min_length=1, max_length=LONGEST_CONTENT, description="What is said.")
    user_id: Id = Field(description="Who speaks: memories and features belong to this id.")
    session_id: Id = Field(description="The session of the address.")


class CommandMessage(_Shape):
    """A command by its name, with or without the slash."""

    type: Literal["command"]
    name: str = Field(min_length=1, max_length=64, description="`/help` lists them.")
    user_id: Id = Field(description="Who asks.")
    session_id: Id = Field(description="The session of the address.")


ClientMessage: TypeAlias = UserMessage | CommandMessage


# What a server sends


class _Event(_Shape):
    event_id: int = Field(
        ge=0,
        description="Grows within a session. An event that cannot be sent again (an error, a "
        "command's answer, a part of a reply) repeats the id of the latest one that can.",
    )


class Citation(_Shape):
    """The proof of a sentence: a span of an immutable card."""

    hash: str
    start: int
    end: int
    quote: str
    source: str
    page: int | None = None


class Claimed(_Shape):
    """A sentence of a reply, and what bears it out."""

    text: str
    citations: tuple[int, ...] = Field(description="Places in the list of citations.")
    support: Share


class BotResponse(_Event):
    """The reply; it closes the turn. Also the answer to a command, which is no turn."""

    type: Literal["bot_response"] = "bot_response"
    content: str = Field(description="What is replied.")
    bot_id: str = Field(description="The avatar that replies.")
    turn: int = Field(ge=0, description="The turn it closes; the latest one, for a command.")
    ai_label: str = Field(min_length=1, description="Says that an AI wrote this.")
    is_crisis: bool | None = Field(
        default=None, description="True where this is the fixed reply with help lines."
    )
    delay_s: float | None = Field(
        default=None, ge=0, description="How long a client may show that somebody types; opt-in."
    )
    command: str | None = Field(default=None, description="The command that this answers.")
    filename: str | None = Field(
        default=None,
        description="The name under which a client may save `content`, for `/export-data`.",
    )
    citations: tuple[Citation, ...] | None = Field(
        default=None, description="What the reply rests on, for avatars that answer from a corpus."
    )
    claims: tuple[Claimed, ...] | None = Field(
        default=None, description="The sentences of the reply, each with what bears it out."
    )
    outcome: str | None = Field(
        default=None,
        description="`answered`, or why there is no answer; from avatars with a corpus.",
    )
    confidence: str | None = Field(default=None, description="`high`, `medium` or `low`.")
    suggestion: str | None = Field(default=None, description="What to ask or to do instead.")
    redirect: str | None = Field(default=None, description="Who may know better.")


class ReplyDelta(_Event):
    """A part of a reply that is still being written; `bot_response` brings the whole."""

    type: Literal["reply_delta"] = "reply_delta"
    content: str
    bot_id: str
    turn: int = Field(ge=1)
    ai_label: str = Field(min_length=1)


class EmotionData(_Shape):
    """What the message feels like."""

    emotion: str = Field(description="The likeliest of the eight emotions.")
    confidence: Share = Field(description="Its probability.")
    intensity: Share = Field(description="How strongly it is felt.")
    valence: float = Field(ge=-1, le=1, description="From unpleasant to pleasant.")
    arousal: Share = Field(description="From calm to excited.")


class EmotionUpdate(_Event):
    """The emotion of the message, in every turn."""

    type: Literal["emotion_update"] = "emotion_update"
    data: EmotionData


class ConformalData(_Shape):
    """Which values each feature may have, and how surely the true one is among them."""

    prediction_sets: dict[str, tuple[str, ...]] = Field(
        description="By feature, the labels that it may have."
    )
    coverage_guarantee: Share = Field(
        description="How often a calibrated set holds the true label; 1 where none is calibrated."
    )
    calibrated: dict[str, bool] = Field(
        description="Whether data stands behind a set; one without holds every label."
    )


class FeatureData(_Shape):
    """The features as far as they are known; `null` is not known."""

    predicted_features: dict[str, float | str | tuple[float, ...] | None] = Field(
        description="All 42 by name; `null` is not known."
    )
    confidences: dict[str, Share] = Field(description="By feature.")
    conformal_result: ConformalData = Field(
        description="`prediction_sets`, `coverage_guarantee`, `calibrated`."
    )


class FeatureUpdate(_Event):
    """The features of the person, in every third turn."""

    type: Literal["feature_update"] = "feature_update"
    data: FeatureData


class RelationshipData(_Shape):
    """How things stand between the two, as far as they can be told."""

    sentiment: str = Field(description="`positive`, `neutral` or `negative`.")
    rel_status: str = Field(description="From `stranger` to `committed`.")
    rel_type: str = Field(description="`love`, `friendship`, `family` or `other`.")
    can_advance: bool = Field(description="Whether one step on is thought possible.")
    advance_prediction_set: tuple[str, ...] = Field(description="The answers that remain.")
    trust_score: Share = Field(description="How much trust the messages show.")
    turn: int = Field(ge=1, description="The turn of this reading.")


class RelationshipPrediction(_Event):
    """The relationship, in every fifth turn."""

    type: Literal["relationship_prediction"] = "relationship_prediction"
    data: RelationshipData


Text: TypeAlias = str | AbsentValue
Number: TypeAlias = float | AbsentValue


class ConvergenceData(_Shape):
    """Whether one feature has settled."""

    settled: bool
    updates: int
    confidence_gain: float
    recent_change: Number


class TrajectoryData(_Shape):
    """The course of trust over the conversation."""

    start: float
    end: float
    mean: float
    lowest: float
    highest: float
    slope: float
    direction: str
    turning_points: tuple[int, ...]


class FirstMilestone(_Shape):
    """The report of turn 10: how it stands, and what turn 30 will find."""

    turn: Literal[10]
    current_status: Text = Field(description="How it stands.")
    predicted_status_at_30: Text = Field(description="What turn 30 will find.")
    predicted_status_probs: dict[str, Share] | AbsentValue
    sentiment_trend: Text
    trust_level: Number
    confidence: Number


class SecondMilestone(_Shape):
    """The report of turn 30: how it stands, and what the first report was worth."""

    turn: Literal[30]
    final_status: Text = Field(description="How it stands.")
    prediction_accuracy: Number = Field(description="What the report of turn 10 was worth.")
    conformal_efficiency: Number = Field(description="Mean size of the prediction sets.")
    memory_contribution: Number = Field(description="What memory added, by leaving it out.")
    feature_convergence: dict[str, ConvergenceData] | AbsentValue
    trust_trajectory_analysis: TrajectoryData | AbsentValue


class MilestoneEvent(_Event):
    """The report of a milestone, in turns 10 and 30."""

    type: Literal["milestone_report"] = "milestone_report"
    data: FirstMilestone | SecondMilestone = Field(discriminator="turn")


class ScamData(_Shape):
    """How much the conversation looks like fraud, and by which patterns."""

    risk_score: Share = Field(description="How much it looks like fraud.")
    warning_level: Literal["medium", "high"] = Field(description="A low level is no warning.")
    patterns: tuple[str, ...] = Field(description="What was found in the messages.")


class ScamWarning(_Event):
    """The conversation looks like fraud; only in turns in which it does."""

    type: Literal["scam_warning"] = "scam_warning"
    data: ScamData


class FlowData(_Shape):
    """Where an action stands between offer and done."""

    flow: str
    action: str
    step: str = Field(description="Where it stands: what is asked for, or how it ended.")
    digest: str | None = Field(
        default=None, description="What an approval must name, where one is asked for."
    )
    order: str | None = Field(default=None, description="The order that it became, once approved.")


class FlowUpdate(_Event):
    """An action was offered or went one step on, in a turn with an assistant."""

    type: Literal["flow_update"] = "flow_update"
    data: FlowData


class ErrorData(_Shape):
    """What went wrong, as on every surface of Salon."""

    code: str
    message: str
    hint: str | None
    details: dict[str, object]


class ErrorEvent(_Event):
    """Something that was sent could not be done; the connection and the session go on."""

    type: Literal["error"] = "error"
    error: ErrorData


WireEvent: TypeAlias = (
    BotResponse
    | EmotionUpdate
    | FeatureUpdate
    | RelationshipPrediction
    | MilestoneEvent
    | ScamWarning
    | ErrorEvent
    | FlowUpdate
    | ReplyDelta
)

SERVER_EVENTS: tuple[type[WireEvent], ...] = (
    BotResponse,
    EmotionUpdate,
    FeatureUpdate,
    RelationshipPrediction,
    MilestoneEvent,
    ScamWarning,
    ErrorEvent,
    FlowUpdate,
    ReplyDelta,
)
CLIENT_MESSAGES: tuple[type[ClientMessage], ...] = (UserMessage, CommandMessage)

_CLIENT: TypeAdapter[ClientMessage] = TypeAdapter(
    Annotated[ClientMessage, Field(discriminator="type")]
)


def type_of(shape: type[BaseModel]) -> str:
    """Return the `type` that a message of this shape carries."""
    return str(shape.model_json_schema()["properties"]["type"]["const"])


def read_client_message(text: str) -> ClientMessage:
    """Return what a client sent, or raise `InvalidInput` that says what is wrong with it."""
    try:
        return _CLIENT.validate_json(text)
    except ValidationError as error:
        raise _explain(error) from error


def _explain(error: ValidationError) -> InvalidInput:
    first = error.errors(include_url=False, include_input=False)[0]
    # The first part of a place is the type that chose the shape.
    place = ".".join(str(part) for part in first["loc"][1:])
    if first["type"] == "string_too_long" and place == "content":
        return ContentTooLarge(
            f"the message is longer than {LONGEST_CONTENT:,} characters", hint="send it in parts"
        )
    said = f"{place}: {first['msg']}" if place else first["msg"]
    return InvalidInput(
        f"this is no message: {said[:300]}",
        hint="see docs/reference/websocket.md; a message is "
        '{"type": "user_message", "content": …, "user_id": …, "session_id": …}',
    )


def as_text(event: WireEvent) -> str:
    """Return an event as it goes over the wire; optional fields that say nothing stay out."""
    return event.model_dump_json(exclude=_unsaid(event))


def as_json(event: WireEvent) -> dict[str, object]:
    """Return an event as plain data, with the fields that go over the wire."""
    return event.model_dump(mode="json", exclude=_unsaid(event))


def _unsaid(event: WireEvent) -> set[str]:
    # `null` inside `data` means "not known" and must stay; an optional field of an event need not.
    return {name for name in _optional(type(event)) if getattr(event, name) is None}


@cache
def _optional(shape: type[BaseModel]) -> tuple[str, ...]:
    return tuple(name for name, one in shape.model_fields.items() if one.default is None)


def schema_of(shape: type[BaseModel]) -> dict[str, object]:
    """Return the published JSON Schema of one message."""
    mode: Literal["validation", "serialization"] = (
        "validation" if shape in CLIENT_MESSAGES else "serialization"
    )
    schema = shape.model_json_schema(mode=mode)
    required = [
        name
        for name, one in shape.model_fields.items()
        if one.is_required() or one.default is not None
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "required": required,
    }
