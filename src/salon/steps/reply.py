"""The reply of a companion's turn, as it is written and recorded."""

from dataclasses import dataclass

from salon.blackboard.slots import Slot


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanionReply:
    """What the companion says; `delay_s` is how long an edge may pretend to type, never slept."""

    response: str
    strategy: str
    is_crisis: bool
    delay_s: float
    ai_label: str


REPLY = Slot("reply", CompanionReply)
