"""How a question ended. Every outcome is a normal result; none is an error."""

from enum import StrEnum


class Outcome(StrEnum):
    """What became of a question or a turn."""

    ANSWERED = "answered"
    CORPUS_MISS = "corpus_miss"
    """The corpus says nothing about it."""
    OUT_OF_SCOPE = "out_of_scope"
    """It is not this avatar's field."""
    NEEDS_CLARIFICATION = "needs_clarification"
    """The question leaves open what is asked, or the case what happened."""
    AFTER_MY_TIME = "after_my_time"
    """It is about what came after the corpus ends."""
    DECLINED = "declined"
    """It asks for harmful content, or the answer would have been harmful."""
    SILENT = "silent"
    """Nothing grounded to add, or not asked."""
    GATE_CLOSED = "gate_closed"
    """The person asked for an action, and the gate holds it back."""
    NO_QUORUM = "no_quorum"
    """A round of the council ended without a chapter that could be published."""
