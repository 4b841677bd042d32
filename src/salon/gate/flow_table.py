"""The flow's machine as a table: in which step, after which event, comes which step.

`NEXT` is not a step that a flow rests in: it stands for whatever is still missing, the times that
are free, a time, a field, or, when nothing is, the approval. What is not in the table cannot
happen. `APPROVED` is reached from `CONFIRMING` alone and by `APPROVE` alone.
"""

from enum import StrEnum
from types import MappingProxyType


class Step(StrEnum):
    """Where a flow stands, as the wire has it."""

    OFFERED = "awaiting_initial_confirmation"
    FETCHING = "fetching_availability"
    CHOOSING = "awaiting_time_selection"
    ASKING = "awaiting_field"
    CONFIRMING = "awaiting_confirmation"
    APPROVED = "approved"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    NEXT = "next"


class Event(StrEnum):
    """What can happen to a flow."""

    ACCEPT = "accept"
    DECLINE = "decline"
    UNCLEAR = "unclear"
    MOVE_ON = "move_on"
    SLOTS = "slots"
    NO_SLOTS = "no_slots"
    LOOKUP_FAILED = "lookup_failed"
    CHOOSE = "choose"
    ANSWER = "answer"
    BAD_ANSWER = "bad_answer"
    SKIP = "skip"
    CHANGE = "change"
    BAD_CHANGE = "bad_change"
    VOID = "void"
    APPROVE = "approve"
    CANCEL = "cancel"
    EXPIRE = "expire"


ENDS = frozenset({Step.APPROVED, Step.CANCELLED, Step.EXPIRED})
"""Where a flow is over; what was approved goes on in the outbox."""

_ENDINGS = {Event.CANCEL: Step.CANCELLED, Event.EXPIRE: Step.EXPIRED}

MOVES = MappingProxyType(
    {
        (Step.OFFERED, Event.ACCEPT): Step.NEXT,
        (Step.OFFERED, Event.DECLINE): Step.CANCELLED,
        (Step.OFFERED, Event.UNCLEAR): Step.OFFERED,
        (Step.OFFERED, Event.MOVE_ON): Step.CANCELLED,
        (Step.FETCHING, Event.SLOTS): Step.CHOOSING,
        (Step.FETCHING, Event.NO_SLOTS): Step.CHOOSING,
        (Step.FETCHING, Event.LOOKUP_FAILED): Step.CHOOSING,
        (Step.CHOOSING, Event.CHOOSE): Step.NEXT,
        (Step.CHOOSING, Event.UNCLEAR): Step.CHOOSING,
        (Step.ASKING, Event.ANSWER): Step.NEXT,
        (Step.ASKING, Event.SKIP): Step.NEXT,
        (Step.ASKING, Event.BAD_ANSWER): Step.ASKING,
        (Step.ASKING, Event.CHANGE): Step.NEXT,
        (Step.ASKING, Event.BAD_CHANGE): Step.ASKING,
        (Step.CONFIRMING, Event.APPROVE): Step.APPROVED,
        (Step.CONFIRMING, Event.DECLINE): Step.CANCELLED,
        (Step.CONFIRMING, Event.UNCLEAR): Step.CONFIRMING,
        (Step.CONFIRMING, Event.CHANGE): Step.NEXT,
        (Step.CONFIRMING, Event.BAD_CHANGE): Step.CONFIRMING,
        (Step.CONFIRMING, Event.VOID): Step.NEXT,
    }
    | {
        (step, event): end
        for step in (Step.OFFERED, Step.FETCHING, Step.CHOOSING, Step.ASKING, Step.CONFIRMING)
        for event, end in _ENDINGS.items()
    }
)


def move(step: Step, event: Event) -> Step:
    """Return the step after an event; a pair that is not in the table is a programmer's mistake."""
    return MOVES[step, event]
