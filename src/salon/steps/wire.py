"""From a board to the events of the WebSocket: a table of slots, and nothing that decides.

Events are derived from what a turn wrote, so they can be made again from the turn's record: the
same turn gives the same events with the same ids. A slot that is `Absent` gives no event.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Protocol, TypeVar

from salon.blackboard.board import NOBODY_WRITES
from salon.blackboard.slots import Slot
from salon.blackboard.values import decode
from salon.conversation.turns import Turn
from salon.core.absent import Absent
from salon.steps.emotion import EMOTION, EmotionReading
from salon.steps.feature_values import FEATURES, Features
from salon.steps.milestone_values import MilestoneReport
from salon.steps.milestones import MILESTONE
from salon.steps.relationship import RELATIONSHIP, RelationshipResult
from salon.steps.scam import SCAM, ScamReading
from salon.steps.wire_shapes import (
    BotResponse,
    ConformalData,
    EmotionData,
    EmotionUpdate,
    FeatureData,
    FeatureUpdate,
    FirstMilestone,
    FlowData,
    FlowUpdate,
    MilestoneEvent,
    RelationshipData,
    RelationshipPrediction,
    ScamData,
    ScamWarning,
    SecondMilestone,
    WireEvent,
)

T = TypeVar("T")
IDS_PER_TURN = 100
"""Room for the events of one turn; the reply has the last place, so its turn is complete then."""
REPLY_PLACE = IDS_PER_TURN - 1

# A low level is part of the reading, and most talk about money reaches it now and then; a warning
# that comes often is one that people learn to click away, so it begins at medium.
WARNED_LEVELS = frozenset({"medium", "high"})

_MILESTONES: dict[int, type[FirstMilestone | SecondMilestone]] = {
    10: FirstMilestone,
    30: SecondMilestone,
}


class Readings(Protocol):
    """A board after a turn, or one that was read back from the turn's record."""

    def __getitem__(self, slot: Slot[T], /) -> T | Absent:
        """Return what is in a slot, or why nothing is."""


@dataclass(frozen=True, slots=True)
class _Row:
    slot: Slot[Any]
    make: Callable[[int, int, Any], WireEvent | None]
    """From the event's id, the turn and the value to the event, if it says something."""


def _emotion(event_id: int, _: int, value: EmotionReading) -> WireEvent:
    return EmotionUpdate(
        event_id=event_id,
        data=EmotionData(
            emotion=value.emotion,
            confidence=value.confidence,
            intensity=value.intensity,
            valence=value.valence,
            arousal=value.arousal,
        ),
    )


def _scam(event_id: int, _: int, value: ScamReading) -> WireEvent | None:
    if value.scam_warning_level not in WARNED_LEVELS:
        return None
    return ScamWarning(
        event_id=event_id,
        data=ScamData.model_validate(
            {
                "risk_score": value.scam_risk_score,
                "warning_level": value.scam_warning_level,
                "patterns": value.scam_patterns,
            }
        ),
    )


def _features(event_id: int, _: int, value: Features) -> WireEvent:
    sets = value.conformal_result
    return FeatureUpdate(
        event_id=event_id,
        data=FeatureData(
            predicted_features=dict(value.predicted_features),
            confidences=value.feature_confidences,
            conformal_result=ConformalData(
                prediction_sets=sets.prediction_sets,
                coverage_guarantee=sets.coverage_guarantee,
                calibrated=sets.calibrated,
            ),
        ),
    )


def _relationship(event_id: int, turn: int, value: RelationshipResult) -> WireEvent:
    return RelationshipPrediction(
        event_id=event_id,
        data=RelationshipData(
            sentiment=value.sentiment,
            rel_status=value.rel_status,
            rel_type=value.rel_type,
            can_advance=value.can_advance,
            advance_prediction_set=value.advance_prediction_set,
            trust_score=value.trust_score,
            turn=turn,
        ),
    )


def _milestone(event_id: int, _: int, value: MilestoneReport) -> WireEvent | None:
    shape = _MILESTONES.get(value.turn)
    if shape is None:
        return None
    # The other report's fields do not apply and stay out; what is not known says so.
    data = {name: plain(getattr(value, name)) for name in shape.model_fields}
    return MilestoneEvent(event_id=event_id, data=shape.model_validate(data))


READINGS: tuple[_Row, ...] = (
    _Row(EMOTION, _emotion),
    _Row(SCAM, _scam),
    _Row(FEATURES, _features),
    _Row(RELATIONSHIP, _relationship),
    _Row(MILESTONE, _milestone),
)
"""In this order; the place in it is the last part of the event's id."""


class RecordedBoard:
    """The slots of a turn as its record has them; an empty board where no steps ran."""

    def __init__(self, turn: Turn) -> None:
        self._recorded = turn.board or {}

    def __getitem__(self, slot: Slot[T], /) -> T | Absent:
        """Return what is in a slot, or why nothing is."""
        if slot.name not in self._recorded:
            return NOBODY_WRITES
        return decode(slot, self._recorded[slot.name])


def turn_events(turn: Turn, board: Readings | None = None) -> tuple[WireEvent, ...]:
    """Return all events of a turn with any avatar: the readings first, the reply last.

    Without its board, what the steps wrote is read back from the record; the events are the same.
    """
    read = events_of(turn.number, RecordedBoard(turn) if board is None else board)
    return (*read, *_flow_events(turn), _reply_event(turn))


def events_of(turn: int, board: Readings) -> tuple[WireEvent, ...]:
    """Return the events that tell what the steps of a turn read."""
    events: list[WireEvent] = []
    for place, row in enumerate(READINGS, start=1):
        value = board[row.slot]
        if isinstance(value, Absent):
            continue
        event = row.make(turn * IDS_PER_TURN + place, turn, value)
        if event is not None:
            events.append(event)
    return tuple(events)


def _flow_events(turn: Turn) -> tuple[WireEvent, ...]:
    match turn.reply.get("flow"):
        case {"id": flow, "action": action, "step": step, **more}:
            data = {"flow": flow, "action": action, "step": step}
            data |= {name: more.get(name) for name in ("digest", "order")}
            place = turn.number * IDS_PER_TURN + REPLY_PLACE - 1
            return (FlowUpdate(event_id=place, data=FlowData.model_validate(data)),)
    return ()


_OF_A_CORPUS = ("citations", "claims", "outcome", "confidence", "suggestion", "redirect")
"""What a reply has where its avatar answers from documents."""


def _reply_event(turn: Turn) -> BotResponse:
    reply = turn.reply
    return BotResponse.model_validate(
        {
            "event_id": reply_id(turn.number),
            # An assistant's text is the reply with the offer that follows it.
            "content": reply.get("text") or reply["response"],
            "bot_id": turn.replier,
            "turn": turn.number,
            "ai_label": reply["ai_label"],
            "is_crisis": reply.get("is_crisis") or None,
            "delay_s": reply.get("delay_s") or None,
            **{name: plain(reply.get(name)) or None for name in _OF_A_CORPUS},
        }
    )


def reply_id(turn: int) -> int:
    """Return the id of the event that closes a turn; 0 before the first."""
    return turn * IDS_PER_TURN + REPLY_PLACE if turn else 0


def turn_of(event_id: int) -> int:
    """Return the turn that an event belongs to."""
    return event_id // IDS_PER_TURN


def plain(value: object) -> object:
    """Return a value as JSON has it: what is absent says why."""
    if isinstance(value, Absent):
        return {"absent": value.reason}
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
