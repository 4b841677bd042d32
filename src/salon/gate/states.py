"""The four states of a conversation, and the only moves between them.

The table is the whole machine: what is not in it cannot happen. An action can be offered in
`GUIDING` alone, and the only moves into `GUIDING` are replies that guide, made when no question of
the assistant is open.
"""

from enum import StrEnum
from types import MappingProxyType


class State(StrEnum):
    """Where a conversation stands, as the source protocol names it."""

    INITIAL = "INITIAL"
    CLARIFYING = "CLARIFYING"
    ANSWERING = "ANSWERING"
    GUIDING = "GUIDING"


class Event(StrEnum):
    """What can happen next in a conversation."""

    PERSON_SPEAKS = "person_speaks"
    PERSON_EVADES = "person_evades"
    """The person says something while a question is open, and does not answer it."""
    REPLY_ASKS = "reply_asks"
    REPLY_TELLS = "reply_tells"
    REPLY_GUIDES = "reply_guides"


MOVES = MappingProxyType(
    {
        (State.INITIAL, Event.PERSON_SPEAKS): State.INITIAL,
        (State.INITIAL, Event.PERSON_EVADES): State.INITIAL,
        (State.INITIAL, Event.REPLY_ASKS): State.CLARIFYING,
        (State.INITIAL, Event.REPLY_TELLS): State.INITIAL,
        (State.INITIAL, Event.REPLY_GUIDES): State.GUIDING,
        (State.CLARIFYING, Event.PERSON_SPEAKS): State.ANSWERING,
        (State.CLARIFYING, Event.PERSON_EVADES): State.CLARIFYING,
        (State.CLARIFYING, Event.REPLY_ASKS): State.CLARIFYING,
        (State.CLARIFYING, Event.REPLY_TELLS): State.CLARIFYING,
        (State.CLARIFYING, Event.REPLY_GUIDES): State.CLARIFYING,
        (State.ANSWERING, Event.PERSON_SPEAKS): State.ANSWERING,
        (State.ANSWERING, Event.PERSON_EVADES): State.ANSWERING,
        (State.ANSWERING, Event.REPLY_ASKS): State.CLARIFYING,
        (State.ANSWERING, Event.REPLY_TELLS): State.ANSWERING,
        (State.ANSWERING, Event.REPLY_GUIDES): State.GUIDING,
        (State.GUIDING, Event.PERSON_SPEAKS): State.ANSWERING,
        (State.GUIDING, Event.PERSON_EVADES): State.GUIDING,
        (State.GUIDING, Event.REPLY_ASKS): State.CLARIFYING,
        (State.GUIDING, Event.REPLY_TELLS): State.GUIDING,
        (State.GUIDING, Event.REPLY_GUIDES): State.GUIDING,
    }
)
"""Every state with every event; a reply that guides before the depth is met counts as telling."""


def move(state: State, event: Event) -> State:
    """Return the state after an event."""
    return MOVES[state, event]
