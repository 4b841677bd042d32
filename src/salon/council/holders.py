"""Who holds a seat: what such a holder is shown, and what it must be able to do.

A holder that is a program or a chat model implements `SeatHolder`. One outside has no object here:
it calls the skills over MCP, and sees the same `Brief`.
"""

from dataclasses import dataclass
from typing import Protocol

from salon.council.rounds import Failing, Phase, Scorecard, Verdict
from salon.council.seats import Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A peer's candidate as a seat sees it: no author, in this seat's own order."""

    id: str
    position: int
    markdown: str
    critiques: tuple[str, ...] = ()
    """What was said of it; shown to its authors, and to the authors of a fusion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What a seat is shown of a round, and what is due from it."""

    round_id: str
    topic_id: str
    topic: str
    phase: Phase
    attempt: int
    seat: Seat
    soul: str
    due: tuple[str, ...]
    """Ids of candidates that wait for this seat's review or vote; a draft or a fusion that is due
    appears as `draft`, `refinement` or `fusion`."""
    peers: tuple[Shown, ...] = ()
    own: Shown | None = None
    """The seat's own latest candidate, with the critiques of it."""
    failings: tuple[Failing, ...] = ()
    """Why the seat's latest text was sent back by the checks."""
    fusing: tuple[Shown, ...] = ()
    """The two candidates that a fusion joins, for its two authors."""
    collaborators: tuple[Seat, ...] = ()
    reasons: tuple[str, ...] = ()
    """Why earlier attempts of this round found no consensus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """A scorecard with its reasons, and Up or Down where a fusion is ratified."""

    scores: Scorecard
    rationale: str
    verdict: Verdict | None = None


class SeatHolder(Protocol):
    """A program or a model in a seat. Every text is Markdown as `drafts` describes it."""

    def draft(self, brief: Brief) -> str:
        """Write a first draft on the topic; `brief.failings` is set where one was sent back."""
        ...

    def review(self, brief: Brief, candidate: Shown) -> str:
        """Criticise a peer's candidate."""
        ...

    def refine(self, brief: Brief) -> str:
        """Write the final candidate from one's own draft and the critiques of it."""
        ...

    def grade(self, brief: Brief, candidate: Shown) -> Graded:
        """Grade a peer's final candidate, or a fusion that is to be ratified."""
        ...

    def fuse(self, brief: Brief) -> str:
        """Join the two candidates of a runoff."""
        ...

    def write_soul(self, goal: str, blind_spots: tuple[str, ...], old_soul: str) -> str:
        """Propose a system prompt for a seat that was retired."""
        ...
