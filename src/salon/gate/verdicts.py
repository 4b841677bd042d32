"""What the gate takes in and gives back: what was said, and a verdict that explains itself."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from salon.gate.states import State

REPLY = "reply"


class Side(StrEnum):
    """Who said something: the person, or the assistant."""

    PERSON = "person"
    ASSISTANT = "assistant"


class Said(NamedTuple):
    """One message of a conversation; a tuple, so that looking up what is known of it is cheap.

    `flow` names the flow that the message belonged to (its prompts and the answers to them), so
    that they are not read as guidance. `is_withheld` says that the gate was closed at this reply,
    so that nothing was offered with it.
    """

    side: Side
    text: str
    flow: str | None = None
    is_withheld: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalSpan:
    """A place that counted: its kind, the characters, and whether in the reply or in the history.

    `where` is `"reply"` or the index of a message in the history.
    """

    kind: str
    start: int
    end: int
    quote: str
    where: str | int = REPLY


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Which action may be offered now, if any; in which state, by which rule, why, on what."""

    action: str | None
    state: State
    rule: str
    reason: str
    evidence: tuple[SignalSpan, ...] = ()
    is_suggested: bool = False
    """Whether a learned decision finds the context sufficient although the reply offers nothing."""
